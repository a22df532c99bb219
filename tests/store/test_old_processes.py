"""A process that lost its turn to another one writes nothing (spec turns 16.3)."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnError
from parleyd.store.leases import PostgresLeaseStore, take_turn
from parleyd.turns.ports import Ending, Fenced, OpenedTurn
from tests.store.chat import Chat, ask
from tests.store.takeovers import everything, inside_a_tool
from tests.store.tool_calls import RESULT, called, die, place, start, starts, step_of

ERROR = TurnError(reason=Reason.INTERRUPTED, message="The turn was interrupted.")


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@pytest.fixture
def leases(engine: AsyncEngine) -> PostgresLeaseStore:
    return PostgresLeaseStore(engine, engine)


async def _someone_waits(chat: Chat) -> None:
    async with asyncio.timeout(2):
        while not await chat.query(
            "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        ):
            pass


async def _journal(chat: Chat, turn: OpenedTurn) -> None:
    calls = starts("lookup", step_no=2)
    await chat.turns.journal_step(turn, step_of(calls), called(calls), calls)


async def _start(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.start_tool(turn, start(5), again=False)


async def _start_again(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.start_tool(turn, start(), again=True)


async def _end_tool(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.store_result(turn, place(start()), RESULT, failed=False)


async def _keep(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.keep_partial_text(turn, "I am")


async def _pause(chat: Chat, turn: OpenedTurn) -> None:
    await chat.pause(turn, ask("call_a"), step_no=2)


async def _finish(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.end_turn(turn, Ending(text="Done."))


async def _fail(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.fail_turn(turn, ERROR, (), "I was")


Write = Callable[[Chat, OpenedTurn], Awaitable[None]]
WRITES = [_journal, _start, _start_again, _end_tool, _keep, _pause, _finish, _fail]


@pytest.mark.parametrize("holder", ["process-2", "process-1"])
@pytest.mark.parametrize("write", WRITES)
async def test_c10_the_old_process_writes_nothing_once_its_turn_was_taken(
    chat: Chat, leases: PostgresLeaseStore, write: Write, holder: str
) -> None:
    turn = await inside_a_tool(chat)
    await die(chat.engine, turn)
    taken = await leases.take_turn(holder, ["lookup"])
    assert taken
    before = await everything(chat)

    with pytest.raises(Fenced):
        await write(chat, turn)

    assert await everything(chat) == before
    await write(chat, taken.turn)
    assert await everything(chat) != before


@pytest.mark.parametrize("write", WRITES)
async def test_c10_a_write_that_comes_while_the_turn_is_taken_is_refused(
    chat: Chat, write: Write
) -> None:
    turn = await inside_a_tool(chat)
    await die(chat.engine, turn)

    async with chat.engine.begin() as connection:
        taken = await connection.run_sync(take_turn, "process-2", ["lookup"], 300.0)
        assert taken
        late = asyncio.ensure_future(write(chat, turn))
        await _someone_waits(chat)

    with pytest.raises(Fenced):
        await late
    assert await chat.query("SELECT last_event, lease_epoch FROM turns") == [
        (taken.turn.events[-1].sequence, 2)
    ]

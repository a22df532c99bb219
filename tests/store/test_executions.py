"""Calls of host tools: started once, whoever tries, and ended once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.answers import accepted
from parleyd.contract.errors import Unavailable
from parleyd.contract.events import ToolReturned
from parleyd.contract.executions import UNKNOWN_RESULT, ToolStart
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnError
from parleyd.store.engine import Database, create_engine
from parleyd.store.executions import read_unfinished
from parleyd.store.leases import PostgresLeaseStore
from parleyd.turns.ports import Fenced, OpenedTurn
from tests.store.chat import Chat, approval, step
from tests.store.lossy_proxy import Loss, lossy_proxy
from tests.store.tool_calls import (
    RESULT,
    called,
    die,
    executions,
    place,
    start,
    starts,
    step_of,
)

TIMEOUT = TurnError(reason=Reason.TURN_TIMEOUT, message="The turn took too long.")


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def _running(chat: Chat, *tool_names: str) -> tuple[OpenedTurn, tuple[ToolStart, ...]]:
    """Returns a turn inside the tools of its first step."""
    turn = await chat.prompt()
    calls = starts(*tool_names)
    await chat.turns.journal_step(turn, step_of(calls), called(calls), calls)
    return turn, calls


async def _states(chat: Chat, turn: OpenedTurn) -> list[tuple[str, int]]:
    return [(each.state, each.runs) for each in await executions(chat.engine, turn)]


async def _everything(chat: Chat) -> list[list[tuple[Any, ...]]]:
    tables = ("turns", "turn_events", "tool_executions")
    return [await chat.query(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]


# ---------------------------------------------------------------- starting


async def test_a_step_and_the_start_of_its_tools_are_stored_together(chat: Chat) -> None:
    turn = await chat.prompt()
    calls = starts("lookup", "upsert")

    events = await chat.turns.journal_step(turn, step_of(calls), called(calls), calls)

    assert [(event.sequence, event.body) for event in events] == [
        (2, called(calls)[0]),
        (3, called(calls)[1]),
    ]
    stored = await executions(chat.engine, turn)
    assert [
        ToolStart(**each.model_dump(include=set(ToolStart.model_fields))) for each in stored
    ] == [*calls]
    assert [(each.state, each.turn_id, each.runs, each.result) for each in stored] == [
        ("started", turn.lease.turn_id, 1, None)
    ] * 2
    assert await chat.step_numbers(turn) == [1]


async def test_a_call_that_did_not_start_with_its_step_is_claimed_alone(chat: Chat) -> None:
    turn, _ = await _running(chat, "lookup")
    before = await chat.query("SELECT last_event FROM turns")

    claimed = await chat.turns.start_tool(turn, start(1, "upsert"), again=False)

    assert claimed is True
    assert await _states(chat, turn) == [("started", 1), ("started", 1)]
    assert await chat.query("SELECT last_event FROM turns") == before


async def _as_it_is(chat: Chat, turn: OpenedTurn) -> OpenedTurn:
    del chat
    return turn


async def _taken_over(chat: Chat, turn: OpenedTurn) -> OpenedTurn:
    await die(chat.engine, turn)
    taken = await PostgresLeaseStore(chat.engine, chat.engine).take_turn("process-2", ["lookup"])
    assert taken
    return taken.turn


async def _retried(chat: Chat, turn: OpenedTurn) -> OpenedTurn:
    await chat.turns.fail_turn(turn, TIMEOUT, (), "")
    return await chat.retry(turn)


Successor = Callable[[Chat, OpenedTurn], Awaitable[OpenedTurn]]
ANYONE = [
    pytest.param(_as_it_is, id="its turn"),
    pytest.param(_taken_over, id="another process"),
    pytest.param(_retried, id="a retry"),
]


@pytest.mark.parametrize("state", ["started", "finished"])
@pytest.mark.parametrize("successor", ANYONE)
async def test_a_call_that_was_started_is_not_started_again_by(
    chat: Chat, successor: Successor, state: str
) -> None:
    turn, (call,) = await _running(chat, "lookup")
    if state == "finished":
        await chat.turns.store_result(turn, place(call), RESULT, failed=False)
    turn = await successor(chat, turn)
    before = await executions(chat.engine, turn)

    assert await chat.turns.start_tool(turn, call, again=False) is False

    assert await executions(chat.engine, turn) == before


@pytest.mark.parametrize("successor", ANYONE)
async def test_an_unfinished_call_that_may_be_repeated_is_claimed_again_by(
    chat: Chat, successor: Successor
) -> None:
    turn, (call,) = await _running(chat, "lookup")
    turn = await successor(chat, turn)

    assert await chat.turns.start_tool(turn, call, again=True) is True

    (stored,) = await executions(chat.engine, turn)
    assert (stored.state, stored.runs, stored.result) == ("started", 2, None)
    assert stored.turn_id == turn.lease.turn_id
    await chat.turns.store_result(turn, place(call), RESULT, failed=False)
    assert await _states(chat, turn) == [("finished", 2)]


@pytest.mark.parametrize("state", ["finished", "failed"])
async def test_a_call_that_has_its_result_is_not_repeated(chat: Chat, state: str) -> None:
    turn, (call,) = await _running(chat, "lookup")
    failed = state == "failed"
    await chat.turns.store_result(turn, place(call), {"error": "No."}, failed=failed)
    before = await executions(chat.engine, turn)

    assert await chat.turns.start_tool(turn, call, again=True) is False

    assert await executions(chat.engine, turn) == before


async def test_a_call_that_never_started_can_not_be_repeated(chat: Chat) -> None:
    turn = await chat.prompt()

    assert await chat.turns.start_tool(turn, start(), again=True) is False

    assert await executions(chat.engine, turn) == ()


async def test_an_approval_lets_one_call_run(chat: Chat) -> None:
    guard = approval()
    turn = await chat.prompt()
    await chat.pause(turn, guard)
    conversation = turn.lease.conversation_id
    answered = await chat.answer(conversation, "apr_call_delete", accepted({"confirmed": True}))
    first = start().model_copy(update={"approval_ask_id": guard.ask_id})
    second = start(1).model_copy(update={"approval_ask_id": guard.ask_id})

    claims = await asyncio.gather(
        *(chat.turns.start_tool(answered, call, again=False) for call in (first, second) * 3)
    )

    assert sorted(claims) == [False] * 5 + [True]
    (run,) = await executions(chat.engine, answered)
    assert run.approval_ask_id == guard.ask_id


async def test_of_many_that_start_a_call_at_once_one_does(chat: Chat) -> None:
    turn, _ = await _running(chat, "lookup")

    claims = await asyncio.gather(
        *(chat.turns.start_tool(turn, start(1), again=False) for _ in range(8))
    )

    assert sorted(claims) == [False] * 7 + [True]
    assert await _states(chat, turn) == [("started", 1), ("started", 1)]


# ---------------------------------------------------------------- ending


@pytest.mark.parametrize("state", ["finished", "failed"])
async def test_a_result_is_stored_with_its_event(chat: Chat, state: str) -> None:
    turn, (call,) = await _running(chat, "lookup")
    failed = state == "failed"

    (event,) = await chat.turns.store_result(turn, place(call), RESULT, failed=failed)

    assert event.sequence == 3
    assert event.body == ToolReturned(
        tool_call_id=call.tool_call_id, tool_name="lookup", result=RESULT, is_error=failed
    )
    (stored,) = await executions(chat.engine, turn)
    assert (stored.state, stored.result) == (state, RESULT)
    assert await chat.query("SELECT end_time IS NOT NULL FROM tool_executions") == [(True,)]


async def test_a_tool_that_returns_nothing_has_a_result(chat: Chat) -> None:
    turn, (call,) = await _running(chat, "lookup")

    await chat.turns.store_result(turn, place(call), None, failed=False)

    (stored,) = await executions(chat.engine, turn)
    assert (stored.state, stored.result) == ("finished", None)
    assert await chat.query("SELECT jsonb_typeof(result) FROM tool_executions") == [("null",)]


async def test_a_call_may_bring_nothing(chat: Chat) -> None:
    turn, _ = await _running(chat, "lookup")
    call = start(1).model_copy(update={"args": None})

    assert await chat.turns.start_tool(turn, call, again=False)

    _, stored = await executions(chat.engine, turn)
    assert stored.args is None


async def test_what_is_stored_and_what_is_told_are_the_same(chat: Chat) -> None:
    turn, (call,) = await _running(chat, "lookup")

    (event,) = await chat.turns.store_result(
        turn, place(call), {"a\x00b": ["\ud800", "fine"]}, failed=False
    )

    assert isinstance(event.body, ToolReturned)
    assert event.body.result == {"a\ufffdb": ["\ufffd", "fine"]}
    (stored,) = await executions(chat.engine, turn)
    assert stored.result == event.body.result


async def test_results_that_come_at_once_are_numbered_without_gaps(chat: Chat) -> None:
    turn, calls = await _running(chat, *["lookup"] * 6)

    told = await asyncio.gather(
        *(chat.turns.store_result(turn, place(call), RESULT, failed=False) for call in calls)
    )

    assert sorted(event.sequence for (event,) in told) == list(range(8, 14))
    assert await _states(chat, turn) == [("finished", 1)] * 6
    numbers = await chat.query("SELECT sequence FROM turn_events ORDER BY 1")
    assert numbers == [(number,) for number in range(1, 14)]


async def test_a_second_result_changes_nothing(chat: Chat) -> None:
    turn, (call,) = await _running(chat, "lookup")
    await chat.turns.store_result(turn, place(call), RESULT, failed=False)
    before = await _everything(chat)

    with pytest.raises(Fenced):
        await chat.turns.store_result(turn, place(call), {"error": "Late."}, failed=True)

    assert await _everything(chat) == before


async def test_of_many_results_of_one_call_one_is_stored(chat: Chat) -> None:
    turn, (call,) = await _running(chat, "lookup")

    told = await asyncio.gather(
        *(chat.turns.store_result(turn, place(call), RESULT, failed=False) for _ in range(6))
    )

    assert all(events == told[0] for events in told)
    (event,) = told[0]
    assert event.sequence == 3
    assert await chat.query("SELECT last_event FROM turns") == [(3,)]
    assert await chat.query("SELECT count(*) FROM turn_events") == [(3,)]


async def test_a_result_of_a_call_that_was_not_started_changes_nothing(chat: Chat) -> None:
    turn = await chat.prompt()
    before = await _everything(chat)

    with pytest.raises(Fenced):
        await chat.turns.store_result(turn, place(start()), RESULT, failed=False)

    assert await _everything(chat) == before


# ---------------------------------------------------------------- losing


async def test_f12_tools_of_a_failed_turn_become_unknown_and_a_retry_repeats_the_safe_one(
    chat: Chat,
) -> None:
    turn, (lookup, upsert) = await _running(chat, "lookup", "upsert")

    retry = await _retried(chat, turn)

    stored = await executions(chat.engine, retry)
    assert [(each.state, each.result) for each in stored] == [("unknown", UNKNOWN_RESULT)] * 2
    assert await chat.turns.start_tool(retry, lookup, again=False) is False
    assert await chat.turns.start_tool(retry, upsert, again=True) is True
    assert await _states(chat, retry) == [("unknown", 1), ("started", 2)]


async def test_who_reads_what_is_unfinished_keeps_it_so(chat: Chat) -> None:
    turn, (first, second, third) = await _running(chat, "lookup", "upsert", "lookup")
    await chat.turns.store_result(turn, place(second), RESULT, failed=False)

    async with chat.engine.begin() as connection:
        unfinished = await connection.run_sync(read_unfinished, turn)
        late = asyncio.create_task(
            chat.turns.store_result(turn, place(first), RESULT, failed=False)
        )
        waits = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        async with asyncio.timeout(2):
            while not await chat.query(waits):
                pass
        assert not late.done()

    assert [each.call_index for each in unfinished] == [first.call_index, third.call_index]
    await late


async def test_what_is_unfinished_is_for_the_turns_own_process(chat: Chat) -> None:
    turn, _ = await _running(chat, "lookup")
    await _taken_over(chat, turn)

    with pytest.raises(Fenced):
        await Database(chat.engine).write(lambda one: read_unfinished(one, turn), lambda _: False)


# ---------------------------------------------------------------- the running step


async def test_the_text_of_the_running_step_replaces_itself_and_tells_nobody(chat: Chat) -> None:
    turn = await chat.prompt()
    events = await chat.query("SELECT * FROM turn_events")

    await chat.turns.keep_partial_text(turn, "I am")
    await chat.turns.keep_partial_text(turn, "I am loo\x00king")

    assert await chat.query("SELECT partial_text FROM turns") == [("I am loo\ufffdking",)]
    assert await chat.query("SELECT * FROM turn_events") == events


# ---------------------------------------------------------------- lost COMMITs


async def _journal(chat: Chat, turn: OpenedTurn) -> None:
    calls = starts("lookup", step_no=2)
    await chat.turns.journal_step(turn, step_of(calls), called(calls), calls)


async def _journal_alone(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.journal_step(turn, step(step_no=2), (), ())


async def _start(chat: Chat, turn: OpenedTurn) -> None:
    assert await chat.turns.start_tool(turn, start(7), again=False)


async def _end(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.store_result(turn, place(start()), RESULT, failed=False)


async def _keep(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.keep_partial_text(turn, "I am\x00")


@pytest.mark.parametrize("loss", ["before", "after"])
@pytest.mark.parametrize("write", [_journal, _journal_alone, _start, _end, _keep])
async def test_a_lost_commit_is_looked_up(
    chat: Chat,
    database_url: str,
    write: Callable[[Chat, OpenedTurn], Awaitable[None]],
    loss: Loss,
) -> None:
    stored = "SELECT state, runs FROM tool_executions ORDER BY step_no, call_index"
    steps = "SELECT step_no FROM turn_steps"
    texts = "SELECT partial_text, last_event FROM turns"

    async def seen() -> list[list[tuple[Any, ...]]]:
        return [await chat.query(query) for query in (stored, steps, texts)]

    async with lossy_proxy(database_url) as proxy:
        engine = create_engine(proxy.url, pool_size=3)
        lossy = Chat(engine)
        turn, _ = await _running(lossy, "lookup")
        before = await seen()

        proxy.armed = loss
        if loss == "before":
            with pytest.raises(Unavailable):
                await write(lossy, turn)
            assert await seen() == before
            await write(lossy, turn)
        else:
            await write(lossy, turn)

        assert proxy.lost == 1
        assert await seen() != before
        await engine.dispose()


async def test_a_repeated_start_whose_commit_is_lost_may_run(chat: Chat, database_url: str) -> None:
    async with lossy_proxy(database_url) as proxy:
        engine = create_engine(proxy.url, pool_size=3)
        lossy = Chat(engine)
        turn, (call,) = await _running(lossy, "lookup")

        proxy.armed = "after"
        assert await lossy.turns.start_tool(turn, call, again=True)

        assert await _states(chat, turn) == [("started", 2)]
        await engine.dispose()

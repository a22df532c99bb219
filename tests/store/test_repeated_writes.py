"""Writes that are repeated, because the database was lost with the answer to their COMMIT.

It stayed away for longer than its look-up waits, so the repeat has to find what the first one did.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.errors import Unavailable
from parleyd.contract.events import BlocksChecked, Text, ToolReturned
from parleyd.contract.executions import UNKNOWN_RESULT
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnError
from parleyd.store.engine import create_engine
from parleyd.store.leases import PostgresLeaseStore
from parleyd.store.reading import PostgresTurnReader
from parleyd.turns.ports import EndedTurn, Ending, Fenced, OpenedTurn
from tests.store.chat import OWNER, Chat, ask, step
from tests.store.lossy_proxy import lossy_proxy
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

ERROR = TurnError(reason=Reason.MODEL_ERROR, message="The model could not answer.")


LOST = ToolReturned(
    tool_call_id=start().tool_call_id, tool_name="lookup", result=UNKNOWN_RESULT, is_error=True
)
LATE: JsonValue = {"error": "Late."}


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def _inside_a_tool(chat: Chat) -> OpenedTurn:
    turn = await chat.prompt()
    calls = starts("lookup")
    await chat.turns.journal_step(turn, step_of(calls), called(calls), calls)
    return turn


async def _taken_over(chat: Chat, turn: OpenedTurn) -> OpenedTurn:
    await die(chat.engine, turn)
    taken = await PostgresLeaseStore(chat.engine, chat.engine).take_turn("process-2", ["lookup"])
    assert taken
    return taken.turn


# ---------------------------------------------------------------- claims


async def test_a_repeated_claim_finds_itself_and_another_call_of_the_same_does_not(
    chat: Chat,
) -> None:
    turn = await chat.prompt()
    assert await chat.turns.start_tool(turn, start(), again=False)
    before = await executions(chat.engine, turn)

    assert not await chat.turns.start_tool(turn, start(), again=False)
    assert await chat.turns.start_tool(turn, start(), again=False, repeated=True)

    assert await executions(chat.engine, turn) == before


async def test_a_repeated_claim_that_stored_nothing_before_stores_it(chat: Chat) -> None:
    turn = await chat.prompt()

    assert await chat.turns.start_tool(turn, start(), again=False, repeated=True)

    (stored,) = await executions(chat.engine, turn)
    assert (stored.state, stored.turn_id, stored.runs) == ("started", turn.lease.turn_id, 1)


async def test_what_another_turn_has_claimed_is_no_claim_of_its_retry(chat: Chat) -> None:
    turn = await _inside_a_tool(chat)
    await chat.fail(turn)
    retry = await chat.retry(turn)
    assert not await chat.turns.start_tool(retry, start(), again=False, repeated=True)


async def test_a_call_that_has_its_result_is_not_claimed_however_often(chat: Chat) -> None:
    turn = await _inside_a_tool(chat)
    await chat.turns.store_result(turn, place(start()), RESULT, failed=False)
    for again in (False, True):
        assert not await chat.turns.start_tool(turn, start(), again=again, repeated=True)


async def test_a_claim_of_a_process_that_lost_the_turn_is_fenced(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.turns.start_tool(turn, start(), again=False)
    await _taken_over(chat, turn)
    with pytest.raises(Fenced):
        await chat.turns.start_tool(turn, start(), again=False, repeated=True)


async def test_a_repeated_claim_of_an_interrupted_call_is_one(chat: Chat) -> None:
    turn = await _taken_over(chat, await _inside_a_tool(chat))
    assert await chat.turns.start_tool(turn, start(), again=True)
    assert await chat.turns.start_tool(turn, start(), again=True, repeated=True)


# ---------------------------------------------------------------- results


@pytest.mark.parametrize("failed", [False, True], ids=["finished", "failed"])
async def test_a_repeated_result_is_told_as_it_was(chat: Chat, failed: bool) -> None:  # noqa: FBT001
    turn = await _inside_a_tool(chat)
    told = await chat.turns.store_result(turn, place(start()), RESULT, failed=failed)
    before = await executions(chat.engine, turn)

    again = await chat.turns.store_result(turn, place(start()), RESULT, failed=failed)

    assert again == told
    assert [event.sequence for event in again] == [3]
    assert await executions(chat.engine, turn) == before
    assert await chat.query("SELECT last_event FROM turns") == [(3,)]


async def test_another_result_is_not_taken_for_a_repeat(chat: Chat) -> None:
    turn = await _inside_a_tool(chat)
    await chat.turns.store_result(turn, place(start()), RESULT, failed=False)
    for result, failed in ((RESULT, True), (LATE, False)):
        with pytest.raises(Fenced):
            await chat.turns.store_result(turn, place(start()), result, failed=failed)


async def test_a_result_of_a_process_that_lost_the_turn_is_not_told(chat: Chat) -> None:
    turn = await _inside_a_tool(chat)
    await chat.turns.store_result(turn, place(start()), RESULT, failed=False)
    await _taken_over(chat, turn)
    with pytest.raises(Fenced):
        await chat.turns.store_result(turn, place(start()), RESULT, failed=False)


async def test_a_call_that_nobody_runs_again_becomes_unknown_once(chat: Chat) -> None:
    turn = await _taken_over(chat, await _inside_a_tool(chat))

    told = await chat.turns.lose_tool(turn, place(start()))
    again = await chat.turns.lose_tool(turn, place(start()))

    assert again == told
    assert [(event.sequence, event.body) for event in told] == [(4, LOST)]
    (stored,) = await executions(chat.engine, turn)
    assert (stored.state, stored.result) == ("unknown", UNKNOWN_RESULT)
    with pytest.raises(Fenced):
        await chat.turns.store_result(turn, place(start()), RESULT, failed=False)


# ---------------------------------------------------------------- replies ahead


async def test_a_reply_that_is_sent_ahead_is_one_event_and_no_row(chat: Chat) -> None:
    turn = await _inside_a_tool(chat)

    told = await chat.turns.send_text(turn, "v: \x00")

    assert [(event.sequence, event.body) for event in told] == [(3, Text(text="v: \ufffd"))]
    read = await PostgresTurnReader(chat.engine).read_events(OWNER, turn.lease.turn_id, 0)
    assert [event.sequence for event in read.events] == [1, 2, 3]
    assert read.events[2:] == told
    assert not read.closed
    assert [row.type for row in await chat.rows(turn.lease.conversation_id)] == ["user"]


async def test_a_reply_that_is_sent_again_is_told_as_it_was(chat: Chat) -> None:
    turn = await chat.prompt()
    told = await chat.turns.send_text(turn, "v: \x00")

    assert await chat.turns.send_text(turn, "v: \x00") == told

    assert await chat.query("SELECT last_event FROM turns") == [(2,)]


async def test_a_reply_that_was_sent_ahead_is_not_told_again_by_the_end(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.turns.send_text(turn, "v: 1")
    checked = BlocksChecked(document={"v": 1, "blocks": []})
    ended = await chat.turns.end_turn(turn, Ending(text="v: 2", sent="v: 1", blocks=checked))

    read = await PostgresTurnReader(chat.engine).read_events(OWNER, turn.lease.turn_id, 0)

    assert [event.body.kind for event in read.events] == [
        *("started", "text", "text_replaced", "blocks", "done")
    ]
    assert [event.sequence for event in read.events] == [1, 2, 3, 4, 5]
    assert read.events[2:] == ended.events
    assert read.closed


async def test_a_reply_whose_commit_is_lost_is_looked_up(chat: Chat, database_url: str) -> None:
    turn = await chat.prompt()
    async with lossy_proxy(database_url) as proxy:
        engine = create_engine(proxy.url, pool_size=3)
        lossy = Chat(engine)

        proxy.armed = "before"
        with pytest.raises(Unavailable):
            await lossy.turns.send_text(turn, "v: 1")
        assert await chat.query("SELECT last_event FROM turns") == [(1,)]

        proxy.armed = "after"
        told = await lossy.turns.send_text(turn, "v: 1")
        assert [event.sequence for event in told] == [2]
        assert await chat.query("SELECT last_event FROM turns") == [(2,)]

        assert await lossy.turns.send_text(turn, "v: 1") == told
        assert proxy.lost == 2
        await engine.dispose()


async def test_a_process_that_lost_the_turn_does_not_find_the_reply_it_sent(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.turns.send_text(turn, "v: 1")
    taken = await _taken_over(chat, turn)
    with pytest.raises(Fenced):
        await chat.turns.send_text(turn, "v: 1")
    assert [event.body.kind for event in taken.earlier] == ["started", "text"]


# ---------------------------------------------------------------- ends

PLAN, REGION = ask("call_plan"), ask("call_region")


async def _reply(chat: Chat, turn: OpenedTurn) -> EndedTurn:
    return await chat.reply(turn, "Done.")


async def _reply_without_title(chat: Chat, turn: OpenedTurn) -> EndedTurn:
    return await chat.reply(turn, "Done.", title_due=True)


async def _say_nothing(chat: Chat, turn: OpenedTurn) -> EndedTurn:
    return await chat.turns.end_turn(turn, Ending())


async def _pause(chat: Chat, turn: OpenedTurn) -> EndedTurn:
    return await chat.turns.end_turn(
        turn,
        Ending(step=step([PLAN, REGION]), asks=(PLAN, REGION), events=called(starts("lookup"))),
    )


async def _fail(chat: Chat, turn: OpenedTurn) -> EndedTurn:
    return await chat.turns.fail_turn(turn, ERROR, (), "I was")


End = Callable[[Chat, OpenedTurn], Awaitable[EndedTurn]]
ENDS = [_reply, _reply_without_title, _say_nothing, _pause, _fail]


@pytest.mark.parametrize("looks", [True, False], ids=["as seen", "locked"])
@pytest.mark.parametrize("end", ENDS)
async def test_a_repeated_end_is_told_as_it_was(
    engine: AsyncEngine,
    end: End,
    looks: bool,  # noqa: FBT001
) -> None:
    chat = Chat(engine, looks=looks)
    turn = await chat.prompt()
    told = await end(chat, turn)
    before = await chat.rows(turn.lease.conversation_id)

    assert await end(chat, turn) == told

    assert await chat.rows(turn.lease.conversation_id) == before


async def test_a_repeated_end_that_did_not_get_the_slot_is_told_as_it_was(chat: Chat) -> None:
    late = await chat.prompt()
    other = await chat.prompt("Meanwhile", late.lease.conversation_id)
    await chat.pause(other, ask("call_other"))
    told = await _pause(chat, late)
    assert told.result
    assert told.result.state == "completed"
    assert await _pause(chat, late) == told


async def test_a_repeated_failure_tells_of_its_tools_once_more(chat: Chat) -> None:
    turn = await _inside_a_tool(chat)
    told = await _fail(chat, turn)
    assert [event.body.kind for event in told.events] == ["tool_result", "error", "done"]
    assert await _fail(chat, turn) == told


@pytest.mark.parametrize("title", ["Trip", None])
@pytest.mark.parametrize("knows", [True, False], ids=["as seen", "locked"])
async def test_a_repeated_close_is_told_as_it_was(
    chat: Chat,
    title: str | None,
    knows: bool,  # noqa: FBT001
) -> None:
    turn = await chat.prompt()
    committed = (await _reply_without_title(chat, turn)).committed if knows else None
    if not knows:
        await _reply_without_title(chat, turn)
    told = await chat.turns.close_turn(turn, title, committed)
    assert told.result
    assert told.result.title == title

    assert await chat.turns.close_turn(turn, title, committed) == told

    assert (await chat.see(turn.lease.conversation_id)).title == title


OTHERWISE = [(_reply, _pause), (_reply, _fail), (_pause, _reply), (_pause, _fail), (_fail, _reply)]


@pytest.mark.parametrize(("first", "second"), OTHERWISE)
async def test_a_turn_that_has_ended_otherwise_is_not_ended(
    chat: Chat, first: End, second: End
) -> None:
    turn = await chat.prompt()
    await first(chat, turn)
    with pytest.raises(Fenced):
        await second(chat, turn)


async def test_an_end_of_a_process_that_lost_the_turn_is_not_told(chat: Chat) -> None:
    turn = await chat.prompt()
    await _reply_without_title(chat, turn)
    lost = replace(turn, lease=replace(turn.lease, epoch=2))
    with pytest.raises(Fenced):
        await _reply_without_title(chat, lost)


async def test_a_conversation_that_is_deleted_meanwhile_hides_no_end(chat: Chat) -> None:
    turn = await chat.prompt()
    told = await _reply(chat, turn)
    await chat.conversations.delete_conversation(OWNER, turn.lease.conversation_id)
    assert await _reply(chat, turn) == told

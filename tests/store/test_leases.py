"""Turns whose process is gone: who gets them, and how (spec turns 16.3)."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract import limits
from parleyd.contract.events import Resumed, ToolReturned
from parleyd.contract.executions import UNKNOWN_RESULT
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnError
from parleyd.store.leases import PostgresLeaseStore
from parleyd.turns.ports import Fenced, Lease, OpenedTurn
from tests.store.chat import OWNER, TEAM, Chat, prompt_opening, step
from tests.store.takeovers import inside_a_tool, take
from tests.store.tool_calls import RESULT, called, die, executions, place, starts, step_of

ERROR = TurnError(reason=Reason.INTERRUPTED, message="The turn was interrupted.")


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@pytest.fixture
def leases(engine: AsyncEngine) -> PostgresLeaseStore:
    return PostgresLeaseStore(engine, engine)


async def _change(chat: Chat, turn: OpenedTurn, changes: str) -> None:
    """Changes a turn's row where no port does, as time or another version would."""
    async with chat.engine.begin() as connection:
        await connection.execute(
            text(f"UPDATE turns SET {changes} WHERE id = :turn"), {"turn": turn.lease.turn_id}
        )


# ---------------------------------------------------------------- what is due


async def test_a_turn_that_runs_or_has_ended_is_not_due(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    await chat.prompt()
    ended = await chat.prompt()
    await chat.reply(ended)
    await die(chat.engine, ended)

    assert await leases.take_turn("process-2", ()) is None


async def test_the_turn_that_is_due_the_longest_comes_first(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    turns = [await chat.prompt() for _ in range(3)]
    for turn, seconds in zip(turns, (5, 20, 10), strict=True):
        await die(chat.engine, turn, seconds=seconds)

    taken = [(await take(leases)).turn.lease.turn_id for _ in turns]

    assert taken == [turns[index].lease.turn_id for index in (1, 2, 0)]
    assert await leases.take_turn("process-2", ()) is None


# ---------------------------------------------------------------- going on


async def test_a_turn_comes_with_all_that_its_first_process_knew(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    opening = replace(
        prompt_opening("Plan a trip"),
        surface="compact",
        project="travel",
        system_instruction="Be brief.",
    )
    turn = await chat.turns.open_turn(opening)
    await chat.turns.journal_step(turn, step(), (), ())
    await chat.turns.keep_partial_text(turn, "I am")
    await die(chat.engine, turn)

    taken = await take(leases)

    assert taken.verdict == "go_on"
    assert taken.turn.lease == Lease(
        turn.lease.turn_id, turn.lease.conversation_id, "process-2", epoch=2
    )
    assert taken.turn.age_seconds > 0
    first = replace(
        turn,
        lease=taken.turn.lease,
        events=taken.turn.events,
        earlier=turn.events,
        model="scripted-1",
        system_instruction="Be brief.",
        said="Plan a trip",
        steps_made=1,
        attempts=2,
        age_seconds=taken.turn.age_seconds,
        outlook=None,
    )
    assert taken.turn == first
    assert await chat.query("SELECT partial_text FROM turns") == [("",)]


async def test_an_answers_turn_comes_with_the_ask_it_resolved(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    conversation = await chat.waiting()
    turn = await chat.answer(conversation, "call_plan")
    await chat.turns.journal_step(turn, step(step_no=2), (), ())
    await die(chat.engine, turn)

    taken = (await take(leases)).turn

    assert taken.input_kind == "answer"
    assert taken.resolved
    assert (taken.resolved.tool_call_id, taken.resolved.answer) == ("call_plan", TEAM)
    assert (taken.chain_id, taken.context_max_seq) == (turn.chain_id, turn.context_max_seq)
    assert taken.steps_made == 1
    assert [event.body.kind for event in taken.earlier] == ["started", "ask_resolved"]


async def test_the_log_goes_on_where_it_was(chat: Chat, leases: PostgresLeaseStore) -> None:
    turn = await chat.prompt()
    calls = starts("lookup")
    told = await chat.turns.journal_step(turn, step_of(calls), called(calls), calls)
    told += await chat.turns.store_result(turn, place(calls[0]), RESULT, failed=False)
    await die(chat.engine, turn)

    first = (await take(leases)).turn
    await die(chat.engine, turn)
    second = (await take(leases, "process-3")).turn
    ended = await chat.reply(second)

    assert first.earlier == (*turn.events, *told)
    assert [event.body for event in first.events] == [Resumed(attempt=2)]
    assert second.earlier == (*first.earlier, *first.events)
    assert [event.body for event in second.events] == [Resumed(attempt=3)]
    log = (*second.earlier, *second.events, *ended.events)
    assert [event.sequence for event in log] == list(range(1, 8))
    stored = await chat.query("SELECT sequence FROM turn_events ORDER BY 1")
    assert stored == [(event.sequence,) for event in log]


async def test_unfinished_tools_become_unknown_unless_they_may_run_again(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    turn = await chat.prompt()
    calls = starts("lookup", "upsert", "lookup", "lookup")
    await chat.turns.journal_step(turn, step_of(calls), called(calls), calls)
    await chat.turns.store_result(turn, place(calls[2]), RESULT, failed=False)
    await die(chat.engine, turn)

    taken = await leases.take_turn("process-2", {"upsert"})

    assert taken
    stored = await executions(chat.engine, turn)
    assert [each.state for each in stored] == ["unknown", "started", "finished", "unknown"]
    assert [each.result for each in stored] == [UNKNOWN_RESULT, None, RESULT, UNKNOWN_RESULT]
    resumed, *lost = [event.body for event in taken.turn.events]
    assert resumed == Resumed(attempt=2)
    assert lost == [
        ToolReturned(
            tool_call_id=call.tool_call_id, tool_name="lookup", result=UNKNOWN_RESULT, is_error=True
        )
        for call in (calls[0], calls[3])
    ]
    assert await chat.query("SELECT last_event FROM turns") == [(9,)]
    assert await chat.turns.start_tool(taken.turn, calls[1], again=True)


# ---------------------------------------------------------------- many processes


async def test_of_six_that_want_one_turn_one_gets_it(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    turn = await chat.prompt()
    await die(chat.engine, turn)

    taken = await asyncio.gather(
        *(leases.take_turn(f"process-{number}", ()) for number in range(2, 8))
    )

    (won,) = [each for each in taken if each]
    assert await chat.query("SELECT lease_holder, lease_epoch, last_event FROM turns") == [
        (won.turn.lease.holder, 2, 2)
    ]


async def test_c11_each_of_many_dead_turns_is_taken_once(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    turns = [await chat.prompt() for _ in range(20)]
    await die(chat.engine, *turns)

    async def reap(holder: str) -> list[Lease]:
        got: list[Lease] = []
        while taken := await leases.take_turn(holder, ()):
            got.append(taken.turn.lease)
        return got

    got = await asyncio.gather(*(reap(f"process-{number}") for number in range(2, 6)))

    taken = [lease for each in got for lease in each]
    assert Counter(lease.turn_id for lease in taken) == Counter(
        turn.lease.turn_id for turn in turns
    )
    assert {lease.epoch for lease in taken} == {2}
    assert await chat.query("SELECT DISTINCT lease_epoch, attempts, last_event FROM turns") == [
        (2, 2, 2)
    ]


async def test_a_turn_that_is_written_at_this_moment_is_passed_by(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    written, other = await chat.prompt(), await chat.prompt()
    await die(chat.engine, written, seconds=20)
    await die(chat.engine, other)

    async with chat.engine.begin() as connection:
        await connection.execute(
            text("UPDATE turns SET lease_until = now() + interval '10 s' WHERE id = :turn"),
            {"turn": written.lease.turn_id},
        )
        taken = await take(leases)
        assert taken.turn.lease.turn_id == other.lease.turn_id
        assert await leases.take_turn("process-2", ()) is None

    assert await leases.take_turn("process-2", ()) is None
    await chat.reply(written)


# ---------------------------------------------------------------- ending instead


async def test_c9_a_turn_whose_third_process_died_is_given_up(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    turn = await chat.prompt()
    for number in (2, 3):
        await die(chat.engine, turn)
        taken = await take(leases, f"process-{number}")
        assert taken.verdict == "go_on"
        await chat.turns.keep_partial_text(taken.turn, f"Try {number}")
    await die(chat.engine, turn)

    taken = await take(leases, "process-4")

    assert taken.verdict == "interrupted"
    assert (taken.turn.events, taken.partial_text) == ((), "Try 3")
    assert [event.body.kind for event in taken.turn.earlier] == ["started", "resumed", "resumed"]
    ended = await chat.turns.fail_turn(taken.turn, ERROR, (), taken.partial_text)
    assert ended.result
    assert ended.result.retryable


async def test_a_lease_that_was_given_back_is_no_attempt(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    turn = await chat.prompt()
    for number in range(2, 8):
        await leases.release_turn(turn)
        taken = await take(leases, f"process-{number}")
        assert taken.verdict == "go_on"
        turn = taken.turn

    assert (turn.lease.epoch, turn.attempts) == (7, 1)
    await chat.reply(turn)


async def test_c17_a_turn_of_a_deleted_conversation_is_given_up(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    turn = await inside_a_tool(chat)
    await chat.conversations.delete_conversation(OWNER, turn.lease.conversation_id)
    await die(chat.engine, turn)

    taken = await take(leases)

    assert (taken.verdict, taken.turn.events) == ("interrupted", ())
    ended = await chat.turns.fail_turn(taken.turn, ERROR, (), "")
    assert [event.body.kind for event in ended.events] == ["tool_result", "error", "done"]
    assert ended.result
    assert ended.result.retryable is False


async def test_c15_a_turn_with_a_key_that_only_its_caller_has_is_given_up(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    turn = await chat.turns.open_turn(replace(prompt_opening(), caller_key=True))
    await die(chat.engine, turn)

    assert (await take(leases)).verdict == "interrupted"


async def test_c18_a_turn_older_than_its_wall_time_ends(chat: Chat, engine: AsyncEngine) -> None:
    turn = await inside_a_tool(chat)
    await chat.turns.keep_partial_text(turn, "I am")
    await _change(chat, turn, "create_time = now() - interval '100 s'")
    await die(chat.engine, turn)
    before = await executions(chat.engine, turn)

    taken = await take(PostgresLeaseStore(engine, engine, turn_seconds=99))

    assert (taken.verdict, taken.partial_text, taken.turn.events) == ("timed_out", "I am", ())
    assert 100 <= taken.turn.age_seconds < 110
    assert await executions(chat.engine, turn) == before


async def test_a_turn_within_its_wall_time_goes_on(chat: Chat, leases: PostgresLeaseStore) -> None:
    turn = await chat.prompt()
    await _change(chat, turn, f"create_time = now() - interval '{limits.TURN_SECONDS - 20} s'")
    await die(chat.engine, turn)

    assert (await take(leases)).verdict == "go_on"


async def test_c8_a_turn_that_only_lacks_its_end_is_closed(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    turn = await chat.prompt()
    await chat.reply(turn, title_due=True)
    await die(chat.engine, turn)

    taken = await take(leases)

    assert (taken.verdict, taken.turn.events) == ("close", ())
    with pytest.raises(Fenced):
        await chat.turns.close_turn(turn, "Trip")
    ended = await chat.turns.close_turn(taken.turn, None)
    assert [event.body.kind for event in ended.events] == ["done"]
    assert ended.result
    assert (ended.result.state, ended.result.text, ended.result.title) == (
        "completed",
        "Done.",
        None,
    )

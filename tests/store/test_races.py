"""Who wins when several act on one conversation at once."""

import asyncio
from collections import Counter

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.answers import cancelled
from parleyd.contract.errors import AskNotPending, ConversationNotFound
from parleyd.turns.ports import OpenedTurn
from tests.store.chat import OWNER, TEAM, Chat, ask

ROUNDS = 10


@pytest.fixture(params=[True, False], ids=["as seen", "locked"])
def chat(engine: AsyncEngine, request: pytest.FixtureRequest) -> Chat:
    return Chat(engine, looks=request.param)


async def test_of_eight_answers_at_once_one_wins_and_the_others_name_it(chat: Chat) -> None:
    for _ in range(ROUNDS):
        conversation = await chat.waiting()

        outcomes = await asyncio.gather(
            *(chat.answer(conversation, "call_plan") for _ in range(8)), return_exceptions=True
        )

        (winner,) = [each for each in outcomes if isinstance(each, OpenedTurn)]
        losers = [each for each in outcomes if isinstance(each, AskNotPending)]
        assert len(losers) == 7
        assert {loser.metadata["resolved_by_turn_id"] for loser in losers} == {
            str(winner.lease.turn_id)
        }
        assert {loser.metadata["action"] for loser in losers} == {"accept"}
        rows = await chat.rows(conversation)
        assert [row.type for row in rows] == ["user", "tool_call", "tool_result"]


async def test_of_two_turns_that_pause_at_once_one_keeps_the_slot(chat: Chat) -> None:
    for _ in range(ROUNDS):
        first = await chat.prompt("One")
        conversation = first.lease.conversation_id
        second = await chat.prompt("Two", conversation)

        ended = await asyncio.gather(
            chat.pause(first, ask("call_one")), chat.pause(second, ask("call_two"))
        )

        states = Counter(each.result.state for each in ended if each.result)
        assert states == {"paused": 1, "completed": 1}
        pending = await chat.pending(conversation)
        assert pending
        loser = "call_two" if pending.tool_call_id == "call_one" else "call_one"
        named = await chat.ask_named(conversation, loser)
        assert named.answer == cancelled("one_ask_at_a_time")
        with pytest.raises(AskNotPending) as refused:
            await chat.answer(conversation, loser)
        assert refused.value.current == pending.tool_call_id
        assert refused.value.metadata["resolved_by_turn_id"] == str(named.created_by_turn)
        rows = await chat.rows(conversation)
        assert [row.turn_no for row in rows] == sorted(row.turn_no for row in rows)


async def test_a_message_and_an_answer_at_once_leave_one_result(chat: Chat) -> None:
    for _ in range(ROUNDS):
        conversation = await chat.waiting()

        said, answered = await asyncio.gather(
            chat.prompt("Never mind", conversation),
            chat.answer(conversation, "call_plan"),
            return_exceptions=True,
        )

        assert isinstance(said, OpenedTurn)
        (result,) = [row for row in await chat.rows(conversation) if row.type == "tool_result"]
        if isinstance(answered, OpenedTurn):
            assert (result.turn_id, result.result) == (answered.lease.turn_id, TEAM)
            assert [event.body.kind for event in said.events] == ["started"]
            assert await chat.step_numbers(answered) == [1]
        else:
            assert isinstance(answered, AskNotPending)
            assert answered.metadata["resolved_by_turn_id"] == str(said.lease.turn_id)
            assert (result.turn_id, result.result) == (
                said.lease.turn_id,
                cancelled("user_sent_message"),
            )


async def test_of_two_messages_at_once_one_cancels_the_ask(chat: Chat) -> None:
    for _ in range(ROUNDS):
        conversation = await chat.waiting()

        turns = await asyncio.gather(*(chat.prompt("No", conversation) for _ in range(2)))

        kinds = sorted([event.body.kind for event in turn.events] for turn in turns)
        assert kinds == [["started"], ["started", "ask_resolved"]]
        types = Counter(row.type for row in await chat.rows(conversation))
        assert types == {"user": 3, "tool_call": 1, "tool_result": 1}


async def test_a_deletion_and_an_answer_at_once_never_leave_the_ask_pending(chat: Chat) -> None:
    for _ in range(ROUNDS):
        conversation = await chat.waiting()

        deleted, answered = await asyncio.gather(
            chat.conversations.delete_conversation(OWNER, conversation),
            chat.answer(conversation, "call_plan"),
            return_exceptions=True,
        )

        assert deleted is None
        assert isinstance(answered, OpenedTurn | ConversationNotFound)
        assert await chat.query(
            "SELECT count(*) FROM asks WHERE conversation_id = :id AND status = 'pending'",
            id=conversation,
        ) == [(0,)]


async def test_rows_of_turns_that_run_at_once_stay_together(chat: Chat) -> None:
    first = await chat.prompt("One")
    conversation = first.lease.conversation_id
    others = await asyncio.gather(
        *(chat.prompt(f"Message {number}", conversation) for number in range(6))
    )
    turns = [first, *others]

    await asyncio.gather(*(chat.reply(turn, f"To {turn.turn_no}") for turn in turns))

    rows = await chat.rows(conversation)
    assert [row.type for row in rows] == ["user", "assistant"] * 7
    assert [row.turn_no for row in rows] == [
        number for turn in range(1, 8) for number in (turn,) * 2
    ]
    assert [row.text for row in rows[1::2]] == [f"To {number}" for number in range(1, 8)]
    assert sorted(row.seq for row in rows) == list(range(1, 15))

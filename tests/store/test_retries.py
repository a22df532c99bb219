"""Retries at the store: a failed turn's chain goes on in a new turn (spec turns 3.7.2)."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.answers import cancelled
from parleyd.contract.errors import ConversationNotFound, NotOwner, TurnNotFound, TurnNotRetryable
from parleyd.contract.events import Started
from parleyd.contract.json import compact
from parleyd.turns.ports import OpenedTurn
from tests.store.chat import TEAM, Chat, ask, retry_opening, step

ROUNDS = 10


@pytest.fixture(params=[True, False], ids=["as seen", "locked"])
def chat(engine: AsyncEngine, request: pytest.FixtureRequest) -> Chat:
    return Chat(engine, looks=request.param)


async def test_f10_a_retry_goes_on_with_the_chain_and_adds_no_row(chat: Chat) -> None:
    failed = await chat.failed()
    conversation = failed.lease.conversation_id
    rows = await chat.rows(conversation)

    turn = await chat.retry(failed)

    assert (turn.turn_no, turn.input_kind, turn.retry_of) == (3, "retry", failed.lease.turn_id)
    assert (turn.chain_id, turn.context_max_seq) == (failed.chain_id, failed.context_max_seq)
    assert [event.body for event in turn.events] == [
        Started(
            conversation_id=conversation,
            conversation_created=False,
            retry_of_turn_id=failed.lease.turn_id,
        )
    ]
    assert (turn.said, turn.resolved) == (compact(TEAM), None)
    assert await chat.rows(conversation) == rows
    assert await chat.step_numbers(turn) == [1]
    assert (await chat.see(conversation)).retryable_turn_id is None
    assert await chat.query(
        "SELECT input_kind, retry_of, answered_ask_id FROM turns WHERE id = :id",
        id=turn.lease.turn_id,
    ) == [("retry", failed.lease.turn_id, None)]
    assert await chat.turns.read_chain(turn) == await chat.turns.read_chain(failed)

    await chat.reply(turn)
    assert await chat.step_numbers(turn) == []


async def test_f14_what_a_failed_turn_said_is_superseded_by_its_retry(chat: Chat) -> None:
    first = await chat.prompt("One")
    conversation = first.lease.conversation_id
    await chat.fail(first, "I was about")
    seen = await chat.prompt("Two", conversation)
    before = (await chat.turns.read_chain(seen)).history
    await chat.fail(seen, "And then")

    await chat.reply(await chat.retry(seen))
    third = await chat.prompt("Three", conversation)
    after = (await chat.turns.read_chain(third)).history

    assert [(row.text, row.superseded) for row in before] == [
        ("One", False),
        ("I was about", False),
        ("Two", False),
    ]
    assert [row.text for row in after if row.superseded] == ["And then"]
    assert [row.text for row in after if row.status == "error"] == ["I was about", "And then"]


async def test_f15_a_retry_that_fails_may_be_retried_and_the_first_turn_may_not(
    chat: Chat,
) -> None:
    failed = await chat.failed()
    again = await chat.retry(failed)
    await chat.fail(again)

    third = await chat.retry(again)

    assert (third.chain_id, third.retry_of, third.said) == (
        failed.chain_id,
        again.lease.turn_id,
        compact(TEAM),
    )
    assert await chat.step_numbers(third) == [1]
    with pytest.raises(TurnNotRetryable) as refused:
        await chat.retry(failed)
    assert (refused.value.state, refused.value.retried_by) == ("failed", again.lease.turn_id)


async def test_f5_a_turn_that_another_one_passed_by_is_not_retried(chat: Chat) -> None:
    turn = await chat.answer(await chat.waiting(), "call_plan")
    await chat.prompt("Meanwhile", turn.lease.conversation_id)

    ended = await chat.fail(turn)

    assert ended.result
    assert not ended.result.retryable
    assert await chat.step_numbers(turn) == []
    with pytest.raises(TurnNotRetryable):
        await chat.retry(turn)


async def test_f16_nothing_is_written_where_there_is_nothing_to_retry(chat: Chat) -> None:
    running = await chat.prompt()
    conversation = running.lease.conversation_id
    elsewhere = await chat.failed()
    before = await chat.query("SELECT count(*), max(turn_no) FROM turns")

    with pytest.raises(TurnNotRetryable) as refused:
        await chat.retry(running)
    assert refused.value.state == "running"
    for turn_id in (uuid4(), elsewhere.lease.turn_id):
        with pytest.raises(TurnNotFound):
            await chat.open(retry_opening(conversation, turn_id))
    with pytest.raises(NotOwner):
        await chat.open(chat.by("eve", retry_opening(conversation, running.lease.turn_id)))
    await chat.conversations.delete_conversation("ada", elsewhere.lease.conversation_id)
    with pytest.raises(ConversationNotFound):
        await chat.retry(elsewhere)

    assert await chat.query("SELECT count(*), max(turn_no) FROM turns") == before


async def test_f18_a_retry_leaves_another_chains_ask_pending_and_loses_the_slot_to_it(
    chat: Chat,
) -> None:
    earlier = await chat.prompt("One")
    conversation = earlier.lease.conversation_id
    failed = await chat.prompt("Two", conversation)
    await chat.pause(earlier, ask("call_earlier"))
    await chat.fail(failed)

    retry = await chat.retry(failed)
    ended = await chat.pause(retry, ask("call_late"))

    assert ended.result
    assert (ended.result.state, ended.result.pending_ask) == ("completed", None)
    pending = await chat.pending(conversation)
    assert pending
    assert pending.tool_call_id == "call_earlier"
    late = await chat.ask_named(conversation, "call_late")
    assert late.answer == cancelled("one_ask_at_a_time")


async def test_f13_a_retry_asks_what_a_journaled_step_had_asked(chat: Chat) -> None:
    turn = await chat.prompt()
    asked = ask("call_plan")
    await chat.turns.journal_step(turn, step([asked]), (), ())
    await chat.fail(turn)

    retry = await chat.retry(turn)
    (journaled,) = (await chat.turns.read_chain(retry)).steps
    ended = await chat.ask_again(retry, asked)

    assert journaled == step([asked])
    assert ended.result
    assert ended.result.state == "paused"
    answered = await chat.answer(retry.lease.conversation_id, "call_plan")
    chain = await chat.turns.read_chain(answered)
    assert chain.steps == (journaled,)
    assert [(each.id, each.answer) for each in chain.asks] == [(asked.ask_id, TEAM)]


async def test_a_journaled_ask_finds_its_row_under_another_public_id(chat: Chat) -> None:
    conversation = await chat.waiting("call_1")
    first = await chat.answer(conversation, "call_1")
    asked = ask("call_1")
    await chat.turns.journal_step(first, step([asked], step_no=2), (), ())

    ended = await chat.ask_again(first, asked)

    assert ended.result
    assert ended.result.pending_ask
    assert ended.result.pending_ask.tool_call_id == asked.spare_call_id
    answered = await chat.answer(conversation, asked.spare_call_id)
    chain = await chat.turns.read_chain(answered)
    assert [call.ask_id for each in chain.steps for call in each.calls] == [
        each.id for each in chain.asks
    ]


async def test_f17_of_eight_retries_at_once_one_wins_and_the_others_name_it(chat: Chat) -> None:
    for _ in range(ROUNDS):
        failed = await chat.failed()

        outcomes = await asyncio.gather(
            *(chat.retry(failed) for _ in range(8)), return_exceptions=True
        )

        (winner,) = [each for each in outcomes if isinstance(each, OpenedTurn)]
        losers = [each for each in outcomes if isinstance(each, TurnNotRetryable)]
        assert {loser.retried_by for loser in losers} == {winner.lease.turn_id}
        assert len(losers) == 7


async def test_f17_of_a_retry_and_a_message_at_once_the_steps_are_the_retrys(chat: Chat) -> None:
    for _ in range(ROUNDS):
        failed = await chat.failed()

        said, retried = await asyncio.gather(
            chat.prompt("More", failed.lease.conversation_id),
            chat.retry(failed),
            return_exceptions=True,
        )

        assert isinstance(said, OpenedTurn)
        if isinstance(retried, OpenedTurn):
            assert retried.turn_no < said.turn_no
            assert await chat.step_numbers(failed) == [1]
        else:
            assert isinstance(retried, TurnNotRetryable)
            assert (retried.state, retried.retried_by) == ("failed", None)
            assert await chat.step_numbers(failed) == []


async def test_a_retry_keeps_what_it_was_told(chat: Chat) -> None:
    failed = await chat.failed()
    opening = retry_opening(failed.lease.conversation_id, failed.lease.turn_id)

    turn = await chat.open(
        replace(opening, surface="compact", system_instruction="Be brief.", caller_key=True)
    )

    assert (turn.surface, turn.system_instruction) == ("compact", "Be brief.")
    assert await chat.query(
        "SELECT surface, options FROM turns WHERE id = :id", id=turn.lease.turn_id
    ) == [("compact", {"system_instruction": "Be brief.", "caller_key": True})]

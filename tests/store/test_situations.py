"""What a request meets, read in one query."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.answers import accepted
from parleyd.contract.errors import ConversationNotFound, NotOwner
from parleyd.turns.conversations import ConversationChanges
from parleyd.turns.ports import CollectedAsk, Ending, OpenedTurn
from parleyd.turns.requests import RequestKey
from parleyd.turns.situations import NamedAsks, RepeatedRequest, Situation, Wanted
from tests.store.chat import OWNER, Chat, approval, ask, prompt_opening, step
from tests.store.queries import all_told, queries_of


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def look(chat: Chat, conversation: UUID | None, **more: Any) -> Situation:
    return await chat.turns.read_situation(OWNER, Wanted(conversation, **more))


async def test_before_its_first_message_a_person_meets_nothing(chat: Chat) -> None:
    assert await look(chat, None) == Situation()


async def test_a_conversation_is_met_as_it_stands(chat: Chat) -> None:
    conversation = await chat.waiting()
    changes = ConversationChanges(frozenset({"title", "project"}), "Trip", "home")
    await chat.conversations.update_conversation(OWNER, conversation, changes)

    seen = (await look(chat, conversation)).conversation

    assert seen
    assert (seen.id, seen.owner, seen.title, seen.project) == (conversation, OWNER, "Trip", "home")
    assert (seen.last_seq, seen.last_turn_no, seen.deleted) == (2, 1, False)
    assert seen.retryable_turn_id is None


async def test_the_pending_and_the_named_ask_are_met(chat: Chat) -> None:
    await chat.prompt("Elsewhere")
    first = await chat.prompt("One")
    conversation = first.lease.conversation_id
    await chat.reply(first)
    await chat.pause(await chat.prompt("Two", conversation))

    both = (await look(chat, conversation, tool_call_id="call_plan")).asks
    pending_alone = (await look(chat, conversation, tool_call_id="call_other")).asks
    second = await chat.answer(conversation, "call_plan")
    named_alone = (await look(chat, conversation, tool_call_id="call_plan")).asks
    neither = (await look(chat, conversation)).asks
    await chat.pause(second, ask("call_region"), step_no=2)
    two = (await look(chat, conversation, tool_call_id="call_plan")).asks

    assert both.pending == both.named == pending_alone.pending
    assert both.chain_start == pending_alone.chain_start == 3
    assert (pending_alone.named, named_alone.pending) == (None, None)
    assert named_alone.named
    assert named_alone.named.status == "answered"
    assert neither == NamedAsks()
    assert two.pending
    assert (two.pending.tool_call_id, two.chain_start) == ("call_region", 3)
    assert two.named == named_alone.named


async def test_running_turns_are_counted(chat: Chat) -> None:
    first = await chat.prompt()
    here = first.lease.conversation_id
    second = await chat.prompt("More", here)
    await chat.prompt("Elsewhere")
    await chat.turns.open_turn(chat.by("eve", prompt_opening()))

    running = await look(chat, here)
    await chat.reply(first, title_due=True)
    await chat.pause(second)
    ended = await look(chat, here)
    nowhere = await look(chat, None)

    assert (running.running_of_owner, running.running_of_conversation) == (3, 2)
    assert (ended.running_of_owner, ended.running_of_conversation) == (1, 0)
    assert (nowhere.running_of_owner, nowhere.running_of_conversation) == (1, 0)


@pytest.mark.parametrize("deleted", [False, True], ids=["there", "deleted"])
async def test_a_stranger_learns_only_that_it_is_not_theirs(chat: Chat, *, deleted: bool) -> None:
    conversation = await chat.waiting()
    if deleted:
        await chat.conversations.delete_conversation(OWNER, conversation)

    with pytest.raises(ConversationNotFound if deleted else NotOwner):
        await chat.turns.read_situation("eve", Wanted(conversation, "call_plan"))


async def test_there_is_nothing_to_meet_in_an_unknown_conversation(chat: Chat) -> None:
    with pytest.raises(ConversationNotFound):
        await look(chat, uuid4())


# ---------------------------------------------------------------- approvals


async def _guarded(chat: Chat, *asks: CollectedAsk) -> tuple[UUID, NamedAsks]:
    """Returns a conversation that waits on the first of these, and what is met in it."""
    turn = await chat.prompt()
    conversation = turn.lease.conversation_id
    ending = Ending(step=step(asks), asks=asks[:1])
    await chat.turns.end_turn(turn, ending)
    return conversation, (await look(chat, conversation)).asks


async def test_of_an_approval_the_call_that_it_guards_is_met(chat: Chat) -> None:
    delete = approval(args={"all": True})

    conversation, met = await _guarded(chat, delete)
    answered = await chat.answer(conversation, "apr_call_delete", accepted({"confirmed": True}))
    afterwards = (await look(chat, conversation, tool_call_id="apr_call_delete")).asks

    assert met.guarded == (delete.call,)
    assert met.pending
    assert (met.pending.id, met.pending.origin) == (delete.ask_id, "approval")
    assert answered.resolved
    assert answered.resolved.id == delete.ask_id
    assert (afterwards.guarded, afterwards.pending) == ((), None)


async def test_of_several_calls_every_one_that_needs_an_approval_is_met_in_order(
    chat: Chat,
) -> None:
    first, plan, second = (
        approval(),
        ask("call_plan"),
        approval("call_archive", {"a": 3.0}, first=False),
    )

    _, met = await _guarded(chat, first, plan, second)

    assert met.guarded == (first.call, second.call)


async def test_an_ask_that_came_first_meets_the_approval_behind_it(chat: Chat) -> None:
    plan, delete = ask("call_plan"), approval(first=False)

    _, met = await _guarded(chat, plan, delete)

    assert met.pending
    assert met.pending.id == plan.ask_id
    assert met.guarded == (delete.call,)


async def test_where_nothing_needs_an_approval_none_is_met(chat: Chat) -> None:
    _, met = await _guarded(chat, ask("call_plan"), ask("call_region"))

    assert met.guarded == ()


async def test_of_a_chain_only_the_step_that_waits_is_met(chat: Chat) -> None:
    delete = approval()
    conversation, _ = await _guarded(chat, delete)
    turn = await chat.answer(conversation, "apr_call_delete", accepted({"confirmed": True}))
    archive = approval("call_archive")
    await chat.turns.end_turn(turn, Ending(step=step([archive], step_no=2), asks=(archive,)))

    met = (await look(chat, conversation, tool_call_id="apr_call_delete")).asks

    assert met.named
    assert met.named.id == delete.ask_id
    assert met.guarded == (archive.call,)


# ---------------------------------------------------------------- retries


async def _running(chat: Chat, turn: OpenedTurn) -> None:
    del chat, turn


async def _committed(chat: Chat, turn: OpenedTurn) -> None:
    await chat.reply(turn, title_due=True)


async def _completed(chat: Chat, turn: OpenedTurn) -> None:
    await chat.reply(turn)


async def _paused(chat: Chat, turn: OpenedTurn) -> None:
    await chat.pause(turn)


async def _failed(chat: Chat, turn: OpenedTurn) -> None:
    await chat.fail(turn)


async def _failed_and_passed_by(chat: Chat, turn: OpenedTurn) -> None:
    await chat.fail(turn)
    await chat.prompt("More", turn.lease.conversation_id)


@pytest.mark.parametrize(
    ("end", "state", "retryable"),
    [
        pytest.param(_running, "running", False, id="running"),
        pytest.param(_committed, "running", False, id="without its title"),
        pytest.param(_completed, "completed", False, id="completed"),
        pytest.param(_paused, "paused", False, id="paused"),
        pytest.param(_failed, "failed", True, id="failed"),
        pytest.param(_failed_and_passed_by, "failed", False, id="failed and passed by"),
    ],
)
async def test_f16_a_turn_that_is_to_be_retried_is_met_as_it_stands(
    chat: Chat,
    end: Callable[[Chat, OpenedTurn], Awaitable[None]],
    state: str,
    *,
    retryable: bool,
) -> None:
    told = replace(prompt_opening(), system_instruction="Be brief.\x00", surface="compact")
    turn = await chat.open(told)
    await end(chat, turn)

    failed = (await look(chat, turn.lease.conversation_id, retry_turn_id=turn.lease.turn_id)).failed

    assert failed
    assert (failed.turn_id, failed.state, failed.retryable) == (
        turn.lease.turn_id,
        state,
        retryable,
    )
    assert (failed.chain_id, failed.context_max_seq) == (turn.chain_id, 1)
    assert (failed.surface, failed.model, failed.system_instruction) == (
        "compact",
        "scripted-1",
        "Be brief.\ufffd",
    )
    assert failed.retried_by is None


async def test_f15_a_retried_turn_names_what_retried_it(chat: Chat) -> None:
    failed = await chat.failed()
    retry = await chat.retry(failed)

    seen = await look(chat, failed.lease.conversation_id, retry_turn_id=failed.lease.turn_id)

    assert seen.failed
    assert (seen.failed.retryable, seen.failed.retried_by) == (False, retry.lease.turn_id)


async def test_a_turn_of_another_conversation_is_none_of_this_one(chat: Chat) -> None:
    failed = await chat.failed()
    other = await chat.prompt()

    seen = await look(chat, other.lease.conversation_id, retry_turn_id=failed.lease.turn_id)

    assert seen.failed is None


# ---------------------------------------------------------------- repeats


async def test_w10_a_request_that_was_seen_before_meets_its_turn_alone(chat: Chat) -> None:
    key = RequestKey(uuid4(), b"digest")
    turn = await chat.open(replace(prompt_opening(), request=key))
    repeated = RepeatedRequest(turn.lease.turn_id, turn.lease.conversation_id, b"digest")

    same = await look(chat, None, request=key)
    other = await look(chat, uuid4(), request=RequestKey(key.id, b"other"))
    theirs = await chat.turns.read_situation("eve", Wanted(None, request=key))

    assert same == other == Situation(repeated)
    assert theirs == Situation()


async def test_a_request_id_is_forgotten_after_a_day(chat: Chat) -> None:
    key = RequestKey(uuid4(), b"digest")
    await chat.open(replace(prompt_opening(), request=key))
    async with chat.engine.begin() as connection:
        await connection.execute(
            text(
                "UPDATE turns SET create_time = now() - interval '24 h 1 s', state = 'closed',"
                " outcome = 'completed', close_time = now()"
            )
        )

    assert await look(chat, None, request=key) == Situation()


async def test_a_request_is_looked_up_in_one_query(chat: Chat) -> None:
    failed = await chat.failed()
    asked = queries_of(chat.engine)

    await look(
        chat,
        failed.lease.conversation_id,
        tool_call_id="call_plan",
        retry_turn_id=failed.lease.turn_id,
        request=RequestKey(uuid4(), b""),
    )

    await all_told()
    assert len(asked) == 1

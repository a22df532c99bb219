"""Conversations at the store: made, read, changed, deleted."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.answers import cancelled
from parleyd.contract.errors import ConversationNotFound, NotOwner
from parleyd.contract.pages import PageRequest
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnError
from parleyd.turns.conversations import ConversationChanges
from parleyd.turns.ports import RetryOpening
from tests.store.chat import OWNER, Chat, ask, prompt_opening, step

FIRST = PageRequest(size=50)
ERROR = TurnError(reason=Reason.MODEL_ERROR, message="Sorry.")


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def test_a_new_conversation_is_empty_and_its_owners(chat: Chat) -> None:
    key = uuid4()

    made = await chat.conversations.create_conversation(OWNER, key, "Trip", "home")

    assert made == await chat.see(key)
    assert (made.id, made.title, made.project) == (key, "Trip", "home")
    assert (made.pending_ask, made.running_turn_id, made.retryable_turn_id) == (None, None, None)
    assert made.create_time == made.update_time
    assert await chat.rows(key) == ()


async def test_a_turn_makes_its_conversation_in_a_project(chat: Chat) -> None:
    opening = prompt_opening()

    await chat.turns.open_turn(chat.within("work", opening))

    assert (await chat.see(opening.new_conversation_id)).project == "work"


async def test_a_turn_leaves_the_project_of_its_conversation_alone(chat: Chat) -> None:
    conversation = await chat.create(project="home")

    turn = await chat.turns.open_turn(chat.within("work", prompt_opening("Hi", conversation)))

    assert turn.project == "home"
    assert (await chat.see(conversation)).project == "home"


# ---------------------------------------------------------------- changing


@pytest.mark.parametrize(
    ("changes", "title", "project"),
    [
        pytest.param(ConversationChanges(frozenset(), "T", "P"), "Trip", "home", id="nothing"),
        pytest.param(
            ConversationChanges(frozenset({"title"}), "T", "P"), "T", "home", id="the title"
        ),
        pytest.param(
            ConversationChanges(frozenset({"project"}), "T", "P"), "Trip", "P", id="the project"
        ),
        pytest.param(
            ConversationChanges(frozenset({"title", "project"}), "T", None), "T", None, id="both"
        ),
    ],
)
async def test_an_update_changes_what_it_names(
    chat: Chat, changes: ConversationChanges, title: str | None, project: str | None
) -> None:
    key = await chat.create("Trip", "home")
    before = await chat.see(key)

    after = await chat.conversations.update_conversation(OWNER, key, changes)

    assert (after.title, after.project) == (title, project)
    assert after == await chat.see(key)
    assert (after.update_time > before.update_time) is bool(changes.fields)


async def test_a_rename_while_a_turn_runs_wins_over_its_title(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.reply(turn, title_due=True)
    changes = ConversationChanges(frozenset({"title"}), "Mine")
    await chat.conversations.update_conversation(OWNER, turn.lease.conversation_id, changes)

    closed = await chat.turns.close_turn(turn, "The model's")

    assert closed.result
    assert closed.result.title == "Mine"
    assert (await chat.see(turn.lease.conversation_id)).title == "Mine"


# ---------------------------------------------------------------- whose it is


async def _read(chat: Chat, owner: str, key: UUID) -> Any:
    return await chat.conversations.read_conversation(owner, key)


async def _update(chat: Chat, owner: str, key: UUID) -> Any:
    changes = ConversationChanges(frozenset({"title"}), "Taken")
    return await chat.conversations.update_conversation(owner, key, changes)


async def _delete(chat: Chat, owner: str, key: UUID) -> Any:
    return await chat.conversations.delete_conversation(owner, key)


async def _messages(chat: Chat, owner: str, key: UUID) -> Any:
    return await chat.conversations.list_messages(owner, key, FIRST)


CALLS = pytest.mark.parametrize(
    "call", [_read, _update, _delete, _messages], ids=["read", "update", "delete", "messages"]
)
Call = Callable[[Chat, str, UUID], Awaitable[Any]]


@CALLS
async def test_an_unknown_conversation_is_not_found(chat: Chat, call: Call) -> None:
    with pytest.raises(ConversationNotFound):
        await call(chat, OWNER, uuid4())


@CALLS
async def test_a_conversation_is_its_owners_alone(chat: Chat, call: Call) -> None:
    key = await chat.waiting()
    before = await chat.see(key)

    with pytest.raises(NotOwner):
        await call(chat, "eve", key)

    assert await chat.see(key) == before


@CALLS
@pytest.mark.parametrize("owner", [OWNER, "eve"])
async def test_a_deleted_conversation_is_not_found_whoever_asks(
    chat: Chat, call: Call, owner: str
) -> None:
    key = await chat.create()
    await chat.conversations.delete_conversation(OWNER, key)

    with pytest.raises(ConversationNotFound):
        await call(chat, owner, key)


# ---------------------------------------------------------------- deleting


async def test_deleting_cancels_the_pending_ask_and_forgets_its_steps(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.pause(turn)

    await chat.conversations.delete_conversation(OWNER, turn.lease.conversation_id)

    assert (await chat.conversations.list_pending_asks(OWNER, FIRST)).items == ()
    assert (await chat.conversations.list_conversations(OWNER, None, FIRST)).items == ()
    assert await chat.query("SELECT status, answer, resolved_by_turn FROM asks") == [
        ("cancelled", cancelled("conversation_deleted"), None)
    ]
    assert await chat.step_numbers(turn) == []


async def test_a_turn_of_a_deleted_conversation_ends_but_never_pauses(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.conversations.delete_conversation(OWNER, turn.lease.conversation_id)

    ended = await chat.pause(turn, ask("call_a"), ask("call_b"))

    assert ended.result
    assert (ended.result.state, ended.result.pending_ask) == ("completed", None)
    assert [event.body.kind for event in ended.events] == ["done"]
    rows = await chat.query("SELECT type, result FROM messages ORDER BY position")
    assert [kind for kind, _ in rows] == [
        *("user", "tool_call", "tool_call", "tool_result", "tool_result")
    ]
    assert rows[3][1] == cancelled("conversation_deleted")
    assert await chat.step_numbers(turn) == []


async def test_a_turn_of_a_deleted_conversation_closes_without_a_title(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.conversations.delete_conversation(OWNER, turn.lease.conversation_id)

    ended = await chat.reply(turn, "Hello.", title_due=True)

    assert ended.result
    assert (ended.result.text, ended.result.title) == ("Hello.", None)


async def test_deleting_keeps_the_steps_of_a_turn_that_runs(chat: Chat) -> None:
    running = await chat.prompt()
    await chat.turns.journal_step(running, step(), (), ())
    other = await chat.prompt("Other", running.lease.conversation_id)
    await chat.pause(other)

    await chat.conversations.delete_conversation(OWNER, running.lease.conversation_id)

    assert await chat.step_numbers(running) == [1]
    assert await chat.step_numbers(other) == []


async def test_deleting_one_conversation_leaves_the_others_alone(chat: Chat) -> None:
    kept, gone = await chat.prompt("Keep"), await chat.prompt("Go")
    await chat.pause(kept)
    await chat.pause(gone)

    await chat.conversations.delete_conversation(OWNER, gone.lease.conversation_id)

    assert await chat.pending(kept.lease.conversation_id)
    assert await chat.step_numbers(kept) == [1]


# ---------------------------------------------------------------- failed turns


async def test_f6_a_failed_turn_may_be_retried_until_a_newer_one(chat: Chat) -> None:
    turn = await chat.prompt()
    conversation = turn.lease.conversation_id
    await chat.turns.fail_turn(turn, ERROR, (), "")
    failed = await chat.see(conversation)

    await chat.prompt("Again", conversation)
    later = await chat.see(conversation)

    assert (failed.retryable_turn_id, failed.running_turn_id) == (turn.lease.turn_id, None)
    assert later.retryable_turn_id is None


async def test_f14_what_is_left_of_a_failed_turn_is_superseded_once_it_is_retried(
    chat: Chat,
) -> None:
    conversation = await chat.waiting()
    answered = await chat.answer(conversation, "call_plan")
    await chat.turns.fail_turn(answered, ERROR, (), "I was")
    before = [row.superseded for row in await chat.rows(conversation)]

    retry = RetryOpening(answered.lease.turn_id)
    opening = prompt_opening(conversation_id=conversation)
    retried = await chat.turns.open_turn(replace(opening, input=retry))
    await chat.reply(retried)
    rows = await chat.rows(conversation)

    assert before == [False] * 4
    assert [(row.type, row.status, row.superseded) for row in rows] == [
        ("user", None, False),
        ("tool_call", None, False),
        ("tool_result", None, False),
        ("assistant", "error", True),
        ("assistant", "complete", False),
    ]


async def test_the_text_of_a_failed_turn_that_nobody_retried_stays(chat: Chat) -> None:
    failed, other = await chat.prompt(), await chat.prompt()
    await chat.turns.fail_turn(failed, ERROR, (), "I was")
    await chat.turns.fail_turn(other, ERROR, (), "I too")
    opening = prompt_opening(conversation_id=other.lease.conversation_id)
    await chat.turns.open_turn(replace(opening, input=RetryOpening(other.lease.turn_id)))
    await chat.prompt("Never mind", failed.lease.conversation_id)

    rows = await chat.rows(failed.lease.conversation_id)

    assert [row.superseded for row in rows] == [False, False, False]

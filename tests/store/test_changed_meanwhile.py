"""What was planned for a conversation as it was seen is right, or planned again under its lock."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal
from uuid import UUID

import pytest
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from parleyd.contract.answers import cancelled
from parleyd.contract.errors import AskNotPending, ConversationNotFound, TurnNotRetryable
from parleyd.turns.conversations import ConversationChanges
from parleyd.turns.ports import Fenced, OpenedTurn, Opening
from tests.store.chat import (
    OWNER,
    Chat,
    answer_opening,
    ask,
    prompt_opening,
    retry_opening,
    wanted_of,
)


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def looked(chat: Chat, opening: Opening) -> Opening:
    """Returns an opening with what it meets now."""
    return replace(opening, seen=await chat.turns.read_situation(OWNER, wanted_of(opening)))


def locks(chat: Chat) -> list[str]:
    """Returns the locks that are taken from now on by a statement of their own."""
    taken: list[str] = []

    def note(*args: Any) -> None:
        if "FOR NO KEY UPDATE" in args[2] and args[2].startswith("SELECT conversations."):
            taken.append(args[2])

    event.listen(chat.engine.sync_engine, "before_cursor_execute", note)
    return taken


async def rename(chat: Chat, conversation: UUID, title: str = "Trip") -> None:
    changes = ConversationChanges(frozenset({"title"}), title)
    await chat.conversations.update_conversation(OWNER, conversation, changes)


async def move(chat: Chat, conversation: UUID) -> None:
    changes = ConversationChanges(frozenset({"project"}), project="home")
    await chat.conversations.update_conversation(OWNER, conversation, changes)


async def delete(chat: Chat, conversation: UUID) -> None:
    await chat.conversations.delete_conversation(OWNER, conversation)


@asynccontextmanager
async def busy(chat: Chat, table: str, key: UUID) -> AsyncGenerator[AsyncConnection]:
    """Holds the lock of a row, as another process may, until what follows has waited for it."""
    async with chat.engine.begin() as connection:
        await connection.execute(
            text(f"SELECT 1 FROM {table} WHERE id = :id FOR NO KEY UPDATE"), {"id": key}
        )
        yield connection
        async with asyncio.timeout(2):
            while not await chat.query(
                "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            ):
                pass


# ---------------------------------------------------------------- between looking and opening

Change = Callable[[Chat, UUID], Awaitable[Any]]


async def _say(chat: Chat, conversation: UUID) -> None:
    await chat.prompt("Meanwhile", conversation)


async def _answer(chat: Chat, conversation: UUID) -> None:
    await chat.answer(conversation, "call_plan")


@pytest.mark.parametrize("change", [rename, move, _say, _answer], ids=lambda each: each.__name__)
async def test_a_message_meets_the_conversation_as_it_is_by_then(
    chat: Chat, change: Change
) -> None:
    conversation = await chat.waiting()
    opening = await looked(chat, prompt_opening("More", conversation))
    await change(chat, conversation)
    seen = await chat.see(conversation)
    rows = await chat.rows(conversation)
    taken = locks(chat)

    turn = await chat.turns.open_turn(opening)

    assert len(taken) == 1
    assert turn.project == seen.project
    cancels = seen.pending_ask is not None
    assert [one.body.kind for one in turn.events] == ["started", "ask_resolved"][: 1 + cancels]
    assert turn.context_max_seq == max(row.seq for row in rows) + 1 + cancels
    types = [row.type for row in await chat.rows(conversation)]
    assert types.count("tool_result") == 1
    assert turn.outlook
    assert turn.outlook.conversation.title == seen.title


async def test_a_message_cancels_the_ask_that_came_meanwhile(chat: Chat) -> None:
    earlier = await chat.prompt("One")
    conversation = earlier.lease.conversation_id
    opening = await looked(chat, prompt_opening("More", conversation))
    await chat.pause(earlier)

    turn = await chat.turns.open_turn(opening)

    assert turn.resolved
    assert turn.resolved.answer == cancelled("user_sent_message")
    assert turn.resolved == await chat.ask_named(conversation, "call_plan")
    assert await chat.step_numbers(earlier) == []


async def test_a_message_ends_the_right_to_retry_that_came_meanwhile(chat: Chat) -> None:
    conversation = await chat.waiting()
    earlier = await chat.answer(conversation, "call_plan")
    opening = await looked(chat, prompt_opening("More", conversation))
    await chat.fail(earlier)

    await chat.turns.open_turn(opening)

    assert await chat.step_numbers(earlier) == []
    assert (await chat.see(conversation)).retryable_turn_id is None


async def test_an_answer_that_comes_too_late_names_the_winner(chat: Chat) -> None:
    conversation = await chat.waiting()
    opening = await looked(chat, answer_opening(conversation, "call_plan"))
    winner = await chat.prompt("Never mind", conversation)

    with pytest.raises(AskNotPending) as refused:
        await chat.turns.open_turn(opening)

    assert refused.value.metadata["resolved_by_turn_id"] == str(winner.lease.turn_id)


async def test_a_retry_that_comes_too_late_is_none(chat: Chat) -> None:
    failed = await chat.failed()
    conversation = failed.lease.conversation_id
    opening = await looked(chat, retry_opening(conversation, failed.lease.turn_id))
    await chat.prompt("More", conversation)

    with pytest.raises(TurnNotRetryable):
        await chat.turns.open_turn(opening)


@pytest.mark.parametrize("make", ["message", "answer", "retry"])
async def test_no_turn_opens_in_a_conversation_that_was_deleted_meanwhile(
    chat: Chat, make: Literal["message", "answer", "retry"]
) -> None:
    failed = await chat.failed()
    waiting = await chat.waiting()
    opening = await looked(
        chat,
        {
            "message": prompt_opening("More", waiting),
            "answer": answer_opening(waiting, "call_plan"),
            "retry": retry_opening(failed.lease.conversation_id, failed.lease.turn_id),
        }[make],
    )
    assert opening.conversation_id
    await delete(chat, opening.conversation_id)
    before = await chat.query("SELECT count(*) FROM turns")

    with pytest.raises(ConversationNotFound):
        await chat.turns.open_turn(opening)

    assert await chat.query("SELECT count(*) FROM turns") == before


async def test_a_turn_that_waited_for_a_change_sees_it(chat: Chat) -> None:
    conversation = await chat.waiting()
    opening = await looked(chat, prompt_opening("More", conversation))

    async with busy(chat, "conversations", conversation) as other:
        await other.execute(text("UPDATE conversations SET project = 'home'"))
        opened = asyncio.create_task(chat.turns.open_turn(opening))

    assert (await opened).project == "home"


async def test_a_message_that_waited_for_a_failure_ends_its_right_to_retry(chat: Chat) -> None:
    conversation = await chat.waiting()
    earlier = await chat.answer(conversation, "call_plan")
    opening = await looked(chat, prompt_opening("More", conversation))

    async with busy(chat, "conversations", conversation) as other:
        await other.execute(
            text("UPDATE conversations SET retryable_turn_id = :turn"),
            {"turn": earlier.lease.turn_id},
        )
        opened = asyncio.create_task(chat.turns.open_turn(opening))

    await opened
    assert await chat.step_numbers(earlier) == []


async def test_a_turn_that_waited_for_nothing_new_is_opened_at_once(chat: Chat) -> None:
    conversation = await chat.waiting()
    opening = await looked(chat, prompt_opening("More", conversation))
    taken = locks(chat)

    async with busy(chat, "conversations", conversation) as other:
        await other.execute(text("UPDATE conversations SET update_time = now()"))
        opened = asyncio.create_task(chat.turns.open_turn(opening))

    assert [one.body.kind for one in (await opened).events] == ["started", "ask_resolved"]
    assert taken == []


# ---------------------------------------------------------------- between opening and ending


@pytest.fixture
async def turn(chat: Chat) -> OpenedTurn:
    """A turn that nobody has met yet."""
    return await chat.prompt()


async def test_a_turn_ends_with_the_title_that_it_got_meanwhile(
    chat: Chat, turn: OpenedTurn
) -> None:
    await rename(chat, turn.lease.conversation_id)
    taken = locks(chat)

    ended = await chat.reply(turn, title_due=True)

    assert ended.result
    assert ended.result.title == "Trip"
    assert len(taken) == 1


async def test_a_turn_that_pauses_second_loses_the_slot(chat: Chat, turn: OpenedTurn) -> None:
    other = await chat.prompt("Meanwhile", turn.lease.conversation_id)
    await chat.pause(other, ask("call_other"))

    ended = await chat.pause(turn)

    assert ended.result
    assert ended.result.state == "completed"
    dropped = await chat.ask_named(turn.lease.conversation_id, "call_plan")
    assert dropped.answer == cancelled("one_ask_at_a_time")
    assert dropped.resolve_time == dropped.create_time


async def test_a_turn_asks_nothing_in_a_conversation_that_was_deleted_meanwhile(
    chat: Chat, turn: OpenedTurn
) -> None:
    await delete(chat, turn.lease.conversation_id)

    ended = await chat.pause(turn)

    assert ended.result
    assert ended.result.state == "completed"
    assert await chat.query("SELECT answer FROM asks") == [(cancelled("conversation_deleted"),)]


async def test_rows_of_other_turns_keep_their_numbers(chat: Chat, turn: OpenedTurn) -> None:
    other = await chat.prompt("Meanwhile", turn.lease.conversation_id)
    await chat.reply(other, "There.")

    await chat.reply(turn, "Here.")

    rows = await chat.rows(turn.lease.conversation_id)
    assert [(row.seq, row.text) for row in rows] == [
        (1, "Set me up"),
        (4, "Here."),
        (2, "Meanwhile"),
        (3, "There."),
    ]


async def test_an_ask_whose_id_is_taken_gets_another_one(chat: Chat) -> None:
    conversation = await chat.waiting("call_1")
    turn = await chat.answer(conversation, "call_1")
    taken = locks(chat)
    again = ask("call_1")

    ended = await chat.pause(turn, again, step_no=2)

    assert ended.result
    assert ended.result.pending_ask
    assert ended.result.pending_ask.tool_call_id == again.spare_call_id
    assert ended.result.pending_ask == await chat.pending(conversation)
    assert len(taken) == 1


async def test_a_renewed_lease_does_not_disturb_the_end(chat: Chat, turn: OpenedTurn) -> None:
    taken = locks(chat)

    async with busy(chat, "turns", turn.lease.turn_id) as heart:
        await heart.execute(text("UPDATE turns SET lease_until = now() + interval '9 s'"))
        ended = asyncio.create_task(chat.pause(turn))

    result = (await ended).result
    assert result
    assert result.pending_ask == await chat.pending(turn.lease.conversation_id)
    assert taken == []


@pytest.mark.parametrize("end", ["pause", "close"])
async def test_a_turn_that_was_taken_over_meanwhile_writes_nothing(
    chat: Chat, turn: OpenedTurn, end: Literal["pause", "close"]
) -> None:
    committed = (await chat.reply(turn, title_due=True)).committed if end == "close" else None
    before = await chat.query("SELECT last_seq, title, update_time FROM conversations")

    async with busy(chat, "turns", turn.lease.turn_id) as taker:
        await taker.execute(text("UPDATE turns SET lease_epoch = 2"))
        ended = asyncio.create_task(
            chat.turns.close_turn(turn, "Trip", committed) if committed else chat.pause(turn)
        )

    with pytest.raises(Fenced):
        await ended
    assert await chat.query("SELECT last_seq, title, update_time FROM conversations") == before


# ---------------------------------------------------------------- between ending and closing


async def test_a_title_that_was_given_meanwhile_wins(chat: Chat, turn: OpenedTurn) -> None:
    committed = (await chat.reply(turn, title_due=True)).committed
    await rename(chat, turn.lease.conversation_id, "Mine")

    closed = await chat.turns.close_turn(turn, "Trip", committed)

    assert closed.result
    assert closed.result.title == "Mine"
    assert (await chat.see(turn.lease.conversation_id)).title == "Mine"


async def test_a_conversation_that_was_deleted_meanwhile_gets_no_title(
    chat: Chat, turn: OpenedTurn
) -> None:
    committed = (await chat.reply(turn, title_due=True)).committed
    await delete(chat, turn.lease.conversation_id)

    closed = await chat.turns.close_turn(turn, "Trip", committed)

    assert closed.result
    assert closed.result.title is None
    assert await chat.query("SELECT title FROM conversations") == [(None,)]


async def test_other_turns_are_no_hindrance_to_a_title(chat: Chat, turn: OpenedTurn) -> None:
    committed = (await chat.reply(turn, title_due=True)).committed
    await chat.prompt("Meanwhile", turn.lease.conversation_id)
    taken = locks(chat)

    closed = await chat.turns.close_turn(turn, "Trip", committed)

    assert closed.result
    assert closed.result.title == "Trip"
    assert taken == []

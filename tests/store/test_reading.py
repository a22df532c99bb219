"""Turns as those see them who watch them."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.errors import ConversationNotFound, NotOwner, TurnNotFound
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import Turn, TurnError
from parleyd.store.reading import PostgresTurnReader
from parleyd.turns.ports import OpenedTurn, RetryOpening
from tests.store.chat import OWNER, Chat, prompt_opening
from tests.store.queries import all_told, queries_of

ERROR = TurnError(reason=Reason.MODEL_ERROR, message="Sorry.")


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@pytest.fixture
def reader(engine: AsyncEngine) -> PostgresTurnReader:
    return PostgresTurnReader(engine)


async def read(reader: PostgresTurnReader, turn: OpenedTurn) -> Turn:
    return await reader.read_turn(OWNER, turn.lease.conversation_id, turn.lease.turn_id)


async def retry(chat: Chat, turn: OpenedTurn) -> OpenedTurn:
    """Fails a turn and retries it."""
    await chat.turns.fail_turn(turn, ERROR, (), "I was")
    opening = prompt_opening(conversation_id=turn.lease.conversation_id)
    return await chat.turns.open_turn(replace(opening, input=RetryOpening(turn.lease.turn_id)))


# ---------------------------------------------------------------- where a turn stands


async def test_a_turn_that_was_opened_runs(chat: Chat, reader: PostgresTurnReader) -> None:
    turn = await chat.prompt()

    seen = await read(reader, turn)

    assert seen == Turn(
        conversation_id=turn.lease.conversation_id,
        id=turn.lease.turn_id,
        state="running",
        last_event=1,
        create_time=seen.create_time,
    )


async def test_what_a_running_turn_has_said_so_far_is_shown(
    chat: Chat, reader: PostgresTurnReader
) -> None:
    turn = await chat.prompt()

    await chat.turns.keep_partial_text(turn, "Setting \x00up")

    assert (await read(reader, turn)).partial_text == "Setting \ufffdup"


async def test_a_turn_that_waits_for_its_title_runs_and_has_said_all(
    chat: Chat, reader: PostgresTurnReader
) -> None:
    turn = await chat.prompt()
    await chat.turns.keep_partial_text(turn, "Done")
    await chat.reply(turn, "Done.", title_due=True)

    seen = await read(reader, turn)

    assert (seen.state, seen.partial_text) == ("running", "")
    assert (seen.result, seen.close_time) == (None, None)


async def test_a_turn_that_is_closed_shows_how_it_ended(
    chat: Chat, reader: PostgresTurnReader
) -> None:
    paused, completed, titled, failed = [await chat.prompt() for _ in range(4)]
    await chat.turns.keep_partial_text(failed, "I was")
    await chat.reply(titled, title_due=True)
    ends = {
        "paused": (paused, await chat.pause(paused)),
        "completed": (completed, await chat.reply(completed)),
        "titled": (titled, await chat.turns.close_turn(titled, "Trip")),
        "failed": (failed, await chat.turns.fail_turn(failed, ERROR, (), "I was")),
    }

    for name, (turn, ended) in ends.items():
        seen = await read(reader, turn)

        assert ended.result
        assert seen.state == {"titled": "completed"}.get(name, name)
        assert seen.result == ended.result
        assert seen.partial_text == ""
        assert seen.last_event == ended.events[-1].sequence
        assert seen.close_time
        assert seen.close_time >= seen.create_time


async def test_f15_a_retry_and_what_it_retries_name_each_other(
    chat: Chat, reader: PostgresTurnReader
) -> None:
    first = await chat.prompt()
    second = await retry(chat, first)
    third = await retry(chat, second)

    line = [await read(reader, turn) for turn in (first, second, third)]

    ids = [turn.lease.turn_id for turn in (first, second, third)]
    assert [seen.id for seen in line] == ids
    assert [seen.retry_of for seen in line] == [None, ids[0], ids[1]]
    assert [seen.retried_by for seen in line] == [ids[1], ids[2], None]


async def test_a_turn_is_read_with_one_query(chat: Chat, reader: PostgresTurnReader) -> None:
    turn = await chat.prompt()
    sent = queries_of(chat.engine)

    await read(reader, turn)
    await all_told()

    assert len(sent) == 1


# ---------------------------------------------------------------- whose it is


async def test_w11_a_turn_is_its_owners_alone(chat: Chat, reader: PostgresTurnReader) -> None:
    turn = await chat.prompt()

    with pytest.raises(NotOwner):
        await reader.read_turn("eve", turn.lease.conversation_id, turn.lease.turn_id)


async def _named(chat: Chat) -> dict[str, tuple[UUID, UUID, type[Exception]]]:
    """Returns conversations and turns that don't go together."""
    turn, other, gone = [await chat.prompt() for _ in range(3)]
    await chat.conversations.delete_conversation(OWNER, gone.lease.conversation_id)
    return {
        "no conversation": (uuid4(), turn.lease.turn_id, ConversationNotFound),
        "a deleted one": (gone.lease.conversation_id, gone.lease.turn_id, ConversationNotFound),
        "no turn": (turn.lease.conversation_id, uuid4(), TurnNotFound),
        "another's turn": (other.lease.conversation_id, turn.lease.turn_id, TurnNotFound),
    }


async def test_a_turn_is_found_in_its_conversation_alone(
    chat: Chat, reader: PostgresTurnReader
) -> None:
    for conversation, turn, fault in (await _named(chat)).values():
        with pytest.raises(fault):
            await reader.read_turn(OWNER, conversation, turn)


# ---------------------------------------------------------------- events


async def test_events_are_read_after_a_place(chat: Chat, reader: PostgresTurnReader) -> None:
    turn = await chat.prompt()
    ended = await chat.reply(turn)

    whole = await reader.read_events(OWNER, turn.lease.turn_id, 0)
    rest = await reader.read_events(OWNER, turn.lease.turn_id, 1)

    assert whole.events == (*turn.events, *ended.events)
    assert rest.events == ended.events
    assert (rest.last_event, rest.closed) == (3, True)


async def test_the_last_events_of_many_turns_are_read_at_once(
    chat: Chat, reader: PostgresTurnReader
) -> None:
    running, ended = await chat.prompt(), await chat.prompt()
    await chat.reply(ended)

    last = await reader.read_last_events({running.lease.turn_id, ended.lease.turn_id, uuid4()})

    assert last == {running.lease.turn_id: 1, ended.lease.turn_id: 3}

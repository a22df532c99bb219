"""What a person brought to a turn, and what that resolved."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.answers import cancelled
from parleyd.contract.asks.ask import Ask
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnError
from parleyd.store.engine import Database
from parleyd.store.sayings import read_resolved, read_said
from parleyd.turns.ports import AnswerOpening, OpenedTurn, RetryOpening
from tests.store.chat import TEAM, Chat, ask, prompt_opening

ERROR = TurnError(reason=Reason.MODEL_ERROR, message="Sorry.")
STORED = '{"action":"accept","content":{"selected":["team"]}}'


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def said(chat: Chat, turn_id: UUID) -> str:
    return await Database(chat.engine).read(lambda connection: read_said(connection, turn_id))


async def resolved(chat: Chat, turn: OpenedTurn) -> Ask | None:
    turn_id = turn.lease.turn_id
    return await Database(chat.engine).read(lambda connection: read_resolved(connection, turn_id))


async def retry(chat: Chat, turn: OpenedTurn) -> OpenedTurn:
    """Fails a turn and retries it."""
    await chat.turns.fail_turn(turn, ERROR, (), "I was")
    opening = prompt_opening(conversation_id=turn.lease.conversation_id)
    return await chat.turns.open_turn(replace(opening, input=RetryOpening(turn.lease.turn_id)))


# ---------------------------------------------------------------- what was said


async def test_a_message_is_what_was_said(chat: Chat) -> None:
    turn = await chat.prompt("Set me up")
    await chat.reply(turn, "Done.")

    assert await said(chat, turn.lease.turn_id) == "Set me up"


async def test_a_message_that_cancels_an_ask_is_what_was_said(chat: Chat) -> None:
    turn = await chat.prompt("Never mind", await chat.waiting())

    assert await said(chat, turn.lease.turn_id) == "Never mind"


@pytest.mark.parametrize("kind", ["answer", "button"])
@pytest.mark.parametrize(
    ("envelope", "stored"),
    [
        pytest.param(TEAM, STORED, id="accept"),
        pytest.param({"action": "decline"}, '{"action":"decline"}', id="decline"),
        pytest.param(
            cancelled("weiß\x00 nicht"),
            '{"action":"cancel","reason":"weiß\ufffd nicht"}',
            id="cancel",
        ),
    ],
)
async def test_an_answer_is_said_as_it_is_stored(
    chat: Chat, kind: str, envelope: dict[str, JsonValue], stored: str
) -> None:
    conversation = await chat.waiting()
    opening = prompt_opening(conversation_id=conversation)
    named = "button" if kind == "button" else "answer"
    answer = AnswerOpening(named, "call_plan", envelope)

    turn = await chat.turns.open_turn(replace(opening, input=answer))

    assert await said(chat, turn.lease.turn_id) == stored


async def test_a_retry_says_what_the_first_turn_of_its_line_said(chat: Chat) -> None:
    first = await chat.prompt("Set me up")
    other = await retry(chat, first)
    third = await retry(chat, other)

    for turn in (first, other, third):
        assert await said(chat, turn.lease.turn_id) == "Set me up"


async def test_a_retry_of_an_answer_says_the_answer(chat: Chat) -> None:
    answered = await chat.answer(await chat.waiting(), "call_plan")
    again = await retry(chat, await retry(chat, answered))

    assert await said(chat, again.lease.turn_id) == STORED


async def test_nobody_said_anything_to_a_turn_that_is_not_there(chat: Chat) -> None:
    await chat.prompt()

    assert await said(chat, uuid4()) == ""


# ---------------------------------------------------------------- what it resolved


async def test_an_answer_resolves_its_ask(chat: Chat) -> None:
    conversation = await chat.waiting()
    pending = await chat.pending(conversation)
    turn = await chat.answer(conversation, "call_plan")

    ask_ = await resolved(chat, turn)

    assert pending
    assert ask_
    assert (ask_.id, ask_.status, ask_.answer) == (pending.id, "answered", TEAM)
    assert ask_.resolved_by_turn == turn.lease.turn_id


async def test_a_message_resolves_the_ask_that_it_cancels(chat: Chat) -> None:
    turn = await chat.prompt("Never mind", await chat.waiting())

    ask_ = await resolved(chat, turn)

    assert ask_
    assert (ask_.tool_call_id, ask_.status) == ("call_plan", "cancelled")


async def test_a_message_alone_resolves_nothing(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.pause(turn)
    later = await chat.answer(turn.lease.conversation_id, "call_plan")
    await chat.reply(later)

    assert await resolved(chat, turn) is None


async def test_an_ask_that_lost_the_slot_is_not_what_its_turn_resolved(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.pause(turn, ask("call_a"), ask("call_b"))
    answered = await chat.answer(turn.lease.conversation_id, "call_a")
    await chat.pause(answered, ask("call_c"), ask("call_d"), step_no=2)

    ask_ = await resolved(chat, answered)

    assert await resolved(chat, turn) is None
    assert ask_
    assert ask_.tool_call_id == "call_a"


async def test_a_retry_resolves_nothing_itself(chat: Chat) -> None:
    answered = await chat.answer(await chat.waiting(), "call_plan")
    again = await retry(chat, answered)

    assert await resolved(chat, answered)
    assert await resolved(chat, again) is None

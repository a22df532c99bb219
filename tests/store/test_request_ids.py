"""Requests that are sent again open one turn (spec turns 16.2)."""

import asyncio
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.errors import AskNotPending
from parleyd.turns.ports import OpenedTurn, Opening, RequestSeen
from parleyd.turns.requests import RequestKey
from parleyd.turns.situations import RepeatedRequest
from tests.store.chat import Chat, answer_opening, prompt_opening

ROUNDS = 10


@pytest.fixture(params=[True, False], ids=["as seen", "locked"])
def chat(engine: AsyncEngine, request: pytest.FixtureRequest) -> Chat:
    return Chat(engine, looks=request.param)


def with_id(opening: Opening, key: UUID, digest: bytes = b"same") -> Opening:
    """Returns an opening as a request with an id makes it."""
    return replace(opening, request=RequestKey(key, digest))


def again(opening: Opening) -> Opening:
    """Returns what opens the turn of the same request when it comes once more."""
    return replace(opening, turn_id=uuid4(), new_conversation_id=uuid4())


async def expire(chat: Chat) -> None:
    """Lets a day go by for every turn."""
    async with chat.engine.begin() as connection:
        await connection.execute(text("UPDATE turns SET create_time = now() - interval '25 h'"))


async def test_a_request_id_is_kept_with_what_tells_the_request(chat: Chat) -> None:
    key = uuid4()

    turn = await chat.open(with_id(prompt_opening(), key, b"\x00digest"))

    assert await chat.query("SELECT id, request_id, request_hash FROM turns") == [
        (turn.lease.turn_id, str(key), b"\x00digest")
    ]


@pytest.mark.parametrize("digest", [b"same", b"other"], ids=["the same request", "another one"])
async def test_w10_a_request_id_that_has_made_a_turn_names_it(chat: Chat, digest: bytes) -> None:
    key = uuid4()
    turn = await chat.open(with_id(prompt_opening(), key))
    conversation = turn.lease.conversation_id
    before = await chat.query("SELECT count(*) FROM turns")

    for repeat in (prompt_opening("Elsewhere"), prompt_opening("In it", conversation)):
        with pytest.raises(RequestSeen) as seen:
            await chat.open(with_id(repeat, key, digest))
        assert seen.value.turn == RepeatedRequest(turn.lease.turn_id, conversation, b"same")

    assert await chat.query("SELECT count(*) FROM turns") == before


async def test_another_person_may_use_the_same_request_id(chat: Chat) -> None:
    opening = with_id(prompt_opening(), uuid4())

    mine = await chat.open(opening)
    theirs = await chat.open(chat.by("eve", again(opening)))

    assert mine.lease.conversation_id != theirs.lease.conversation_id


async def test_w10_a_request_that_was_refused_leaves_its_id_free(chat: Chat) -> None:
    conversation = await chat.waiting()
    key = uuid4()

    with pytest.raises(AskNotPending):
        await chat.open(with_id(answer_opening(conversation, "call_other"), key))

    assert await chat.open(with_id(answer_opening(conversation, "call_plan"), key))


@pytest.mark.parametrize("where", ["new conversations", "one conversation", "its ask"])
async def test_o3_of_eight_first_requests_with_one_id_one_opens_the_turn(
    chat: Chat, where: str
) -> None:
    for _ in range(ROUNDS):
        conversation = await chat.waiting()
        opening = with_id(
            {
                "new conversations": prompt_opening(),
                "one conversation": prompt_opening("More", conversation),
                "its ask": answer_opening(conversation, "call_plan"),
            }[where],
            uuid4(),
        )

        outcomes = await asyncio.gather(
            *(chat.open(again(opening)) for _ in range(8)), return_exceptions=True
        )

        (winner,) = [each for each in outcomes if isinstance(each, OpenedTurn)]
        losers = [each for each in outcomes if isinstance(each, RequestSeen)]
        assert len(losers) == 7
        assert {loser.turn for loser in losers} == {
            RepeatedRequest(winner.lease.turn_id, winner.lease.conversation_id, b"same")
        }


async def test_first_requests_with_one_id_in_two_conversations_open_one_turn(chat: Chat) -> None:
    for _ in range(ROUNDS):
        key = uuid4()
        places = [await chat.waiting(), await chat.waiting()]

        outcomes = await asyncio.gather(
            *(chat.open(with_id(answer_opening(place, "call_plan"), key)) for place in places),
            return_exceptions=True,
        )

        (winner,) = [each for each in outcomes if isinstance(each, OpenedTurn)]
        (loser,) = [each for each in outcomes if isinstance(each, RequestSeen)]
        assert loser.turn.turn_id == winner.lease.turn_id
        pending = [await chat.pending(place) for place in places]
        assert sorted(ask is None for ask in pending) == [False, True]


@pytest.mark.parametrize("here", [False, True], ids=["elsewhere", "in the same conversation"])
async def test_a_request_id_that_is_a_day_old_opens_a_turn_again(chat: Chat, *, here: bool) -> None:
    opening = with_id(prompt_opening(), uuid4())
    old = await chat.open(opening)
    await expire(chat)
    repeat = again(opening)
    if here:
        repeat = replace(repeat, conversation_id=old.lease.conversation_id)

    new = await chat.open(repeat)

    assert new.lease.turn_id == repeat.turn_id
    assert await chat.query("SELECT id FROM turns WHERE request_id IS NOT NULL") == [
        (new.lease.turn_id,)
    ]


async def test_of_eight_requests_with_an_old_id_one_opens_the_turn(chat: Chat) -> None:
    for _ in range(ROUNDS):
        opening = with_id(prompt_opening(), uuid4())
        await chat.open(opening)
        await expire(chat)

        outcomes = await asyncio.gather(
            *(chat.open(again(opening)) for _ in range(8)), return_exceptions=True
        )

        (winner,) = [each for each in outcomes if isinstance(each, OpenedTurn)]
        losers = [each for each in outcomes if isinstance(each, RequestSeen)]
        assert len(losers) == 7
        assert {loser.turn.turn_id for loser in losers} == {winner.lease.turn_id}

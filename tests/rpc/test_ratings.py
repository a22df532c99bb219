"""Ratings of messages, over the wire (spec turns 7.3, 15.10)."""

from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1.conversations_pb2 import (
    Message,
    RateMessageRequest,
    Rating,
)
from tests.end_to_end.person import Person, accept
from tests.rpc.conversation_calls import delete
from tests.rpc.requests import refusal, stored
from tests.server import Server
from tests.standard_asks import PLAN_ID


async def rate(person: Person, of: Message, rating: Rating.ValueType) -> None:
    request = RateMessageRequest(
        conversation_id=of.conversation_id, message_id=of.message_id, rating=rating
    )
    await person.client.conversations.RateMessage(request)


async def test_h4_any_message_can_be_rated_and_the_rating_taken_back(noor: Person) -> None:
    asked = await noor.prompt("Set up my workspace")
    own = asked.conversation_id
    await noor.answer(own, PLAN_ID, accept("team"))
    before, conversation = await noor.messages(own), await noor.conversation(own)
    steps = (Rating.RATING_UP, Rating.RATING_UP, Rating.RATING_DOWN, Rating.RATING_UNSPECIFIED)
    for place, message in enumerate(before):
        for rating in steps:
            await rate(noor, message, rating)
            now = await noor.messages(own)
            assert now[place].rating == rating
            now[place].rating = Rating.RATING_UNSPECIFIED
            assert now == before
    assert await noor.conversation(own) == conversation


async def test_h4_a_rating_is_refused_to_others_and_for_what_is_gone(
    server: Server, noor: Person, engine: AsyncEngine
) -> None:
    asked = await noor.prompt("Set up my workspace")
    (message, *_) = await noor.messages(asked.conversation_id)
    before = await stored(engine)
    ivo = await server.person("ivo")
    request = RateMessageRequest(
        conversation_id=message.conversation_id, message_id=message.message_id
    )
    error = await refusal(ivo.client, request)
    assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "NOT_OWNER")
    assert await stored(engine) == before
    await delete(noor, message.conversation_id)
    error = await refusal(noor.client, request)
    assert (error.code, error.reason) == (StatusCode.NOT_FOUND, "CONVERSATION_NOT_FOUND")

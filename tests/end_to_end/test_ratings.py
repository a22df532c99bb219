"""Ratings are given while turns run, and taken back (spec turns 7.3, 15.10)."""

import asyncio

import grpc
import pytest

from parley import error_of
from parley.v1 import conversations_pb2
from parleyd.models.script import Fail, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import refused
from tests.failpoints import Failpoints, Place, block
from tests.server import StartServer

DEADLINE = 30
Message = conversations_pb2.Message


@pytest.mark.parametrize("place", ["after_tx1", "before_tx2", "before_close"])
async def test_h4_a_rating_while_a_turn_runs_loses_nothing(
    start_server: StartServer, place: Place
) -> None:
    points = Failpoints(block(place, said="More"))
    server = await start_server(
        in_turn([Text("Hello.")], [Text("More of it.")]),
        title=[Fail("other")],  # so one is due again
        wrap_store=points.store,
    )
    noor = await server.person()
    own = (await noor.prompt("Hello")).conversation_id
    first = await noor.messages(own)
    playing = asyncio.create_task(noor.prompt("More", own))

    async with asyncio.timeout(DEADLINE):
        await points.holds.reached(place)
        during = await noor.messages(own)
        await noor.rate(own, first[1].message_id, conversations_pb2.RATING_UP)
        await noor.rate(own, during[-1].message_id, conversations_pb2.RATING_DOWN)
        points.holds.release(place)
        await playing

    after = await noor.messages(own)
    assert [message.text for message in after] == ["Hello", "Hello.", "More", "More of it."]
    rated = {message.message_id: message.rating for message in after if message.rating}
    assert rated == {
        first[1].message_id: conversations_pb2.RATING_UP,
        during[-1].message_id: conversations_pb2.RATING_DOWN,
    }
    unrated = conversations_pb2.RATING_UNSPECIFIED
    await noor.rate(own, first[1].message_id, unrated)
    await noor.rate(own, during[-1].message_id, unrated)
    cleared = await noor.messages(own)
    assert {message.rating for message in cleared} == {unrated}
    assert cleared[:2] == first


async def test_h4_a_message_that_is_not_there_can_not_be_rated(start_server: StartServer) -> None:
    server = await start_server(in_turn([Text("Hello.")], [Text("Hi.")]))
    noor = await server.person()
    own = (await noor.prompt("Hello")).conversation_id
    other = (await noor.prompt("Hello")).conversation_id
    before = await noor.messages(own)
    elsewhere = await noor.messages(other)
    beyond = str(int(before[-1].message_id) + 1)
    for message_id in (beyond, str(2**62)):
        error = await refused(noor.rate(own, message_id, conversations_pb2.RATING_UP))
        assert error.code() == grpc.StatusCode.NOT_FOUND
        assert error_of(error).reason == "MESSAGE_NOT_FOUND"
    assert await noor.messages(own) == before
    assert await noor.messages(other) == elsewhere

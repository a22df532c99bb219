"""How many host actions may run at once (spec blocks 22, turns 12.5)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import grpc
import pytest
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import ParleyError, error_of
from parleyd.contract import limits
from parleyd.models.played import Pick
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import Person
from tests.end_to_end.pressed import begun, logged, press, pressing, refusal
from tests.held_actions import Held, hold_anew
from tests.server import Server, StartServer

DEADLINE: Final = 60
INTERVAL: Final = 0.01
ACTIONS: Final = ("tests.held_actions",)


@pytest.fixture
def held() -> Held:
    return hold_anew()


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn(), blocks=True, host_actions=ACTIONS)


@pytest.fixture
async def noor(server: Server) -> Person:
    return await server.person()


async def one_at_a_time(
    start_server: StartServer, pick: Pick | None = None, seconds: float = DEADLINE
) -> Server:
    return await start_server(
        pick or in_turn(),
        blocks=True,
        host_actions=ACTIONS,
        block_action_seconds=seconds,
        owner_turns=1,
        conversation_turns=1,
    )


@asynccontextmanager
async def running(held: Held, person: Person, *conversations: str) -> AsyncGenerator[None]:
    """Lets an action run in each conversation, until it is left."""
    async with asyncio.timeout(DEADLINE):
        calls = [asyncio.create_task(press(person, own, "wait")) for own in conversations]
        await held.come(len(calls))
        yield
        held.release()
        for call in calls:
            assert (await call).text == "Done."


async def runs_at_once(person: Person, own: str) -> bool:
    """Tells whether there is a place for one more action."""
    try:
        await press(person, own, "atOnce")
    except grpc.aio.AioRpcError as error:
        if error_of(error).reason == "RATE_LIMITED":
            return False
        raise
    return True


async def runs_soon(person: Person, own: str) -> None:
    """Waits until there is a place for one more action."""
    async with asyncio.timeout(DEADLINE):
        while not await runs_at_once(person, own):
            await asyncio.sleep(INTERVAL)


def is_too_many(error: ParleyError, limit: int, of_what: str) -> bool:
    return (
        (error.code, error.reason) == (StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED")
        and error.metadata == {"limit": str(limit)}
        and of_what in error.message
    )


async def test_the_ninth_action_of_a_person_is_refused_and_runs_nothing(
    server: Server, noor: Person, held: Held, engine: AsyncEngine
) -> None:
    own = [await begun(noor) for _ in range(9)]
    ivo = await server.person("ivo")
    theirs = await begun(ivo)
    assert limits.OWNER_TURNS == 8

    async with running(held, noor, *own[:8]):
        ninth = await refusal(noor, pressing(own[8], "atOnce"))
        assert await runs_at_once(ivo, theirs)

    assert is_too_many(ninth, 8, "actions of one person")
    assert await runs_at_once(noor, own[8])
    assert held.started == ["wait"] * 8
    rows = await logged(server, engine)
    assert [row.owner for row in rows].count("noor") == 9
    assert not any(row.error for row in rows)


async def test_the_fifth_action_of_a_conversation_is_refused(noor: Person, held: Held) -> None:
    own, other = await begun(noor), await begun(noor)
    assert limits.CONVERSATION_TURNS == 4

    async with running(held, noor, *[own] * 4):
        fifth = await refusal(noor, pressing(own, "atOnce"))
        assert await runs_at_once(noor, other)

    assert is_too_many(fifth, 4, "actions of one conversation")
    assert await runs_at_once(noor, own)


async def test_what_is_wrong_with_a_call_is_told_before_there_are_too_many(
    start_server: StartServer, held: Held
) -> None:
    server = await one_at_a_time(start_server)
    noor, eve = await server.person(), await server.person("eve")
    own = await begun(noor)

    async with running(held, noor, own):
        foreign = await refusal(eve, pressing(own, "atOnce"))
        unknown = await refusal(noor, pressing(own, "nope"))
        assert not await runs_at_once(noor, own)

    assert (foreign.reason, unknown.reason) == ("NOT_OWNER", "ACTION_NOT_FOUND")


async def test_a_turn_takes_no_place_of_an_action_nor_an_action_one_of_a_turn(
    start_server: StartServer, held: Held
) -> None:
    script = in_turn([Hold("long"), Text("Well.")], [Text("Well.")])
    server = await one_at_a_time(start_server, script)
    noor = await server.person()
    own = await begun(noor)

    async with asyncio.timeout(DEADLINE):
        turn = asyncio.create_task(noor.prompt("Think for long", own))
        await server.model.holds.reached("long")
        assert await runs_at_once(noor, own)
        server.model.holds.release("long")
        assert (await turn).text == "Well."
    async with running(held, noor, own):
        assert (await noor.prompt("Hello", own)).text == "Well."


async def test_an_action_that_fails_leaves_its_place(start_server: StartServer, held: Held) -> None:
    server = await one_at_a_time(start_server)
    noor = await server.person()
    own = await begun(noor)
    held.release()

    assert (await refusal(noor, pressing(own, "fail"))).reason == "INTERNAL"

    await runs_soon(noor, own)


async def test_an_action_whose_client_leaves_leaves_its_place(
    start_server: StartServer, held: Held
) -> None:
    server = await one_at_a_time(start_server)
    noor = await server.person()
    own = await begun(noor)

    call = asyncio.ensure_future(press(noor, own, "wait"))
    await held.come(1)
    call.cancel()

    await runs_soon(noor, own)
    assert held.ended == ["wait"]


async def test_an_action_that_takes_too_long_leaves_its_place(
    start_server: StartServer, held: Held
) -> None:
    server = await one_at_a_time(start_server, seconds=0.05)
    noor = await server.person()
    own = await begun(noor)

    assert (await refusal(noor, pressing(own, "wait"))).reason == "ACTION_TIMEOUT"

    await runs_soon(noor, own)
    assert held.ended == ["wait"]


@pytest.mark.parametrize("action", ["stubborn", "inThread"])
async def test_an_action_that_can_t_be_cancelled_keeps_its_place_until_it_has_ended(
    start_server: StartServer, held: Held, action: str
) -> None:
    server = await one_at_a_time(start_server, seconds=0.05)
    noor = await server.person()
    own = await begun(noor)

    assert (await refusal(noor, pressing(own, action))).reason == "ACTION_TIMEOUT"
    for _ in range(5):
        assert not await runs_at_once(noor, own)
    assert held.ended == []
    held.release()

    await runs_soon(noor, own)
    assert held.ended == [action]

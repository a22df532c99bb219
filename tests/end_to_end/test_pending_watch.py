"""Watching what waits on a person (spec turns 16.6, X4; BC-084)."""

import asyncio
import time
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any, Final

import pytest
from grpc import StatusCode, aio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parley import error_of
from parley.v1 import asks_pb2, turns_pb2
from parley.v1.service_asks_pb2 import WatchAskRequest
from parleyd.contract import limits
from parleyd.models.script import Text
from parleyd.models.scripted import by_progress, in_turn
from parleyd.turns import pending_feeds
from tests.end_to_end.asking_service import asking_service, empty_conversation
from tests.end_to_end.person import Person, accept
from tests.end_to_end.watcher import SECONDS, Watcher, watching
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

TEAM: Final = "option:team"
LISTENERS: Final = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
    " AND application_name = 'parleyd' AND query ILIKE 'LISTEN%'"
)


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(by_progress([ask_plan()], [Text("Done.")]))


@pytest.fixture
async def noor(server: Server) -> Person:
    return await server.person()


async def cut_the_listener(engine: AsyncEngine) -> None:
    """Ends the connections on which servers hear of changes."""
    async with engine.connect() as connection:
        ended = await connection.execute(
            text(f"SELECT pg_terminate_backend(pid) FROM ({LISTENERS}) own")
        )
        assert ended.scalars().all() == [True]


# ---------------------------------------------------------------- what is told


async def test_x4_a_snapshot_then_what_comes_and_goes(noor: Person) -> None:
    first = await noor.prompt("Set up my workspace")
    async with watching(noor.client) as watcher:
        (there,) = watcher.last.snapshot.pending_asks
        assert [there] == await noor.pending()
        answered = await noor.answer(first.conversation_id, PLAN_ID, accept("team"))
        await watcher.until(2)
        removed = watcher.last.removed
        assert (removed.conversation_id, removed.tool_call_id) == (first.conversation_id, PLAN_ID)
        assert removed.action == asks_pb2.ASK_ACTION_ACCEPT
        assert (removed.resolved_by_turn_id, removed.reason) == (answered.turn_id, "")
        await noor.prompt("Another one")
        await watcher.until(3)
        assert [watcher.last.added] == await noor.pending()
    assert watcher.told == ["1 wait", f"-{PLAN_ID} accept", f"+{PLAN_ID}"]


async def test_x4_why_an_ask_went_is_told(server: Server, noor: Person) -> None:
    service = await asking_service(server)
    async with watching(noor.client) as watcher:
        own = await empty_conversation(noor)
        withdrawn = await service.ask(own)
        await service.cancel(withdrawn.ask_id, "the order is gone")
        await service.ask(own)
        played = await noor.prompt("Something else", own)
        await watcher.until(6)
        deleted = await empty_conversation(noor)
        await service.ask(deleted)
        await noor.delete(deleted)
        await watcher.until(8)
    removed = [each.removed for each in watcher.seen if each.HasField("removed")]
    assert [each.reason for each in removed] == [
        "the order is gone",
        "user_sent_message",
        "conversation_deleted",
    ]
    assert removed[1].resolved_by_turn_id == played.turn_id
    assert removed[2].resolved_by_turn_id == ""
    assert all(each.action == asks_pb2.ASK_ACTION_CANCEL for each in removed)


async def test_x4_an_expired_ask_is_removed(
    start_server: StartServer, engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REAPER_SECONDS", 0.05)
    server = await start_server(in_turn())
    noor, service = await server.person(), await asking_service(server)
    ask = await service.ask(await empty_conversation(noor), ttl=timedelta(minutes=5))
    async with watching(noor.client) as watcher:
        (there,) = watcher.last.snapshot.pending_asks
        assert there.expire_time == ask.expire_time
        async with engine.begin() as connection:
            await connection.execute(text("UPDATE asks SET expire_time = now()"))
        await watcher.until(2)
    assert watcher.last.removed.reason == "expired"


async def test_x4_changes_come_in_order_also_after_the_listener_was_cut(
    server: Server, noor: Person, engine: AsyncEngine
) -> None:
    service = await asking_service(server)
    owns = [await empty_conversation(noor) for _ in range(3)]
    async with watching(noor.client) as watcher:
        told = ["0 wait"]
        for _ in range(3):
            await cut_the_listener(engine)
            asks = [await service.ask(own) for own in owns]
            told += [f"+{ask.tool_call_id}" for ask in asks]
            await watcher.until(len(told))
            for own, ask in zip(owns, asks, strict=True):
                await noor.press(own, ask.tool_call_id, TEAM)
                told.append(f"-{ask.tool_call_id} accept")
            await watcher.until(len(told))
        assert watcher.told == told


async def test_bc_084_what_is_decided_in_one_conversation_hides_no_other(
    server: Server, noor: Person
) -> None:
    other_device = await server.person()
    one = await noor.prompt("Set up my workspace")
    two = await noor.prompt("And another one")
    async with watching(noor.client) as phone, watching(other_device.client) as laptop:
        for device in (phone, laptop):
            waiting = [each.conversation_id for each in device.last.snapshot.pending_asks]
            assert waiting == [two.conversation_id, one.conversation_id]
        await noor.answer(one.conversation_id, PLAN_ID, accept("team"))
        for device in (phone, laptop):
            await device.until(2)
            assert device.last.removed.conversation_id == one.conversation_id
        (left,) = await noor.pending()
        assert left.conversation_id == two.conversation_id
        await other_device.answer(two.conversation_id, PLAN_ID, accept("team"))
        for device in (phone, laptop):
            await device.until(3)
            assert device.last.removed.conversation_id == two.conversation_id


async def test_nobody_is_told_of_the_asks_of_others(server: Server, noor: Person) -> None:
    ada = await server.person("ada")
    async with watching(ada.client) as stranger, watching(noor.client) as watcher:
        await noor.prompt("Set up my workspace")
        await watcher.until(2)
        await ada.prompt("Mine")
        await stranger.until(2)
    assert stranger.told == ["0 wait", f"+{PLAN_ID}"]
    assert watcher.told == ["0 wait", f"+{PLAN_ID}"]


async def test_a_change_made_by_another_server_is_told_here(
    start_server: StartServer, noor: Person
) -> None:
    elsewhere = await (await start_server(in_turn([ask_plan()]))).person()
    async with watching(noor.client) as watcher:
        await elsewhere.prompt("Set up my workspace")
        await watcher.until(2)
    assert watcher.told == ["0 wait", f"+{PLAN_ID}"]


# ---------------------------------------------------------------- slow, quiet, too many


async def test_who_reads_too_slowly_is_sent_all_that_waits(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows of HTTP/2 hold some hundred messages, so the stream is held by what they weigh."""
    monkeypatch.setattr(pending_feeds, "CHANGES_KEPT", 4)
    server = await start_server(in_turn())
    noor, service = await server.person(), await asking_service(server)
    owns = [await empty_conversation(noor) for _ in range(4)]
    prompt = "Well? " * 80
    wordy = asks_pb2.AskInput(prompt=prompt, confirm=asks_pb2.ConfirmInput())
    call = noor.client.turns.WatchPendingAsks(turns_pb2.WatchPendingAsksRequest())
    reading = aiter(call)
    assert (await anext(reading)).HasField("snapshot")
    for _ in range(60):
        for own in owns:
            ask = await service.ask(own, ask_input=wordy)
            await service.cancel(ask.ask_id)
    last = [await service.ask(own) for own in owns]
    watcher = Watcher()
    async with asyncio.timeout(SECONDS):
        while not _knows_all(watcher, [ask.tool_call_id for ask in last]):
            watcher.take(await anext(reading))
    call.cancel()


def _knows_all(watcher: Watcher, waiting: list[str]) -> bool:
    """Tells whether what was said comes to what waits."""
    known: set[str] = set()
    for response in watcher.seen:
        match response.WhichOneof("change"):
            case "snapshot":
                known = {each.tool_call_id for each in response.snapshot.pending_asks}
            case "added":
                known.add(response.added.tool_call_id)
            case _:
                known.remove(response.removed.tool_call_id)
    return known == set(waiting)


async def test_a_quiet_watch_gives_signs_of_life(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "QUIET_SECONDS", 0.05)
    server = await start_server(in_turn())
    noor = await server.person()
    async with watching(noor.client) as watcher, asyncio.timeout(SECONDS):
        while watcher.quiet < 3:
            await asyncio.sleep(0.01)
    assert watcher.told == ["0 wait"]


async def failure(client: Any) -> aio.AioRpcError:
    """Watches until the stream fails."""
    with pytest.raises(aio.AioRpcError) as raised:
        async with asyncio.timeout(SECONDS):
            await Watcher().follow(client)
    return raised.value


async def test_a_watch_ends_with_its_token(server: Server) -> None:
    leeway = 60
    short = await server.person("noor", exp=int(time.time()) - leeway + 2)
    error = error_of(await failure(short.client))
    assert (error.code, error.reason) == (StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
    assert "expired" in error.message


async def test_a_watched_service_ask_ends_with_its_token(server: Server, noor: Person) -> None:
    service = await asking_service(server)
    ask = await service.ask(await empty_conversation(noor))
    short = await server.person(
        "errands", aud="parley-internal", scope="asks.write", exp=int(time.time()) - 58
    )
    watched = aiter(short.client.asks.WatchAsk(WatchAskRequest(ask_id=ask.ask_id)))
    assert (await anext(watched)).ask == ask
    with pytest.raises(aio.AioRpcError) as raised:
        async with asyncio.timeout(SECONDS):
            await anext(watched)
    assert error_of(raised.value).reason == "UNAUTHENTICATED"


async def test_a_server_that_stops_says_so(start_server: StartServer) -> None:
    server = await start_server(in_turn())
    async with parley.connect(server.address, server.token()) as client:
        watched = aiter(client.turns.WatchPendingAsks(turns_pb2.WatchPendingAsksRequest()))
        assert (await anext(watched)).HasField("snapshot")
        stopping = asyncio.ensure_future(server.stop())
        with pytest.raises(aio.AioRpcError) as raised:
            async with asyncio.timeout(SECONDS):
                await anext(watched)
        assert raised.value.code() == StatusCode.UNAVAILABLE
        await stopping


async def test_one_person_may_watch_so_often(start_server: StartServer) -> None:
    server = await start_server(in_turn(), owner_streams=2)
    noor, ada = await server.person(), await server.person("ada")
    async with watching(noor.client), watching(noor.client):
        error = error_of(await failure(noor.client))
        assert (error.code, error.reason) == (StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED")
        assert error.metadata["limit"] == "2"
        async with watching(ada.client):
            pass
    async with AsyncExitStack() as stack:
        for _ in range(2):
            await stack.enter_async_context(watching(noor.client))


async def test_there_is_nothing_to_watch_where_asks_are_off(start_server: StartServer) -> None:
    server = await start_server(in_turn(), asks=())
    noor = await server.person()
    error = error_of(await failure(noor.client))
    assert (error.code, error.reason) == (StatusCode.UNIMPLEMENTED, "ASKS_DISABLED")

import asyncio
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

from parleyd.contract import errors, limits
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import in_turn
from tests.rpc.web.http import Heard, body, events_of, faults, heard, http_front, reason
from tests.rpc.wire import Wire
from tests.server import Server, StartServer
from tests.server_process import LIFETIME
from tests.standard_asks import ask_plan
from tests.standard_tools import StandardTools, look_up

ID = "7e57ab1e-0000-4000-8000-000000000000"
STREAM = "/v1/turns:stream"
WATCH = f"/v1/conversations/{ID}/turns/{ID}:watch"
LINES = {"accept": "application/x-ndjson"}
PROMPT = {"prompt": {"text": "How many plans?"}}
SECONDS = 20


def front_of(server: Server) -> Any:
    return http_front(server.address, server.key.issue("noor", LIFETIME))


async def streamed(http: httpx2.AsyncClient, **content: Any) -> Heard:
    """Runs a turn to its end."""
    async with http.stream("POST", STREAM, json=content or PROMPT) as response:
        assert response.status_code == 200
        return await heard(response)


def watch_of(said: Heard) -> str:
    started = said.shapes[0]
    return f"/v1/conversations/{started['historyId']}/turns/{started['streamId']}:watch"


async def test_a_turn_is_streamed_as_events_with_their_sequences(
    start_server: StartServer, tmp_path: Path
) -> None:
    server = await start_server(
        in_turn([look_up()], [Text("There are "), Text("3.")]), tools=StandardTools(tmp_path).hosted
    )
    async with front_of(server) as http, http.stream("POST", STREAM, json=PROMPT) as response:
        headers = response.headers
        said = await heard(response)
    stored = [event for event in said.events if event.id]
    assert [event.id for event in stored] == ["1", "2", "3", "4", "5"]
    assert [next(iter(event.data)) for event in stored] == [
        *("started", "toolCall", "toolResult", "text", "done")
    ]
    assert all(next(iter(event.data)) == "preview" for event in said.events if not event.id)
    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-store", "no")


async def test_bc_092_a_stream_goes_on_after_the_last_event_that_a_browser_has(
    start_server: StartServer, tmp_path: Path
) -> None:
    server = await start_server(
        in_turn([look_up()], [Text("There are 3.")]), tools=StandardTools(tmp_path).hosted
    )
    async with front_of(server) as http:
        whole = [event for event in (await streamed(http)).events if event.id]
        path = watch_of(Heard(whole))
        for after in range(len(whole)):
            for headers, query in (({"last-event-id": str(after)}, "?afterSequence=4"), ({}, "")):
                asked = query or f"?after_sequence={after}"
                async with http.stream("GET", path + asked, headers=headers) as response:
                    assert (await heard(response)).events == whole[after:]


async def test_who_has_everything_of_a_turn_that_ended_is_told_204_to_stop(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([ask_plan()]))
    async with front_of(server) as http:
        said = await streamed(http)
        last = {"last-event-id": said.ids[-1] or ""}
        nothing = await http.get(watch_of(said), headers=last)
        no_lines = await http.get(watch_of(said), headers={**last, **LINES})
    assert said.shapes[-1]["pendingAsk"] == {"toolCallId": "call_plan"}
    assert (nothing.status_code, nothing.content) == (204, b"")
    assert (no_lines.status_code, no_lines.content) == (200, b"")


async def test_bc_090_who_attaches_before_the_first_token_sees_the_turn_at_once(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Hold("thinking"), Text("Hello.")]))
    async with front_of(server) as http, asyncio.timeout(SECONDS):
        async with http.stream("POST", STREAM, json=PROMPT) as response:
            first = await anext(events_of(response))
        assert first
        async with http.stream("GET", watch_of(Heard([first]))) as response:
            events = events_of(response)
            assert await anext(events) == first
            server.model.holds.release("thinking")
            rest = [event async for event in events if event and event.id]
    assert [next(iter(event.data)) for event in rest] == ["text", "done"]


async def test_bc_103_a_silent_stream_has_comments_that_clients_pass_over(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "QUIET_SECONDS", 0.05)
    server = await start_server(in_turn([Hold("thinking"), Text("Hello.")]))
    async with (
        asyncio.timeout(SECONDS),
        front_of(server) as http,
        http.stream("POST", STREAM, json=PROMPT) as response,
    ):
        events = events_of(response)
        said = [await anext(events) for _ in range(4)]
        server.model.holds.release("thinking")
        rest = [event async for event in events]
    assert said[1:] == [None, None, None]
    assert rest[-1]
    assert rest[-1].data["done"] is True


async def test_lines_hold_the_messages_of_the_stream(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()]))
    async with (
        front_of(server) as http,
        http.stream("POST", STREAM, json=PROMPT, headers=LINES) as response,
    ):
        lines = [json.loads(line) async for line in response.aiter_lines()]
    assert response.headers["content-type"] == "application/x-ndjson"
    assert [line["event"]["sequence"] for line in lines] == [1, 2, 3]
    assert lines[1]["event"]["ask"]["kind"] == "ASK_KIND_CHOICE"


ACCEPTED = {
    "": "text/event-stream",
    "*/*": "text/event-stream",
    "text/event-stream": "text/event-stream",
    "application/json": "application/x-ndjson",
    "application/x-ndjson": "application/x-ndjson",
    "application/json, text/event-stream": "application/x-ndjson",
    "application/json;q=0.5, text/event-stream;q=0.9": "text/event-stream",
    "text/event-stream;q=0, */*;q=0.1, application/json;q=0.05": "text/event-stream",
    "image/png, application/*;q=0.2": "application/x-ndjson",
}


@pytest.mark.parametrize("accept", ACCEPTED)
async def test_a_stream_is_written_as_its_client_accepts_it(
    http: httpx2.AsyncClient, accept: str
) -> None:
    told = await http.post(STREAM, json={}, headers={"accept": accept})
    assert told.headers["content-type"].partition(";")[0] == ACCEPTED[accept]


@pytest.mark.parametrize("accept", ["image/png", "text/html", "text/event-stream;q=0"])
async def test_a_client_that_accepts_no_stream_is_refused_before_anything_happens(
    wire: Wire, http: httpx2.AsyncClient, accept: str
) -> None:
    refused = await http.post(STREAM, json=PROMPT, headers={"accept": accept})
    assert (refused.status_code, reason(refused)) == (400, "INVALID_REQUEST")
    assert faults(refused) == [("Accept", "INVALID_FORMAT")]
    assert wire.servicer.calls == 0


@pytest.mark.parametrize("value", ["-1", "x", "1.0", "99999999999", "2147483648"])
async def test_a_last_event_id_that_is_none_is_refused(
    wire: Wire, http: httpx2.AsyncClient, value: str
) -> None:
    refused = await http.get(WATCH, headers={"last-event-id": value})
    assert (refused.status_code, faults(refused)) == (400, [("Last-Event-ID", "INVALID_FORMAT")])
    assert wire.servicer.calls == 0


@pytest.mark.parametrize("headers", [{}, LINES])
async def test_what_fails_before_the_first_event_is_told_as_any_error(
    wire: Wire, http: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    wire.servicer.raises(errors.EventsExpired(UUID(ID)))
    refused = await http.get(WATCH, headers=headers)
    assert (refused.status_code, reason(refused)) == (400, "EVENTS_EXPIRED")


async def test_what_fails_later_is_the_last_event_and_says_where_to_go_on(
    wire: Wire, http: httpx2.AsyncClient
) -> None:
    wire.servicer.raises(errors.Unavailable("The server stops."))
    async with http.stream("POST", STREAM, json={}) as response:
        said = await heard(response)
    assert said.ids == ["1", None]
    assert said.shapes[-1] == {
        "error": "The server stops.",
        "reason": "UNAVAILABLE",
        "afterSequence": 1,
    }
    async with http.stream("POST", STREAM, json={}, headers=LINES) as response:
        lines = [json.loads(line) async for line in response.aiter_lines()]
    assert lines[-1]["error"]["status"] == "UNAVAILABLE"
    assert lines[-1]["error"]["details"][0]["reason"] == "UNAVAILABLE"


async def test_the_unforeseen_in_a_stream_tells_nothing_of_itself(
    wire: Wire, http: httpx2.AsyncClient
) -> None:
    wire.servicer.raises(ValueError("a secret"))
    async with http.stream("POST", STREAM, json={}) as response:
        said = await heard(response)
    assert said.shapes[-1]["reason"] == "INTERNAL"
    assert "secret" not in str(said.shapes)


async def test_a_client_that_leaves_a_stream_ends_the_call_and_leaves_no_task(
    wire: Wire, http: httpx2.AsyncClient
) -> None:
    wire.servicer.act = wire.servicer.hang
    before = len(asyncio.all_tasks())
    for _ in range(20):
        wire.servicer.left.clear()
        async with http.stream("POST", STREAM, json={}) as response:
            await anext(events_of(response))
        await asyncio.wait_for(wire.servicer.left.wait(), 1)
    async with asyncio.timeout(SECONDS):
        while len(asyncio.all_tasks()) > before + 2:
            await asyncio.sleep(0.01)


async def test_a_client_that_leaves_before_the_first_event_ends_the_call(
    wire: Wire, http: httpx2.AsyncClient
) -> None:
    wire.servicer.act = wire.servicer.hang
    calling = asyncio.create_task(http.get(WATCH))
    await asyncio.wait_for(wire.servicer.entered.wait(), 10)
    calling.cancel()
    await asyncio.wait_for(wire.servicer.left.wait(), 1)


async def test_a_deadline_in_a_stream_is_its_last_event(
    wire: Wire, http: httpx2.AsyncClient
) -> None:
    wire.servicer.act = wire.servicer.hang
    async with http.stream("POST", STREAM, json={}, headers={"x-timeout-ms": "400"}) as response:
        said = await heard(response)
    assert said.shapes[-1]["reason"] == "DEADLINE_EXCEEDED"


async def test_the_two_paths_of_a_new_turn_name_their_conversation(
    http: httpx2.AsyncClient,
) -> None:
    path = f"/v1/conversations/{ID}/turns:stream"
    told = await http.post(path, json={"conversationId": ID})
    refused = await http.post(path, json={"conversationId": ID.replace("7", "8")})
    assert told.status_code == 200
    assert (refused.status_code, faults(refused)) == (400, [("conversationId", "TOO_MANY")])
    assert body(refused)["title"] == "Validation failed"

"""Servers that come, go, hang and change, and what a turn sees of it."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest

from parleyd.tools import McpServer, ToolFailed, mcp_tools
from parleyd.tools.mcp import connections, servers
from parleyd.turns.tools import RemoteTools
from tests.listening import stop_listening
from tests.tools.mcp.shelves import (
    READ_ONLY,
    HttpWarehouse,
    Shelves,
    children,
    eventually,
    http_warehouse,
    listed,
)
from tests.tools.shop import CONTEXT

STDIO = ("command",)
WAYS = [STDIO, ("command", "--legacy"), ("url",), ("url", "--legacy"), ("url", "--json")]
LOST = "The server stock was lost inside the call. Whether it took effect is not known"


class Warehouses(Protocol):
    async def __call__(
        self, way: tuple[str, ...], port: int = 0
    ) -> tuple[McpServer, HttpWarehouse | None]: ...


@pytest.fixture
async def warehouse(shelves: Shelves) -> AsyncIterator[Warehouses]:
    """Makes a server reachable in one of the ways."""
    async with AsyncExitStack() as stack:

        async def start(
            way: tuple[str, ...], port: int = 0
        ) -> tuple[McpServer, HttpWarehouse | None]:
            kind, *options = way
            if kind == "command":
                command = shelves.command(*options)
                return McpServer.model_validate({"command": command, "prefix": ""}), None
            server = await stack.enter_async_context(http_warehouse(shelves, *options, port=port))
            return McpServer.model_validate({"url": server.url, "prefix": ""}), server

        yield start


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """What only regular looks find out is found out sooner."""
    monkeypatch.setattr(connections, "LOOK_SECONDS", 1)
    monkeypatch.setattr(connections, "READY_SECONDS", 3)


def offers(remote_tools: RemoteTools, *names: str) -> Callable[[], Awaitable[bool]]:
    async def now() -> bool:
        return [*await remote_tools()] == [*names]

    return now


async def kill(shelves: Shelves, server: HttpWarehouse | None) -> None:
    if server:
        await server.kill()
    else:
        os.kill(shelves.noted("list")[-1]["pid"], signal.SIGKILL)


@pytest.mark.parametrize("way", WAYS, ids="".join)
async def test_a_change_of_the_list_is_followed(
    shelves: Shelves, warehouse: Warehouses, way: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "LOOK_SECONDS", 1000)
    shelves.offer(listed("look"), listed("grow"))
    shelves.grown(listed("look"), listed("grow"), listed("new"))
    config, _ = await warehouse(way)
    async with mcp_tools({"stock": config}) as remote_tools:
        await eventually(offers(remote_tools, "look", "grow"))
        before = await remote_tools()
        await before["grow"].run({}, CONTEXT)
        await eventually(offers(remote_tools, "look", "grow", "new"))
        assert await (await remote_tools())["new"].run({}, CONTEXT) == "3 boxes"


@pytest.mark.parametrize("way", WAYS, ids="".join)
async def test_a_server_lost_inside_a_call_leaves_the_outcome_open(
    shelves: Shelves, warehouse: Warehouses, way: tuple[str, ...]
) -> None:
    shelves.offer(listed("die"), listed("look"))
    config, server = await warehouse(way)
    async with mcp_tools({"stock": config}) as remote_tools:
        await eventually(offers(remote_tools, "die", "look"))
        tools = await remote_tools()
        with pytest.raises(ToolFailed, match=LOST):
            await tools["die"].run({}, CONTEXT)
        if server:
            await eventually(offers(remote_tools))
            await warehouse(way, port=server.port)
        # The same tool goes on once its server is back.
        assert await tools["look"].run({}, CONTEXT) == "3 boxes"
        await eventually(offers(remote_tools, "die", "look"))
    assert len(shelves.noted("die")) == 1


@pytest.mark.parametrize("way", WAYS, ids="".join)
async def test_a_server_killed_between_calls_has_no_tools_until_it_is_back(
    shelves: Shelves, warehouse: Warehouses, way: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    if way != ("url", "--legacy"):  # all others tell of their end, by closing what is open
        monkeypatch.setattr(connections, "LOOK_SECONDS", 1000)
    monkeypatch.setattr(connections, "FIRST_WAIT_SECONDS", 1)
    shelves.offer(listed("look"))
    config, server = await warehouse(way)
    async with mcp_tools({"stock": config}) as remote_tools:
        await eventually(offers(remote_tools, "look"))
        await kill(shelves, server)
        await eventually(offers(remote_tools))
        if server:
            await warehouse(way, port=server.port)
        await eventually(offers(remote_tools, "look"))
        assert await (await remote_tools())["look"].run({}, CONTEXT) == "3 boxes"


async def test_a_call_to_a_server_that_is_away_does_not_run(
    shelves: Shelves, warehouse: Warehouses
) -> None:
    shelves.offer(listed("look"))
    config, server = await warehouse(("url", "--legacy"))
    async with mcp_tools({"stock": config}) as remote_tools:
        await eventually(offers(remote_tools, "look"))
        look = (await remote_tools())["look"]
        assert server
        await server.kill()
        await eventually(offers(remote_tools))
        with pytest.raises(ToolFailed, match="The call did not run: the server stock can't be"):
            await look.run({}, CONTEXT)
    assert shelves.noted("look") == []


async def test_a_session_that_is_gone_is_found_out_before_the_call(
    shelves: Shelves, warehouse: Warehouses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "LOOK_SECONDS", 1000)
    monkeypatch.setattr(connections, "FRESH_SECONDS", 1)
    way = ("url", "--legacy")
    shelves.offer(listed("look"))
    config, server = await warehouse(way)
    async with mcp_tools({"stock": config}) as remote_tools:
        await eventually(offers(remote_tools, "look"))
        look, heard = (await remote_tools())["look"], time.monotonic()
        assert server
        await server.kill()
        await warehouse(way, port=server.port)
        await eventually(lambda: time.monotonic() - heard > 1)
        assert await look.run({}, CONTEXT) == "3 boxes"
    assert len(shelves.noted("look")) == 1


async def test_a_server_that_is_down_at_the_start_is_offered_when_it_comes(
    shelves: Shelves, warehouse: Warehouses, logged: list[MutableMapping[str, Any]]
) -> None:
    shelves.offer(listed("look"))
    config, server = await warehouse(("url",))
    assert server
    await server.kill()
    async with mcp_tools({"stock": config}) as remote_tools:
        assert await remote_tools() == {}
        await warehouse(("url",), port=server.port)
        await eventually(offers(remote_tools, "look"))
    assert [line["event"] for line in logged] == ["mcp_server_lost", "mcp_server_connected"]
    assert logged[0]["cause"] == "ConnectError"


async def test_a_program_that_is_not_there_has_no_tools(
    logged: list[MutableMapping[str, Any]],
) -> None:
    config = McpServer.model_validate({"command": ["/nowhere/warehouse"]})
    async with mcp_tools({"stock": config}) as remote_tools:
        assert await remote_tools() == {}
    assert [(line["event"], line["cause"]) for line in logged] == [
        ("mcp_server_lost", "FileNotFoundError")
    ]


NONSENSE = {
    "nothing": "import time; time.sleep(1000)",
    "no JSON": "print('Welcome!', flush=True); import time; time.sleep(1000)",
    "a stream of it": "\nwhile True: print('{}', flush=True)",
    "another protocol": "\nfor line in __import__('sys').stdin: print(line, end='', flush=True)",
    "a deaf ear": "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(1000)",
}


@pytest.mark.parametrize("name", NONSENSE)
async def test_a_program_that_talks_nonsense_delays_nobody_and_is_ended(
    shelves: Shelves, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "FIRST_ANSWER_SECONDS", 0.3)
    shelves.offer(listed("look"))
    before = children()
    good = McpServer.model_validate({"command": shelves.command(), "prefix": ""})
    bad = McpServer.model_validate({"command": [sys.executable, "-c", NONSENSE[name]]})
    async with mcp_tools({"bad": bad, "good": good}) as remote_tools:
        started = time.monotonic()
        await remote_tools()
        assert time.monotonic() - started < 1
        await eventually(offers(remote_tools, "look"))
        assert await (await remote_tools())["look"].run({}, CONTEXT) == "3 boxes"
    assert children() == before


async def test_a_server_that_accepts_and_never_answers_delays_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(servers, "FIRST_ANSWER_SECONDS", 0.3)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    listening = await asyncio.start_server(accept, "127.0.0.1")
    port = listening.sockets[0].getsockname()[1]
    config = McpServer.model_validate({"url": f"http://127.0.0.1:{port}/mcp"})
    async with mcp_tools({"stock": config}) as remote_tools:
        started = time.monotonic()
        assert await remote_tools() == {}
        assert await remote_tools() == {}
        assert time.monotonic() - started < 1
    await stop_listening(listening)


@pytest.mark.parametrize("way", [STDIO, ("url",), ("url", "--legacy")], ids="".join)
async def test_a_server_that_hangs_later_is_lost(
    shelves: Shelves, warehouse: Warehouses, way: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 1)
    monkeypatch.setattr(connections, "CONNECT_SECONDS", 2)
    shelves.offer(listed("look"))
    config, _ = await warehouse(way)
    async with mcp_tools({"stock": config}) as remote_tools:
        await eventually(offers(remote_tools, "look"))
        look = (await remote_tools())["look"]
        shelves.silence()
        await eventually(offers(remote_tools))
        with pytest.raises(ToolFailed, match="The call did not run"):
            await look.run({}, CONTEXT)
        (shelves.path / "silent").unlink()
        await eventually(offers(remote_tools, "look"))


async def test_of_two_servers_with_one_name_for_a_tool_the_earlier_counts(
    shelves: Shelves, tmp_path: Path
) -> None:
    other = Shelves(tmp_path / "other", listed("look", READ_ONLY), listed("weigh"))
    shelves.offer(listed("look"), listed("order"))
    config = {
        name: McpServer.model_validate({"command": each.command(), "prefix": ""})
        for name, each in {"stock": shelves, "other": other}.items()
    }
    async with mcp_tools(config) as remote_tools:
        await eventually(offers(remote_tools, "look", "order", "weigh"))
        look = (await remote_tools())["look"]
        assert not look.replay_safe, "it keeps what its own server says of it"
        await look.run({}, CONTEXT)
        (shelves.path / "silent").touch()
        await eventually(offers(remote_tools, "weigh"))
    assert (len(shelves.noted("look")), len(other.noted("look"))) == (1, 0)

"""Which tools of a server are offered, how, and what becomes of their calls."""

import asyncio
import logging
from base64 import b64encode
from collections.abc import AsyncIterator, MutableMapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, Protocol

import pytest
from mcp.types import Tool

from parleyd.tools import McpServer, ToolContext, ToolFailed, mcp_tools
from parleyd.tools.mcp.connections import Connection
from parleyd.tools.mcp.remote_tool import SCHEMA_BYTES, remote_tools
from parleyd.tools.mcp.transports import transport_factory
from parleyd.turns.tools import HostTool, RemoteTools, ToolFile, ToolSet
from tests.tools.mcp.shelves import (
    DESTRUCTIVE,
    READ_ONLY,
    HttpWarehouse,
    Shelves,
    eventually,
    http_warehouse,
    listed,
)
from tests.tools.shop import CONTEXT

APPROVED = replace(CONTEXT, approval_id="approval")


class Connect(Protocol):
    async def __call__(
        self, *, server: HttpWarehouse | None = None, **more: Any
    ) -> RemoteTools: ...


@pytest.fixture
async def connect(shelves: Shelves) -> AsyncIterator[Connect]:
    """Connects to a warehouse of the shelves, by pipes or to one that listens."""
    async with AsyncExitStack() as stack:

        async def start(*, server: HttpWarehouse | None = None, **more: Any) -> RemoteTools:
            way: dict[str, Any] = {"url": server.url} if server else {"command": shelves.command()}
            servers = {"stock": McpServer.model_validate({**way, **more})}
            return await stack.enter_async_context(mcp_tools(servers))

        yield start


async def offered(remote_tools: RemoteTools) -> ToolSet:
    """Returns the tools once there are some."""

    async def some() -> bool:
        return bool(await remote_tools())

    await eventually(some)
    return await remote_tools()


async def test_all_pages_of_a_server_are_offered_with_its_name_in_front(
    shelves: Shelves, connect: Connect
) -> None:
    names = ["look", "order", "count", "move", "a.b-c"]
    shelves.offer(*(listed(name) for name in names))
    tools = await offered(await connect())
    assert [*tools] == [f"stock_{name}" for name in names]
    look = tools["stock_look"]
    assert (look.name, look.description, look.seconds) == ("stock_look", "Does look.", None)
    assert look.schema == {"type": "object", "properties": {"item": {"type": "string"}}}


async def test_settings_choose_tools_their_prefix_and_their_time(
    shelves: Shelves, connect: Connect
) -> None:
    shelves.offer(listed("look"), listed("order"), listed("count"))
    tools = await offered(await connect(tools=["order", "look", "burn"], prefix="", seconds=7))
    assert [(*each,) for each in [(name, tool.seconds) for name, tool in tools.items()]] == [
        ("look", 7),
        ("order", 7),
    ]


async def test_what_can_be_no_tool_is_left_out_with_a_warning(
    shelves: Shelves, connect: Connect, logged: list[MutableMapping[str, Any]]
) -> None:
    shelves.offer(
        listed("look"),
        listed("with space"),
        listed("x" * 70),
        listed("look"),
        listed("nonsense", inputSchema={"type": "object", "properties": {"a": {"type": "colour"}}}),
        listed("far", inputSchema={"type": "object", "$ref": "https://elsewhere.invalid/schema"}),
        listed("large", inputSchema={"type": "object", "title": "x" * SCHEMA_BYTES}),
        listed("ask_me"),
        listed("silent", description=None, title=None),
        listed("wordy", description="x" * 20_000),
    )
    tools = await offered(await connect(prefix=""))
    assert [*tools] == ["look", "ask_me", "silent", "wordy"]
    assert tools["silent"].description == "The tool silent of stock."
    assert len(tools["wordy"].description) == 8000
    dropped = [(line["tool"], line["reason"]) for line in logged if "reason" in line]
    assert dropped == [
        ('"with space"', "malformed name"),
        (f'"{"x" * 39}…"', "malformed name"),
        ('"look"', "second of its name"),
        ('"nonsense"', "unusable schema"),
        ('"far"', "unusable schema"),
        ('"large"', "unusable schema"),
    ]


@pytest.mark.parametrize(
    "schema", [{}, {"type": "string"}, {"type": "object", "maximum": float("nan")}]
)
async def test_a_schema_of_no_object_is_left_out(schema: dict[str, Any]) -> None:
    server = McpServer.model_validate({"command": ["x"]})
    connection = Connection("stock", transport_factory("stock", server))
    assert remote_tools(connection, server, [Tool(name="look", input_schema=schema)]) == {}


HINTS: dict[str, dict[str, bool] | None] = {
    "bare": None,
    "read_only": READ_ONLY,
    "not_read_only": {"readOnlyHint": False},
    "harmless": {"destructiveHint": False},
    "destructive": DESTRUCTIVE,
    "both": {**READ_ONLY, **DESTRUCTIVE},
    "idempotent": {"idempotentHint": True},
}
APPROVALS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "as annotated": ({}, HINTS.keys() - {"read_only"}),
    "always": ({"approval": "always"}, {*HINTS}),
    "never": ({"approval": "never"}, set()),
    "as annotated, but": (
        {"needs_approval": ["read_only"], "no_approval": ["bare", "destructive"]},
        HINTS.keys() - {"bare", "destructive"},
    ),
    "always, but": ({"approval": "always", "no_approval": ["both"]}, HINTS.keys() - {"both"}),
    "never, but": ({"approval": "never", "needs_approval": ["read_only"]}, {"read_only"}),
}


@pytest.mark.parametrize("name", APPROVALS)
async def test_settings_and_annotations_say_what_needs_an_approval(
    shelves: Shelves, connect: Connect, name: str
) -> None:
    settings, expected = APPROVALS[name]
    shelves.offer(*(listed(tool, hints) for tool, hints in HINTS.items()))
    tools = await offered(await connect(prefix="", **settings))
    needing = {name for name, tool in tools.items() if await tool.needs_approval({}, CONTEXT)}
    assert needing == expected
    safe = {name for name, tool in tools.items() if tool.replay_safe}
    assert safe == {"read_only", "both", "idempotent"}


async def test_a_call_is_sent_digit_for_digit_with_its_key_and_approval(
    shelves: Shelves, connect: Connect
) -> None:
    schema = {"type": "object", "additionalProperties": True}
    shelves.offer(listed("order", inputSchema=schema))
    order = (await offered(await connect()))["stock_order"]
    args: dict[str, Any] = {
        "count": 2**70 + 1,
        "price": 3.0,
        "rate": 0.1,
        "none": None,
        "deep": [{"none": None}],
    }
    assert await order.run(args, CONTEXT) == "3 boxes"
    assert await order.run({}, APPROVED) == "3 boxes"
    first, second = shelves.noted("order")
    assert repr(first["args"]) == repr(args)
    assert first["meta"] == {"parley/idempotencyKey": CONTEXT.idempotency_key}
    assert second["meta"] == {
        "parley/idempotencyKey": CONTEXT.idempotency_key,
        "parley/approvalId": "approval",
    }


async def test_arguments_that_do_not_fit_are_not_sent(shelves: Shelves, connect: Connect) -> None:
    shelves.offer(listed("order"))
    order = (await offered(await connect()))["stock_order"]
    assert order.faults({"item": "box"}) is None
    assert "`item`" in (order.faults({"item": 3}) or "")
    with pytest.raises(ToolFailed, match="The tool did not run"):
        await order.run({"item": 3}, CONTEXT)
    assert shelves.noted("order") == []


async def failure(tool: HostTool, context: ToolContext = CONTEXT) -> str:
    with pytest.raises(ToolFailed) as failed:
        await tool.run({}, context)
    return str(failed.value)


async def test_results_and_errors_are_told(shelves: Shelves, connect: Connect) -> None:
    sized = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    shelves.offer(
        *(listed(name) for name in ("count", "photo", "fail", "refuse", "large", "gone")),
        listed("wrong", outputSchema=sized),
    )
    png = b64encode(b"\x89PNG\r\n\x1a\n0").decode()
    shelves.answer("count", structuredContent={"n": 3, "big": 2**70})
    shelves.answer("photo", content=[{"type": "image", "data": png, "mimeType": "image/png"}])
    shelves.answer("fail", content=[{"type": "text", "text": "No such item"}], isError=True)
    shelves.answer("large", content=[{"type": "text", "text": "x" * 2**20}])
    shelves.answer("wrong", structuredContent={"n": "three"})
    tools = await offered(await connect(prefix=""))
    assert await tools["count"].run({}, CONTEXT) == {"n": 3, "big": 2**70}
    photo = await tools["photo"].run({}, CONTEXT)
    assert isinstance(photo, ToolFile)
    assert (photo.data, photo.filename) == (b"\x89PNG\r\n\x1a\n0", "image.png")
    assert await failure(tools["fail"]) == "No such item"
    assert await failure(tools["refuse"]) == (
        "The server stock answered the call with an error: No such shelf"
    )
    assert "its result can't be used: it has 1048578 bytes" in await failure(tools["large"])
    assert (await failure(tools["wrong"])).startswith("The server answered the call, but its")


async def test_a_file_too_large_for_an_event_of_the_sdk_comes_through(
    shelves: Shelves, connect: Connect
) -> None:
    shelves.offer(listed("photo"))
    data = b"\x89PNG\r\n\x1a\n" + bytes(4 * 2**20)
    content = {"type": "image", "data": b64encode(data).decode(), "mimeType": "image/png"}
    shelves.answer("photo", content=[content])
    async with http_warehouse(shelves) as server:
        photo = (await offered(await connect(server=server)))["stock_photo"]
        file = await photo.run({}, CONTEXT)
    assert isinstance(file, ToolFile)
    assert file.data == data


@pytest.mark.parametrize("options", [None, (), ("--legacy",)])
async def test_cancelling_a_call_cancels_it_there(
    shelves: Shelves, connect: Connect, options: tuple[str, ...] | None
) -> None:
    shelves.offer(listed("hang"), listed("look"))
    async with AsyncExitStack() as stack:
        server = None
        if options is not None:
            server = await stack.enter_async_context(http_warehouse(shelves, *options))
        tools = await offered(await connect(server=server, prefix=""))
        call = asyncio.create_task(tools["hang"].run({}, CONTEXT))
        await eventually(lambda: bool(shelves.noted("hang")))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await eventually(lambda: bool(shelves.noted("hang cancelled")))
        assert await tools["look"].run({}, CONTEXT) == "3 boxes"


async def test_secrets_reach_the_server_and_no_log(
    shelves: Shelves,
    connect: Connect,
    logged: list[MutableMapping[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("STOCK_KEY", "s3cret")
    shelves.offer(listed("look"))
    caplog.set_level(logging.INFO)
    async with http_warehouse(shelves, key="Bearer s3cret") as server:
        headers = {"Authorization": "Bearer ${STOCK_KEY}"}
        tools = await offered(await connect(server=server, headers=headers))
        assert await tools["stock_look"].run({}, CONTEXT) == "3 boxes"
        assert await (await connect(server=server))() == {}
    assert "s3cret" not in f"{logged}{caplog.text}"


async def test_a_program_gets_its_environment_and_none_of_ours(
    shelves: Shelves, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "s3cret")
    code = (
        "import json, os, pathlib, sys; "
        "pathlib.Path(sys.argv[1]).write_text(json.dumps(dict(os.environ))); sys.stderr.write('!')"
    )
    seen, errors = shelves.path / "environ.json", shelves.path / "errors.txt"
    program, *_ = shelves.command()
    await connect(
        command=[program, "-c", code, str(seen)], env={"PLACE": "here"}, log_file=str(errors)
    )
    await eventually(lambda: errors.exists() and errors.read_text().startswith("!"))
    assert '"PLACE": "here"' in seen.read_text()
    assert "s3cret" not in seen.read_text()

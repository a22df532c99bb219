"""An MCP server for tests, as a process of its own: `python -m tests.tools.mcp.warehouse`.

What it offers, answers and was asked is in files of its folder, so that a test can change and read
them while it runs or after it was killed.
"""

import argparse
import asyncio
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp import MCPError, stdio_server
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.message import SessionMessage
from mcp.shared.subscriptions import ToolsListChanged
from mcp.types import (
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CallToolResult,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

PAGE = 2
"""Tools are listed on pages of so many."""


class Warehouse:
    """What the server does."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._bus = InMemorySubscriptionBus()

    def server(self) -> Server[Any]:
        return Server(
            "warehouse",
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._bus),
        )

    async def _list(self, _: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        self._note("list")
        if (self._folder / "silent").exists():
            await asyncio.Event().wait()
        begin = int((params and params.cursor) or 0)
        tools = json.loads((self._folder / "tools.json").read_text())
        after = begin + PAGE
        return ListToolsResult(
            tools=[Tool.model_validate(tool) for tool in tools[begin:after]],
            next_cursor=str(after) if after < len(tools) else None,
        )

    async def _call(self, context: Any, params: CallToolRequestParams) -> CallToolResult:
        meta = {key: value for key, value in (params.meta or {}).items() if "parley/" in key}
        self._note(params.name, args=params.arguments, meta=meta)
        match params.name:
            case "die":
                os._exit(1)
            case "hang":
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    self._note("hang cancelled")
                    raise
            case "grow":
                (self._folder / "tools.json").write_text((self._folder / "grown.json").read_text())
                await self._bus.publish(ToolsListChanged())
                await context.session.send_tool_list_changed()
            case "refuse":
                raise MCPError(-32000 - 7, "No such shelf")
            case _:
                pass
        result = self._folder / f"{params.name}.json"
        if result.exists():
            return CallToolResult.model_validate_json(result.read_text())
        return CallToolResult(content=[TextContent(text="3 boxes")])

    def _note(self, name: str, **more: Any) -> None:
        with (self._folder / "calls.jsonl").open("a") as file:
            file.write(json.dumps({"name": name, "pid": os.getpid(), **more}) + "\n")


Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


class Http:
    """The server's application: only with the right key, and on wish as one of before 2026."""

    def __init__(self, app: Any, *, legacy: bool, key: str | None) -> None:
        self._app = app
        self._legacy = legacy
        self._key = key

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        status = 0
        if scope["type"] == "http":
            if self._key and headers.get(b"authorization") != self._key.encode():
                status = 401
            elif self._legacy and headers.get(b"mcp-protocol-version") == b"2026-07-28":
                status = 400
        if not status:
            await self._app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def _serve_pipes(server: Server[Any], *, legacy: bool) -> None:
    async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
        send, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)

        async def relay() -> None:
            async with send:
                async for item in read:
                    match item:
                        case SessionMessage(
                            message=JSONRPCRequest(method="server/discover", id=id_)
                        ):
                            error = ErrorData(code=METHOD_NOT_FOUND, message="Method not found")
                            refusal = JSONRPCError(jsonrpc="2.0", id=id_, error=error)
                            await write.send(SessionMessage(refusal))
                        case _:
                            await send.send(item)

        if legacy:
            tasks.start_soon(relay)
        options = server.create_initialization_options()
        await server.run(received if legacy else read, write, options)


async def _serve_http(server: Server[Any], arguments: argparse.Namespace) -> None:
    app = server.streamable_http_app(json_response=arguments.json)
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", arguments.port))
    listening.listen()
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    http = Http(app, legacy=arguments.legacy, key=os.environ.get("WAREHOUSE_KEY"))
    await uvicorn.Server(uvicorn.Config(http, log_level="warning")).serve(sockets=[listening])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.mcp.warehouse")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, help="serve HTTP; 0 for a free port")
    parser.add_argument("--legacy", action="store_true", help="know no protocol from 2026 on")
    parser.add_argument("--json", action="store_true", help="answer in JSON, not in streams")
    arguments = parser.parse_args()
    server = Warehouse(arguments.folder).server()
    if arguments.port is None:
        anyio.run(partial(_serve_pipes, server, legacy=arguments.legacy))
    else:
        anyio.run(_serve_http, server, arguments)


if __name__ == "__main__":
    main()

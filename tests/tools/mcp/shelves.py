"""The folders and processes of MCP servers that tests make."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
from pydantic import JsonValue

REPOSITORY = Path(__file__).parents[3]
DEADLINE = 20

READ_ONLY = {"readOnlyHint": True}
DESTRUCTIVE = {"destructiveHint": True}


def listed(name: str, hints: Mapping[str, bool] | None = None, **more: Any) -> dict[str, Any]:
    """Returns a tool as a server lists it."""
    return {
        "name": name,
        "description": f"Does {name}.",
        "inputSchema": {"type": "object", "properties": {"item": {"type": "string"}}},
        **({"annotations": dict(hints)} if hints else {}),
        **more,
    }


class Shelves:
    """The folder of a warehouse: what it offers and answers, and what it was asked."""

    def __init__(self, path: Path, *tools: dict[str, Any]) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.offer(*tools)

    def offer(self, *tools: dict[str, Any]) -> None:
        (self.path / "tools.json").write_text(json.dumps(tools))

    def grown(self, *tools: dict[str, Any]) -> None:
        """Sets what `grow` makes of the offer."""
        (self.path / "grown.json").write_text(json.dumps(tools))

    def answer(self, tool: str, **result: Any) -> None:
        (self.path / f"{tool}.json").write_text(json.dumps({"content": [], **result}))

    def silence(self) -> None:
        """Lets it answer no more when it is asked for its tools."""
        (self.path / "silent").touch()

    def noted(self, name: str) -> list[dict[str, Any]]:
        """Returns what was asked, the oldest first."""
        try:
            lines = (self.path / "calls.jsonl").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [line for line in map(json.loads, lines) if line["name"] == name]

    def args(self, name: str) -> list[JsonValue]:
        return [call["args"] for call in self.noted(name)]

    def command(self, *options: str) -> tuple[str, ...]:
        """Returns what starts a warehouse of this folder, from wherever it is started."""
        module = "import runpy; runpy.run_module('tests.tools.mcp.warehouse', run_name='__main__')"
        code = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); {module}"
        return (sys.executable, "-c", code, str(self.path), *options)


class HttpWarehouse:
    """A warehouse that listens."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self._process = process
        self.port = port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    async def kill(self) -> None:
        """Ends it at once, as a crash does."""
        self._process.kill()
        await asyncio.to_thread(self._process.wait)


@asynccontextmanager
async def http_warehouse(
    shelves: Shelves, *options: str, port: int = 0, key: str | None = None
) -> AsyncGenerator[HttpWarehouse]:
    """Runs a warehouse that listens, until it is left."""

    def start() -> "subprocess.Popen[str]":
        command = shelves.command("--port", str(port), *options)
        return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)

    environ = {**os.environ, **({"WAREHOUSE_KEY": key} if key else {})}
    process = await asyncio.to_thread(start)
    assert process.stdout
    try:
        line = await asyncio.to_thread(process.stdout.readline)
        yield HttpWarehouse(process, int(line))
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)
        process.stdout.close()


async def eventually(condition: Callable[[], Awaitable[bool] | bool]) -> None:
    """Waits until something is so."""
    async with asyncio.timeout(DEADLINE):
        while True:
            now = condition()
            if now if isinstance(now, bool) else await now:
                return
            await asyncio.sleep(0.02)


def children() -> set[int]:
    """Returns the processes that this one has started and that have not ended."""
    return {child.pid for child in psutil.Process().children(recursive=True)}

"""`parleyd mcp`, through a client of the MCP SDK over the pipes of the process."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import StdioServerParameters, stdio_client
from mcp.client import Client
from mcp.types import CallToolResult, TextContent

from parleyd.app.blocks.report import report
from parleyd.contract.blocks import limits
from tests.app.processes import COMMAND, environment
from tests.contract.blocks.cases import CASES, needs_cases

TOOL = "validate_ui_blocks"
DEADLINE = 60
VALID = '{"v": 1, "blocks": [{"type": "divider"}]}'
SECRET = "harbour-ledger"


@asynccontextmanager
async def connected(folder: Path) -> AsyncGenerator[Client]:
    """Yields a client of a server whose log is in `folder`."""
    parameters = StdioServerParameters(command=str(COMMAND), args=["mcp"], env=environment(folder))
    with (folder / "log").open("w") as log:
        async with (
            asyncio.timeout(DEADLINE),
            Client(stdio_client(parameters, errlog=log)) as client,
        ):
            yield client


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert not result.is_error
    return content.text


async def test_it_has_one_tool_that_takes_a_document(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        (tool,) = (await client.list_tools()).tools
    assert tool.name == TOOL
    assert tool.description
    schema: dict[str, Any] = tool.input_schema
    assert schema["required"] == ["document"]
    assert schema["properties"]["document"]["type"] == "string"
    assert tool.annotations
    assert tool.annotations.read_only_hint


@needs_cases
async def test_it_gives_the_text_of_the_command(tmp_path: Path) -> None:
    documents = [case["document"] for case in CASES if case["op"] in {"parse", "validate"}]
    async with connected(tmp_path) as client:
        for document in documents:
            result = await client.call_tool(TOOL, {"document": document})
            assert text_of(result) == report(document).text
            assert result.structured_content is None
    assert (tmp_path / "log").read_text() == ""


async def test_a_document_without_problems_gives_an_empty_text(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        assert text_of(await client.call_tool(TOOL, {"document": VALID})) == ""


async def test_arguments_that_are_none_are_refused_and_not_logged(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        for arguments in ({}, {"document": {"v": SECRET}}):
            result = await client.call_tool(TOOL, arguments)
            assert result.is_error
        assert text_of(await client.call_tool(TOOL, {"document": VALID})) == ""
    assert SECRET not in (tmp_path / "log").read_text()


async def test_others_are_answered_while_a_large_document_is_checked(tmp_path: Path) -> None:
    line = "  - {type: text, markdown: words}\n"
    large = "v: 1\nblocks:\n" + line * ((limits.TEXT_BYTES - 100) // len(line))
    async with connected(tmp_path) as client:
        heavy = asyncio.create_task(client.call_tool(TOOL, {"document": large}))
        for _ in range(2):  # the first is sent before the large one, the second after it
            assert text_of(await client.call_tool(TOOL, {"document": VALID})) == ""
        assert not heavy.done()
        assert "TOO_MANY_BLOCKS" in text_of(await heavy)


async def test_it_ends_with_its_input(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        COMMAND,
        "mcp",
        env=environment(tmp_path),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with asyncio.timeout(DEADLINE):
        out, err = await process.communicate(json.dumps(hello).encode() + b"\n")
    assert process.returncode == 0, err
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())

"""The page on documents for services says what happens, and its code runs as it stands."""

import asyncio
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from grpc import aio

import parley
from parley.v1.block_generation_pb2 import GenerateBlocksRequest
from parleyd.contract.reasons import Reason
from parleyd.models.demo import DemoModel
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from parleyd.rpc.auth import SERVICE_AUDIENCE
from parleyd.rpc.callers import INTERNAL
from tests.app.processes import environment, run
from tests.docs.pages import codes_in
from tests.rpc.wire import HOUR
from tests.server import Server, StartServer

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "generate-a-document.md").read_text("utf-8")
(PROGRAM,) = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)
(CLAIMS,) = re.findall("```json\n(.*?)```", PAGE, re.DOTALL)
TOKEN, COMMANDS, PRINTED = re.findall(
    "^```\n(.*?)^```$", re.sub("```[a-z]+\n.*?```", "", PAGE, flags=re.DOTALL), re.DOTALL | re.M
)
SOON = 10
PROMPT = "Show my sales by month"
VALID = '{"v":1,"blocks":[{"type":"divider"}]}'
INVALID = '{"v":1,"blocks":[{"type":"heading"}]}'


def table(head: str) -> list[list[str]]:
    """Returns the rows of the table whose first column has this head."""
    rows = PAGE.partition(f"\n| {head} |")[2].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


async def printed(server: Server) -> list[str]:
    """Runs the program of the page and returns what it prints."""
    lines: list[str] = []

    def note(*values: object) -> None:
        lines.append(" ".join(map(str, values)))

    names: dict[str, Any] = {"__name__": "generate", "print": note}
    program = PROGRAM.replace("127.0.0.1:50051", server.address)
    exec(compile(program, "generate-a-document.md", "exec"), names)  # the code that readers copy
    claims = {"aud": SERVICE_AUDIENCE, "scope": "blocks.generate"}
    async with asyncio.timeout(SOON):
        await names["main"](server.key.issue("reports", HOUR, claims=claims), PROMPT)
    return lines


async def test_the_program_prints_what_the_page_says_of_the_demo_agent(
    start_server: StartServer,
) -> None:
    document = await DemoModel().generate_json("", PROMPT, {}, 0.0)
    server = await start_server(in_turn([Text(document)]))
    assert await printed(server) == PRINTED.split()
    assert f'"{PROMPT}"' in COMMANDS
    assert "asyncio.run(main(*sys.argv[1:]))" in PROGRAM


async def test_the_program_prints_the_errors_of_a_document(start_server: StartServer) -> None:
    server = await start_server(in_turn([Text(INVALID)], [Text(INVALID)]))
    first, *faults = await printed(server)
    assert first.startswith("BLOCKS_INVALID: ")
    (fault,) = faults
    assert fault.startswith("blocks[0].text MISSING_REQUIRED ")


async def test_the_command_makes_a_token_like_that_of_the_page(tmp_path: Path) -> None:
    program, *arguments = shlex.split(TOKEN)
    assert (program, TOKEN.strip() in COMMANDS) == ("parleyd", True)
    ended = await run(*arguments, env=environment(tmp_path))
    assert ended.out.strip()
    claims = json.loads(CLAIMS)
    assert (claims["aud"], claims["scope"]) == (
        SERVICE_AUDIENCE,
        INTERNAL["parley.v1.BlockGenerationService"].scope,
    )


@pytest.mark.parametrize("row", range(4))
async def test_the_table_of_tokens_says_what_becomes_of_each(
    start_server: StartServer, row: int
) -> None:
    server = await start_server(in_turn([Text(VALID)]))
    scope = {"scope": "blocks.generate"}
    claims: list[dict[str, Any]] = [
        {"aud": SERVICE_AUDIENCE, **scope},
        {"aud": SERVICE_AUDIENCE},
        {},
        {"aud": [SERVICE_AUDIENCE, "parley"], **scope},
    ]
    caller = await server.person("reports", **claims[row])
    request = GenerateBlocksRequest(prompt=PROMPT)
    came = [
        await _told(caller.client.generation.GenerateBlocks(request)),
        await _told(caller.pending()),
    ]
    assert came == [cell.strip("`") for cell in table("token")[row][1:]]


async def _told(call: Any) -> str:
    try:
        await call
    except aio.AioRpcError as error:
        return parley.error_of(error).reason
    return "taken"


def test_the_fields_and_reasons_of_the_page_are_those_that_there_are() -> None:
    fields = [codes_in(row[0])[0] for row in table("field")]
    assert fields == [field.name for field in GenerateBlocksRequest.DESCRIPTOR.fields]
    assert {codes_in(row[0])[0] for row in table("reason")} <= {reason.value for reason in Reason}

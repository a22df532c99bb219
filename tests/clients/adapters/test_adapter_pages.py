"""The pages on adapters, and the examples that they name, do what they say."""

import asyncio
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig
from agents.testing import ScriptedModel, assistant_message, function_call
from google.protobuf.json_format import ParseDict

from parley.adapters.openai_agents import run
from parley.v1 import asks_pb2
from parleyd.models.scripted import in_turn
from tests.clients.adapters.asking import SERVICE, Asked, asked
from tests.server import Server, StartServer

REPOSITORY = Path(__file__).parents[3]
EXAMPLES = REPOSITORY / "examples"
FOUR = ParseDict({"form": {"values": {"guests": 4}}}, asks_pb2.AcceptAnswer())
CALL = [function_call("delete_plan", {"name": "Winter"}, call_id="call-1")]
REPLY = [assistant_message("All is clean.")]


def read(code: str, of: Path, address: str) -> dict[str, Any]:
    """Returns what Python code defines, for a server elsewhere."""
    names: dict[str, Any] = {"__name__": "read", "__file__": str(of)}
    exec(compile(code.replace("127.0.0.1:50051", address), of, "exec"), names)  # what readers copy
    return names


def example(name: str, server: Server, tmp_path: Path) -> dict[str, Any]:
    file = EXAMPLES / name
    names = read(file.read_text("utf-8"), file, server.address)
    if "KEPT" in names:
        names["KEPT"] = tmp_path / "kept"
    return names


def page(name: str, server: Server) -> dict[str, Any]:
    file = REPOSITORY / "docs" / "how-to" / name
    blocks = re.findall(r"```python\n(.*?)```", file.read_text("utf-8"), re.DOTALL)
    return read("\n".join(blocks), file, server.address)


def tokens(server: Server) -> tuple[str, str]:
    return server.token("developer"), server.token("planner", **SERVICE)


async def developer(server: Server) -> Asked:
    """Returns the person of the examples, who has no conversation before one begins."""
    async with asked(server) as here:
        return Asked(await server.person("developer"), "", here.asker)


async def test_the_agent_of_the_example_is_stopped_and_goes_on(
    start_server: StartServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = await start_server(in_turn())
    here = await developer(server)
    names = example("openai_agents/clean_up.py", server, tmp_path)
    stopped = asyncio.create_task(names["main"](*tokens(server), before=names["kept"]()))
    ask = await here.pending()
    stopped.cancel()
    await asyncio.gather(stopped, return_exceptions=True)
    await here.noor.press(ask.conversation_id, ask.tool_call_id, "approve")

    names = example("openai_agents/clean_up.py", server, tmp_path)
    await names["main"](*tokens(server), before=names["kept"]())

    printed = capsys.readouterr().out
    assert re.findall(r"^(?!\d{4}-).+$", printed, re.MULTILINE) == [
        "Waiting for the person.",
        "Waiting for the person.",
        "The plan Winter is deleted.",
        "I have cleaned up.",
    ]


async def test_the_desk_of_the_example_books_a_table(
    start_server: StartServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = await start_server(in_turn())
    here = await developer(server)
    names = example("mcp_elicitation/book.py", server, tmp_path)
    booking = asyncio.create_task(names["main"](*tokens(server)))
    ask = await here.pending()
    await here.noor.answer(ask.conversation_id, ask.tool_call_id, asks_pb2.AskAnswer(accept=FOUR))
    await booking
    assert 'Booked for Friday: {"guests":4,"patio":false}' in capsys.readouterr().out


async def test_the_page_on_the_agents_sdk_has_a_call_allowed(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server = await start_server(in_turn())
    names = page("ask-from-openai-agents.md", server)
    untraced = RunConfig(tracing_disabled=True)
    async with asked(server) as here:
        names["Agent"] = partial(Agent, model=ScriptedModel([CALL, REPLY]))
        names["run"] = partial(
            run, keep=names["keep"], wording=names["wording"], run_config=untraced
        )
        token = server.token("planner", **SERVICE)
        cleaning = asyncio.create_task(names["clean_up"](token, here.conversation_id, "noor"))
        ask = await here.pending()
        assert ask.simple.text == "Delete the plan Winter for good?"
        cleaning.cancel()
        await asyncio.gather(cleaning, return_exceptions=True)
        await here.press("approve")

        names["resume"] = partial(names["resume"], wording=names["wording"], run_config=untraced)
        agent = Agent(name="Planner", model=ScriptedModel([REPLY]), tools=[names["delete_plan"]])
        assert await names["go_on"](agent, here.asker) == "All is clean."


async def test_the_page_on_elicitations_has_one_answered(
    start_server: StartServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server = await start_server(in_turn())
    names = page("answer-mcp-elicitations.md", server)
    names["DESK"].command = sys.executable
    names["DESK"].cwd = EXAMPLES / "mcp_elicitation"
    async with asked(server) as here:
        token = server.token("planner", **SERVICE)
        booking = asyncio.create_task(names["book"](token, here.conversation_id, "noor"))
        await here.answer(asks_pb2.AskAnswer(accept=FOUR))
        await booking
    assert 'Booked for Friday: {"guests":4,"patio":false}' in capsys.readouterr().out

"""The pages on LangGraph, pydantic-ai and plain services, and their examples, do what they say."""

import asyncio
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.models import override_allow_model_requests

from parley.v1.asks_pb2 import AskAnswer
from parleyd.models.scripted import in_turn
from tests.clients.adapters.asking import SERVICE, Asked, asked
from tests.clients.adapters.planner_agent import Plans, delete
from tests.clients.adapters.test_adapter_pages import developer, example, page, tokens
from tests.end_to_end.person import decline
from tests.server import StartServer


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Returns what a program has printed, without the lines of the log."""
    return re.findall(r"^(?!\d{4}-).+$", capsys.readouterr().out, re.MULTILINE)


async def played(agent: Agent[Any, Any], script: Any, *given: Any, **options: Any) -> Any:
    """Runs an agent with a model of the test's instead of the one that it is told."""
    return await Agent.run(agent, *given, **(options | {"model": script}))


async def press(here: Asked, button_id: str, after: str = "") -> str:
    """Presses a button of the question that waits, in whatever conversation."""
    ask = await here.pending(after)
    await here.noor.press(ask.conversation_id, ask.tool_call_id, button_id)
    return ask.tool_call_id


async def test_the_graph_of_the_example_sets_up_a_plan(
    start_server: StartServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = await start_server(in_turn())
    here = await developer(server)
    names = example("langgraph/set_up.py", server, tmp_path)
    running = asyncio.create_task(names["main"](*tokens(server)))
    first = await press(here, "option:team")
    await press(here, "approve", after=first)
    await running
    assert said(capsys) == ["Waiting for the person.", "The plan team is set up."]


async def test_the_agent_of_the_example_is_stopped_and_goes_on(
    start_server: StartServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = await start_server(in_turn())
    here = await developer(server)
    names = example("pydantic_ai/clean_up.py", server, tmp_path)
    stopped = asyncio.create_task(names["main"](*tokens(server), before=names["kept"]()))
    first = await press(here, "option:summer")
    second = await here.pending(first)
    stopped.cancel()
    await asyncio.gather(stopped, return_exceptions=True)
    await here.noor.press(second.conversation_id, second.tool_call_id, "approve")

    names = example("pydantic_ai/clean_up.py", server, tmp_path)
    await names["main"](*tokens(server), before=names["kept"]())
    assert said(capsys) == [
        *["Waiting for the person."] * 2,
        "Waiting for the person, again.",
        "The plan summer is deleted.",
        "I was told: summer is gone.",
    ]


async def test_the_page_on_langgraph_has_a_graph_answered(start_server: StartServer) -> None:
    server = await start_server(in_turn())
    names = page("ask-from-langgraph.md", server)
    async with asked(server) as here:
        token = server.token("planner", **SERVICE)
        stopped = asyncio.create_task(names["set_up"](token, here.conversation_id, "noor", "1"))
        await here.pending()
        stopped.cancel()
        await asyncio.gather(stopped, return_exceptions=True)
        await here.press("option:team")
        assert await names["go_on"](here.asker, "1") == {"plan": "team"}


async def test_the_page_on_pydantic_ai_has_a_call_allowed(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server = await start_server(in_turn())
    names = page("ask-from-pydantic-ai.md", server)
    scripted = Plans().agent([delete("Winter")])
    names["run"] = partial(names["run"], keep=names["keep"], wording=names["wording"])
    names["resume"] = partial(names["resume"], wording=names["wording"])
    monkeypatch.setattr(names["agent"], "run", partial(played, names["agent"], scripted.model))
    async with asked(server) as here:
        token = server.token("planner", **SERVICE)
        with override_allow_model_requests(allow_model_requests=False):
            stopped = asyncio.create_task(names["clean_up"](token, here.conversation_id, "noor"))
            ask = await here.pending()
            assert ask.simple.text == "Delete the plan Winter for good?"
            stopped.cancel()
            await asyncio.gather(stopped, return_exceptions=True)
            await here.press("approve")
            assert await names["go_on"](here.asker) == "Winter is gone."


@pytest.mark.parametrize(
    ("answer", "line"),
    [(None, "They picked team"), (decline(), "They skipped the question.")],
    ids=["picked", "skipped"],
)
async def test_the_page_on_services_has_a_question_answered(
    start_server: StartServer,
    capsys: pytest.CaptureFixture[str],
    answer: AskAnswer | None,
    line: str,
) -> None:
    server = await start_server(in_turn())
    names = page("ask-from-a-service.md", server)
    async with asked(server) as here:
        token = server.token("planner", **SERVICE)
        asking = asyncio.create_task(names["main"](token, here.conversation_id, "noor"))
        if answer:
            await here.answer(answer)
        else:
            await here.press("option:team")
        await asking
    assert line in said(capsys)

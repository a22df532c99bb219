"""Tools that a deployment makes for one turn (spec turns 2, 15.2, 15.7)."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import grpc
import pytest
from structlog.testing import capture_logs

from parley import error_of
from parley.v1 import asks_pb2, turns_pb2
from parleyd.models.script import Call, Fail, Text
from parleyd.models.scripted import in_turn
from parleyd.turns.tools import ToolSet, TurnContext
from tests.end_to_end.person import COMPACT, Person, Played, accept, refused
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import StandardTool, StandardTools

ALL_TOOLS = ["ask_choice", "ask_confirm", "ask_markdown", "ask_form", "ask_files"]


class Workshop:
    """Makes the tools of a turn, unless it is broken."""

    def __init__(self, path: Path) -> None:
        self.broken = False
        self.contexts: list[TurnContext] = []
        self._tools = StandardTools(path)

    async def tools(self, context: TurnContext) -> ToolSet:
        self.contexts.append(context)
        if self.broken:
            raise RuntimeError("a secret of the deployment")
        return self._tools.hosted

    def tool(self, name: str) -> StandardTool:
        return StandardTool(name, replay_safe=False, of=self._tools)


Send = Callable[[Person, str], Awaitable[object]]
INPUTS: dict[str, Send] = {
    "an answer": lambda noor, own: noor.answer(own, PLAN_ID, accept("team")),
    "a button": lambda noor, own: noor.press(own, PLAN_ID, "option:team"),
}


@pytest.mark.parametrize("send", INPUTS.values(), ids=[*INPUTS])
async def test_a14_without_its_tools_an_answer_is_not_taken(
    start_server: StartServer, tmp_path: Path, send: Send
) -> None:
    workshop = Workshop(tmp_path / "runs")
    server = await start_server(
        in_turn([ask_plan()], [Text("Done.")]), request_tools=workshop.tools
    )
    noor = await server.person()
    own = (await noor.prompt("Set me up")).conversation_id
    before, rows = await noor.conversation(own), await noor.messages(own)

    workshop.broken = True
    error = await refused(send(noor, own))

    assert error.code() == grpc.StatusCode.INTERNAL
    assert error_of(error).reason == "INTERNAL"
    assert "secret" not in str(error)
    assert await noor.conversation(own) == before
    assert await noor.messages(own) == rows
    assert [ask.tool_call_id for ask in await noor.pending()] == [PLAN_ID]
    assert len(server.model.calls) == 1
    workshop.broken = False
    played = await send(noor, own)
    assert isinstance(played, Played | turns_pb2.TurnResult)
    assert played.text == "Done."
    assert len(await noor.messages(own)) == 4


async def test_a14_without_its_tools_a_failed_turn_stays_retryable(
    start_server: StartServer, tmp_path: Path
) -> None:
    workshop = Workshop(tmp_path / "runs")
    server = await start_server(
        in_turn([Fail("other")], [Text("Done.")]), request_tools=workshop.tools
    )
    noor = await server.person()
    failed = await noor.prompt("Set me up")
    workshop.broken = True
    error = await refused(noor.retry(failed.conversation_id, failed.turn_id))
    assert error.code() == grpc.StatusCode.INTERNAL
    conversation = await noor.conversation(failed.conversation_id)
    assert conversation.retryable_turn_id == failed.turn_id
    workshop.broken = False
    assert (await noor.retry(failed.conversation_id, failed.turn_id)).text == "Done."


async def test_the_tools_of_a_turn_are_made_from_what_is_stored(
    start_server: StartServer, tmp_path: Path
) -> None:
    workshop = Workshop(tmp_path / "runs")
    server = await start_server(
        in_turn([ask_plan()], [Text("Done.")]), request_tools=workshop.tools
    )
    noor = await server.person()
    asked = await noor.play(
        turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Hi"), project="garden")
    )
    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"), surface=COMPACT)
    assert [
        (str(each.turn_id), each.input_kind, each.surface, each.project, each.owner)
        for each in workshop.contexts
    ] == [
        (asked.turn_id, "prompt", "full", "garden", "noor"),
        (answered.turn_id, "answer", "compact", "garden", "noor"),
    ]
    assert {str(each.conversation_id) for each in workshop.contexts} == {asked.conversation_id}
    assert [tool.name for tool in server.model.calls[1].tools] == [
        *("lookup", "upsert", "ask_choice", "ask_confirm")
    ]


async def test_s7_tools_with_the_names_of_asks_are_not_offered(
    start_server: StartServer, tmp_path: Path
) -> None:
    workshop = Workshop(tmp_path / "runs")
    names = ["ask_choice", "ask_budget", "lookup", "malformed name"]

    async def tools(context: TurnContext) -> ToolSet:
        del context
        return {name: workshop.tool(name) for name in names}

    server = await start_server(
        in_turn([ask_plan()], [Call("ask_budget", {}, "call_budget")], [Text("Done.")]),
        request_tools=tools,
    )
    noor = await server.person()

    with capture_logs() as logs:
        asked = await noor.prompt("Set me up")
    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))

    first = server.model.calls[0]
    assert [tool.name for tool in first.tools] == ["lookup", *ALL_TOOLS]
    assert "plans" not in first.tools[1].description, "ask_choice is the real one"
    assert asked.names == ["started", "ask", "done"]
    assert asked.ask.kind == asks_pb2.ASK_KIND_CHOICE
    dropped = [line for line in logs if line["event"] == "tool_dropped"]
    assert [(line["tool"], line["log_level"]) for line in dropped] == [
        ('"ask_choice"', "warning"),
        ('"ask_budget"', "warning"),
        ('"malformed name"', "warning"),
    ]
    # A call of one all the same is an invalid ask: nobody but the model hears of it.
    assert answered.names == ["started", "ask_resolved", "text", "done"]
    assert workshop.contexts == []


async def test_s7_with_asks_off_such_names_are_ordinary(
    start_server: StartServer, tmp_path: Path
) -> None:
    workshop = Workshop(tmp_path / "runs")

    async def tools(context: TurnContext) -> ToolSet:
        del context
        return {"ask_budget": workshop.tool("ask_budget")}

    call = Call("ask_budget", {}, "call_budget")
    server = await start_server(in_turn([call], [Text("Done.")]), request_tools=tools, asks=())
    noor = await server.person()
    played = await noor.prompt("Set me up")
    assert [tool.name for tool in server.model.calls[0].tools] == ["ask_budget"]
    assert played.names == ["started", "tool_call", "tool_result", "text", "done"]

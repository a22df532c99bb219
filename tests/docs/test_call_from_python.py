"""The code of the page on Python runs as it stands."""

import asyncio
import re
from pathlib import Path
from typing import Any

from parley.v1 import turns_pb2 as pb
from parleyd.models.script import Fail, Hold, Text
from parleyd.models.scripted import in_turn
from tests.rpc.wire import HOUR
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import DELETE, StandardTools, delete

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "call-from-python.md"
SOON = 10
TRIED = {"main", "ask", "decide", "go_on", "show", "press", "retry"}
PROMPT = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello"))


class Code:
    """What the blocks of the page define, one after the other, and what that prints."""

    def __init__(self, server: Server) -> None:
        self.printed: list[str] = []
        self.names: dict[str, Any] = {"__name__": "chat", "print": self._print}
        page = PAGE.read_text(encoding="utf-8").replace("127.0.0.1:50051", server.address)
        for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
            exec(compile(block, PAGE, "exec"), self.names)  # the very code that readers copy

    def __getitem__(self, name: str) -> Any:
        return self.names[name]

    def _print(self, *values: object) -> None:
        self.printed.append(" ".join(map(str, values)))


async def test_the_program_asks_and_presses_a_button(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Team it is.")]))
    code = Code(server)
    own = {name for name, of in code.names.items() if getattr(of, "__module__", "") == "chat"}
    assert own == TRIED
    await code["main"](server.key.issue("noor", HOUR))
    assert code.printed == [
        "Which plan do you want? ['Team', 'Starter', 'Enterprise']",
        "Team it is.",
    ]


async def test_a_program_without_asyncio_asks(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()]))
    asked = await asyncio.to_thread(Code(server)["ask"], server.token(), "Set up my plan")
    assert asked.tool_call_id == PLAN_ID


async def test_a_call_is_approved(start_server: StartServer, tmp_path: Path) -> None:
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(in_turn([delete()], [Text("Gone.")]), tools=tools.all_hosted)
    noor, code = await server.person(), Code(server)
    ask = (await noor.prompt("Clean up")).ask
    asked: list[str] = []

    def yes(question: str) -> str:
        asked.append(question)
        return "y"

    code.names["input"] = yes
    assert await code["decide"](noor.client, ask) == "Gone."
    assert asked == [f"{ask.input.prompt} y/n "]
    assert code.printed == [f"{ask.tool_name} {ask.tool_args_json}"]
    assert len(tools.runs(DELETE)) == 1


async def test_a_turn_is_watched_from_a_place(start_server: StartServer) -> None:
    server = await start_server(in_turn([Text("Hello.")]))
    noor, code = await server.person(), Code(server)
    played = await noor.play(PROMPT)
    await code["go_on"](noor.client, played.conversation_id, played.turn_id, 1)
    assert code.printed == ["2 text", "3 done"]


async def test_a_reply_is_shown_while_it_is_written(start_server: StartServer) -> None:
    server = await start_server(in_turn([Text("Hello "), Hold("writing"), Text("there.")]))
    noor, code = await server.person(), Code(server)
    showing = asyncio.create_task(code["show"](noor.client, PROMPT))
    async with asyncio.timeout(SOON):
        while "Hello " not in code.printed:
            await asyncio.sleep(0)
        server.model.holds.release("writing")
        assert await showing == "Hello there."
    assert all("Hello there.".startswith(line) for line in code.printed)
    assert code.printed[-1] == "Hello there."


async def test_a_button_is_pressed_and_would_be_again(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Team it is.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    request = pb.TurnRequest(
        conversation_id=asked.conversation_id,
        button=pb.ButtonInput(tool_call_id=PLAN_ID, button_id="option:team"),
    )
    result = await Code(server)["press"](noor.client, request)
    assert result.text == "Team it is."
    again = await noor.client.turns.Turn(request)
    assert again.result == result


async def test_a_failed_turn_is_retried_once(start_server: StartServer) -> None:
    server = await start_server(in_turn([Fail("other")], [Text("Hello.")]))
    noor, code = await server.person(), Code(server)
    failed = await noor.play(PROMPT)
    assert failed.done.retryable
    for _ in range(2):
        await code["retry"](noor.client, failed.conversation_id)
    assert [line for line in code.printed if line != "text_preview"] == ["started", "text", "done"]

"""The page on approvals says what happens."""

import json
import re
import shlex
import sys
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from parley.v1.asks_pb2 import ASK_ORIGIN_APPROVAL, AskAnswer
from parleyd.app.settings_sources import load_settings
from parleyd.models.script import Call, Text, as_message
from parleyd.models.scripted import in_turn
from parleyd.models.strict import StrictModel
from parleyd.tools import load_approval_wordings, load_tools
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.person import COMPACT, Person, accept, cancel, decline
from tests.server import Server, StartServer

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "require-approval.md").read_text("utf-8")
TOOLS, WORDS = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)
(COMMAND,) = re.findall("```\n(PARLEY.*?)\n```", PAGE)
LARGE: dict[str, JsonValue] = {"order_id": "A-17", "cents": 1001}


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Writes the modules of the page where the process starts, and sets what its command sets."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "tools.py").write_text(TOOLS, "utf-8")
    (tmp_path / "shop" / "words.py").write_text(WORDS, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    *variables, program, verb, option = shlex.split(COMMAND)
    assert (program, verb, option) == ("parleyd", "serve", "--development")
    for variable in variables:
        name, _, value = variable.partition("=")
        monkeypatch.setenv(name, value)
    yield
    for name in [name for name in sys.modules if name == "shop" or name.startswith("shop.")]:
        del sys.modules[name]


async def served(
    start_server: StartServer, *calls: Call, worded: bool = True, **settings: Any
) -> Server:
    """Returns a server as the page's command starts it, but with a model that makes the calls."""
    read = load_settings(development=True)
    return await start_server(
        in_turn(*([call] for call in calls), [Text("Done.")]),
        tools=load_tools(read.tools, asks_on=True),
        approval_wordings=load_approval_wordings(read.approval_wordings) if worded else {},
        **settings,
    )


def told(model: StrictModel) -> JsonValue:
    """Returns what the model was told of the call, as JSON."""
    *_, message = model.calls[-1].messages
    (outcome,) = [part for part in as_message(message).parts if isinstance(part, ToolOutcome)]
    return outcome.value


async def test_a_call_that_the_rule_lets_through_runs_at_once(start_server: StartServer) -> None:
    small = Call("refund", {**LARGE, "cents": 1000})
    noor = await (await served(start_server, small)).person()
    played = await noor.prompt("Refund it")
    assert played.names == ["started", "tool_call", "tool_result", "text", "done"]
    assert played.results[0].result_json.startswith('"1000 cents for A-17, under ')


async def test_another_is_asked_for_in_the_words_of_the_page(start_server: StartServer) -> None:
    server = await served(start_server, Call("refund", LARGE))
    noor = await server.person()
    asked = await noor.prompt("Refund it")
    ask = asked.ask
    assert asked.names == ["started", "tool_call", "ask", "done"]
    assert ask.origin == ASK_ORIGIN_APPROVAL
    assert ask.input.prompt == "Refund 1001 cents for order A-17?"
    assert (ask.tool_name, json.loads(ask.tool_args_json)) == ("refund", LARGE)
    assert [(button.id, button.label) for button in ask.simple.buttons] == [
        ("approve", "Refund"),
        ("deny", "Not now"),
    ]
    answered = await noor.answer(asked.conversation_id, ask.tool_call_id, accept(confirmed=True))
    assert answered.names == ["started", "ask_resolved", "tool_result", "text", "done"]
    assert str(told(server.model)).startswith("1001 cents for A-17, under ")


async def test_the_default_words_are_those_of_the_page(start_server: StartServer) -> None:
    server = await served(start_server, Call("refund", LARGE), worded=False)
    ask = (await (await server.person()).prompt("Refund it")).ask
    assert f"“{ask.input.prompt}”" in PAGE
    confirm = ask.input.confirm
    assert f"{confirm.confirm_label} and {confirm.deny_label}" in PAGE


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (accept(confirmed=False), "user_denied"),
        (cancel("after lunch"), "after lunch"),
        (cancel(), "user_cancelled"),
    ],
    ids=["denied", "cancelled for a reason", "cancelled"],
)
async def test_the_model_is_told_why_a_call_did_not_run(
    start_server: StartServer, answer: AskAnswer, reason: str
) -> None:
    server = await served(start_server, Call("close_shop"))
    await settle(await server.person(), answer)
    assert told(server.model) == {"approved": False, "reason": reason}


async def test_the_model_is_told_that_a_question_was_skipped(
    start_server: StartServer, tmp_path: Path
) -> None:
    words = WORDS.replace('"destructive": True', '"destructive": True, "allowDecline": True')
    (tmp_path / "shop" / "words.py").write_text(words, "utf-8")
    server = await served(start_server, Call("refund", LARGE))
    await settle(await server.person(), decline())
    assert told(server.model) == {"approved": False, "reason": "user_declined"}


async def settle(person: Person, answer: AskAnswer) -> None:
    asked = await person.prompt("Close it")
    await person.answer(asked.conversation_id, asked.ask.tool_call_id, answer)


def test_the_denials_of_the_page_are_those_that_are_told() -> None:
    for reason in ("user_denied", "user_declined", "user_cancelled", "one_ask_at_a_time"):
        assert reason in PAGE
    assert '`{"approved": false, "reason": "user_denied"}`' in PAGE


async def test_words_that_a_card_can_not_show_whole_are_not_approved_on_it(
    start_server: StartServer,
) -> None:
    hidden = Call("refund", {**LARGE, "order_id": "A-17\u200b"})
    noor = await (await served(start_server, hidden, hidden)).person()
    asked = await noor.prompt("Refund it")
    assert [button.id for button in asked.ask.simple.buttons] == ["deny"]
    assert asked.ask.simple.handoff
    small = await noor.prompt("Refund it", surface=COMPACT)
    assert small.ask.input.prompt == "Allow refund? Refunds money for an order."
    assert [button.id for button in small.ask.simple.buttons] == ["approve", "deny"]


async def test_without_asks_such_a_call_never_runs(
    start_server: StartServer, logged: list[MutableMapping[str, Any]]
) -> None:
    noor = await (await served(start_server, Call("close_shop"), asks=())).person()
    assert (await noor.prompt("Close it")).names == ["started", "tool_call", "done"]
    assert "approval_impossible" in [line["event"] for line in logged]

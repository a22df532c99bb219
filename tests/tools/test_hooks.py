"""Functions that make the tools and the system prompt of one turn, named by import path."""

import threading
from uuid import UUID

import pytest
from pydantic import JsonValue

from parleyd.tools import (
    ToolsUnusable,
    TurnContext,
    load_approval_wordings,
    load_prompt_hook,
    load_request_tools,
)
from tests.tools.shop import find_order, pay

TURN = TurnContext(
    owner="ada",
    conversation_id=UUID(int=1),
    turn_id=UUID(int=2),
    input_kind="prompt",
    surface="full",
    project="home",
)
HERE = "tests.tools.test_hooks"


def tools_in_a_thread(context: TurnContext) -> list[object]:
    assert threading.current_thread() is not threading.main_thread()
    return [find_order, pay] if context.owner == "ada" else []


async def tools_on_the_loop(context: TurnContext) -> dict[str, object]:
    assert context.project == "home"
    assert threading.current_thread() is threading.main_thread()
    return {"pay": pay}


def no_tools(context: TurnContext) -> None:
    del context


def no_real_tools(context: TurnContext) -> list[object]:
    return [context]


def broken(context: TurnContext) -> list[object]:
    raise KeyError(context.owner)


def needs_two(context: TurnContext, more: int) -> None: ...


def prompt_of(owner: str, conversation_id: UUID, project: str | None) -> str:
    return f"{owner} {conversation_id.int} {project}"


async def no_prompt(owner: str, conversation_id: UUID, project: str | None) -> None:
    del owner, conversation_id, project


def number(owner: str, conversation_id: UUID, project: str | None) -> int:
    del owner, conversation_id, project
    return 3


def wording_in_a_thread(args: dict[str, JsonValue]) -> dict[str, JsonValue]:
    assert threading.current_thread() is not threading.main_thread()
    return {"prompt": f"Refund {args.pop('cents')} cents?"}


async def wording_on_the_loop(args: dict[str, JsonValue]) -> dict[str, JsonValue]:
    assert threading.current_thread() is threading.main_thread()
    return {"prompt": f"Refund {args['cents']} cents?"}


def no_wording(args: dict[str, JsonValue]) -> None:
    del args


SOME_NUMBER = 3


@pytest.mark.parametrize(
    ("name", "tools"),
    [
        ("tools_in_a_thread", {"find_order": find_order, "pay": pay}),
        ("tools_on_the_loop", {"pay": pay}),
        ("no_tools", {}),
    ],
)
async def test_a_function_makes_the_tools_of_a_turn(name: str, tools: dict[str, object]) -> None:
    assert await load_request_tools(f"{HERE}:{name}")(TURN) == tools


async def test_what_goes_wrong_in_it_passes_through() -> None:
    with pytest.raises(KeyError):
        await load_request_tools(f"{HERE}:broken")(TURN)
    with pytest.raises(ToolsUnusable, match="has a TurnContext, which is no tool"):
        await load_request_tools(f"{HERE}:no_real_tools")(TURN)


@pytest.mark.parametrize(("name", "text"), [("prompt_of", "ada 1 home"), ("no_prompt", None)])
async def test_a_function_makes_the_prompt_of_a_turn(name: str, text: str | None) -> None:
    assert await load_prompt_hook(f"{HERE}:{name}")("ada", UUID(int=1), "home") == text


async def test_a_prompt_is_text() -> None:
    with pytest.raises(ToolsUnusable, match="returned a int: return a text or None"):
        await load_prompt_hook(f"{HERE}:number")("ada", UUID(int=1), None)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("SOME_NUMBER", "is a int: name a function instead."),
        ("needs_two", "can't be called with context, in this order: missing a required argument"),
        ("prompt_of", "can't be called with context"),
        ("missing", "names nothing"),
    ],
)
def test_what_is_no_such_function_is_refused(name: str, told: str) -> None:
    with pytest.raises(ToolsUnusable) as raised:
        load_request_tools(f"{HERE}:{name}")
    assert told in str(raised.value)


def test_a_module_alone_names_no_function() -> None:
    with pytest.raises(ToolsUnusable, match="is no import path: write `module:attribute`"):
        load_prompt_hook(HERE)
    with pytest.raises(ToolsUnusable, match="can't be called with owner, conversation_id, project"):
        load_prompt_hook(f"{HERE}:no_tools")


@pytest.mark.parametrize("name", ["wording_in_a_thread", "wording_on_the_loop"])
async def test_a_function_words_the_approvals_of_a_tool(name: str) -> None:
    (wording,) = load_approval_wordings({"refund": f"{HERE}:{name}"}).values()
    args: JsonValue = {"cents": 5}
    assert await wording(args) == {"prompt": "Refund 5 cents?"}
    assert args == {"cents": 5}, "what a wording does to the arguments changes nothing"


async def test_what_a_wording_returns_is_looked_at_later() -> None:
    (wording,) = load_approval_wordings({"refund": f"{HERE}:no_wording"}).values()
    assert await wording({}) is None


@pytest.mark.parametrize(
    ("tool", "path", "told"),
    [
        ("refund", f"{HERE}:SOME_NUMBER", "is a int: name a function instead."),
        ("refund", f"{HERE}:needs_two", "can't be called with args, in this order: missing a"),
        ("refund", f"{HERE}:missing", "names nothing"),
        ("refund", HERE, "is no import path: write `module:attribute`"),
        ("re fund", f"{HERE}:no_wording", "word the approvals of 're fund', and no tool can be"),
        ("", f"{HERE}:no_wording", "word the approvals of '', and no tool can be called so"),
    ],
)
def test_what_words_no_approval_is_refused(tool: str, path: str, told: str) -> None:
    with pytest.raises(ToolsUnusable) as raised:
        load_approval_wordings({tool: path})
    assert told in str(raised.value)

"""The registry of kinds, and the check of an ask from outside (spec asks V6, V9, V11, 12)."""

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import check_answer
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import (
    ASK_KINDS,
    TOOL_PREFIX,
    check_ask,
    kind_of_tool,
    offered_kinds,
    tool_name,
)
from parleyd.contract.asks.tools import ask_tools
from parleyd.contract.cards import to_simple_card
from parleyd.contract.prompts import asks_section
from tests.contract.reported import reported
from tests.contract.valid_asks import TRIP


def test_kinds_stand_in_the_order_of_the_contract() -> None:
    assert ASK_KINDS == ("choice", "confirm", "markdown", "form", "files")
    assert get_args(AskKind) == ASK_KINDS


def test_a_surface_offers_kinds_in_order_and_each_once() -> None:
    assert offered_kinds(["confirm", "choice", "confirm"], "full") == ("choice", "confirm")
    assert offered_kinds(["confirm"], "compact") == ("confirm",)
    assert offered_kinds(ASK_KINDS, "full") == ASK_KINDS
    assert offered_kinds(ASK_KINDS, "compact") == ("choice", "confirm")
    assert offered_kinds([], "full") == ()


def test_each_kind_has_a_tool_of_its_name() -> None:
    names = "ask_choice ask_confirm ask_markdown ask_form ask_files"
    assert [tool_name(kind) for kind in ASK_KINDS] == names.split()
    assert [kind_of_tool(tool_name(kind)) for kind in ASK_KINDS] == [*ASK_KINDS]


@pytest.mark.parametrize("name", ["ask_", "ask_budget", "choice", "Ask_choice", "ask_choice ", ""])
def test_other_names_are_no_ask_tools(name: str) -> None:
    assert kind_of_tool(name) is None
    assert all(tool_name(kind).startswith(TOOL_PREFIX) for kind in ASK_KINDS)


UNKNOWN: Any = "riddle"


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda: check_ask(UNKNOWN, TRIP), id="the ask of an unknown kind"),
        pytest.param(lambda: check_ask("choice", TRIP, UNKNOWN), id="an ask on an unknown surface"),
        pytest.param(lambda: check_answer(UNKNOWN, TRIP, {}), id="an answer of an unknown kind"),
        pytest.param(lambda: to_simple_card(UNKNOWN, TRIP, "c"), id="a card of an unknown kind"),
        pytest.param(lambda: offered_kinds([UNKNOWN], "full"), id="offering an unknown kind"),
        pytest.param(lambda: offered_kinds([], UNKNOWN), id="offering on an unknown surface"),
        pytest.param(lambda: ask_tools(["choice"], UNKNOWN), id="tools of an unknown surface"),
        pytest.param(lambda: asks_section(["choice"], UNKNOWN), id="a prompt for one"),
    ],
)
def test_a_programming_error_raises(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="riddle"):
        call()


@pytest.mark.parametrize("kind", ASK_KINDS)
@pytest.mark.parametrize("root", [None, True, 0, 1.5, "x", [], ["a"]], ids=str)
def test_what_is_no_object_has_one_error(kind: AskKind, root: JsonValue) -> None:
    assert reported(check_ask(kind, root)) == [("", "INVALID_TYPE")]


def test_a_check_leaves_what_it_checks_as_it_is() -> None:
    ask: dict[str, JsonValue] = {**TRIP, "minSelected": 1.0, "title": " x ", "extra": {"a": []}}
    before = json.dumps(ask)
    check_ask("choice", ask)
    assert json.dumps(ask) == before

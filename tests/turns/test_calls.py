"""What becomes of the calls of a step."""

from uuid import UUID

import pytest
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.events import ToolCalled, ToolReturned
from parleyd.turns.calls import CallJudge
from parleyd.turns.model import CallPart
from tests.standard_asks import PLAN


class CountedIds:
    """Ids that a test can tell."""

    def __init__(self) -> None:
        self._last = 0

    def uuid(self) -> UUID:
        self._last += 1
        return UUID(int=self._last)

    def call_id(self) -> str:
        self._last += 1
        return f"call_minted_{self._last}"


def judge(*, asks_on: bool = True) -> CallJudge:
    kinds = ("choice", "confirm") if asks_on else ()
    return CallJudge(kinds, "full", asks_on=asks_on, ids=CountedIds())


def call(name: str, args: JsonValue, call_id: str | None = "call_1") -> CallPart:
    return CallPart(call_id, name, args, raw=None)


@pytest.mark.parametrize(
    "provider_id",
    [None, "", "x" * (limits.TOOL_CALL_ID_CHARACTERS + 1)],
    ids=["none", "empty", "too long"],
)
def test_a_call_whose_id_will_not_do_gets_a_fresh_one(provider_id: str | None) -> None:
    (ask,) = judge().judge([call("ask_choice", PLAN, provider_id)]).asks
    assert ask.call.tool_call_id.startswith("call_minted_")
    assert ask.call.provider_call_id == provider_id


def test_an_id_that_comes_twice_in_a_step_is_public_once() -> None:
    judged = judge().judge([call("ask_choice", PLAN), call("ask_choice", PLAN)])
    first, second = judged.calls
    assert first.tool_call_id == "call_1"
    assert second.tool_call_id.startswith("call_minted_")
    assert [first.provider_call_id, second.provider_call_id] == ["call_1", "call_1"]
    assert first.ask_id != second.ask_id


def test_an_id_of_an_earlier_step_of_the_chain_is_not_given_again() -> None:
    calls = judge()
    earlier = calls.judge([call("ask_choice", PLAN)]).calls
    later = judge()
    later.remember(earlier)
    (ask,) = later.judge([call("ask_choice", PLAN)]).asks
    assert ask.call.tool_call_id.startswith("call_minted_")


def test_an_id_is_public_in_storable_form() -> None:
    (ask,) = judge().judge([call("ask_choice", PLAN, "call\x00\ud83d")]).asks
    assert ask.call.tool_call_id == "call\ufffd\ufffd"


def nested(levels: int) -> JsonValue:
    value: JsonValue = "deep"
    for _ in range(levels):
        value = [value]
    return {"prompt": value}


@pytest.mark.parametrize("levels", [limits.CALL_LEVELS, 300, 100_000])
def test_arguments_that_nest_too_deep_are_a_tool_error(levels: int) -> None:
    (judged,) = judge().judge([call("ask_choice", nested(levels))]).calls
    assert judged.role == "invalid"
    assert judged.args is None
    assert judged.error == f"The arguments have more than {limits.CALL_LEVELS} levels."


def test_arguments_just_within_the_depth_are_checked_as_any() -> None:
    (judged,) = judge().judge([call("ask_choice", nested(limits.CALL_LEVELS - 1))]).calls
    assert judged.role == "invalid"
    assert judged.error is not None
    assert "INVALID_TYPE" in judged.error


@pytest.mark.parametrize("args", [[], "text", 3, True, None], ids=repr)
def test_arguments_that_are_no_object_are_a_tool_error(args: JsonValue) -> None:
    judged = judge().judge([call("ask_choice", args)])
    assert judged.asks == ()
    assert judged.calls[0].role == "invalid"
    assert judged.events == ()


def test_arguments_are_checked_and_kept_in_the_form_in_which_they_are_stored() -> None:
    args: dict[str, JsonValue] = {**PLAN, "prompt": "Which\x00 plan \ud83d?"}
    (ask,) = judge().judge([call("ask_choice", args)]).asks
    assert ask.input["prompt"] == "Which\ufffd plan \ufffd?"
    assert ask.call.args == ask.input


def test_calls_of_unknown_tools_are_shown_first_all_calls_then_all_results() -> None:
    judged = judge().judge([call("mail", {"to": "ivo"}, "call_a"), call("post", {}, "call_b")])
    assert [type(event) for event in judged.events] == [
        ToolCalled,
        ToolCalled,
        ToolReturned,
        ToolReturned,
    ]
    assert [row.type for row in judged.rows] == [
        "tool_call",
        "tool_call",
        "tool_result",
        "tool_result",
    ]
    assert all(
        isinstance(event, ToolCalled) or event.is_error
        for event in judged.events
        if isinstance(event, ToolCalled | ToolReturned)
    )


def test_a_name_that_begins_like_an_ask_is_an_ordinary_tool_with_asks_off() -> None:
    judged = judge(asks_on=False).judge([call("ask_choice", PLAN)])
    assert judged.asks == ()
    assert [type(event) for event in judged.events] == [ToolCalled, ToolReturned]

"""Functions as host actions, and those that can't be (spec blocks 22)."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, JsonValue, field_validator

from parleyd.tools import (
    ActionContext,
    ActionResult,
    ToolsUnusable,
    declared_action,
    host_action,
    load_host_actions,
)

CONTEXT = ActionContext("ada", UUID(int=1), 12, "actions", "pay", None)


class Loan(BaseModel):
    """A payload."""

    cents: int | str
    names: list[str] = []
    urgent: bool = False

    @field_validator("names")
    @classmethod
    def _refuse_mallory(cls, names: list[str]) -> list[str]:
        if "mallory" in names:
            raise ValueError("mallory may not.")
        return names


@host_action
async def pay(loan: Loan, context: ActionContext) -> ActionResult:
    """Pays."""
    return ActionResult(text=f"{context.owner} {loan.cents!r}")


@host_action(name="anyOf", log_response=False)
def any_of(context: ActionContext, what: Mapping[str, JsonValue]) -> ActionResult:
    """Takes anything."""
    return ActionResult(text=f"{context.owner} {what}")


async def test_an_action_is_given_its_payload_and_its_context() -> None:
    assert (pay.name, pay.runs_here, pay.log_response) == ("pay", True, True)
    assert pay.faults({"cents": 3.0}) == ()
    assert await pay.run({"cents": 3.0, "more": 1}, CONTEXT) == ActionResult(text="ada 3")
    assert (any_of.name, any_of.log_response) == ("anyOf", False)
    assert await any_of.run({"a": [1]}, CONTEXT) == ActionResult(text="ada {'a': [1]}")
    assert any_of(CONTEXT, {}) == ActionResult(text="ada {}")


@pytest.mark.parametrize(
    ("payload", "faults"),
    [
        ({}, [("payload.cents", "MISSING_REQUIRED")]),
        ({"cents": []}, [("payload.cents", "INVALID_TYPE")]),
        ({"cents": 1, "urgent": "yes"}, [("payload.urgent", "INVALID_TYPE")]),
        ({"cents": 1, "names": ["a", 2]}, [("payload.names[1]", "INVALID_TYPE")]),
        ({"cents": 1, "names": ["mallory"]}, [("payload.names", "INVALID_FORMAT")]),
        ({"cents": 10**5000}, [("payload", "INVALID_FORMAT")]),
        ({"names": 1}, [("payload.cents", "MISSING_REQUIRED"), ("payload.names", "INVALID_TYPE")]),
    ],
    ids=[
        "missing",
        "no member",
        "a text for a flag",
        "in a list",
        "of the model's own",
        "digits",
        "two",
    ],
)
def test_what_does_not_fit_is_told_by_path_and_code(
    payload: dict[str, JsonValue], faults: list[tuple[str, str]]
) -> None:
    told = pay.faults(payload)
    assert [(fault.path, fault.code.value) for fault in told] == faults
    assert all(
        f"`{path}`" in fault.message
        for fault, (path, _) in zip(told, faults, strict=True)
        if path != "payload"
    )


async def test_an_action_that_returns_anything_else_fails() -> None:
    @host_action
    def count() -> int:
        return 3

    with pytest.raises(TypeError, match="returned a int: return an ActionResult or None"):
        await count.run({}, CONTEXT)


def test_a_payload_that_is_nested_too_deep_fits_nothing() -> None:
    payload: JsonValue = {}
    for _ in range(100):
        payload = {"a": payload}
    assert [fault.path for fault in any_of.faults({"deep": payload})] == ["payload"]


def untyped() -> Callable[..., object]:
    """Returns a function whose parameter has no type."""

    def untyped(payload: int) -> None: ...

    del untyped.__annotations__["payload"]
    return untyped


def lists(payload: list[int]) -> None: ...


def two(one: Loan, other: dict[str, Any]) -> None: ...


def several(*loans: Loan) -> None: ...


def Capital() -> None: ...  # noqa: N802


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lists, "The action `lists` has a parameter `payload` that nothing fills"),
        (two, "The action `two` has a parameter `other` that nothing fills"),
        (untyped(), "The parameter `payload` of the action `untyped` has no type: annotate it."),
        (several, "The action `several` takes `*loans"),
        (Capital, "No action can be called 'Capital': write a name of at most 64 letters"),
        (Loan, "@host_action was given a ModelMetaclass"),
    ],
)
def test_what_can_not_be_an_action_is_told_with_how_to_mend_it(
    function: Callable[..., object], sentence: str
) -> None:
    with pytest.raises(ToolsUnusable) as told:
        host_action(function)
    assert str(told.value).startswith(sentence)


def test_a_declared_action_has_a_name_alone() -> None:
    action = declared_action("openCamera")
    assert (action.name, action.runs_here) == ("openCamera", False)
    with pytest.raises(ToolsUnusable, match="No action can be called 'open-camera'"):
        declared_action("open-camera")


# ---------------------------------------------------------------- by import path

MODULE = """
    from parleyd.tools import declared_action, host_action

    @host_action
    def pay() -> None: ...

    @host_action(name="hidden")
    def _hidden() -> None: ...

    camera = declared_action("openCamera")
    BOTH = [pay, (camera,)]
"""
OTHER = declared_action("openCamera")


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module in the folder that the process starts in."""
    (tmp_path / "bank_of_tests.py").write_text(dedent(MODULE), "utf-8")
    (tmp_path / "empty_bank.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    monkeypatch.delitem(sys.modules, "bank_of_tests", raising=False)
    return "bank_of_tests"


def test_actions_are_named_by_import_path(bank: str) -> None:
    assert [*load_host_actions([f"{bank}:pay"])] == ["pay"]
    assert [*load_host_actions([bank])] == ["pay", "openCamera"]
    assert [*load_host_actions([f"{bank}:_hidden"])] == ["hidden"]
    assert [*load_host_actions([f"{bank}:BOTH", f"{bank}:pay"])] == ["pay", "openCamera"]
    assert load_host_actions([]) == {}


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("bank_of_tests:nope", "names nothing: `bank_of_tests` has no `nope`"),
        ("bank_of_tests:host_action", "is a function, which is no action: name a function dec"),
        ("empty_bank", "`empty_bank` has no actions: decorate a function in it"),
        (
            "tests.tools.test_host_actions:OTHER",
            "Two actions are called `openCamera`, the second one of `tests.tools.test_host_ac",
        ),
    ],
)
def test_a_path_that_names_no_action_stops_the_start(bank: str, path: str, sentence: str) -> None:
    with pytest.raises(ToolsUnusable) as told:
        load_host_actions([bank, path])
    assert sentence in str(told.value)

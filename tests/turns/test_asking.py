"""Raising the asks of a step: those of the model as they are, approvals in words."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from pydantic import JsonValue
from structlog.testing import capture_logs

from parleyd.contract import limits
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.steps import Step, StepCall
from parleyd.contract.surfaces import Surface
from parleyd.turns.asking import Asker
from parleyd.turns.instructions import Instructions
from parleyd.turns.options import BlockReplies, TurnOptions
from parleyd.turns.tools import ApprovalWording
from tests.turns.ports_in_memory import PlainTool, RandomIds
from tests.turns.turn_values import DELETE_ARGS, PLAN, collected, guarded_call, invalid, pausing
from tests.turns.waiting import in_time

TOLD = Instructions(
    system=None,
    kinds=(),
    tools=(),
    max_steps=5,
    host_tools={"delete": PlainTool("delete", description="Deletes todos.")},
)
DEFAULT: dict[str, JsonValue] = {
    "prompt": "Allow delete? Deletes todos.",
    "confirmLabel": "Allow",
    "denyLabel": "Deny",
}
OWN: dict[str, JsonValue] = {"prompt": "Delete 3 todos?", "destructive": True}
OURS = "https://img.books.example/1.png"


def asker(
    wordings: Mapping[str, ApprovalWording] | None = None,
    surface: Surface = "full",
    told: Instructions = TOLD,
) -> Asker:
    return Asker(told, surface, TurnOptions(approval_wordings=wordings or {}), RandomIds())


def step_of(*calls: StepCall) -> Step:
    step = pausing().step
    assert step
    return step.model_copy(update={"calls": calls})


def saying(value: object) -> ApprovalWording:
    async def worded(args: JsonValue) -> object:
        del args
        if isinstance(value, BaseException):
            raise value
        return value

    return worded


async def worded(
    wording: ApprovalWording, surface: Surface = "full"
) -> tuple[dict[str, JsonValue], list[str]]:
    """Returns the input of an approval, and what was logged of its words."""
    with capture_logs() as lines:
        (asked,) = await asker({"delete": wording}, surface).asks_of(
            step_of(guarded_call("call_delete", uuid4()))
        )
    assert "SECRET" not in str(lines)
    return asked.input, [line["event"] for line in lines]


async def test_an_ask_of_the_model_is_raised_as_it_was_accepted() -> None:
    plan = collected("call_plan").call
    (asked,) = await asker({"ask_choice": saying(OWN)}, "compact").asks_of(step_of(plan))
    assert (asked.call, asked.ask_id, asked.kind, asked.input) == (
        plan,
        plan.ask_id,
        "choice",
        PLAN,
    )
    assert (asked.tool_call_id, asked.origin) == ("call_plan", "model")
    assert asked.spare_call_id.startswith("call_")


async def test_v1_an_approval_is_a_confirm_with_an_id_of_its_own() -> None:
    call = guarded_call("call_delete", UUID(int=77))
    (asked,) = await asker().asks_of(step_of(call))
    assert (asked.call, asked.ask_id, asked.kind, asked.origin) == (
        call,
        UUID(int=77),
        "confirm",
        "approval",
    )
    assert asked.input == DEFAULT
    ids = {asked.tool_call_id, asked.spare_call_id}
    assert len(ids) == 2
    assert all(each.startswith("apr_") for each in ids)


async def test_only_calls_with_an_id_are_asked_for_and_each_once() -> None:
    first, second, plan = UUID(int=1), UUID(int=2), collected("call_plan").call
    calls = step_of(
        invalid("call_bad"),
        guarded_call("a", first),
        plan,
        guarded_call("b", None),
        plan.model_copy(update={"ask_id": second}),
    )
    assert [asked.ask_id for asked in await asker().asks_of(calls)] == [first, plan.ask_id, second]
    assert await asker().asks_of(calls, {first, second, plan.ask_id or first}) == ()


async def test_without_its_tool_an_approval_is_asked_for_by_the_tools_name() -> None:
    told = replace(TOLD, host_tools={})
    (asked,) = await asker(told=told).asks_of(step_of(guarded_call("call_delete", uuid4())))
    assert asked.input["prompt"] == "Allow delete?"


async def test_v5_a_deployment_words_an_approval_from_its_arguments() -> None:
    seen: list[JsonValue] = []

    async def wording(args: JsonValue) -> object:
        seen.append(args)
        return OWN

    assert await worded(wording) == (OWN, [])
    assert seen == [DELETE_ARGS]


UNUSABLE: dict[str, object] = {
    "it raises": ValueError("SECRET"),
    "it is cancelled": asyncio.CancelledError("SECRET"),
    "equal labels": {"prompt": "Delete?", "confirmLabel": "Yes", "denyLabel": "Yes"},
    "an unknown key": {"prompt": "Delete?", "approved": True},
    "no object": "Delete?",
    "nothing": None,
    "no JSON": object(),
    "no prompt": {},
}


@pytest.mark.parametrize("value", UNUSABLE.values(), ids=UNUSABLE)
async def test_v5_words_that_will_not_do_are_replaced_by_the_default(value: object) -> None:
    used, logged = await worded(saying(value))
    assert used == DEFAULT
    assert len(logged) == 1


async def test_words_that_come_too_late_are_replaced_by_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "APPROVAL_HOOK_SECONDS", 0.05)

    async def silent(args: JsonValue) -> object:
        del args
        await asyncio.Event().wait()
        return OWN

    assert await in_time(worded(silent)) == (DEFAULT, ["approval_wording_failed"])


@pytest.mark.parametrize(
    ("units", "surface", "used"),
    [(140, "compact", True), (141, "compact", False), (141, "full", True)],
)
async def test_v20_on_a_small_screen_words_must_fit_their_card(
    units: int, surface: Surface, *, used: bool
) -> None:
    long: dict[str, JsonValue] = {"prompt": "x" * units}
    assert await worded(saying(long), surface) == (
        (long, []) if used else (DEFAULT, ["approval_wording_unusable"])
    )


async def test_what_the_hook_does_to_the_arguments_is_not_what_runs() -> None:
    async def meddling(args: JsonValue) -> object:
        assert isinstance(args, dict)
        args["count"] = 1
        return OWN

    (asked,) = await asker({"delete": meddling}).asks_of(step_of(guarded_call("a", uuid4())))
    assert asked.call.args == {"count": 9007199254740993}


async def test_words_are_kept_in_the_form_in_which_they_are_stored() -> None:
    used, _ = await worded(saying({"prompt": "Delete \ud83d?"}))
    assert used == {"prompt": "Delete \ufffd?"}


async def test_bc_134_the_words_of_an_approval_show_no_image_from_elsewhere() -> None:
    leak = "![all of it](https://leak.example/?said=everything)"
    words: dict[str, JsonValue] = {
        "title": f"Todos {leak}",
        "prompt": f"Delete? {leak}",
        "confirmLabel": "![x](//l)",
    }
    assert await worded(saying(words)) == (
        {
            "title": "Todos all of it",
            "prompt": "Delete? all of it",
            "confirmLabel": "\uff01[x](//l)",
        },
        [],
    )


async def test_bc_134_a_tool_is_described_without_images_from_elsewhere() -> None:
    tool = PlainTool("delete", description="Deletes ![todos](https://leak.example/).")
    told = replace(TOLD, host_tools={"delete": tool})
    (asked,) = await asker(told=told).asks_of(step_of(guarded_call("a", uuid4())))
    assert asked.input["prompt"] == "Allow delete? Deletes todos."


async def test_an_approval_keeps_images_of_allowed_hosts() -> None:
    options = TurnOptions(
        approval_wordings={"delete": saying({"prompt": f"Delete? ![a]({OURS}) ![b](//x)"})},
        blocks=BlockReplies(BlockOptions(image_hosts=("img.books.example",))),
    )
    (asked,) = await Asker(TOLD, "full", options, RandomIds()).asks_of(
        step_of(guarded_call("a", uuid4()))
    )
    assert asked.input == {"prompt": f"Delete? ![a]({OURS}) b"}

"""The strict model: what it refuses is what vendors refuse (spec turns 5.4, 5.5)."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import JsonValue

from parleyd.models.call_records import CallRecord, CallRecords
from parleyd.models.script import (
    Call,
    Fail,
    ScriptedMessage,
    ScriptedStep,
    Text,
    Thought,
    encode,
)
from parleyd.models.scripted import by_progress, in_turn
from parleyd.models.signatures import BYPASS, rebuilt, signed
from parleyd.models.strict import StrictModel
from parleyd.turns.model import ModelCall, ModelFailed, RebuiltCall, Tool, ToolOutcome
from tests.models.streamed import parts_of
from tests.standard_asks import PLAN_ID, REGION_ID, ask_plan, ask_region

ANSWER: JsonValue = {"action": "decline"}
PROMPT = ScriptedMessage("user", (Text("Set up my workspace"),))
AGAIN = ScriptedMessage("user", (Text("And now?"),))
REPLY = ScriptedMessage("model", (Text("Done."),))
PLANNED = ToolOutcome(PLAN_ID, "ask_choice", value=ANSWER)
PLACED = ToolOutcome(REGION_ID, "ask_choice", value=ANSWER)
UNNAMED = Call("look_up", {"empty": {}})
FORGED = replace(signed(ask_region()), call_id=PLAN_ID)


def model_of(*steps: ScriptedStep) -> StrictModel:
    return StrictModel(in_turn(*steps or ([Text("Fine.")],)))


def model_said(*parts: Text | Thought | Call) -> ScriptedMessage:
    return ScriptedMessage("model", parts)


def results(*outcomes: ToolOutcome) -> ScriptedMessage:
    return ScriptedMessage("tool", outcomes)


def call_of(messages: Sequence[ScriptedMessage], *tools: Tool) -> ModelCall:
    return ModelCall("Be brief.", tuple(messages), tools, None, 1.0)


async def refusal(model: StrictModel, *messages: ScriptedMessage) -> str:
    """Makes a call that must be refused and returns why it was."""
    with pytest.raises(ModelFailed) as caught:
        await parts_of(model, call_of(messages))
    assert caught.value.kind == "other"
    assert str(caught.value) == f"Refused: {model.refusals[-1]}."
    assert len(model.calls) == len(model.refusals)
    return model.refusals[-1]


@pytest.mark.parametrize(
    "messages",
    [
        [PROMPT],
        [PROMPT, AGAIN],
        [PROMPT, REPLY, AGAIN],
        [PROMPT, model_said(signed(ask_plan())), results(PLANNED)],
        [PROMPT, model_said(ask_plan()), results(PLANNED), REPLY, REPLY, AGAIN],
        [
            PROMPT,
            model_said(Thought("Hm."), Text("Let me ask."), signed(ask_plan()), ask_region()),
            results(PLANNED, PLACED),
        ],
        [PROMPT, model_said(ask_plan(b"bytes of another process")), results(PLANNED)],
        [PROMPT, model_said(rebuilt(ask_plan()), ask_region()), results(PLANNED, PLACED)],
        [PROMPT, model_said(ask_plan()), results(PLANNED), AGAIN],
        [PROMPT, model_said(FORGED), results(PLANNED), REPLY, AGAIN],
        [PROMPT, model_said(signed(UNNAMED)), results(ToolOutcome(None, "look_up", error="No."))],
        [
            PROMPT,
            model_said(signed(Call("look\x00up", {}))),
            results(ToolOutcome(None, "look\ufffdup", error="No.")),
        ],
    ],
    ids=[
        "a prompt",
        "two prompts",
        "a reply",
        "a step",
        "two replies",
        "parallel calls",
        "other bytes",
        "a rebuilt step",
        "an unsigned step of an earlier turn",
        "a forged step of an earlier turn",
        "no id",
        "a name that can't be stored",
    ],
)
async def test_what_vendors_take_is_taken(messages: list[ScriptedMessage]) -> None:
    model = model_of()
    assert await parts_of(model, call_of(messages))
    assert model.refusals == []


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([PROMPT, model_said(signed(ask_plan()))], "the calls ask_choice are followed by nothing"),
        (
            [PROMPT, model_said(ask_plan()), AGAIN],
            "the calls ask_choice are followed by no results",
        ),
        (
            [PROMPT, model_said(signed(ask_plan()), ask_region()), results(PLANNED)],
            "the call ask_choice has no result",
        ),
        (
            [PROMPT, model_said(signed(ask_plan())), results(PLANNED, PLACED)],
            "the result of ask_choice has no call",
        ),
        (
            [PROMPT, model_said(signed(ask_plan()), ask_region()), results(PLACED, PLANNED)],
            "the call call_plan has the result of call_region",
        ),
        (
            [
                PROMPT,
                model_said(signed(ask_plan()), ask_region()),
                results(PLANNED),
                results(PLACED),
            ],
            "the call ask_choice has no result",
        ),
        (
            [PROMPT, model_said(signed(ask_plan())), results(replace(PLANNED, name="ask_form"))],
            "the call ask_choice has the result of ask_form",
        ),
        (
            [PROMPT, model_said(signed(ask_plan())), results(replace(PLANNED, call_id=None))],
            "the call call_plan has the result of None",
        ),
        (
            [PROMPT, REPLY, model_said(ask_plan()), results(PLANNED), AGAIN],
            "the calls ask_choice follow a message of the model",
        ),
        (
            [model_said(ask_plan()), results(PLANNED), AGAIN],
            "the calls ask_choice follow nothing",
        ),
        ([PROMPT, results(PLANNED)], "the result of ask_choice has no call"),
        ([PROMPT, REPLY, results(PLANNED)], "the result of ask_choice has no call"),
        ([PROMPT, results()], "a message of results holds none"),
        ([PROMPT, ScriptedMessage("model", ()), AGAIN], "a message of the model says nothing"),
        ([PROMPT, model_said(Text("")), AGAIN], "a message of the model says nothing"),
        ([PROMPT, model_said(Thought("Hm.")), AGAIN], "a message of the model says nothing"),
        (
            [PROMPT, model_said(ask_plan()), results(PLANNED)],
            "the first call of a step, ask_choice, has no signature",
        ),
        (
            [PROMPT, model_said(ask_plan(), signed(ask_region())), results(PLANNED, PLACED)],
            "the first call of a step, ask_choice, has no signature",
        ),
        (
            [PROMPT, model_said(FORGED), results(PLANNED)],
            "the signature of ask_choice is not the one it came with",
        ),
        (
            [
                PROMPT,
                model_said(signed(ask_plan()), rebuilt(ask_region())),
                results(PLANNED, PLACED),
            ],
            "the bypass is for the first call of a step, ask_choice, alone",
        ),
        (
            [PROMPT, model_said(Text("Let me ask."), rebuilt(ask_plan())), results(PLANNED)],
            "the bypass is on ask_choice, whose step is not rebuilt",
        ),
    ],
)
async def test_what_vendors_refuse_is_refused(messages: list[ScriptedMessage], why: str) -> None:
    assert await refusal(model_of(), *messages) == why


@pytest.mark.parametrize("opaque", [None, b"\x00\xff"], ids=["signed", "the script's own"])
async def test_a_step_streamed_here_must_come_back_with_its_bytes(opaque: bytes | None) -> None:
    step = [Text("Let me ask."), ask_plan(opaque), ask_region()]
    model = StrictModel(by_progress(step, [Text("Fine.")]))
    message = model.assistant_message(await parts_of(model, call_of([PROMPT])))
    assert message == model_said(Text("Let me ask."), signed(ask_plan(opaque)), ask_region())
    outcomes = results(PLANNED, PLACED)
    (stored,) = model.decode(model.codec, model.encode([message]))
    assert isinstance(stored, ScriptedMessage)
    assert await parts_of(model, call_of([PROMPT, stored, outcomes]))

    altered = model_said(*step[:1], ask_plan(b"altered"), ask_region())
    with pytest.raises(ModelFailed, match="is not the one it came with"):
        await parts_of(model, call_of([PROMPT, altered, outcomes]))
    added = model_said(*step[:1], signed(ask_plan(opaque)), ask_region(b"added"))
    with pytest.raises(ModelFailed, match="is not the one it came with"):
        await parts_of(model, call_of([PROMPT, added, outcomes]))


async def test_the_signature_covers_name_arguments_and_id() -> None:
    call = signed(ask_plan())
    for other in (
        replace(call, name="ask_form"),
        replace(call, args={"prompt": "Which?"}),
        replace(call, call_id="call_other"),
    ):
        outcome = ToolOutcome(other.call_id, other.name, value=ANSWER)
        why = await refusal(model_of(), PROMPT, model_said(other), results(outcome))
        assert why.endswith("is not the one it came with")


async def test_only_the_first_call_of_a_step_is_signed() -> None:
    parts = await parts_of(model_of([ask_plan(), ask_region()]), call_of([PROMPT]))
    assert [part.raw for part in parts] == [signed(ask_plan()), ask_region()]


def test_a_step_built_anew_bears_the_bypass() -> None:
    calls = [RebuiltCall(PLAN_ID, "ask_choice", {}), RebuiltCall(REGION_ID, "ask_choice", {})]
    assert model_of().rebuilt_message(calls) == model_said(
        Call("ask_choice", {}, PLAN_ID, BYPASS), Call("ask_choice", {}, REGION_ID)
    )


async def test_calls_of_several_processes_are_read_from_one_file(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    assert CallRecords(file).read() == ()
    models = [StrictModel(in_turn([Text("Fine.")]), record_file=file) for _ in range(2)]
    tool = Tool("ask_choice", "Asks.", {"type": "object"})
    await parts_of(models[0], call_of([PROMPT], tool))
    assert await models[0].generate_text("Write a title.", "The person: …", 0.3)
    await refusal(models[1], PROMPT, results(PLANNED))
    streamed, titled, refused = CallRecords(file).read()
    assert streamed == CallRecord(
        kind="stream",
        pid=os.getpid(),
        prompt="Set up my workspace",
        system="Be brief.",
        encoded=encode([PROMPT]).decode(),
        tools=("ask_choice",),
    )
    assert streamed.messages == (PROMPT,)
    assert (titled.kind, titled.prompt, titled.messages) == ("text", "The person: …", ())
    assert refused.refused == "the result of ask_choice has no call"


async def test_a_failed_step_is_recorded_too(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    model = StrictModel(in_turn([Fail("server")]), record_file=file)
    with pytest.raises(ModelFailed):
        await parts_of(model, call_of([PROMPT]))
    (record,) = CallRecords(file).read()
    assert record.refused is None
    assert model.refusals == []

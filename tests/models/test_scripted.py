"""The scripted model: what the tests of everything above it rely on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
from pydantic import JsonValue

from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.surfaces import Surface
from parleyd.models.script import (
    Call,
    Fail,
    Hold,
    Raise,
    ScriptedMessage,
    ScriptedStep,
    Text,
    Thought,
    Unforeseen,
    Usage,
)
from parleyd.models.scripted import (
    ScriptedModel,
    ScriptEnded,
    TextCall,
    by_progress,
    by_prompt,
    in_turn,
)
from parleyd.turns.model import (
    CallPart,
    MediaShown,
    ModelCall,
    ModelFailed,
    ModelFailureKind,
    Part,
    ProviderMessage,
    StreamPart,
    TextPart,
    TextShown,
    ThoughtPart,
    Tool,
    ToolOutcome,
    UsagePart,
)
from tests.models import streamed
from tests.models.streamed import message_parts
from tests.standard_asks import PLAN, PLAN_ID, REGION, ask_plan, ask_region

DEADLINE = 10


def call_of(model: ScriptedModel, prompt: str, *later: ProviderMessage) -> ModelCall:
    return ModelCall(None, (model.user_message(prompt), *later), (), None, 1.0)


async def parts_of(model: ScriptedModel, prompt: str, *later: ProviderMessage) -> list[Part]:
    return await streamed.parts_of(model, call_of(model, prompt, *later))


def stream_of(model: ScriptedModel, prompt: str) -> AsyncIterator[StreamPart]:
    return model.stream(call_of(model, prompt))


async def text_of(model: ScriptedModel, prompt: str, *later: ProviderMessage) -> str:
    parts = await parts_of(model, prompt, *later)
    return "".join(part.text for part in parts if isinstance(part, TextPart))


async def test_a_step_streams_as_it_is_written() -> None:
    step: ScriptedStep = [
        Thought("Hm."),
        Text("One moment."),
        Text("", b"\x00\xff"),
        ask_plan(b"signature"),
        Call("look_up"),
    ]
    parts = await parts_of(ScriptedModel(in_turn(step)), "Go.")
    assert [type(part) for part in parts] == [
        ThoughtPart,
        TextPart,
        ThoughtPart,
        CallPart,
        CallPart,
    ]
    assert [part.raw for part in parts] == list(step)
    asked, looked = parts[3:]
    assert isinstance(asked, CallPart)
    assert isinstance(looked, CallPart)
    assert (asked.call_id, asked.name, asked.args) == (PLAN_ID, "ask_choice", PLAN)
    assert (looked.call_id, looked.args) == (None, {})


async def test_a2_opaque_bytes_empty_parts_and_null_characters_come_back_unchanged() -> None:
    step = (
        Text("", b"\x01\x00"),
        Text("", b""),
        Thought(),
        Call("ask_choice", {"empty": {}, "nul": "\x00", "half": "\ud800"}, PLAN_ID, b"\xff" * 300),
        Call("ask_choice", None),
    )
    model = ScriptedModel(in_turn(step))
    message = model.assistant_message(await parts_of(model, "Go."))
    assert message == ScriptedMessage("model", step)
    assert model.decode(model.codec, model.encode((message,))) == (message,)


async def test_messages_that_differ_in_one_opaque_byte_are_not_equal() -> None:
    one, other = (ScriptedMessage("model", (Text("", opaque),)) for opaque in (b"a", b"b"))
    assert one != other
    assert ScriptedMessage("model", (Text("", b""),)) != ScriptedMessage("model", (Text(""),))


async def test_every_call_is_recorded_as_it_was_made() -> None:
    model = ScriptedModel(in_turn([Text("A.")], [Text("B.")]))
    tools = (Tool("ask_choice", "Asks.", {"type": "object"}),)
    calls = [
        ModelCall("Be brief.", (model.user_message("Go."),), tools, "auto", 0.5),
        ModelCall(None, (model.user_message("On."),), (), None, 1.0),
    ]
    for call in calls:
        assert [part async for part in model.stream(call)]
    assert model.calls == calls


async def test_a_script_that_has_ended_raises() -> None:
    model = ScriptedModel(in_turn([Text("A.")]))
    assert await text_of(model, "Go.") == "A."
    with pytest.raises(ScriptEnded):
        await text_of(model, "Go.")
    assert len(model.calls) == 2


async def test_steps_by_prompt_are_those_of_the_last_prompt() -> None:
    model = ScriptedModel(
        by_prompt({"one": in_turn([Text("1")], [Text("1!")]), "two": in_turn([Text("2")])})
    )
    earlier = (model.user_message("one"), model.reply_message("1"))
    assert await text_of(model, "one") == "1"
    two = ModelCall(None, (*earlier, model.user_message("two")), (), None, 1.0)
    assert [part.raw for part in await streamed.parts_of(model, two)] == [Text("2")]
    assert await text_of(model, "one") == "1!"
    with pytest.raises(ScriptEnded):
        await text_of(model, "three")


async def test_steps_by_progress_need_no_memory() -> None:
    pick = by_progress([ask_plan()], [ask_region()], [Text("Done.")])
    model = ScriptedModel(pick)
    asked: list[ProviderMessage] = [
        model.assistant_message(await parts_of(model, "Go.")),
        model.tool_message([ToolOutcome(PLAN_ID, "ask_choice", value={"action": "decline"})]),
    ]
    again = ScriptedModel(pick)
    (part,) = await parts_of(again, "Go.", *asked)
    assert part.raw == ask_region()
    assert await parts_of(again, "Go.", *asked) == [part]
    assert await text_of(again, "Go.", *asked, again.assistant_message([part])) == "Done."
    with pytest.raises(ScriptEnded):
        await text_of(again, "Go.", *[again.reply_message("…")] * 3)


async def test_replies_of_earlier_turns_are_no_progress() -> None:
    model = ScriptedModel(by_progress([Text("First.")]))
    earlier = (model.user_message("Before."), model.reply_message("Yes."))
    call = ModelCall(None, (*earlier, model.user_message("Go.")), (), None, 1.0)
    assert [part.raw for part in await streamed.parts_of(model, call)] == [Text("First.")]


async def test_any_function_of_the_call_can_pick() -> None:
    def pick(call: ModelCall) -> ScriptedStep:
        return [Text(f"{call.temperature:g}")]

    assert await text_of(ScriptedModel(pick), "Go.") == "1"


@pytest.mark.parametrize("kind", ["rate_limit", "server", "timeout", "refused", "other"])
async def test_a_step_can_fail_after_its_parts(kind: ModelFailureKind) -> None:
    model = ScriptedModel(in_turn([Text("I was"), Fail(kind, "Overloaded.")]))
    stream = message_parts(model.stream(call_of(model, "Go.")))
    assert (await anext(stream)).raw == Text("I was")
    with pytest.raises(ModelFailed, match="Overloaded") as caught:
        await anext(stream)
    assert caught.value.kind == kind
    assert model.streaming == 0


async def test_a_failure_can_ask_for_a_wait() -> None:
    model = ScriptedModel(in_turn([Fail("rate_limit", wait_seconds=3.5)]))
    with pytest.raises(ModelFailed) as caught:
        await parts_of(model, "Go.")
    assert caught.value.wait_seconds == 3.5


async def test_a_step_can_break_as_no_vendor_does() -> None:
    with pytest.raises(Unforeseen, match="key=SECRET"):
        await parts_of(ScriptedModel(in_turn([Text("I was"), Raise("key=SECRET")])), "Go.")


async def test_usage_is_no_part_of_the_message() -> None:
    step: ScriptedStep = [Usage(3), Text("A."), Usage(5)]
    streamed_ = [part async for part in stream_of(ScriptedModel(in_turn(step)), "Go.")]
    assert streamed_ == [UsagePart(3), TextPart("A.", Text("A.")), UsagePart(5)]
    with pytest.raises(ModelFailed):
        await parts_of(ScriptedModel(in_turn([Usage(3)])), "Go.")


async def test_a_step_without_a_part_fails() -> None:
    with pytest.raises(ModelFailed):
        await parts_of(ScriptedModel(in_turn([])), "Go.")


async def test_a_held_call_goes_on_once_it_is_released() -> None:
    model = ScriptedModel(in_turn([Text("A"), Hold("middle"), Text("B")]))
    reading = asyncio.create_task(text_of(model, "Go."))
    async with asyncio.timeout(DEADLINE):
        await model.holds.reached("middle")
        assert model.streaming == 1
        assert not reading.done()
        model.holds.release("middle")
        assert await reading == "AB"
    assert model.streaming == 0


async def test_a_hold_counts_the_calls_that_come_to_it() -> None:
    model = ScriptedModel(by_progress([Hold("crowded"), Text("A")]))
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as calls:
        for _ in range(3):
            calls.create_task(text_of(model, "Go."))
        await model.holds.reached("crowded", times=3)
        assert model.streaming == 3
        model.holds.release("crowded")


async def test_a_hold_released_early_holds_nothing() -> None:
    model = ScriptedModel(in_turn([Hold("gate"), Text("A")]))
    model.holds.release("gate")
    async with asyncio.timeout(DEADLINE):
        assert await text_of(model, "Go.") == "A"


async def test_a_call_that_is_left_at_a_hold_is_over() -> None:
    model = ScriptedModel(in_turn([Text("A"), Hold("never")]))
    async with aclosing(model.stream(call_of(model, "Go."))) as parts:
        await anext(parts)
        assert model.streaming == 1
    assert model.streaming == 0


async def test_titles_are_fixed_and_counted_apart() -> None:
    model = ScriptedModel(in_turn())
    assert await model.generate_text("Write a title.", "Go.", 0.3) == "Workspace setup"
    assert model.text_calls == [TextCall("Write a title.", "Go.", 0.3)]
    assert model.calls == []


async def test_a_title_can_wait_and_fail() -> None:
    model = ScriptedModel(in_turn(), title=[Hold("title"), Fail("server")])
    writing = asyncio.create_task(model.generate_text("Write a title.", "Go.", 0.3))
    async with asyncio.timeout(DEADLINE):
        await model.holds.reached("title")
        model.holds.release("title")
        with pytest.raises(ModelFailed):
            await writing


@pytest.mark.parametrize(("model_id", "supports"), [("scripted-1", True), ("an-image-1", False)])
def test_image_models_get_no_tools(model_id: str, *, supports: bool) -> None:
    assert ScriptedModel(in_turn(), model_id=model_id).supports_tools is supports


async def test_parts_and_messages_of_another_vendor_are_refused() -> None:
    model = ScriptedModel(in_turn())
    with pytest.raises(TypeError):
        model.assistant_message([TextPart("Hi.", raw="another's")])
    with pytest.raises(TypeError):
        model.encode(["another's"])


@pytest.mark.parametrize("surface", ["full", "compact"])
@pytest.mark.parametrize("ask", [PLAN, REGION], ids=["PLAN", "REGION"])
def test_the_standard_asks_are_valid(ask: JsonValue, surface: Surface) -> None:
    assert check_ask("choice", ask, surface) == ()


async def test_a_model_is_shown_files_beside_messages_and_results() -> None:
    model = ScriptedModel(by_prompt({"Look.": in_turn([Text("I see.")])}))
    shown = (TextShown("File 1 of 1"), MediaShown("image/png", b"\x00\xff", "a.png"))
    message = model.user_message("Look.", shown)
    assert message == ScriptedMessage("user", (Text("Look."), *shown))
    outcome = ToolOutcome("a", "delete", value=None, denied="user_denied", shown=shown)
    results = model.tool_message([outcome])
    assert results == ScriptedMessage("tool", (outcome,))
    assert model.decode(model.codec, model.encode((message, results))) == (message, results)
    assert await text_of(model, "Look.") == "I see."

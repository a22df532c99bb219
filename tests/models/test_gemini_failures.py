"""How Gemini fails, and what a turn is told of it."""

import asyncio
import json
import traceback
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from parleyd.models.gemini import GeminiModel
from parleyd.turns.model import (
    ModelCall,
    ModelFailed,
    ModelFailureKind,
    Part,
    TextPart,
)
from tests.models.conftest import KEY
from tests.models.fake_gemini import FakeGemini, Frame, error_frame, frame
from tests.models.streamed import message_parts, parts_of

DEADLINE = 10


def call_of(model: GeminiModel) -> ModelCall:
    return ModelCall(None, (model.user_message("Hi."),), (), None, 1.0)


async def failed(model: GeminiModel) -> tuple[ModelFailed, list[Part]]:
    """Returns the failure of a call, and what it streamed before."""
    parts: list[Part] = []
    try:
        async with asyncio.timeout(DEADLINE), aclosing(model.stream(call_of(model))) as stream:
            async for part in message_parts(stream):
                parts.append(part)  # noqa: PERF401 - what came before the failure counts
    except ModelFailed as failure:
        return failure, parts
    raise AssertionError(f"the call did not fail: {parts}")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, "rate_limit"),
        (500, "server"),
        (503, "server"),
        (504, "server"),
        (408, "timeout"),
        (400, "other"),
        (401, "other"),
        (404, "other"),
    ],
)
async def test_a_status_has_its_kind_and_is_not_asked_again(
    server: FakeGemini, gemini: GeminiModel, status: int, kind: ModelFailureKind
) -> None:
    server.refuse(status, json.dumps(error_frame(status, "NO", "Not now.")))
    failure, parts = await failed(gemini)
    assert (failure.kind, parts) == (kind, [])
    assert "Not now." in str(failure)
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("status", "delay", "header", "wait"),
    [
        (429, "37s", None, 37.0),
        (503, "0.250s", None, 0.25),
        (429, "2s", "60", 2.0),
        (429, None, "60", 60.0),
        (503, None, "Mon, 30 Nov 2020 10:00:00 GMT", 0.0),
        (429, "soon", None, None),
        (429, None, "soon", None),
        (429, None, None, None),
        (500, "37s", "60", None),
        (400, "37s", "60", None),
    ],
)
async def test_f20_how_long_to_wait_is_the_providers_word(
    server: FakeGemini,
    gemini: GeminiModel,
    status: int,
    delay: str | None,
    header: str | None,
    wait: float | None,
) -> None:
    help_ = {"@type": "type.googleapis.com/google.rpc.Help"}
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}
    body = error_frame(status, "NO", "Not now.", help_, *([retry] if delay else []))
    server.refuse(status, json.dumps(body), *([f"retry-after: {header}"] if header else []))
    failure, _ = await failed(gemini)
    assert failure.wait_seconds == wait


async def test_a_wait_can_be_asked_for_in_the_stream_and_until_a_time(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "4s"}
    server.answer(error_frame(503, "UNAVAILABLE", "Overloaded.", retry))
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    server.refuse(503, "Overloaded.", f"retry-after: {until}")
    in_stream, _ = await failed(gemini)
    by_time, _ = await failed(gemini)
    assert in_stream.wait_seconds == 4
    assert by_time.wait_seconds == pytest.approx(90, abs=5)


async def test_a_status_without_json_is_a_failure_too(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.refuse(502, "<html>Bad gateway</html>")
    failure, _ = await failed(gemini)
    assert failure.kind == "server"


async def test_an_error_in_mid_stream_comes_after_the_parts_and_closes_the_connection(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.answer(
        frame({"text": "I was"}), error_frame(503, "UNAVAILABLE", "Overloaded."), then="hang"
    )
    failure, parts = await failed(gemini)
    assert failure.kind == "server"
    assert [part.text for part in parts if isinstance(part, TextPart)] == ["I was"]
    async with asyncio.timeout(DEADLINE):
        await server.received[0].client_left.wait()


async def test_a_rate_limit_in_mid_stream_is_one(server: FakeGemini, gemini: GeminiModel) -> None:
    server.answer(error_frame(429, "RESOURCE_EXHAUSTED", "Slow down."))
    failure, _ = await failed(gemini)
    assert failure.kind == "rate_limit"


@pytest.mark.parametrize("frames", [(), (frame({"text": "I was"}),)], ids=["at once", "later"])
async def test_a_cut_connection_is_the_servers_fault(
    server: FakeGemini, gemini: GeminiModel, frames: tuple[Frame, ...]
) -> None:
    server.answer(*frames, then="cut")
    failure, parts = await failed(gemini)
    assert failure.kind == "server"
    assert len(parts) == len(frames)
    assert len(server.received) == 1


async def test_nobody_at_the_address_is_the_servers_fault() -> None:
    closed = FakeGemini()
    async with closed.serving():
        address = closed.url
    model = GeminiModel("gemini-test", KEY, base_url=address)
    failure, _ = await failed(model)
    await model.aclose()
    assert failure.kind == "server"


async def test_silence_before_the_answer_is_a_timeout(server: FakeGemini) -> None:
    model = GeminiModel("gemini-test", KEY, base_url=server.url, idle_seconds=1)
    server.stay_silent()
    failure, parts = await failed(model)
    assert (failure.kind, parts) == ("timeout", [])
    async with asyncio.timeout(DEADLINE):
        await server.received[0].client_left.wait()
    await model.aclose()


async def test_silence_within_the_answer_is_a_timeout(server: FakeGemini) -> None:
    model = GeminiModel("gemini-test", KEY, base_url=server.url, idle_seconds=1)
    server.answer(frame({"text": "I was"}), then="hang")
    failure, parts = await failed(model)
    assert (failure.kind, len(parts)) == ("timeout", 1)
    async with asyncio.timeout(DEADLINE):
        await server.received[0].client_left.wait()
    await model.aclose()


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("MALFORMED_FUNCTION_CALL", "server"),
        ("UNEXPECTED_TOOL_CALL", "server"),
        ("TOO_MANY_TOOL_CALLS", "server"),
        ("MALFORMED_RESPONSE", "server"),
        ("SAFETY", "refused"),
        ("RECITATION", "refused"),
        ("PROHIBITED_CONTENT", "refused"),
        ("BLOCKLIST", "refused"),
        ("SPII", "refused"),
        ("MISSING_THOUGHT_SIGNATURE", "other"),
        ("OTHER", "other"),
    ],
)
async def test_a_finish_without_an_answer_is_a_failure(
    server: FakeGemini, gemini: GeminiModel, reason: str, kind: ModelFailureKind
) -> None:
    server.answer(frame({"text": ""}, finish=reason))
    failure, parts = await failed(gemini)
    assert (failure.kind, parts) == (kind, [])
    assert reason in str(failure)


@pytest.mark.filterwarnings("ignore:BORED is not a valid FinishReason")
async def test_a_finish_that_the_sdk_does_not_know_is_a_failure(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.answer(frame({"text": "I was"}), frame(finish="BORED"))
    failure, _ = await failed(gemini)
    assert failure.kind == "other"
    assert "BORED" in str(failure)


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
@pytest.mark.parametrize("frames", [(), (frame({"text": ""}),)], ids=["no part", "an empty part"])
async def test_a_call_that_the_model_spoils_is_no_empty_reply(
    server: FakeGemini, gemini: GeminiModel, reason: str, frames: tuple[Frame, ...]
) -> None:
    """Such a call fails as a server does, before any part: it is repeated (spec turns 5.5)."""
    server.answer(*frames, frame(finish=reason))
    failure, parts = await failed(gemini)
    assert (failure.kind, parts) == ("server", [])


async def test_a_malformed_call_after_thoughts_alone_has_streamed_nothing(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.answer(frame({"text": "Hm.", "thought": True}), frame(finish="MALFORMED_FUNCTION_CALL"))
    failure, parts = await failed(gemini)
    assert (failure.kind, parts) == ("server", [])


async def test_a_refusal_in_mid_answer_comes_after_its_text(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.answer(frame({"text": "I was"}), frame(finish="SAFETY"))
    failure, parts = await failed(gemini)
    assert failure.kind == "refused"
    assert len(parts) == 1


async def test_a_blocked_prompt_is_refused(server: FakeGemini, gemini: GeminiModel) -> None:
    server.answer({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})
    failure, parts = await failed(gemini)
    assert (failure.kind, parts) == ("refused", [])
    assert "PROHIBITED_CONTENT" in str(failure)


@pytest.mark.parametrize(
    "frames",
    [
        (),
        ({"usageMetadata": {"totalTokenCount": 3}},),
        (frame(finish="STOP"),),
        (frame({"text": ""}, finish="STOP"),),
        (frame({"text": "Hm.", "thought": True}, finish="STOP"),),
        (frame(finish="MAX_TOKENS"),),
    ],
    ids=["no frame", "usage alone", "no part", "empty text", "a thought", "no room"],
)
async def test_a_stream_without_an_answer_is_the_servers_fault(
    server: FakeGemini, gemini: GeminiModel, frames: tuple[Frame, ...]
) -> None:
    server.answer(*frames)
    failure, parts = await failed(gemini)
    assert (failure.kind, parts) == ("server", [])


async def test_a_stream_that_never_finishes_is_the_servers_fault(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.answer(frame({"text": "I was"}))
    failure, parts = await failed(gemini)
    assert failure.kind == "server"
    assert len(parts) == 1


async def test_an_answer_cut_at_the_token_limit_is_an_answer(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.answer(frame({"text": "I was"}, finish="MAX_TOKENS"))
    assert len(await parts_of(gemini, call_of(gemini))) == 1


@pytest.mark.parametrize(
    "frames",
    [(frame({"text": 7}),), (frame({"functionCall": {"name": "list_todos", "args": [7]}}),)],
    ids=["a number for text", "a list of arguments"],
)
async def test_an_answer_that_makes_no_sense_is_a_failure(
    server: FakeGemini, gemini: GeminiModel, frames: tuple[Frame, ...]
) -> None:
    server.answer(*frames)
    failure, _ = await failed(gemini)
    assert failure.kind == "other"


async def test_the_key_is_in_no_failure(server: FakeGemini, gemini: GeminiModel) -> None:
    server.refuse(400, json.dumps(error_frame(400, "INVALID_ARGUMENT", f"Bad key {KEY}.")))
    failure, _ = await failed(gemini)
    assert "Bad key" in str(failure)
    assert KEY not in "".join(traceback.format_exception(failure))


async def test_a_failed_title_is_a_failure_too(server: FakeGemini, gemini: GeminiModel) -> None:
    server.refuse(500, json.dumps(error_frame(500, "INTERNAL", "Not now.")))
    with pytest.raises(ModelFailed):
        await gemini.generate_text("Write a title.", "Hi.", 0.3)


async def test_a_call_after_a_failure_works(server: FakeGemini, gemini: GeminiModel) -> None:
    server.refuse(500, json.dumps(error_frame(500, "INTERNAL", "Not now.")))
    server.answer(frame({"text": "Fine."}, finish="STOP"))
    await failed(gemini)
    (part,) = await parts_of(gemini, call_of(gemini))
    assert isinstance(part, TextPart)

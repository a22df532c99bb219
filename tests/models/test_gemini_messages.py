"""What goes back to Gemini: steps as they came, results, and steps built anew."""

import base64
import json
from typing import Any

import pytest
from pydantic import JsonValue

from parleyd.models.gemini import GeminiModel
from parleyd.turns.model import (
    CallPart,
    RebuiltCall,
    ToolOutcome,
    UndecodableMessages,
)
from tests.models.conftest import KEY
from tests.models.fake_gemini import FakeGemini, frame
from tests.models.gemini_calls import SIGNATURE, call_of, function_call, plain, sent
from tests.models.streamed import parts_of

BYPASS = b"skip_thought_signature_validator"


async def test_the_next_request_replays_every_part_byte_for_byte(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    streamed = [
        {"text": "Let me ask.", "thought": True},
        {"text": "", "thoughtSignature": base64.b64encode(SIGNATURE[::-1]).decode()},
        {"text": "One "},
        {"text": "moment.\x00"},
        function_call(
            "ask_confirm",
            {"z": {}, "a": [], "none": None, "nul": "\x00", "big": 9007199254740993, "one": 1.0},
            SIGNATURE,
            id="b",
        ),
        function_call("list_todos", {}, b"\xff\xfe"),
        {"text": ""},
    ]
    server.answer(frame(*streamed[:3]), frame(*streamed[3:], finish="STOP"))
    parts = await parts_of(gemini, call_of(gemini))
    stored = gemini.encode((gemini.assistant_message(parts),))
    outcomes = [
        ToolOutcome("b", "ask_confirm", value={"action": "accept", "content": {"confirmed": True}}),
        ToolOutcome(None, "list_todos", error="It did not run."),
    ]
    restarted = GeminiModel("gemini-test", KEY, base_url=server.url)
    later = (*restarted.decode(gemini.codec, stored), restarted.tool_message(outcomes))
    body = await sent(server, restarted, call_of(restarted, *later))
    await restarted.aclose()
    replayed = body["contents"][1]
    assert replayed["role"] == "model"
    assert [json.dumps(plain(part), default=list) for part in replayed["parts"]] == [
        json.dumps(_in_wire_order(plain(part)), default=list) for part in streamed
    ]
    assert body["contents"][2] == {
        "role": "user",
        "parts": [
            {
                "functionResponse": {
                    "id": "b",
                    "name": "ask_confirm",
                    "response": {"output": outcomes[0].value},
                }
            },
            {
                "functionResponse": {
                    "name": "list_todos",
                    "response": {"error": "It did not run."},
                }
            },
        ],
    }


def _in_wire_order(part: dict[str, Any]) -> dict[str, Any]:
    """Returns a part with its own keys as the SDK orders them; what is inside args stays."""
    if "functionCall" not in part:
        return part
    call = part["functionCall"]
    ordered = {key: call[key] for key in ("id", "args", "name") if key in call}
    return {**part, "functionCall": ordered}


async def test_a_call_without_arguments_keeps_its_signature_and_its_empty_object(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.answer(frame(function_call("list_todos", {}, SIGNATURE), finish="STOP"))
    parts = await parts_of(gemini, call_of(gemini))
    (part,) = parts
    assert isinstance(part, CallPart)
    assert part.args == {}
    body = await sent(server, gemini, call_of(gemini, gemini.assistant_message(parts)))
    (replayed,) = body["contents"][1]["parts"]
    assert plain(replayed) == {
        "functionCall": {"name": "list_todos", "args": {}},
        "thoughtSignature": SIGNATURE,
    }


async def test_a_call_that_leaves_its_arguments_out_is_replayed_without_them(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.answer(frame({"functionCall": {"name": "list_todos"}}, finish="STOP"))
    parts = await parts_of(gemini, call_of(gemini))
    (part,) = parts
    assert isinstance(part, CallPart)
    assert part.args == {}
    body = await sent(server, gemini, call_of(gemini, gemini.assistant_message(parts)))
    assert body["contents"][1]["parts"] == [{"functionCall": {"name": "list_todos"}}]


async def test_all_results_of_a_step_are_one_content_in_call_order(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    results = gemini.tool_message(
        [
            ToolOutcome("a", "ask_choice", value={"action": "decline"}),
            ToolOutcome(
                "b", "ask_confirm", value={"action": "cancel", "reason": "one_ask_at_a_time"}
            ),
            ToolOutcome("c", "get_weather", value="rain"),
        ]
    )
    body = await sent(server, gemini, call_of(gemini, results))
    answers = [part["functionResponse"] for part in body["contents"][1]["parts"]]
    assert [answer["id"] for answer in answers] == ["a", "b", "c"]
    assert len(body["contents"]) == 2


async def test_numbers_in_results_keep_their_digits(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    value: JsonValue = {"count": 9007199254740993, "quantity": 3, "price": 3.0, "none": None}
    results = gemini.tool_message([ToolOutcome("a", "count", value=value)])
    await sent(server, gemini, call_of(gemini, results))
    assert json.dumps(value) in server.received[-1].text


@pytest.mark.parametrize("value", [None, [], {}, "", 0, False], ids=repr)
async def test_an_empty_result_is_still_a_result(
    server: FakeGemini, gemini: GeminiModel, value: JsonValue
) -> None:
    results = gemini.tool_message([ToolOutcome("a", "look_up", value=value)])
    body = await sent(server, gemini, call_of(gemini, results))
    (part,) = body["contents"][1]["parts"]
    assert part["functionResponse"]["response"] == {"output": value}


async def test_references_in_a_result_point_at_nothing(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    value: JsonValue = {"$ref": "#/a", "in": [{"$ref": 1, "$$ref": 2}], "ref": "$ref", "$refs": 3}
    results = gemini.tool_message([ToolOutcome("a", "look_up", value=value)])
    body = await sent(server, gemini, call_of(gemini, results))
    (part,) = body["contents"][1]["parts"]
    assert part["functionResponse"]["response"]["output"] == {
        "$$ref": "#/a",
        "in": [{"$$ref": 1, "$$$ref": 2}],
        "ref": "$ref",
        "$refs": 3,
    }


async def test_a_rebuilt_step_has_the_bypass_signature_on_its_first_call_alone(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    steps = [
        gemini.rebuilt_message(
            [
                RebuiltCall("a", "ask_choice", {"prompt": "A?"}),
                RebuiltCall(None, "ask_confirm", {}),
            ]
        ),
        gemini.rebuilt_message([RebuiltCall("c", "ask_choice", ["no", "object"])]),
    ]
    body = await sent(server, gemini, call_of(gemini, *steps))
    assert [[plain(part) for part in content["parts"]] for content in body["contents"][1:]] == [
        [
            {
                "functionCall": {"id": "a", "name": "ask_choice", "args": {"prompt": "A?"}},
                "thoughtSignature": BYPASS,
            },
            {"functionCall": {"name": "ask_confirm", "args": {}}},
        ],
        [
            {
                "functionCall": {
                    "id": "c",
                    "name": "ask_choice",
                    "args": {"value": ["no", "object"]},
                },
                "thoughtSignature": BYPASS,
            }
        ],
    ]


async def test_the_codec_of_another_sdk_is_read_where_it_can_be(gemini: GeminiModel) -> None:
    messages = (gemini.user_message("Hi."),)
    data = gemini.encode(messages)
    assert gemini.decode("google-genai/3.5.0/1", data) == messages
    with pytest.raises(UndecodableMessages):
        gemini.decode("google-genai/3.5.0/2", data)


async def test_a_message_of_another_vendor_is_refused(gemini: GeminiModel) -> None:
    with pytest.raises(TypeError):
        gemini.encode(("Hi.",))

"""How Gemini is called through the real SDK, and what its answers become."""

import asyncio
import base64
import json
from typing import Any, Literal

import pytest

from parleyd.contract.asks.kinds import ASK_KINDS
from parleyd.contract.asks.tools import ask_tools
from parleyd.contract.blocks.schema import json_schema
from parleyd.contract.surfaces import Surface
from parleyd.models.gemini import GeminiModel
from parleyd.turns.model import (
    CallPart,
    TextPart,
    ThoughtPart,
    Tool,
)
from tests.models.conftest import KEY
from tests.models.fake_gemini import FakeGemini, frame
from tests.models.gemini_calls import SIGNATURE, call_of, function_call, plain, sent
from tests.models.streamed import parts_of, usage_of

DEADLINE = 10


async def test_the_request_is_one_stream_with_the_key_in_a_header(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    call = call_of(gemini, gemini.reply_message("Hello."), system="Be brief.", temperature=0.5)
    body = await sent(server, gemini, call)
    (request,) = server.received
    assert request.path == "/v1beta/models/gemini-test:streamGenerateContent?alt=sse"
    assert request.headers["x-goog-api-key"] == KEY
    assert "x-server-timeout" not in request.headers
    assert body == {
        "contents": [
            {"role": "user", "parts": [{"text": "Hi."}]},
            {"role": "model", "parts": [{"text": "Hello."}]},
        ],
        "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
        "generationConfig": {"temperature": 0.5},
    }


async def test_text_comes_part_by_part(server: FakeGemini, gemini: GeminiModel) -> None:
    server.answer(
        frame({"text": "Two "}), frame({"text": "part"}, {"text": "s."}), frame(finish="STOP")
    )
    parts = await parts_of(gemini, call_of(gemini))
    assert [part.text for part in parts if isinstance(part, TextPart)] == ["Two ", "part", "s."]
    assert len(parts) == 3


@pytest.mark.parametrize("surface", ["full", "compact"])
async def test_tool_schemas_arrive_verbatim(
    server: FakeGemini, gemini: GeminiModel, surface: Surface
) -> None:
    offered = ask_tools(ASK_KINDS, surface)
    tools = tuple(Tool(tool.name, tool.description, tool.schema) for tool in offered)
    body = await sent(server, gemini, call_of(gemini, tools=tools, tool_choice="auto"))
    (declared,) = body["tools"]
    assert [
        (tool["name"], tool["description"], json.dumps(tool["parameters_json_schema"]))
        for tool in declared["functionDeclarations"]
    ] == [(tool.name, tool.description, json.dumps(tool.schema)) for tool in offered]


@pytest.mark.parametrize(
    ("choice", "mode"), [("auto", "AUTO"), ("required", "ANY"), ("none", "NONE")]
)
async def test_tool_choice_has_its_mode(
    server: FakeGemini,
    gemini: GeminiModel,
    choice: Literal["auto", "none", "required"],
    mode: str,
) -> None:
    tools = (Tool("ask_confirm", "Asks.", {"type": "object"}),)
    body = await sent(server, gemini, call_of(gemini, tools=tools, tool_choice=choice))
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": mode}}


async def test_without_tools_nothing_is_said_of_them(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    body = await sent(server, gemini, call_of(gemini))
    assert not body.keys() & {"tools", "toolConfig"}


async def test_parallel_calls_keep_the_one_signature_on_the_first(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.answer(
        frame(
            function_call("ask_choice", {"prompt": "A?"}, SIGNATURE, id="a"),
            function_call("ask_confirm", {"prompt": "B?"}, id="b"),
        ),
        frame(function_call("get_weather", {"city": "Bonn"}, id="c"), finish="STOP"),
    )
    parts = await parts_of(gemini, call_of(gemini))
    calls = [part for part in parts if isinstance(part, CallPart)]
    assert [(call.call_id, call.name, call.args) for call in calls] == [
        ("a", "ask_choice", {"prompt": "A?"}),
        ("b", "ask_confirm", {"prompt": "B?"}),
        ("c", "get_weather", {"city": "Bonn"}),
    ]
    later = gemini.assistant_message(parts)
    body = await sent(server, gemini, call_of(gemini, later))
    signed = [plain(part).get("thoughtSignature") for part in body["contents"][1]["parts"]]
    assert signed == [SIGNATURE, None, None]


async def test_a_call_without_an_id_has_none(server: FakeGemini, gemini: GeminiModel) -> None:
    server.answer(frame(function_call("ask_confirm", {"prompt": "B?"}), finish="STOP"))
    (part,) = await parts_of(gemini, call_of(gemini))
    assert isinstance(part, CallPart)
    assert part.call_id is None


async def test_a_part_with_a_field_that_is_newer_than_the_sdk_arrives(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.answer(frame({"text": "Fine.", "mood": {"happy": True}}, finish="STOP"))
    (part,) = await parts_of(gemini, call_of(gemini))
    assert isinstance(part, TextPart)
    assert part.text == "Fine."


async def test_thoughts_and_signed_empty_text_are_kept_and_not_shown(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.answer(
        frame({"text": "Let me think.", "thought": True}),
        frame({"text": "Yes."}),
        frame({"text": "", "thoughtSignature": base64.b64encode(SIGNATURE).decode()}),
        frame(finish="STOP"),
    )
    parts = await parts_of(gemini, call_of(gemini))
    assert [type(part) for part in parts] == [ThoughtPart, TextPart, ThoughtPart]
    body = await sent(server, gemini, call_of(gemini, gemini.assistant_message(parts)))
    assert [plain(part) for part in body["contents"][1]["parts"]] == [
        {"text": "Let me think.", "thought": True},
        {"text": "Yes."},
        {"text": "", "thoughtSignature": SIGNATURE},
    ]


async def test_parts_after_a_call_keep_their_places(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    server.answer(
        frame({"text": "Let me see."}, function_call("list_todos", {}, SIGNATURE)),
        frame({"text": "I am looking."}, {"text": "Hm.", "thought": True}, finish="STOP"),
    )
    parts = await parts_of(gemini, call_of(gemini))
    assert [type(part) for part in parts] == [TextPart, CallPart, TextPart, ThoughtPart]
    body = await sent(server, gemini, call_of(gemini, gemini.assistant_message(parts)))
    assert [plain(part) for part in body["contents"][1]["parts"]] == [
        {"text": "Let me see."},
        {"functionCall": {"name": "list_todos", "args": {}}, "thoughtSignature": SIGNATURE},
        {"text": "I am looking."},
        {"text": "Hm.", "thought": True},
    ]


async def test_what_a_call_has_used_is_told_as_it_grows(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    more = frame({"text": "there."}, finish="STOP")
    more["usageMetadata"] = {"totalTokenCount": 12}
    server.answer(frame({"text": "Hello "}), more)
    assert await usage_of(gemini, call_of(gemini)) == [7, 12]


async def test_the_sdk_runs_no_function_and_asks_once(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    tools = (Tool("list_todos", "Lists todos.", {"type": "object"}),)
    server.answer(frame(function_call("list_todos", {}), finish="STOP"))
    parts = await parts_of(gemini, call_of(gemini, tools=tools, tool_choice="auto"))
    assert [part.name for part in parts if isinstance(part, CallPart)] == ["list_todos"]
    assert len(server.received) == 1


async def test_an_answer_that_could_be_continued_is_not(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    last = frame({"text": "So far."}, finish="CONTINUATION")
    last["candidates"][0]["continuationToken"] = "more"
    server.answer(last)
    (part,) = await parts_of(gemini, call_of(gemini))
    assert isinstance(part, TextPart)
    assert len(server.received) == 1


async def test_a_title_is_written_without_tools(server: FakeGemini, gemini: GeminiModel) -> None:
    server.answer(frame({"text": "Workspace "}), frame({"text": "setup"}, finish="STOP"))
    assert await gemini.generate_text("Write a title.", "The person: …", 0.3) == "Workspace setup"
    assert server.received[0].body == {
        "contents": [{"role": "user", "parts": [{"text": "The person: …"}]}],
        "systemInstruction": {"role": "user", "parts": [{"text": "Write a title."}]},
        "generationConfig": {"temperature": 0.3},
    }


async def test_json_is_asked_for_with_a_schema_in_the_keywords_of_gemini(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    thought = {"text": "A divider will do.", "thought": True}
    server.answer(frame(thought, {"text": '{"v": '}), frame({"text": "1}"}, finish="STOP"))
    schema: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"v": {"const": 1}},
    }
    text = await gemini.generate_json("Draw.", "Sales.", schema, 0.0)
    assert text == '{"v": 1}'
    assert server.received[0].body == {
        "contents": [{"role": "user", "parts": [{"text": "Sales."}]}],
        "systemInstruction": {"role": "user", "parts": [{"text": "Draw."}]},
        "generationConfig": {
            "temperature": 0.0,
            "responseMimeType": "application/json",
            "responseJsonSchema": {
                "type": "object",
                "properties": {"v": {"type": "number", "enum": [1]}},
            },
        },
    }
    assert "const" in str(schema), "the caller's schema stays"


async def test_cancelling_ends_the_call_for_json(server: FakeGemini, gemini: GeminiModel) -> None:
    server.answer(frame({"text": '{"v": '}), then="hang")
    writing = asyncio.create_task(gemini.generate_json("Draw.", "Sales.", json_schema(), 0.0))
    async with asyncio.timeout(DEADLINE):
        while not server.received:
            await asyncio.sleep(0)
        writing.cancel()
        await asyncio.wait([writing])
        await server.received[0].client_left.wait()
    assert writing.cancelled()


@pytest.mark.parametrize(
    ("model_id", "supports"), [("gemini-3-flash", True), ("gemini-3-pro-image", False)]
)
async def test_image_models_get_no_tools(model_id: str, *, supports: bool) -> None:
    model = GeminiModel(model_id, KEY)
    assert model.supports_tools is supports
    await model.aclose()


async def test_calls_at_the_same_time_keep_apart(server: FakeGemini, gemini: GeminiModel) -> None:
    prompts = [f"Say {number}." for number in range(8)]
    for prompt in prompts:
        server.answer_prompt(prompt, frame({"text": prompt}), frame(finish="STOP"))
    replies = await asyncio.gather(
        *(gemini.generate_text("Repeat.", prompt, 1.0) for prompt in prompts)
    )
    assert replies == prompts

"""What every adapter of the model port does alike."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import jsonschema_rs
import pytest

from parleyd.contract.approvals import denied_result
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.schema import json_schema
from parleyd.contract.blocks.validation import check
from parleyd.turns.model import (
    CallPart,
    MediaShown,
    ProviderMessage,
    RebuiltCall,
    TextPart,
    TextShown,
    ToolOutcome,
    UndecodableMessages,
)
from tests.models.adapters import ADAPTERS, Adapter
from tests.models.streamed import message_parts, parts_of, usage_of

DEADLINE = 10
SHOWN = (
    TextShown("File 1 of 2: a\x00\ud800.pdf (application/pdf, 256 bytes)"),
    MediaShown("application/pdf", bytes(range(256)), "a\x00\ud800.pdf"),
    TextShown("File 2 of 2: b.gif (image/gif, 1 bytes)"),
    MediaShown("image/gif", b"\xff"),
)


@pytest.fixture(params=ADAPTERS)
async def adapter(request: pytest.FixtureRequest) -> AsyncIterator[Adapter]:
    async with ADAPTERS[request.param]() as started:
        yield started


async def test_text_streams_in_parts(adapter: Adapter) -> None:
    call = adapter.call(adapter.chatting)
    parts = await parts_of(adapter.model, call)
    assert len(parts) > 1
    assert all(isinstance(part, TextPart) for part in parts)
    assert "".join(part.text for part in parts if isinstance(part, TextPart)).startswith("Hello")


async def test_what_a_call_uses_is_told_beside_its_message(adapter: Adapter) -> None:
    used = await usage_of(adapter.model, adapter.call(adapter.chatting))
    assert used[-1:] == [adapter.used] * bool(adapter.used)


async def test_a_call_has_its_name_and_its_arguments(adapter: Adapter) -> None:
    parts = await parts_of(adapter.model, adapter.call(adapter.asking))
    (call,) = [part for part in parts if isinstance(part, CallPart)]
    assert call.name == "ask_choice"
    assert isinstance(call.args, dict)


async def test_decode_undoes_encode(adapter: Adapter) -> None:
    model = adapter.model
    parts = await parts_of(model, adapter.call(adapter.asking))
    messages = (
        model.user_message("Set up my plan.\x00"),
        model.user_message("Look.", SHOWN),
        model.reply_message("I have: a plan \ud800."),
        model.assistant_message(parts),
        model.rebuilt_message(
            [
                RebuiltCall("a", "ask_choice", {"empty": {}, "list": [], "none": None}),
                RebuiltCall(None, "ask_confirm", {"number": 9007199254740993, "half": 0.5}),
            ]
        ),
        model.tool_message(
            [
                ToolOutcome("a", "ask_choice", value={"content": {}, "\ud800": ["\x00"]}),
                ToolOutcome(None, "ask_confirm", error="No."),
                ToolOutcome("c", "ask_files", value={"files": 2}, shown=SHOWN),
                ToolOutcome("d", "delete", value={"approved": False}, denied="user_denied"),
            ]
        ),
    )
    data = model.encode(messages)
    assert model.decode(model.codec, data) == messages
    assert model.encode(model.decode(model.codec, data)) == data


async def test_nothing_encodes_to_nothing(adapter: Adapter) -> None:
    assert adapter.model.decode(adapter.model.codec, adapter.model.encode(())) == ()


@pytest.mark.parametrize(
    "data",
    [b"", b"no json", b"7", b"[7]", b'[{"role": "model"', b'[{"newer": 1}]', b"\xff\xfe"],
    ids=["nothing", "no json", "a number", "numbers", "half", "a newer form", "no text"],
)
async def test_what_encode_never_wrote_is_undecodable(adapter: Adapter, data: bytes) -> None:
    with pytest.raises(UndecodableMessages):
        adapter.model.decode(adapter.model.codec, data)


async def test_another_codec_is_undecodable(adapter: Adapter) -> None:
    data = adapter.model.encode((adapter.model.user_message("Hi."),))
    with pytest.raises(UndecodableMessages):
        adapter.model.decode("another/1", data)


async def test_one_tool_message_holds_all_outcomes_in_call_order(adapter: Adapter) -> None:
    message = adapter.model.tool_message(
        [
            ToolOutcome("b", "ask_choice", value={"action": "decline"}),
            ToolOutcome("a", "ask_confirm", error="One ask at a time."),
            ToolOutcome(None, "ask_choice", value=None),
        ]
    )
    assert adapter.outcomes(message) == [
        ("b", "ask_choice", {"action": "decline"}),
        ("a", "ask_confirm", "One ask at a time."),
        (None, "ask_choice", None),
    ]


async def test_a_denial_says_that_the_call_was_not_approved_and_why(adapter: Adapter) -> None:
    value = denied_result("user_denied")
    message = adapter.model.tool_message(
        [ToolOutcome("a", "delete", value=value, denied="user_denied")]
    )
    assert adapter.outcomes(message) == [
        ("a", "delete", {"approved": False, "reason": "user_denied"})
    ]


async def test_a_step_comes_back_from_a_pause_as_it_was_streamed(adapter: Adapter) -> None:
    model = adapter.model
    parts = await parts_of(model, adapter.call(adapter.asking))
    stored = model.encode((model.assistant_message(parts),))
    resumed = _answered(adapter, model.decode(model.codec, stored))
    assert resumed[0] == model.assistant_message(parts)
    assert await parts_of(model, adapter.call(adapter.asking, *resumed))
    assert adapter.opaque_sent() == list(adapter.opaque)


async def test_the_next_call_after_an_answer_replies(adapter: Adapter) -> None:
    model = adapter.model
    parts = await parts_of(model, adapter.call(adapter.asking))
    later = _answered(adapter, (model.assistant_message(parts),))
    reply = await parts_of(model, adapter.call(adapter.asking, *later))
    assert any(isinstance(part, TextPart) for part in reply)
    assert not any(isinstance(part, CallPart) for part in reply)


async def test_leaving_the_stream_ends_the_call(adapter: Adapter) -> None:
    async with aclosing(adapter.model.stream(adapter.call(adapter.hanging))) as stream:
        assert isinstance(await anext(message_parts(stream)), TextPart)
    async with asyncio.timeout(DEADLINE):
        await adapter.ended()


async def test_cancelling_the_reader_ends_the_call(adapter: Adapter) -> None:
    first = asyncio.Event()

    async def read() -> None:
        async with aclosing(adapter.model.stream(adapter.call(adapter.hanging))) as parts:
            async for _ in parts:
                first.set()
            await asyncio.Event().wait()

    reader = asyncio.create_task(read())
    async with asyncio.timeout(DEADLINE):
        await first.wait()
        reader.cancel()
        await asyncio.wait([reader])
        await adapter.ended()
    assert reader.cancelled()


async def test_a_title_is_a_short_text(adapter: Adapter) -> None:
    title = await adapter.model.generate_text("Write a title.", "Name this.", 0.3)
    assert title
    assert len(title.split()) <= 6


async def test_json_is_what_the_schema_says(adapter: Adapter) -> None:
    schema = json_schema()
    text = await adapter.model.generate_json("Draw.", adapter.showing, schema, 0.0)
    assert jsonschema_rs.is_valid(schema, json.loads(text))
    assert check(text, BlockOptions()).ok
    assert schema == json_schema()


async def test_names_say_who_it_is(adapter: Adapter) -> None:
    assert adapter.model.provider
    assert adapter.model.model_id
    assert adapter.model.codec
    assert adapter.model.supports_tools


def _answered(adapter: Adapter, step: tuple[ProviderMessage, ...]) -> tuple[ProviderMessage, ...]:
    answer = ToolOutcome(
        "call_1", "ask_choice", value={"action": "accept", "content": {"selected": ["team"]}}
    )
    return (*step, adapter.model.tool_message([answer]))

"""What an MCP server asks the person of its client comes to them, and their answer to it."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent

from parley.adapters.mcp import elicitation_callback
from parley.v1 import asks_pb2
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.clients.adapters.asking import SOON, Asked, asked
from tests.clients.cutting_proxy import cutting_proxy
from tests.end_to_end.person import cancel, decline
from tests.server import StartServer

DESK = StdioServerParameters(
    command=sys.executable,
    args=["-m", "tests.clients.adapters.mcp_desk"],
    cwd=Path(__file__).parents[3],
)
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
BOOKING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "guestName": {"type": "string", "minLength": 2},
        "email": {"type": "string", "format": "email"},
        "site": {"type": "string", "format": "uri"},
        "day": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "guests": {"type": "integer", "minimum": 1, "maximum": 12},
        "tip": {"type": "number"},
        "patio": {"type": "boolean", "default": True},
    },
    "required": ["guestName", "guests"],
}
ALLERGIES: dict[str, Any] = {
    "type": "object",
    "properties": {
        "menu": {"type": "string", "enum": ["A", "B"], "enumNames": ["Fish", "Roots"]},
        "wine": {
            "type": "string",
            "oneOf": [{"const": "r", "title": "Red"}, {"const": "w", "title": "White"}],
        },
        "without": {"type": "array", "items": {"type": "string", "enum": ["nuts", "milk"]}},
    },
    "required": ["menu", "without"],
}


@asynccontextmanager
async def desk(here: Asked, mode: str = "legacy") -> AsyncGenerator[Client]:
    callback = elicitation_callback(here.asker)
    async with Client(DESK, mode=mode, elicitation_callback=callback) as client:
        yield client


def elicit(client: Client, schema: Any, message: str = "Which table?") -> asyncio.Task[Any]:
    """Has the server ask for what a schema says; returns what it is told."""
    return asyncio.create_task(told(client, schema, message))


async def told(client: Client, schema: Any, message: str = "Which table?") -> Any:
    result = await client.call_tool("elicit", {"message": message, "schema": schema})
    return json.loads(text(result))


def text(result: Any) -> str:
    assert isinstance(result, CallToolResult)
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def accepting(answer: dict[str, Any]) -> asks_pb2.AskAnswer:
    return asks_pb2.AskAnswer(accept=ParseDict(answer, asks_pb2.AcceptAnswer()))


async def refused(calling: Coroutine[Any, Any, Any]) -> str:
    """Returns what the tool's call fails with: what its server was told."""
    with pytest.raises(MCPError) as raised:
        await calling
    return f"{raised.value.code} {raised.value.message}"


async def test_every_type_of_property_comes_back_with_its_json_type(
    start_server: StartServer,
) -> None:
    async with asked(await start_server(in_turn())) as here, desk(here) as client:
        values = {
            "field-1": "Noor",
            "field-2": "noor@example.org",
            "field-3": "https://example.org",
            "field-4": "2027-06-30",
            "field-5": "2027-06-30T19:30+02:00",
            "field-6": 4,
            "field-7": 2.5,
            "field-8": False,
        }
        telling = elicit(client, BOOKING)
        question = await here.question()
        assert question.prompt == "Which table?"
        assert [field.label for field in question.form.fields] == list(BOOKING["properties"])
        await here.answer(accepting({"form": {"values": values}}))
        booked = await telling
        assert booked == {
            "action": "accept",
            "content": {
                "guestName": "Noor",
                "email": "noor@example.org",
                "site": "https://example.org",
                "day": "2027-06-30",
                "at": "2027-06-30T19:30:00+02:00",
                "guests": 4,
                "tip": 2.5,
                "patio": False,
            },
        }
        assert isinstance(booked["content"]["guests"], int)

        telling = elicit(client, ALLERGIES)
        values = {"menu": "option-2", "wine": "w", "without": ["milk"]}
        await here.answer(accepting({"form": {"values": values}}))
        assert await telling == {
            "action": "accept",
            "content": {"menu": "B", "wine": "w", "without": ["milk"]},
        }


async def test_a_single_boolean_and_a_single_pick_are_answered_with_a_button(
    start_server: StartServer,
) -> None:
    boolean = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
    pick = {
        "type": "object",
        "properties": {"menu": ALLERGIES["properties"]["menu"]},
        "required": ["menu"],
    }
    async with asked(await start_server(in_turn())) as here, desk(here) as client:
        for schema, button, content in [
            (boolean, "approve", {"sure": True}),
            (boolean, "deny", {"sure": False}),
            (pick, "option:option-1", {"menu": "A"}),
            (NOTHING, "approve", {}),
        ]:
            telling = elicit(client, schema)
            await here.press(button)
            assert await telling == {"action": "accept", "content": content}
        telling = elicit(client, NOTHING)
        await here.press("deny")
        assert await telling == {"action": "decline", "content": None}


async def test_skipping_cancelling_and_writing_instead_are_told_apart(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Text("Hello!")]))
    async with asked(server) as here, desk(here) as client:
        telling = elicit(client, BOOKING)
        await here.answer(decline())
        assert await telling == {"action": "decline", "content": None}

        telling = elicit(client, BOOKING)
        await here.answer(cancel())
        assert await telling == {"action": "cancel", "content": None}

        telling = elicit(client, BOOKING)
        await here.pending()
        await here.noor.prompt("What is this?", here.conversation_id)
        assert await telling == {"action": "cancel", "content": None}


async def test_x3_an_elicitation_that_expires_is_cancelled(start_server: StartServer) -> None:
    server = await start_server(in_turn())
    async with asked(server, timedelta(seconds=1)) as here, desk(here) as client:
        assert await elicit(client, BOOKING) == {"action": "cancel", "content": None}


async def test_a_model_of_the_server_is_filled_in(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn())) as here, desk(here) as client:
        booking = asyncio.create_task(client.call_tool("book", {}))
        await here.answer(accepting({"form": {"values": {"guests": 4}}}))
        assert json.loads(text(await booking)) == {"guests": 4, "patio": False, "email": None}


async def test_a_newer_server_that_asks_before_its_tool_runs_is_answered(
    start_server: StartServer,
) -> None:
    async with asked(await start_server(in_turn())) as here, desk(here, "auto") as client:
        assert client.protocol_version == "2026-07-28"
        booking = asyncio.create_task(client.call_tool("reserve", {}))
        await here.answer(accepting({"form": {"values": {"guests": 4, "patio": True}}}))
        assert json.loads(text(await booking)) == {"guests": 4, "patio": True, "email": None}


async def test_elicitations_at_the_same_time_are_asked_one_after_the_other(
    start_server: StartServer,
) -> None:
    async with asked(await start_server(in_turn())) as here, desk(here) as client:
        telling = [elicit(client, NOTHING, f"{number}?") for number in range(3)]
        seen, last = set[str](), ""
        for _ in telling:
            ask = await here.press("approve", after=last)
            seen.add(ask.simple.text)
            last = ask.tool_call_id
        assert {told["action"] for told in await asyncio.gather(*telling)} == {"accept"}
    assert seen == {"0?", "1?", "2?"}


async def test_what_can_not_be_asked_is_refused_and_nobody_is_asked(
    start_server: StartServer,
) -> None:
    async with asked(await start_server(in_turn())) as here, desk(here) as client:
        pattern = {"type": "object", "properties": {"zip": {"type": "string", "pattern": "^A"}}}
        why = await refused(told(client, pattern))
        assert why == (
            f"{INVALID_PARAMS} The property 'zip' can't be asked for: `pattern`: no form has that."
        )
        nine = {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(9)}}
        why = await refused(told(client, nine))
        assert why.startswith(f"{INVALID_PARAMS} The form can't be asked: ")
        assert "fields" in why
        why = await refused(told(client, BOOKING, "m" * 501))
        assert "prompt" in why
        assert "only the form mode" in await refused(client.call_tool("open_page", {}))
        assert await here.noor.pending() == []


async def test_a_server_is_not_told_of_the_service_behind(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn())) as here, desk(here) as client:
        await here.noor.delete(here.conversation_id)
        why = await refused(told(client, BOOKING))
    assert why == f"{INTERNAL_ERROR} Nobody could be asked (CONVERSATION_NOT_FOUND)."


async def test_a_call_that_nobody_waits_for_any_more_withdraws_its_question(
    start_server: StartServer,
) -> None:
    async with asked(await start_server(in_turn())) as here, desk(here) as client:
        telling = elicit(client, BOOKING)
        await here.pending()
        telling.cancel()
        await nothing_pending(here)


async def test_a_session_that_ends_withdraws_its_question(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn())) as here:
        async with desk(here) as client:
            telling = elicit(client, BOOKING)
            await here.pending()
        await asyncio.gather(telling, return_exceptions=True)
        await nothing_pending(here)


async def nothing_pending(here: Asked) -> None:
    async with asyncio.timeout(SOON):
        while await here.noor.pending():
            await asyncio.sleep(0.02)


async def test_a_restart_of_the_server_is_waited_out(start_server: StartServer) -> None:
    first = await start_server(in_turn())
    async with (
        cutting_proxy(first.address) as (proxy, address),
        asked(first, address=address) as here,
        desk(here) as client,
    ):
        telling = elicit(client, NOTHING)
        ask = await here.pending()
        await first.stop()
        proxy.cut()
        second = await start_server(in_turn())
        noor = await second.person()
        await noor.press(here.conversation_id, ask.tool_call_id, "approve")
        proxy.target = second.address
        assert await telling == {"action": "accept", "content": {}}

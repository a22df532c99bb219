"""A button is an answer: pressing it leaves what the full answer leaves (spec asks 10, SC13)."""

from typing import get_args
from uuid import UUID

import grpc
import pytest
from pydantic import JsonValue
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import cards_pb2, conversations_pb2, turns_pb2
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import tool_name
from parleyd.models.script import Call, ScriptedMessage, Text
from parleyd.models.scripted import by_progress, by_prompt
from tests.conformance import CASES, needs_cases
from tests.end_to_end.kinds_asked import ASK_ID, ASKED, Asked
from tests.end_to_end.person import COMPACT, FULL, Person, refused
from tests.server import Server, StartServer


def options(*labels: str) -> list[JsonValue]:
    return [{"id": f"o{n}", "label": label} for n, label in enumerate(labels)]


TWO = options("Yes", "No")
FOUR = options("Spring", "Summer", "Autumn", "Winter")
NAME: dict[str, JsonValue] = {"id": "name", "type": "text", "label": "Name", "required": True}

CARDS: dict[str, tuple[AskKind, dict[str, JsonValue], list[str]]] = {
    "SC4 two options": (
        "choice",
        {"select": "one", "options": TWO},
        ["option:o0", "option:o1", "skip"],
    ),
    "SC4 three options, one of them picked": (
        "choice",
        {"select": "one", "options": options("A", "B", "C"), "default": ["o2"]},
        ["option:o2", "option:o0", "option:o1"],
    ),
    "SC5 two labels that read alike": (
        "choice",
        {"select": "one", "options": options("The same beginning, one", "The same beginning, two")},
        ["skip"],
    ),
    "SC6 four options, one of them picked": (
        "choice",
        {"select": "one", "options": FOUR, "default": ["o3"]},
        ["use-default", "skip"],
    ),
    "SC7 several picks": (
        "choice",
        {"select": "many", "options": FOUR, "default": ["o3", "o0"], "allowOther": True},
        ["use-default", "skip"],
    ),
    "SC8 a confirm": ("confirm", {}, ["approve", "deny"]),
    "SC8 a confirm that can't be undone": (
        "confirm",
        {"confirmLabel": "Delete", "denyLabel": "Keep", "destructive": True},
        ["approve", "deny"],
    ),
    "SC9 a draft": ("markdown", {"initial": "# Hi\n\nSoon."}, ["approve", "cancel"]),
    "SC9 no draft": ("markdown", {}, ["approve", "cancel"]),
    "SC10 a form with defaults": (
        "form",
        {
            "fields": [
                {**NAME, "default": "Zoë"},
                {"id": "age", "type": "number", "label": "Age", "default": 34},
                {"id": "patio", "type": "boolean", "label": "Outside", "default": False},
                {
                    "id": "sides",
                    "type": "multiselect",
                    "label": "Sides",
                    "options": TWO,
                    "default": [],
                },
            ]
        },
        ["submit-defaults", "cancel"],
    ),
    "SC10 a form without": ("form", {"fields": [NAME]}, ["cancel"]),
    "SC11 files": ("files", {"accept": ["image"]}, ["skip"]),
}


async def asked(
    noor: Person, prompt: str, surface: turns_pb2.Surface.ValueType = FULL
) -> tuple[str, cards_pb2.SimpleCard]:
    """Returns a new conversation that waits, and its card."""
    played = await noor.prompt(prompt, surface=surface)
    return played.conversation_id, played.ask.simple


async def left(noor: Person, engine: AsyncEngine, conversation_id: str) -> list[object]:
    """Returns all that an answered ask left behind, but for ids and times."""
    messages = await noor.messages(conversation_id)
    for message in messages:
        for name in ("conversation_id", "message_id", "turn_id", "create_time"):
            message.ClearField(name)
    async with engine.connect() as connection:
        rows = await connection.execute(
            text(
                "SELECT kind, status, answer::text, input::text, simple::text, revision"
                " FROM asks WHERE conversation_id = :id"
            ),
            {"id": UUID(conversation_id)},
        )
        asks = [tuple(row) for row in rows]
    conversation = await noor.conversation(conversation_id)
    return [messages, asks, conversation.HasField("pending_ask"), conversation.title]


async def press_all(
    server: Server,
    engine: AsyncEngine,
    prompt: str,
    surface: turns_pb2.Surface.ValueType = FULL,
) -> list[str]:
    """Presses every button of a card, each in a conversation of its own; names the buttons.

    Checks each against the answer that the button holds, sent in full in a second conversation.
    """
    noor = await server.person()
    conversation_id, card = await asked(noor, prompt, surface)
    for button in card.buttons:
        result = await noor.press(conversation_id, ASK_ID, button.id)
        pressed = server.model.calls[-1].messages[-1]
        assert result.state == turns_pb2.Turn.STATE_COMPLETED
        assert not result.HasField("pending_ask")
        other_id, other_card = await asked(noor, prompt, surface)
        assert other_card == card
        played = await noor.answer(other_id, ASK_ID, button.response)
        answered = server.model.calls[-1].messages[-1]
        assert result.text == played.text
        assert isinstance(pressed, ScriptedMessage)
        assert pressed == answered
        assert await left(noor, engine, conversation_id) == await left(noor, engine, other_id)
        conversation_id, _ = await asked(noor, prompt, surface)
    return [button.id for button in card.buttons]


@pytest.mark.parametrize(("kind", "ask_input", "buttons"), CARDS.values(), ids=[*CARDS])
async def test_bc_080_a_button_does_what_the_full_answer_does(
    start_server: StartServer,
    engine: AsyncEngine,
    kind: AskKind,
    ask_input: dict[str, JsonValue],
    buttons: list[str],
) -> None:
    call = Call(tool_name(kind), {"prompt": "Well?", **ask_input}, ASK_ID)
    server = await start_server(by_progress([call], [Text("Done.")]))
    assert await press_all(server, engine, "Please") == buttons


def test_bc_080_the_cards_are_of_every_kind() -> None:
    assert {kind for kind, _, _ in CARDS.values()} == {*get_args(AskKind)}


@needs_cases
async def test_bc_080_every_button_of_the_conformance_cards_delivers(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    cases = [case for case in CASES if case["op"] == "card"]
    scripts = {
        case["name"]: by_progress(
            [Call(tool_name(case["kind"]), case["input"], ASK_ID)], [Text("Done.")]
        )
        for case in cases
    }
    server = await start_server(by_prompt(scripts))
    for case in cases:
        surface = COMPACT if case.get("surface") == "compact" else FULL
        expected = [button["id"] for button in case["expect"]["card"]["buttons"]]
        assert await press_all(server, engine, case["name"], surface) == expected


@pytest.mark.parametrize("ask", ASKED, ids=lambda ask: ask.name)
async def test_a_button_that_the_card_lacks_is_refused(
    start_server: StartServer, ask: Asked
) -> None:
    server = await start_server(by_progress([ask.call()], [Text("Done.")]))
    noor = await server.person()
    conversation_id, card = await asked(noor, "Please")
    for button_id in ("gold", "APPROVE", "option:", f"{card.buttons[0].id} "):
        error = await refused(noor.press(conversation_id, ASK_ID, button_id))
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert error_of(error).reason == "UNKNOWN_BUTTON"
        assert [(fault.path, fault.code) for fault in error_of(error).fields] == [
            ("buttonId", "UNKNOWN_BUTTON")
        ]
    assert (await noor.conversation(conversation_id)).pending_ask.tool_call_id == ASK_ID
    assert len(server.model.calls) == 1
    messages = await noor.messages(conversation_id)
    assert messages[-1].ask.status == conversations_pb2.MessageAsk.STATUS_PENDING

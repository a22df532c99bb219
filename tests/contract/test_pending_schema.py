"""The list of pending asks as JSON Schema, beside what the wire's messages become as JSON."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from pydantic import JsonValue

from parley.v1 import asks_pb2, cards_pb2, turns_pb2
from parleyd.contract.asks.ask import Ask
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import tool_name
from parleyd.contract.cards import to_simple_card
from parleyd.contract.conversations import PendingAsk
from parleyd.rpc.asks import pending_ask_to_proto
from tests.contract.schema_validators import SCHEMAS, accepts
from tests.contract.spoilt_values import ANY_ASK
from tests.contract.valid_asks import TRIP, AskInput

NAME = "pending-asks"
WHEN = datetime(2027, 6, 30, 9, 5, tzinfo=UTC)


def listed(kind: AskKind, ask: AskInput, title: str | None = "Trip") -> dict[str, Any]:
    """Returns a page with one ask as the wire's JSON."""
    pending = PendingAsk(
        ask=Ask(
            id=UUID(int=1),
            conversation_id=UUID(int=2),
            chain_id=UUID(int=3),
            owner="noor",
            tool_call_id="call_1",
            kind=kind,
            tool_name=tool_name(kind),
            input=ask,
            simple=to_simple_card(kind, ask, "call_1"),
            status="pending",
            create_time=WHEN,
        ),
        title=title,
    )
    response = turns_pb2.ListPendingAsksResponse(pending_asks=[pending_ask_to_proto(pending)])
    return MessageToDict(response)


@given(ANY_ASK)
def test_every_pending_ask_is_accepted(drawn: tuple[AskKind, AskInput]) -> None:
    kind, ask = drawn
    assert accepts(NAME, listed(kind, ask))
    assert accepts(NAME, listed(kind, ask, title=None))


def test_an_empty_page_and_one_with_a_next_are_accepted() -> None:
    assert accepts(NAME, MessageToDict(turns_pb2.ListPendingAsksResponse()))
    assert accepts(NAME, {**listed("choice", TRIP), "nextPageToken": "x"})


def test_a_newer_server_may_say_more() -> None:
    page = listed("choice", TRIP)
    page["pendingAsks"][0]["simple"]["buttons"][0]["response"] = {"postpone": {}}
    page["pendingAsks"][0]["deadline"] = "2027-07-01T00:00:00Z"
    assert accepts(NAME, page)


NEVER_SAID: list[tuple[str, JsonValue]] = [
    ("pendingAsks", {}),
    ("nextPageToken", 1),
    ("pendingAsks.0", "call_1"),
    ("pendingAsks.0.conversationId", ""),
    ("pendingAsks.0.kind", "choice"),
    ("pendingAsks.0.kind", "ASK_KIND_UNSPECIFIED"),
    ("pendingAsks.0.createTime", 1_800_000_000),
    ("pendingAsks.0.simple", None),
    ("pendingAsks.0.simple.text", "t" * 141),
    ("pendingAsks.0.simple.title", "t" * 41),
    ("pendingAsks.0.simple.handoff", "no"),
    ("pendingAsks.0.simple.buttons", [{}]),
    ("pendingAsks.0.simple.buttons.0.label", "b" * 21),
    ("pendingAsks.0.simple.buttons.0.style", "primary"),
    ("pendingAsks.0.simple.buttons.0.response.accept.choice", {"selected": "bus"}),
    ("pendingAsks.0.simple.buttons.0.response.accept.choice", {}),
]


@pytest.mark.parametrize(("path", "value"), NEVER_SAID)
def test_what_no_server_says_is_refused(path: str, value: JsonValue) -> None:
    page = listed("choice", TRIP)
    inner: Any = page
    *way, last = [int(piece) if piece.isdigit() else piece for piece in path.split(".")]
    for piece in way:
        inner = inner[piece]
    inner[last] = value
    assert not accepts(NAME, page)


@pytest.mark.parametrize("absent", ["conversationId", "toolCallId", "kind", "simple", "createTime"])
def test_what_every_pending_ask_says_must_be_there(absent: str) -> None:
    page = listed("choice", TRIP)
    del page["pendingAsks"][0][absent]
    assert not accepts(NAME, page)


def names(message: Descriptor) -> set[str]:
    return {field.json_name for field in message.fields}


def ever_sent(enum: EnumDescriptor) -> list[str]:
    return [value.name for value in enum.values if value.number]


def properties(schema: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    """Returns the properties of the object at a path of properties; lists are passed through."""
    for name in path:
        schema = schema["properties"][name]
        schema = schema.get("items", schema)
    return schema["properties"]


def test_the_schema_has_the_fields_of_the_messages() -> None:
    schema = SCHEMAS[NAME]
    assert {*properties(schema)} == names(turns_pb2.ListPendingAsksResponse.DESCRIPTOR)
    assert {*properties(schema, "pendingAsks")} == names(turns_pb2.PendingAsk.DESCRIPTOR)
    card = ("pendingAsks", "simple")
    assert {*properties(schema, *card)} == names(cards_pb2.SimpleCard.DESCRIPTOR)
    button = (*card, "buttons")
    assert {*properties(schema, *button)} == names(cards_pb2.SimpleCardButton.DESCRIPTOR)
    # No button drops a question or hands over files.
    answer = (*button, "response")
    assert {*properties(schema, *answer), "cancel"} == names(asks_pb2.AskAnswer.DESCRIPTOR)
    accept = (*answer, "accept")
    assert {*properties(schema, *accept), "files"} == names(asks_pb2.AcceptAnswer.DESCRIPTOR)
    contents = {
        "choice": asks_pb2.ChoiceAnswer,
        "confirm": asks_pb2.ConfirmAnswer,
        "markdown": asks_pb2.MarkdownAnswer,
        "form": asks_pb2.FormAnswer,
    }
    for kind, message in contents.items():
        assert {*properties(schema, *accept, kind)} == names(message.DESCRIPTOR)


def test_the_schema_has_the_names_of_the_enums() -> None:
    ask = properties(SCHEMAS[NAME], "pendingAsks")
    card = properties(SCHEMAS[NAME], "pendingAsks", "simple")
    kinds = asks_pb2.AskKind.DESCRIPTOR
    assert ask["kind"]["enum"] == card["kind"]["enum"] == ever_sent(kinds)
    style = properties(SCHEMAS[NAME], "pendingAsks", "simple", "buttons")["style"]
    assert style["enum"] == ever_sent(cards_pb2.SimpleCardButton.Style.DESCRIPTOR)

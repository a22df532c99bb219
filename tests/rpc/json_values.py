"""JSON as the tests of the wire compare it."""

import json

from pydantic import JsonValue

from parley.v1 import asks_pb2, cards_pb2
from parleyd.rpc.answers import answer_from_proto


def exact(value: JsonValue) -> str:
    """Returns JSON as text: equal for equal values, where `3.0` is `3` but true is not 1 (G6)."""
    return json.dumps(_whole(value), sort_keys=True, allow_nan=False)


def _whole(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            return {key: _whole(item) for key, item in value.items()}
        case list():
            return [_whole(item) for item in value]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def types_of(value: JsonValue) -> object:
    """Returns the types in a value: 3 == 3.0 and 1 == True, but they are not written the same."""
    match value:
        case dict():
            return {key: types_of(item) for key, item in value.items()}
        case list():
            return [types_of(item) for item in value]
        case _:
            return type(value)


def card_of(card: cards_pb2.SimpleCard) -> dict[str, JsonValue]:
    """Returns a card that arrived as the JSON it was (spec asks SC1)."""
    buttons: list[JsonValue] = [
        {
            "id": button.id,
            "label": button.label,
            "style": _enumerated(cards_pb2.SimpleCardButton.Style.Name(button.style), "STYLE_"),
            "response": answer_from_proto(button.response),
        }
        for button in card.buttons
    ]
    title: dict[str, JsonValue] = {"title": card.title} if card.HasField("title") else {}
    return {
        "toolCallId": card.tool_call_id,
        "kind": _enumerated(asks_pb2.AskKind.Name(card.kind), "ASK_KIND_"),
        **title,
        "text": card.text,
        "buttons": buttons,
        "handoff": card.handoff,
    }


def _enumerated(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).lower()

"""The list of pending asks as JSON Schema, in the JSON of protobuf (spec asks 14).

That JSON leaves out what is empty or false and has names of its own for enumerated strings. Its
objects are open: a newer server may say more.
"""

from collections.abc import Mapping
from typing import Final, get_args

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.asks.kind import AskKind, ButtonStyle
from parleyd.contract.asks.kinds import ASK_KINDS

_ID: Final[dict[str, JsonValue]] = {"type": "string", "minLength": 1}
_STRING: Final[dict[str, JsonValue]] = {"type": "string"}


def pending_asks_schema(
    contents: Mapping[AskKind, dict[str, JsonValue]],
) -> dict[str, JsonValue]:
    """Returns the schema of a page of pending asks.

    `contents` are the schemas of what a button can answer with, by kind; no button answers with
    files.
    """
    ask = _open_object(
        {
            "conversationId": _described("Names the conversation.", _ID),
            "title": _described("The conversation's title, where it has one.", _STRING),
            "toolCallId": _described("Names the ask within its conversation.", _ID),
            "kind": _described("The ask's kind.", _KIND),
            "simple": _described("The card to show.", _card(contents)),
            "createTime": _described(
                "When the agent asked.", {"type": "string", "format": "date-time"}
            ),
            "expireTime": _described(
                "When the ask expires, if it does.", {"type": "string", "format": "date-time"}
            ),
        },
        required=["conversationId", "toolCallId", "kind", "simple", "createTime"],
    )
    return _open_object(
        {
            "pendingAsks": _described("Newest first.", {"type": "array", "items": ask}),
            "nextPageToken": _described("Leads to the next page, where there is one.", _STRING),
        }
    )


def _card(contents: Mapping[AskKind, dict[str, JsonValue]]) -> dict[str, JsonValue]:
    button = _open_object(
        {
            "id": _described("Names the button on its card.", _ID),
            "label": _described("What it says.", _string(limits.CARD_LABEL, least=1)),
            "style": _described("How it looks.", _enum("STYLE", get_args(ButtonStyle))),
            "response": _described("The answer it gives.", _answer(contents)),
        },
        required=["id", "label", "style", "response"],
    )
    return _open_object(
        {
            "toolCallId": _described("Names the ask within its conversation.", _ID),
            "kind": _described("The ask's kind.", _KIND),
            "title": _described("The ask's title, cut.", _string(limits.CARD_TITLE)),
            "text": _described("The ask's prompt, cut.", _string(limits.CARD_TEXT)),
            "buttons": _described(
                "From left to right.",
                {"type": "array", "items": button, "maxItems": limits.CARD_BUTTONS},
            ),
            "handoff": _described(
                "Whether some of the possible answers need the full app.", {"type": "boolean"}
            ),
        },
        required=["toolCallId", "kind", "text"],
    )


def _answer(contents: Mapping[AskKind, dict[str, JsonValue]]) -> dict[str, JsonValue]:
    """Returns the schema of an answer; none of its keys means one that is newer."""
    accept: dict[str, JsonValue] = {
        kind: _opened({"description": f"Answers a {kind} ask.", **content})
        for kind, content in contents.items()
    }
    return _open_object(
        {
            "accept": _described("Answers, under the ask's kind.", _open_object(accept)),
            "decline": _described("Skips.", _open_object({})),
        }
    )


def _opened(schema: JsonValue) -> JsonValue:
    """Returns a schema whose objects are open."""
    match schema:
        case dict():
            return {
                key: _opened(value)
                for key, value in schema.items()
                if key != "additionalProperties"
            }
        case list():
            return [_opened(value) for value in schema]
        case _:
            return schema


def _described(description: str, schema: dict[str, JsonValue]) -> JsonValue:
    return {"description": description, **schema}


def _open_object(
    properties: dict[str, JsonValue], required: list[JsonValue] | None = None
) -> dict[str, JsonValue]:
    schema: dict[str, JsonValue] = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def _string(most: int, least: int = 0) -> dict[str, JsonValue]:
    floor: dict[str, JsonValue] = {"minLength": least} if least else {}
    return {"type": "string", **floor, "maxLength": most}


def _enum(prefix: str, values: tuple[str, ...]) -> dict[str, JsonValue]:
    """Returns the schema of an enumerated string, by the names that protobuf has for it (W1)."""
    return {"type": "string", "enum": [f"{prefix}_{value.upper()}" for value in values]}


_KIND: Final = _enum("ASK_KIND", ASK_KINDS)

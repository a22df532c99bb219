"""The contract as JSON Schema, for clients that read JSON (draft 2020-12).

A schema says what a value looks like by itself, which is what its shape says: the shape phase of
spec asks 2, in code points where the contract counts UTF-16 units. Rules across values are left to
the check. Unlike what the model's providers are told, these schemas use every keyword there is.
"""

from collections.abc import Iterator, Mapping
from typing import Final, get_args

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.answers import envelope_shape
from parleyd.contract.asks.files import FileShape
from parleyd.contract.asks.kind import AskKind, ButtonStyle
from parleyd.contract.asks.kinds import ASK_KINDS, kind_named, offer_of, tool_name
from parleyd.contract.pending_schema import pending_asks_schema
from parleyd.contract.records import Key, ObjectShape, RecordShape
from parleyd.contract.shapes import (
    BooleanShape,
    EnumShape,
    ListShape,
    Shape,
    StringShape,
    TextShape,
)
from parleyd.contract.surfaces import Surface
from parleyd.contract.text import WHITESPACE
from parleyd.contract.variants import VariantShape

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_VISIBLE: Final = f"[^{WHITESPACE}]"
"""Matches a text with a visible character (G3, G4), in every dialect of regular expressions."""

_ENVELOPE: Final = envelope_shape(ObjectShape())

CARD_SHAPE: Final = RecordShape(
    (
        Key("toolCallId", StringShape(1), "Names the ask.", required=True),
        Key("kind", EnumShape(ASK_KINDS), "The ask's kind.", required=True),
        Key("title", StringShape(most=limits.CARD_TITLE), "The ask's title, cut."),
        Key("text", StringShape(most=limits.CARD_TEXT), "The ask's prompt, cut.", required=True),
        Key(
            "buttons",
            ListShape(
                RecordShape(
                    (
                        Key("id", StringShape(1), "Names the button.", required=True),
                        Key(
                            "label",
                            StringShape(1, limits.CARD_LABEL),
                            "What it says.",
                            required=True,
                        ),
                        Key(
                            "style",
                            EnumShape(get_args(ButtonStyle)),
                            "How it looks.",
                            required=True,
                        ),
                        Key("response", _ENVELOPE, "The answer it gives.", required=True),
                    )
                ),
                limits.CARD_BUTTONS,
            ),
            "From left to right.",
            required=True,
        ),
        Key(
            "handoff",
            BooleanShape(),
            "Whether some of the possible answers need the full app.",
            required=True,
        ),
    )
)
"""What a card looks like (SC1)."""


def json_schemas() -> Mapping[str, dict[str, JsonValue]]:
    """Returns every schema by its name: asks, answers, the envelope, cards and the pending list.

    The same contract always gives the same schemas.
    """
    return dict(_schemas())


def _schemas() -> Iterator[tuple[str, dict[str, JsonValue]]]:
    for kind in ASK_KINDS:
        for surface in kind_named(kind).offers:
            yield _of_an_ask(kind, surface)
    for kind in ASK_KINDS:
        yield (
            f"answer-{kind}",
            _rooted(
                f"answer:{kind}",
                f"Answer to a {kind} ask",
                "Says what the person does with the question; it comes back as the result of "
                f"{tool_name(kind)}.",
                exported(envelope_shape(kind_named(kind).content)),
            ),
        )
    yield (
        "envelope",
        _rooted(
            "envelope",
            "Answer envelope",
            "Says what is done with a question, of whatever kind.",
            exported(_ENVELOPE),
        ),
    )
    yield (
        "card",
        _rooted(
            "card",
            "Simple card",
            "Shows a question where its kind is not known; each button holds the answer it gives.",
            exported(CARD_SHAPE),
        ),
    )
    yield (
        "pending-asks",
        _rooted(
            "pending-asks",
            "Pending asks",
            "Lists what waits on the person: parley.v1.ListPendingAsksResponse in the JSON of "
            "protobuf, which leaves out what is empty or false. A newer server may say more.",
            pending_asks_schema(
                {kind: exported(kind_named(kind).content) for kind in ASK_KINDS if kind != "files"}
            ),
        ),
    )


def _of_an_ask(kind: AskKind, surface: Surface) -> tuple[str, dict[str, JsonValue]]:
    compact = surface == "compact"
    schema = _rooted(
        f"ask:{kind}:compact" if compact else f"ask:{kind}",
        f"The {kind} ask on the compact surface" if compact else f"The {kind} ask",
        f"Asks the person a question: the input of the tool {tool_name(kind)}.",
        exported(offer_of(kind, surface).shape),
    )
    return (f"ask-{kind}-compact" if compact else f"ask-{kind}"), schema


def _rooted(
    name: str, title: str, description: str, schema: dict[str, JsonValue]
) -> dict[str, JsonValue]:
    """Returns a schema as a document of its own."""
    head: dict[str, JsonValue] = {
        "$schema": DIALECT,
        "$id": f"urn:parley:v1:{name}",
        "title": title,
        "description": description,
    }
    return {**head, **schema}


def exported(shape: Shape) -> dict[str, JsonValue]:
    """Returns the schema of a shape with what providers take no keyword for."""
    match shape:
        case TextShape():
            return {**shape.schema(), "pattern": _VISIBLE}
        case ListShape():
            return {**shape.schema(), "items": exported(shape.item)}
        case RecordShape():
            properties: dict[str, JsonValue] = {
                key.name: {"description": key.says, **exported(key.shape)} for key in shape.keys
            }
            return {**shape.schema(), "properties": properties}
        case FileShape():
            return {**shape.schema(), **exported(shape.record)}
        case VariantShape():
            return {"type": "object", "anyOf": [exported(record) for record in shape.records]}
        case _:
            return shape.schema()

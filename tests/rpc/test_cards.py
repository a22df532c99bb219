from typing import get_args

from pydantic import JsonValue

from parley.v1 import asks_pb2
from parley.v1.cards_pb2 import SimpleCardButton as Button
from parleyd.contract.asks.kind import AskKind, ButtonStyle
from parleyd.contract.cards import SimpleCard, SimpleCardButton, to_simple_card
from parleyd.rpc.answers import answer_from_proto
from parleyd.rpc.cards import card_to_proto, style_to_proto

CONTENTS: dict[AskKind, JsonValue] = {
    "markdown": {"markdown": "# Draft", "changed": False},
    "form": {"values": {"seats": 3, "window": False}},
    "files": {"files": []},
}
"""What a button of the other kinds answers."""


def test_a_card_arrives_with_its_buttons_in_order_and_their_exact_answers() -> None:
    card = to_simple_card(
        "choice",
        {
            "prompt": "How do you want to travel to the coast?",
            "title": "Coast trip",
            "select": "one",
            "default": ["bus"],
            "options": [{"id": "train", "label": "Night train"}, {"id": "bus", "label": "Bus"}],
        },
        "call_7",
    )
    message = card_to_proto(card)
    assert (message.tool_call_id, message.kind) == ("call_7", asks_pb2.ASK_KIND_CHOICE)
    assert (message.title, message.text) == (card.title, card.text)
    assert message.handoff is card.handoff
    assert [(b.id, b.label, b.style) for b in message.buttons] == [
        ("option:bus", "Bus", Button.STYLE_PRIMARY),
        ("option:train", "Night train", Button.STYLE_DEFAULT),
        ("skip", "Skip", Button.STYLE_CANCEL),
    ]
    assert [answer_from_proto(b.response) for b in message.buttons] == [
        button.response for button in card.buttons
    ]


def test_a_card_without_a_title_has_none() -> None:
    card = to_simple_card("confirm", {"prompt": "Sure?"}, "call_1")
    assert card.title is None
    assert not card_to_proto(card).HasField("title")


def test_the_buttons_of_every_kind_hold_their_answers() -> None:
    for kind, content in CONTENTS.items():
        response: dict[str, JsonValue] = {"action": "accept", "content": content}
        button = SimpleCardButton(id="b", label="B", style="primary", response=response)
        card = SimpleCard(
            tool_call_id="call_1", kind=kind, text="Look.", buttons=(button,), handoff=True
        )
        message = card_to_proto(card)
        assert answer_from_proto(message.buttons[0].response) == response
        assert message.handoff


def test_each_style_has_its_own_enum_value() -> None:
    styles = {Button.Style.Name(style_to_proto(style)) for style in get_args(ButtonStyle)}
    assert styles == {f"STYLE_{style.upper()}" for style in get_args(ButtonStyle)}

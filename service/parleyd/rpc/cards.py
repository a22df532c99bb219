"""Simple cards on the wire (spec asks 10)."""

from typing import assert_never

from parley.v1 import cards_pb2
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.cards import ButtonStyle, SimpleCard, SimpleCardButton
from parleyd.rpc.answers import answer_to_proto
from parleyd.rpc.kinds import kind_to_proto


def card_to_proto(card: SimpleCard) -> cards_pb2.SimpleCard:
    """Returns a stored card; each button holds its exact answer."""
    return cards_pb2.SimpleCard(
        tool_call_id=card.tool_call_id,
        kind=kind_to_proto(card.kind),
        title=card.title,
        text=card.text,
        buttons=[_button_to_proto(card.kind, button) for button in card.buttons],
        handoff=card.handoff,
    )


def style_to_proto(style: ButtonStyle) -> cards_pb2.SimpleCardButton.Style.ValueType:
    """Returns the enum value of a button's style."""
    match style:
        case "default":
            return cards_pb2.SimpleCardButton.STYLE_DEFAULT
        case "primary":
            return cards_pb2.SimpleCardButton.STYLE_PRIMARY
        case "destructive":
            return cards_pb2.SimpleCardButton.STYLE_DESTRUCTIVE
        case "cancel":
            return cards_pb2.SimpleCardButton.STYLE_CANCEL
        case _:
            assert_never(style)


def _button_to_proto(kind: AskKind, button: SimpleCardButton) -> cards_pb2.SimpleCardButton:
    return cards_pb2.SimpleCardButton(
        id=button.id,
        label=button.label,
        style=style_to_proto(button.style),
        response=answer_to_proto(kind, button.response),
    )

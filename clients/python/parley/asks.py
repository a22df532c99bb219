"""Answering a question that is newer than this client."""

from typing import Protocol

from parley.v1.cards_pb2 import SimpleCard
from parley.v1.turns_pb2 import ButtonInput


class Asked(Protocol):
    """A question with its card, wherever it comes from: an event, a conversation, a list."""

    @property
    def tool_call_id(self) -> str:
        """Identifies the question in its conversation."""
        ...

    @property
    def simple(self) -> SimpleCard:
        """The card: a text, and buttons that answer."""
        ...


def card_answer(ask: Asked, button_id: str) -> ButtonInput:
    """Returns the `button` of a turn that presses a button of an ask's card.

    Every ask has a card. It is what to show where `ask.input.WhichOneof("kind")` is None: that is
    a kind of question which these stubs do not know.

    Raises:
        ValueError: The card has no such button.
    """
    offered = [button.id for button in ask.simple.buttons]
    if button_id not in offered:
        raise ValueError(
            f"The card has no button {button_id!r}: press one of {', '.join(offered)}."
        )
    return ButtonInput(tool_call_id=ask.tool_call_id, button_id=button_id)

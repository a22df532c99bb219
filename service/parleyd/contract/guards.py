"""What may be approved on a card: only what it shows whole and plainly (spec turns 9.3)."""

import re
from collections.abc import Iterator
from typing import Final

from parleyd.contract import limits
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.cards import SimpleCard, to_simple_card
from parleyd.contract.field_errors import Code, Fault, FieldError, in_order, named
from parleyd.contract.json import JsonObject, flag_at, string_at
from parleyd.contract.text import units

_SHOWN_WHOLE: Final = {"prompt": limits.CARD_TEXT, "title": limits.CARD_TITLE}
_SHOWN: Final = ("prompt", "title", "confirmLabel", "denyLabel")

_HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u115f\u1160\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u2069\u3164\ufeff\U000e0000-\U000e0fff]"
)
"""Characters that can't be seen or that turn the direction of text; a line break is neither."""

_APPROVE: Final = "approve"


def hides_something(text: str) -> bool:
    """Tells whether a text has characters that nobody sees, or that turn its direction."""
    return _HIDDEN.search(text) is not None


def guarded_card(
    kind: AskKind, ask_input: JsonObject, tool_call_id: str, *, approval: bool
) -> SimpleCard:
    """Returns the card of a valid ask, guarded where it lets something happen.

    That is the card of every approval and of every destructive confirm.
    """
    card = to_simple_card(kind, ask_input, tool_call_id)
    if approval or (kind == "confirm" and flag_at(ask_input, "destructive")):
        return guard_card(ask_input, card)
    return card


def guard_card(ask_input: JsonObject, card: SimpleCard) -> SimpleCard:
    """Returns the card of a confirm, without `approve` unless it shows all and hides nothing.

    Whoever can't see what they approve goes to the full app then; to deny stays possible.
    """
    title, text = string_at(ask_input, "title"), string_at(ask_input, "prompt") or ""
    shown = [string_at(ask_input, key) or "" for key in _SHOWN]
    if (card.title, card.text) == (title, text) and not any(map(hides_something, shown)):
        return card
    buttons = tuple(button for button in card.buttons if button.id != _APPROVE)
    return card.model_copy(update={"buttons": buttons, "handoff": True})


def is_narrowed(ask_input: JsonObject) -> bool:
    """Tells whether the guard would narrow the card of a valid confirm."""
    card = to_simple_card("confirm", ask_input, "any")
    return guard_card(ask_input, card) is not card


def check_on_small_screen(kind: AskKind, ask_input: JsonObject) -> tuple[FieldError, ...]:
    """Returns what keeps a valid ask from being asked on a compact surface.

    No card hands off there, so a destructive confirm must fit its card and hide nothing. Other asks
    are never refused.
    """
    if kind != "confirm" or not flag_at(ask_input, "destructive"):
        return ()
    return in_order(_faults(ask_input))


def _faults(ask_input: JsonObject) -> Iterator[Fault]:
    for key in _SHOWN:
        text = string_at(ask_input, key) or ""
        most = _SHOWN_WHOLE.get(key)
        if most is not None and units(text) > most:
            yield Fault(
                (key,),
                Code.TOO_LONG,
                f"{named((key,))} has {units(text)} UTF-16 units; what is destructive must be "
                "shown whole on a small screen.",
                f"Shorten {named((key,))} to {most} units.",
            )
        if hidden := _HIDDEN.search(text):
            yield Fault(
                (key,),
                Code.INVALID_FORMAT,
                f"{named((key,))} has the hidden character U+{ord(hidden[0]):04X}.",
                f"Leave it out of {named((key,))}; nobody can approve what can't be seen.",
            )

"""What may be approved on a card: only what it shows whole and plainly (spec turns 9.3)."""

import re
from collections.abc import Iterator
from typing import Final

from parleyd.contract import limits
from parleyd.contract.asks.kind import AskKind
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

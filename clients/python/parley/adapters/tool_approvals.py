"""How a call of a tool is put to the person who is to allow it."""

import json
import re
import unicodedata
from typing import Final

from parley.adapters.prompts import CARD_UNITS, PROMPT_UNITS, units
from parley.v1.asks_pb2 import AskInput, ConfirmInput

_MARKUP: Final = re.compile(r"<(?=[A-Za-z/!?])|(?<=!)\[")
"""Where an image may begin: Parley takes images of elsewhere out of what people read."""
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLANK_LETTERS: Final = frozenset("\u115f\u1160\u3164\uffa0")


class Unshowable(ValueError):
    """A call can't be put to a person whole. The text tells the model so."""


def tool_approval(tool: str, arguments: str) -> AskInput:
    """Returns the question whether a tool may run with arguments, which are JSON, or any text.

    The person sees all of the arguments, with escapes where a character would not be seen, so that
    nothing runs which nobody read. A simple card that has no room for them has no button that
    allows the call.

    Raises:
        Unshowable: They don't fit into a question.
    """
    prompt = f"Allow {tool}?\n{_shown(arguments)}"
    if units(prompt) > PROMPT_UNITS:
        raise Unshowable(
            f"{tool} was not run: its arguments are too long to be shown to the person who would "
            f"have to allow it, who sees {PROMPT_UNITS} characters at most."
        )
    return AskInput(
        prompt=prompt,
        confirm=ConfirmInput(
            confirm_label="Allow",
            deny_label="Deny",
            destructive=units(prompt) > CARD_UNITS or None,
        ),
    )


def _shown(arguments: str) -> str:
    """Returns arguments as one line of JSON, in which nothing looks like what it is not."""
    try:
        value: object = json.loads(arguments)
    except (ValueError, RecursionError):
        value = arguments
    if value == {}:
        return "It takes no arguments."
    line = json.dumps(value, ensure_ascii=False)
    visible = "".join(_escaped(each) if _is_hidden(each) else each for each in line)
    return _MARKUP.sub(lambda found: _escaped(found[0]), visible)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN or character in _BLANK_LETTERS


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1] if ord(character) > 127 else f"\\u{ord(character):04x}"

"""What pydantic finds wrong with arguments, in words that name the place in the arguments."""

from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from parleyd.contract import limits
from parleyd.contract.field_errors import Path, named, quoted
from parleyd.contract.text import clip, storable
from parleyd.tools.misfits import Misfit, missing, unknown, wrong

_MISSING: Final = frozenset({"missing", "missing_argument", "missing_keyword_only_argument"})
_UNKNOWN: Final = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_KEY: Final = "[key]"
"""How pydantic says that a fault is in a key, not in what stands at it."""


def misfit_of(
    error: ValidationError, arguments: dict[str, JsonValue], known: Sequence[str]
) -> Misfit:
    """Returns what is wrong, a line for each fault. `known` are the arguments there are."""
    details = error.errors(include_url=False)
    told = details[: limits.FAULTS_TOLD]
    return Misfit([_line(each, arguments, known) for each in told], len(details) - len(told))


def _line(details: ErrorDetails, arguments: dict[str, JsonValue], known: Sequence[str]) -> str:
    at, forms = place_of(arguments, details["loc"], is_missing=details["type"] in _MISSING)
    fault = _fault(details, at, known if len(at) == 1 else ())
    if not forms:
        return fault
    return f"Read as {' / '.join(clip(storable(form), limits.QUOTE) for form in forms)}: {fault}"


def _fault(details: ErrorDetails, at: Path, known: Sequence[str]) -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind in _MISSING:
        return missing(at)
    if kind in _UNKNOWN:
        return unknown(at, known)
    # Pydantic's own sentences on these two repeat what was sent, however long it is.
    if kind == "union_tag_not_found":
        return f"{named(at)}: its {context['discriminator']} is missing. Send it."
    if kind == "union_tag_invalid":
        return (
            f"{named(at)}: its {context['discriminator']} is {quoted(str(context['tag']))}. "
            f"Send one of {context['expected_tags']}."
        )
    message = details["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return wrong(at, message, details["input"])


def place_of(
    arguments: JsonValue, location: Sequence[str | int], *, is_missing: bool
) -> tuple[Path, tuple[str, ...]]:
    """Returns where a fault is, and what the value there was read as.

    Pydantic's location has both in one: keys and list positions, and between them the members of
    unions, which are nothing that a model could find in what it sent.
    """
    at: list[str | int] = []
    forms: list[str] = []
    value = arguments
    for index, piece in enumerate(location):
        is_last = index == len(location) - 1
        match value:
            case dict() if str(piece) in value:
                at.append(str(piece))
                value = value[str(piece)]
            case list() if isinstance(piece, int) and piece < len(value):
                at.append(piece)
                value = value[piece]
            case _ if is_missing and is_last:
                at.append(piece)
            case _ if piece == _KEY:
                forms.append("a key")
            case _:
                forms.append(str(piece))
    return tuple(at), tuple(forms)

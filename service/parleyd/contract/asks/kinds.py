"""The kinds there are, in the order of the contract, and the check of an ask."""

from collections.abc import Mapping, Sequence
from typing import Final, get_args

from pydantic import JsonValue

from parleyd.contract.asks.choice import CHOICE
from parleyd.contract.asks.confirm import CONFIRM
from parleyd.contract.asks.files import FILES
from parleyd.contract.asks.form import FORM
from parleyd.contract.asks.kind import AskKind, Kind, Offer
from parleyd.contract.asks.markdown import MARKDOWN
from parleyd.contract.field_errors import FieldError, found, in_order
from parleyd.contract.shapes import lets_rules_run
from parleyd.contract.surfaces import Surface

_KINDS: Final[Mapping[AskKind, Kind]] = {
    kind.name: kind for kind in (CHOICE, CONFIRM, MARKDOWN, FORM, FILES)
}

ASK_KINDS: Final[tuple[AskKind, ...]] = tuple(_KINDS)

TOOL_PREFIX: Final = "ask_"
"""Begins the name of every ask tool, and of no other tool (spec asks 12)."""


def kind_named(name: AskKind) -> Kind:
    """Returns all there is to a kind.

    Raises:
        ValueError: There is no such kind (V11).
    """
    kind = _KINDS.get(name)
    if kind is None:
        raise ValueError(f"There is no kind of ask named {name!r}.")
    return kind


def offer_of(name: AskKind, surface: Surface) -> Offer:
    """Returns a kind as a surface offers it.

    Raises:
        ValueError: There is no such kind or surface, or the surface does not offer it (V11).
    """
    _require_surface(surface)
    offer = kind_named(name).offers.get(surface)
    if offer is None:
        raise ValueError(f"The {surface} surface does not offer {name}.")
    return offer


def offered_kinds(kinds: Sequence[AskKind], surface: Surface) -> tuple[AskKind, ...]:
    """Returns those of `kinds` that a surface offers, in the order of the contract, each once.

    Raises:
        ValueError: There is no such kind or surface (V11).
    """
    _require_surface(surface)
    wanted = {kind_named(name).name for name in kinds}
    return tuple(name for name, kind in _KINDS.items() if name in wanted and surface in kind.offers)


def check_ask(
    kind: AskKind, ask_input: JsonValue, surface: Surface = "full"
) -> tuple[FieldError, ...]:
    """Returns everything that is wrong with the input of an ask, in order; nothing if it is valid.

    Takes any JSON value and leaves it as it is. The rules across fields are looked at only if the
    shape has no blocking fault anywhere (V5, V6).

    Raises:
        ValueError: There is no such kind or surface, or the surface does not offer it (V11).
    """
    offer = offer_of(kind, surface)
    faults = found(offer.shape.check(ask_input, ()))
    if isinstance(ask_input, dict) and lets_rules_run(faults):
        faults += offer.rules(offer.shape.known(ask_input))
    return in_order(faults)


def tool_name(kind: AskKind) -> str:
    """Returns the name of the tool that asks this kind of question."""
    return f"{TOOL_PREFIX}{kind}"


def kind_of_tool(name: str) -> AskKind | None:
    """Returns the kind that a tool of this name asks, or None for every other name."""
    return next((kind for kind in ASK_KINDS if tool_name(kind) == name), None)


def _require_surface(surface: Surface) -> None:
    if surface not in get_args(Surface):
        raise ValueError(f"There is no surface named {surface!r}.")

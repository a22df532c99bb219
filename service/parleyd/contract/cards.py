"""Simple cards: what a client shows that knows no kinds (spec asks 10)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from parleyd.contract import limits
from parleyd.contract.answers import accepted, declined
from parleyd.contract.asks.kind import AskKind, ButtonStyle
from parleyd.contract.asks.kinds import kind_named
from parleyd.contract.field_errors import Code, FieldError, listed, quoted
from parleyd.contract.json import JsonObject, string_at
from parleyd.contract.text import cut, units
from parleyd.contract.value import Value

__all__ = ["ButtonStyle", "SimpleCard", "SimpleCardButton", "look_up_button", "to_simple_card"]


def _fitting_label(label: str) -> str:
    if not 1 <= units(label) <= limits.CARD_LABEL:
        raise ValueError(f"a button's label has 1 to {limits.CARD_LABEL} units")
    return label


class SimpleCardButton(Value):
    """A button that holds its exact answer: `response` is an envelope."""

    id: str = Field(min_length=1)
    label: Annotated[str, AfterValidator(_fitting_label)]
    style: ButtonStyle
    response: dict[str, JsonValue]


def _unlike_ids(buttons: tuple[SimpleCardButton, ...]) -> tuple[SimpleCardButton, ...]:
    if len({button.id for button in buttons}) < len(buttons):
        raise ValueError("the ids of a card's buttons differ")
    return buttons


class SimpleCard(Value):
    """A text and at most three buttons. Made once, with the ask, and never again (SC1)."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    tool_call_id: str = Field(min_length=1)
    kind: AskKind
    title: str | None = None
    text: str
    buttons: Annotated[
        tuple[SimpleCardButton, ...],
        Field(max_length=limits.CARD_BUTTONS),
        AfterValidator(_unlike_ids),
    ]
    handoff: bool


def to_simple_card(kind: AskKind, ask_input: JsonObject, tool_call_id: str) -> SimpleCard:
    """Returns the card of a valid ask. The same ask always has the same card (SC12).

    Raises:
        ValueError: There is no such kind, or the call id is empty.
    """
    asked = kind_named(kind)
    face = asked.face(ask_input)
    buttons = [
        SimpleCardButton(
            id=button.id,
            label=button.label,
            style=button.style,
            response=accepted(button.content),
        )
        for button in face.buttons
    ]
    standing = asked.standing
    if standing and asked.may_decline(ask_input) and len(buttons) < limits.CARD_BUTTONS:
        buttons.append(
            SimpleCardButton(
                id=standing.id, label=standing.label, style="cancel", response=declined()
            )
        )
    title = string_at(ask_input, "title")
    return SimpleCard(
        tool_call_id=tool_call_id,
        kind=kind,
        title=None if title is None else cut(title, limits.CARD_TITLE),
        text=cut(string_at(ask_input, "prompt") or "", limits.CARD_TEXT),
        buttons=tuple(buttons),
        handoff=face.handoff,
    )


def look_up_button(card: SimpleCard, button_id: str) -> dict[str, JsonValue] | FieldError:
    """Returns the answer of the button with exactly this id on a stored card, or the fault (SC13).

    The answer goes through the answer check like any other.
    """
    for button in card.buttons:
        if button.id == button_id:
            return button.response
    ids = [button.id for button in card.buttons]
    return FieldError(
        path="buttonId",
        code=Code.UNKNOWN_BUTTON,
        message=f"`buttonId` is {quoted(button_id)}, which is no button of this card.",
        fix=(
            f"Set `buttonId` to one of {listed(ids)}."
            if ids
            else "Send a full answer, for this card has no buttons."
        ),
    )

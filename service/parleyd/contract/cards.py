"""Simple cards: what a client shows that knows no kinds (spec asks 10)."""

from typing import Literal, TypeAlias

from pydantic import ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from parleyd.contract.value import Value

ButtonStyle: TypeAlias = Literal["default", "primary", "destructive", "cancel"]


class SimpleCardButton(Value):
    """A button that holds its exact answer: `response` is an envelope."""

    id: str
    label: str
    style: ButtonStyle
    response: dict[str, JsonValue]


class SimpleCard(Value):
    """A text and at most three buttons. Made once, with the ask, and never again (SC1)."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    tool_call_id: str = Field(min_length=1)
    kind: Literal["choice", "confirm", "markdown", "form", "files"]
    title: str | None = None
    text: str
    buttons: tuple[SimpleCardButton, ...]
    handoff: bool

"""The tools by which the model asks (spec asks 12). A call of one is an ask."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import offer_of, offered_kinds, tool_name
from parleyd.contract.surfaces import Surface


@dataclass(frozen=True)
class AskTool:
    """A tool as the model is told of it.

    `schema` is JSON Schema with an object at its root. It helps the model; `check_ask` decides.
    """

    name: str
    description: str
    schema: dict[str, JsonValue]


def ask_tools(kinds: Sequence[AskKind], surface: Surface) -> tuple[AskTool, ...]:
    """Returns the tools of those of `kinds` that a surface offers, in the order of the contract.

    Raises:
        ValueError: There is no such kind or surface.
    """
    return tuple(
        AskTool(
            name=tool_name(kind),
            description=offer_of(kind, surface).tool,
            schema=offer_of(kind, surface).shape.schema(),
        )
        for kind in offered_kinds(kinds, surface)
    )

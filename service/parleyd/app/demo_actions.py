"""What the buttons of the demo agent's documents may call: its sales are counted once more."""

from dataclasses import replace
from typing import Annotated, Final

from pydantic import BaseModel, Field, JsonValue

from parleyd.app.demo_sales import YEARS, YearOfSales, sales_of
from parleyd.models.demo.sales import RECOUNT, recount_button
from parleyd.tools import ActionResult, host_action
from parleyd.turns.host_actions import HostAction
from parleyd.turns.options import TurnOptions


class Recount(BaseModel, extra="forbid"):
    """Which year is to be counted."""

    year: Annotated[int, Field(ge=1900, le=2200)]


@host_action(name=RECOUNT)
def recount_sales(recount: Recount) -> ActionResult:
    """Counts the sales of a year, in place of the buttons; of a year without any it says so."""
    counted = sales_of(recount.year)
    if counted is None:
        known = " and ".join(map(str, YEARS))
        return ActionResult(text=f"There are no sales of {recount.year}: I have those of {known}.")
    return ActionResult(blocks=_document(recount.year, counted), replace="block")


DEMO_ACTIONS: Final[tuple[HostAction, ...]] = (recount_sales,)


def with_demo_actions(options: TurnOptions) -> TurnOptions:
    """Returns options with the demo agent's actions, where replies are documents.

    An action of the deployment's own takes the place of one with the same name.
    """
    blocks = options.blocks
    if blocks is None:
        return options
    actions = {**{each.name: each for each in DEMO_ACTIONS}, **blocks.actions}
    allowed = replace(blocks.options, host_actions=tuple(actions))
    return replace(options, blocks=replace(blocks, options=allowed, actions=actions))


def _document(year: int, counted: YearOfSales) -> dict[str, JsonValue]:
    """Returns the figures of a year, and buttons for the others."""
    figures = {"Sales": counted.sales, "Customers": counted.customers, "Hours": counted.hours}
    metrics: list[JsonValue] = [
        {"type": "metric", "label": f"{label} of {year}", "value": f"{figure:,}"}
        for label, figure in figures.items()
    ]
    buttons: list[JsonValue] = [recount_button(other) for other in YEARS if other != year]
    return {
        "v": 1,
        "blocks": [
            {"type": "columns", "children": metrics},
            {"type": "actions", "id": "count", "elements": buttons},
        ],
    }

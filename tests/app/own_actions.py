"""A host action of a deployment's own, called as one of the demo agent's."""

from pydantic import BaseModel

from parleyd.tools import ActionResult, host_action


class Count(BaseModel):
    """Which year is to be counted."""

    year: int


@host_action(name="recountSales")
def recount(count: Count) -> ActionResult:
    """Says that it was this one."""
    return ActionResult(text=f"Our own count of {count.year}.")

"""A deployment's own module: what it exports, and where a call came from."""

from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from parleyd.tools import ToolContext, tool

CONTEXT = ToolContext(
    owner="ada",
    conversation_id=UUID(int=1),
    turn_id=UUID(int=2),
    tool_call_id="call_find",
    idempotency_key="chain/1/0",
)


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Line(BaseModel):
    """One kind of goods."""

    goods: str
    count: Annotated[int, Field(ge=1)]


class Card(BaseModel):
    kind: Literal["card"]
    number: str


class Transfer(BaseModel):
    kind: Literal["transfer"]
    iban: str


@tool
def find_order(order_id: str) -> dict[str, str]:
    """Finds an order by its id."""
    return {"order": order_id}


@tool(name="place.order", description="Orders goods.", replay_safe=True, seconds=5)
async def place_order(
    lines: list[Line],
    context: ToolContext,
    *,
    wanted: date | None = None,
    most: Decimal = Decimal("9.50"),
    size: Size = Size.SMALL,
    how_many: Annotated[int, Field(description="How often", ge=1, le=9)] = 1,
) -> dict[str, object]:
    """Is not what the model reads."""
    return {
        "lines": lines,
        "wanted": wanted,
        "most": most,
        "size": size,
        "how_many": how_many,
        "owner": context.owner,
        "key": context.idempotency_key,
    }


@tool
def pay(by: Card | Transfer) -> str:
    """Pays."""
    return by.kind


@tool
def pay_tagged(by: Annotated[Card | Transfer, Field(discriminator="kind")]) -> str:
    """Pays."""
    return by.kind

"""An MCP server that asks the person of its client, as a process of its own."""

import json
import sys
from typing import Annotated, Any

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel, Field

desk = MCPServer("desk")


class Booking(BaseModel):
    """A table."""

    guests: int = Field(ge=1, le=12, title="Guests", description="Children too")
    patio: bool = False
    email: str | None = None


@desk.tool()
async def elicit(message: str, schema: dict[str, Any], context: Context) -> str:
    """Asks for what a schema says, and tells what came."""
    result = await context.session.elicit_form(message, schema, context.request_id)
    return json.dumps({"action": result.action, "content": result.content})


@desk.tool()
async def book(context: Context) -> str:
    """Books a table."""
    result = await context.elicit("Which table?", Booking)
    if result.action == "accept":
        return result.data.model_dump_json()
    return result.action


@desk.tool()
async def open_page(context: Context) -> str:
    """Asks to open a page."""
    result = await context.elicit_url("Log in", "https://example.org/login", "login-1")
    return result.action


async def guests() -> Elicit[Booking]:
    """Asks for a table before the tool runs, as newer servers do."""
    return Elicit("Which table?", Booking)


@desk.tool()
async def reserve(booking: Annotated[Booking, Resolve(guests)]) -> str:
    """Reserves a table."""
    return booking.model_dump_json()


if __name__ == "__main__":
    desk.run("stdio" if len(sys.argv) == 1 else "streamable-http")

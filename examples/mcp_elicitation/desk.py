"""An MCP server whose tool asks the person of its client for what it needs."""

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel, Field

server = MCPServer("desk")


class Booking(BaseModel):
    """What the person fills in."""

    guests: int = Field(ge=1, le=12, title="Guests", description="Children too")
    patio: bool = Field(default=False, title="On the patio")


@server.tool()
async def book_table(day: str, context: Context) -> str:
    """Books a table."""
    answer = await context.elicit(f"A table for {day}: for how many?", Booking)
    if answer.action != "accept":
        return f"Nothing is booked: the person said {answer.action}."
    return f"Booked for {day}: {answer.data.model_dump_json()}"


if __name__ == "__main__":
    server.run()

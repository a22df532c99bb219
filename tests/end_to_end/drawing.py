"""Host tools that return files, as a deployment has them."""

from parleyd.models.script import Call
from parleyd.tools import ToolContext, ToolFile, tool
from tests.end_to_end.kinds_asked import PNG

DRAW_ID = "call_draw"
TABLE = b"plan;seats\nteam;12\n" + b"solo;1\n" * 20
LARGE = PNG + bytes(6 * 1024 * 1024)
"""More than a client of gRPC receives at once."""


@tool(replay_safe=True)
def draw() -> ToolFile:
    """Draws the plan."""
    return ToolFile(PNG, "image/png", "scan.png")


@tool
def tabulate(filename: str = "plans.csv") -> ToolFile:
    """Writes the plans as a table."""
    return ToolFile(TABLE, "text/csv", filename, text="21 plans")


@tool
def archive_of() -> ToolFile:
    """Packs the plans, in a form that no model reads."""
    return ToolFile(b"PK\3\4" + TABLE, "application/zip", "../plans.zip")


@tool
def draw_largely() -> ToolFile:
    """Draws the plan so large that no message holds it."""
    return ToolFile(LARGE, "image/png", "large.png")


@tool(needs_approval=True)
def draw_secretly(context: ToolContext) -> ToolFile:
    """Draws the plan once the person has approved it."""
    assert context.approval_id
    return draw()


DRAWING = {each.name: each for each in (draw, tabulate, archive_of, draw_largely, draw_secretly)}
NAMES = [f"tests.end_to_end.drawing:{name}" for name in DRAWING]
"""The tools by import path, for the settings of a process."""


def call_of(name: str, **args: str) -> Call:
    """Returns a call of one of the tools."""
    return Call(name, {**args}, DRAW_ID)

"""Writes `ask_tools.json` of the Python client: `python -m tools.ask_tools`.

The client knows nothing of the server, so what its adapters tell models is kept there as a file.
"""

import json
from pathlib import Path
from typing import Final

from parleyd.contract.asks.kinds import ASK_KINDS, offer_of, tool_name

FILE: Final = Path(__file__).parents[1] / "clients/python/parley/adapters/ask_tools.json"


def ask_tools() -> str:
    """Returns what the file holds."""
    tools = [
        {
            "kind": kind,
            "name": tool_name(kind),
            "description": offer_of(kind, "full").tool,
            "schema": offer_of(kind, "full").shape.schema(),
        }
        for kind in ASK_KINDS
    ]
    return json.dumps(tools, indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(ask_tools(), "utf-8")

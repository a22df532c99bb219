"""What a turn tells the model beside the messages: system prompt and tools (spec turns 10)."""

from dataclasses import dataclass
from functools import cache

from parleyd.contract.asks.ask import AskKind
from parleyd.contract.asks.kinds import offered_kinds
from parleyd.contract.asks.tools import ask_tools
from parleyd.contract.prompts import COMPACT_LINE, asks_section
from parleyd.contract.surfaces import Surface
from parleyd.turns.model import Model, Tool
from parleyd.turns.options import TurnOptions


@dataclass(frozen=True)
class Instructions:
    """What every model call of one turn is told. `max_steps` is how many calls it may make."""

    system: str | None
    kinds: tuple[AskKind, ...]
    tools: tuple[Tool, ...]
    max_steps: int


def instructions(
    options: TurnOptions, model: Model, surface: Surface, system_instruction: str | None
) -> Instructions:
    """Returns the instructions of a turn. A model without tools gets none, and one step."""
    kinds = offered_kinds(options.ask_kinds, surface) if model.supports_tools else ()
    tools, asks = _told_of_asks(kinds, surface)
    sections = (
        options.system_prompt,
        system_instruction,
        asks,
        COMPACT_LINE if surface == "compact" else None,
    )
    return Instructions(
        system="\n\n".join(section for section in sections if section) or None,
        kinds=kinds,
        tools=tools,
        max_steps=options.max_steps if tools else 1,
    )


@cache
def _told_of_asks(kinds: tuple[AskKind, ...], surface: Surface) -> tuple[tuple[Tool, ...], str]:
    """Returns the ask tools and the prompt's section about them: the same for every turn."""
    tools = tuple(
        Tool(tool.name, tool.description, tool.schema) for tool in ask_tools(kinds, surface)
    )
    return tools, asks_section(kinds, surface)

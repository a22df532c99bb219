"""What a turn tells the model beside the messages: system prompt and tools (spec turns 10)."""

import asyncio
from dataclasses import dataclass, field
from functools import cache

import structlog

from parleyd.contract import limits
from parleyd.contract.asks.ask import AskKind
from parleyd.contract.asks.kinds import offered_kinds
from parleyd.contract.asks.tools import ask_tools
from parleyd.contract.blocks.prompt import prompt_section
from parleyd.contract.prompts import COMPACT_LINE, asks_section
from parleyd.contract.surfaces import Surface
from parleyd.turns.model import Model, Tool
from parleyd.turns.options import TurnOptions
from parleyd.turns.tools import HostTool, ToolSet, TurnContext
from parleyd.turns.toolsets import tools_of_turn

log = structlog.stdlib.get_logger()


@dataclass(frozen=True)
class Instructions:
    """What every model call of one turn is told. `max_steps` is how many calls it may make.

    `host_tools` are those among `tools` that run here.
    """

    system: str | None
    kinds: tuple[AskKind, ...]
    tools: tuple[Tool, ...]
    max_steps: int
    host_tools: ToolSet = field(default_factory=dict[str, HostTool])


async def instructions(
    options: TurnOptions, model: Model, context: TurnContext, system_instruction: str | None
) -> Instructions:
    """Returns the instructions of a turn. A model without tools gets none, and one step.

    What the deployment's own function for the tools of a turn raises is passed on.
    """
    surface = context.surface
    kinds = offered_kinds(options.ask_kinds, surface) if model.supports_tools else ()
    async with asyncio.timeout(limits.HOOK_SECONDS):
        host_tools = await tools_of_turn(options, context) if model.supports_tools else {}
    ask_tools_told, asks = _told_of_asks(kinds, surface)
    told = (Tool(tool.name, tool.description, tool.schema) for tool in host_tools.values())
    tools = (*told, *ask_tools_told)
    sections = (
        await _system_prompt(options, context),
        system_instruction,
        asks,
        prompt_section(options.blocks.options) if options.blocks else None,
        COMPACT_LINE if surface == "compact" else None,
    )
    return Instructions(
        system="\n\n".join(section for section in sections if section) or None,
        kinds=kinds,
        tools=tools,
        max_steps=options.max_steps if tools else 1,
        host_tools=host_tools,
    )


async def _system_prompt(options: TurnOptions, context: TurnContext) -> str | None:
    """Returns the deployment's system prompt; none where its function fails (spec turns 2)."""
    prompt = options.system_prompt
    if prompt is None or isinstance(prompt, str):
        return prompt
    try:
        async with asyncio.timeout(limits.HOOK_SECONDS):
            return await prompt(context.owner, context.conversation_id, context.project)
    except Exception as error:  # noqa: BLE001 - the deployment's code may raise anything
        log.warning("system_prompt_failed", cause=type(error).__name__)
        return None


@cache
def _told_of_asks(kinds: tuple[AskKind, ...], surface: Surface) -> tuple[tuple[Tool, ...], str]:
    """Returns the ask tools and the prompt's section about them: the same for every turn."""
    tools = tuple(
        Tool(tool.name, tool.description, tool.schema) for tool in ask_tools(kinds, surface)
    )
    return tools, asks_section(kinds, surface)

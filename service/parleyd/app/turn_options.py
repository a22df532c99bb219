"""What settings decide about turns: their tools, their limits, and what replies may be."""

import structlog

from parleyd.app.faults import ConfigurationError
from parleyd.app.settings import Settings
from parleyd.contract.blocks.options import BlockOptions
from parleyd.tools import (
    ToolsUnusable,
    load_approval_wordings,
    load_host_actions,
    load_prompt_hook,
    load_request_tools,
    load_tools,
)
from parleyd.turns.options import BlockReplies, TurnLimits, TurnOptions

log = structlog.stdlib.get_logger()


def options_of(settings: Settings) -> TurnOptions:
    """Returns what the settings decide about turns.

    Raises:
        ConfigurationError: A tool, a hook or a host action can't be used.
    """
    asks_on = bool(settings.asks)
    try:
        tools = load_tools(settings.tools, asks_on=asks_on)
        request_tools = settings.request_tools and load_request_tools(settings.request_tools)
        hook = settings.system_prompt_hook and load_prompt_hook(settings.system_prompt_hook)
        wordings = load_approval_wordings(settings.approval_wordings)
        blocks = _blocks_of(settings)
    except ToolsUnusable as error:
        raise ConfigurationError(str(error)) from error
    return TurnOptions(
        ask_kinds=settings.asks,
        max_steps=settings.max_steps,
        system_prompt=hook or settings.system_prompt,
        allow_client_system_instruction=settings.allow_client_system_instruction,
        tools=tools,
        request_tools=request_tools or None,
        approval_wordings=wordings,
        ask_seconds=settings.ask_ttl_seconds,
        approval_seconds=settings.approval_ttl_seconds,
        uploads=settings.uploads,
        blocks=blocks,
        limits=TurnLimits(
            turn_seconds=settings.turn_seconds,
            model_idle_seconds=settings.model_idle_seconds,
            tool_seconds=settings.tool_seconds,
            chain_bytes=settings.chain_bytes,
            owner_turns=settings.owner_turns,
            conversation_turns=settings.conversation_turns,
            owner_streams=settings.owner_streams,
            file_bytes=settings.file_bytes,
        ),
    )


def warn_of_idle_wordings(options: TurnOptions) -> None:
    """Warns of wordings for tools that there are not, where no others can come later."""
    if options.request_tools or options.remote_tools:
        return
    for name in options.approval_wordings.keys() - options.tools.keys():
        log.warning("approval_wording_idle", tool=name, hint="no tool has this name")


def _blocks_of(settings: Settings) -> BlockReplies | None:
    """Returns how replies are documents; None where they are texts.

    A document with a callback that names no host action breaks a rule.

    Raises:
        ToolsUnusable: A host action can't be used.
    """
    if not settings.blocks:
        return None
    actions = load_host_actions(settings.host_actions)
    allowed = BlockOptions(
        html=settings.blocks_html,
        image_hosts=settings.blocks_image_hosts,
        host_actions=tuple(actions),
    )
    return BlockReplies(
        allowed,
        repair=settings.blocks_repair,
        actions=actions,
        action_seconds=settings.block_action_seconds,
    )

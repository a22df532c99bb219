"""Approvals: which calls need one, in which words it is asked for, and how it ends (spec turns 9).

What needs approval never runs without it: that is decided here and in the runner, never by a tool.
"""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Final
from uuid import UUID

import structlog
from pydantic import JsonValue, TypeAdapter

from parleyd.contract import limits
from parleyd.contract.answers import ONE_ASK_AT_A_TIME
from parleyd.contract.approvals import default_wording, denial_reason, denied_result
from parleyd.contract.asks.ask import Ask
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.events import ToolReturned
from parleyd.contract.field_errors import Code
from parleyd.contract.guards import is_narrowed
from parleyd.contract.json import JsonObject, storable_json, storable_object
from parleyd.contract.steps import StepCall
from parleyd.contract.surfaces import Surface
from parleyd.turns.stops import is_stopped
from parleyd.turns.tools import ApprovalWording, HostTool, ToolContext

_JSON: Final[TypeAdapter[JsonValue]] = TypeAdapter(JsonValue)

log = structlog.stdlib.get_logger()


async def needs_approval(tool: HostTool, args: JsonValue, context: ToolContext) -> bool:
    """Tells whether a call needs an approval. Where the tool can't say, it does (9.2).

    The rule gets a copy of the arguments: what it does to them is not what is shown and run.
    """
    try:
        async with asyncio.timeout(limits.APPROVAL_HOOK_SECONDS) as limit:
            needed = await tool.needs_approval(deepcopy(args), context) is not False
    except (Exception, asyncio.CancelledError) as error:
        # The deployment's code may raise anything; a cancellation of its own is none of the turn.
        if isinstance(error, asyncio.CancelledError) and is_stopped():
            raise
        cause = type(error).__name__
    else:
        # A rule may swallow its cancellation, and say something after all.
        if not limit.expired():
            return needed
        cause = TimeoutError.__name__
    log.warning("approval_rule_failed", tool=tool.name, cause=cause)
    return True


async def approval_input(
    call: StepCall,
    description: str,
    wordings: Mapping[str, ApprovalWording],
    surface: Surface,
) -> dict[str, JsonValue]:
    """Returns the confirm that asks for a call: in the deployment's words, if they will do (9.3).

    Words that are no confirm, that come too late, or that a small screen could not show whole and
    plainly are replaced: a broken hook neither lets a tool run nor breaks a turn. The hook gets a
    copy of the arguments, as a rule does.
    """
    default = default_wording(call.tool_name, description)
    wording = wordings.get(call.tool_name)
    if wording is None:
        return default
    try:
        async with asyncio.timeout(limits.APPROVAL_HOOK_SECONDS):
            worded = storable_json(_JSON.validate_python(await wording(deepcopy(call.args))))
    except (Exception, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and is_stopped():
            raise
        log.warning("approval_wording_failed", tool=call.tool_name, cause=type(error).__name__)
        return default
    if fault := _fault(worded, surface):
        log.warning("approval_wording_unusable", tool=call.tool_name, cause=fault)
        return default
    return storable_object(worded) if isinstance(worded, dict) else default


def _fault(worded: JsonValue, surface: Surface) -> str | None:
    if errors := check_ask("confirm", worded, surface):
        # A key that is unknown may be anything, also what a person wrote (design D14).
        path = "a key" if errors[0].code is Code.UNKNOWN_KEY else errors[0].path
        return f"{path}: {errors[0].code}"
    if surface == "compact" and isinstance(worded, dict) and is_narrowed(worded):
        return "it does not fit a small screen"
    return None


def settled_calls(
    guarded: Sequence[StepCall], resolved: Ask, envelope: JsonObject
) -> Iterator[ToolReturned]:
    """Yields the results of the calls that an answer itself settles, in call order (9.5, 9.6).

    `guarded` are the calls that need an approval in the step of the ask that was `resolved`: the
    one it guarded, if it was denied, and every further one.
    """
    for call in guarded:
        reason = denial_reason(envelope) if call.ask_id == resolved.id else ONE_ASK_AT_A_TIME
        if reason is not None:
            yield ToolReturned(
                tool_call_id=call.tool_call_id,
                tool_name=call.tool_name,
                result=denied_result(reason),
                is_error=False,
                denied=reason,
            )


def denial_of(call: StepCall, answers: Mapping[UUID, JsonValue]) -> str | None:
    """Returns why a call that needs an approval was refused it; None where it was not.

    `answers` are envelopes by the ids of asks.
    """
    if call.ask_id is None:
        return ONE_ASK_AT_A_TIME
    envelope = answers.get(call.ask_id)
    return denial_reason(envelope) if isinstance(envelope, dict) else None


def is_approved(call: StepCall, answers: Mapping[UUID, JsonValue]) -> bool:
    """Tells whether a call may run on its approval."""
    envelope = answers.get(call.ask_id) if call.ask_id else None
    return isinstance(envelope, dict) and denial_reason(envelope) is None


def never_asked(calls: Iterable[StepCall], asked: Collection[UUID]) -> bool:
    """Tells whether calls need an approval that nobody is asked for: asks are off (9.7).

    `asked` are the asks that were raised, or are about to be.
    """
    calls = tuple(calls)
    guarded = any(call.role == "approval" for call in calls)
    return guarded and not any(call.ask_id in asked for call in calls)

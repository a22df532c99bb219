"""What the model is sent of a conversation and of a chain (spec turns 5.2 to 5.4)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.asks.ask import Ask
from parleyd.contract.executions import UNKNOWN_OUTCOME, Execution
from parleyd.contract.json import compact
from parleyd.contract.messages import Message
from parleyd.contract.steps import Step, StepCall
from parleyd.turns.model import (
    Model,
    ProviderMessage,
    RebuiltCall,
    ToolOutcome,
    UndecodableMessages,
)
from parleyd.turns.ports import ChainContext

DID_NOT_RUN = "This call did not run."


def history_messages(context: ChainContext, model: Model) -> list[ProviderMessage]:
    """Returns what was said up to the chain's starting point."""
    return list(_history(context.history, model))


def step_messages(
    step: Step,
    answers: Mapping[UUID, JsonValue],
    executions: Mapping[int, Execution],
    model: Model,
) -> list[ProviderMessage]:
    """Returns the messages of a step, and the one with the results of all its calls.

    `answers` are the envelopes of asks by their ids, those of other steps among them; `executions`
    tell what became of its own host calls, by their place in it.

    A step goes back to its own provider with the bytes that came from it. For another provider, or
    where they can't be read any more, it is rebuilt from its calls.
    """
    outcomes = [_outcome(call, answers, executions.get(i)) for i, call in enumerate(step.calls)]
    return [*_own_messages(step, model), model.tool_message(outcomes)]


def last_user_text(context: ChainContext) -> str:
    """Returns what the person wrote last."""
    return next((row.text for row in reversed(context.history) if row.type == "user"), "")


def _outcome(
    call: StepCall, answers: Mapping[UUID, JsonValue], execution: Execution | None
) -> ToolOutcome:
    id_, name = call.provider_call_id, call.tool_name
    if call.ask_id and call.ask_id in answers:
        return ToolOutcome(id_, name, value=answers[call.ask_id])
    if execution is None:
        return ToolOutcome(id_, name, error=call.error or DID_NOT_RUN)
    match execution.state:
        case "finished":
            return ToolOutcome(id_, name, value=execution.result)
        case "failed":
            return ToolOutcome(id_, name, error=_error_text(execution.result))
        case "started" | "unknown":
            return ToolOutcome(id_, name, error=UNKNOWN_OUTCOME)
        case _:
            assert_never(execution.state)


def _error_text(result: JsonValue) -> str:
    error = result.get("error") if isinstance(result, dict) else result
    return error if isinstance(error, str) else compact(result)


def _own_messages(step: Step, model: Model) -> Sequence[ProviderMessage]:
    if step.provider == model.provider:
        try:
            return model.decode(step.codec, step.messages)
        except UndecodableMessages:
            pass
    return [
        model.rebuilt_message(
            [RebuiltCall(call.provider_call_id, call.tool_name, call.args) for call in step.calls]
        )
    ]


def _history(rows: Sequence[Message], model: Model) -> Iterator[ProviderMessage]:
    answers = {
        row.ask_id: row.result
        for row in rows
        if row.type == "tool_result" and row.ask_id is not None
    }
    run: list[tuple[Ask, JsonValue]] = []
    for row in rows:
        if row.type == "tool_call" and row.ask and row.ask.origin == "model":
            if row.ask.id in answers:
                run.append((row.ask, answers[row.ask.id]))
            continue
        if row.type == "tool_call":
            continue
        yield from _asked(run, model)
        run = []
        if row.type == "user":
            yield model.user_message(row.text)
        elif row.type == "assistant" and row.text and not row.superseded:
            yield model.reply_message(row.text)
    yield from _asked(run, model)


def _asked(run: Sequence[tuple[Ask, JsonValue]], model: Model) -> Iterator[ProviderMessage]:
    """Yields the asks of one step as one message with all calls and one with all results."""
    if not run:
        return
    ids = [ask.provider_call_id or ask.tool_call_id for ask, _ in run]
    yield model.rebuilt_message(
        [RebuiltCall(id_, ask.tool_name, ask.input) for id_, (ask, _) in zip(ids, run, strict=True)]
    )
    yield model.tool_message(
        [
            ToolOutcome(id_, ask.tool_name, value=answer)
            for id_, (ask, answer) in zip(ids, run, strict=True)
        ]
    )

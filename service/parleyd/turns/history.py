"""What the model is sent of a conversation and of a chain (spec turns 5.2 to 5.4)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.approvals import denied_result
from parleyd.contract.asks.ask import Ask
from parleyd.contract.executions import UNKNOWN_OUTCOME, Execution
from parleyd.contract.json import compact, string_at
from parleyd.contract.messages import Message
from parleyd.contract.steps import Step, StepCall
from parleyd.turns.approvals import denial_of
from parleyd.turns.model import (
    Model,
    ProviderMessage,
    RebuiltCall,
    Shown,
    ToolOutcome,
    UndecodableMessages,
)
from parleyd.turns.ports import ChainContext

DID_NOT_RUN = "This call did not run."

ShownByCall: TypeAlias = Mapping[int, Sequence[Shown]]
"""The files that belong to the results of a step's calls, by the places of the calls."""


def history_messages(
    context: ChainContext, model: Model, shown: Mapping[int, Sequence[Shown]]
) -> list[ProviderMessage]:
    """Returns what was said up to the chain's starting point.

    `shown` are the files of its messages, by their `seq`.
    """
    return list(_history(context.history, model, shown))


def step_messages(
    step: Step,
    answers: Mapping[UUID, JsonValue],
    executions: Mapping[int, Execution],
    model: Model,
    shown: ShownByCall,
) -> list[ProviderMessage]:
    """Returns the messages of a step, and the one with the results of all its calls.

    `answers` are the envelopes of asks by their ids, those of other steps among them; `executions`
    tell what became of its own host calls, by their place in it, as `shown` does of their files.

    A step goes back to its own provider with the bytes that came from it. For another provider, or
    where they can't be read any more, it is rebuilt from its calls.
    """
    outcomes = [
        replace(outcome, shown=tuple(shown.get(index, ())))
        for index, call in enumerate(step.calls)
        for outcome in [_outcome(call, answers, executions.get(index))]
    ]
    return [*_own_messages(step, model), model.tool_message(outcomes)]


def last_user_text(context: ChainContext) -> str:
    """Returns what the person wrote last."""
    return next((row.text for row in reversed(context.history) if row.type == "user"), "")


def history_size(context: ChainContext) -> int:
    """Returns about how many bytes the history is for the model."""
    return sum(
        len(row.text) + (len(compact(row.args)) + len(compact(row.result)) if row.ask_id else 0)
        for row in context.history
    )


def last_answered(steps: Sequence[Step], answers: Mapping[UUID, JsonValue]) -> UUID | None:
    """Returns the ask of a chain that was answered last: a turn or what it retries brought it.

    Of the asks of one step the first alone is ever answered, the others are told so.
    """
    for step in reversed(steps):
        for call in step.calls:
            if call.ask_id in answers:
                return call.ask_id
    return None


def _outcome(
    call: StepCall, answers: Mapping[UUID, JsonValue], execution: Execution | None
) -> ToolOutcome:
    id_, name = call.provider_call_id, call.tool_name
    if call.role == "approval" and (denied := denial_of(call, answers)):
        return ToolOutcome(id_, name, value=denied_result(denied), denied=denied)
    if call.role == "ask" and call.ask_id and call.ask_id in answers:
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


@dataclass(frozen=True)
class _Said:
    """What one row said, or the asks of one step. `chain_id` is the chain it began or went on."""

    messages: tuple[ProviderMessage, ...]
    chain_id: UUID | None = None
    is_reply: bool = False


def _history(
    rows: Sequence[Message], model: Model, shown: Mapping[int, Sequence[Shown]]
) -> Iterator[ProviderMessage]:
    answers = {
        row.ask_id: row.result
        for row in rows
        if row.type == "tool_result" and row.ask_id is not None
    }
    said: list[_Said] = []
    run: list[tuple[Ask, JsonValue]] = []
    for row in rows:
        if row.type == "tool_call" and row.ask and row.ask.origin == "model":
            if row.ask.id in answers:
                run.append((row.ask, answers[row.ask.id]))
            continue
        if row.type == "tool_result" and row.ask and row.ask.visible_to_model:
            _add_asked(said, run, model)
            run = []
            said.append(_Said(_asked_by_service(row.ask, model)))
            continue
        if row.type == "tool_call":
            continue
        _add_asked(said, run, model)
        run = []
        if row.type == "user":
            # A message begins a chain, which is named as its turn.
            message = model.user_message(row.text, shown.get(row.seq, ()))
            said.append(_Said((message,), row.turn_id))
        elif row.type == "assistant" and row.text and not row.superseded:
            said.append(_Said((model.reply_message(row.text),), is_reply=True))
    _add_asked(said, run, model)
    return (message for each in said for message in each.messages)


def _asked_by_service(ask: Ask, model: Model) -> tuple[ProviderMessage, ...]:
    """Returns a service's question and its answer as texts: the model has made no such call."""
    question = string_at(ask.input, "prompt") or ""
    return (
        model.reply_message(f"{ask.created_by_service} asked: {question}"),
        model.user_message(f"Answer to {ask.created_by_service}: {compact(ask.answer)}", ()),
    )


def _add_asked(said: list[_Said], run: Sequence[tuple[Ask, JsonValue]], model: Model) -> None:
    """Adds the asks of one step, as one message with all calls and one with all results.

    Vendors take calls as an answer alone, to a person or to results. Where turns ran at once, a
    reply of another chain may come before: the asks then follow what their own chain said last.
    """
    if not run:
        return
    ids = [ask.provider_call_id or ask.tool_call_id for ask, _ in run]
    calls = model.rebuilt_message(
        [RebuiltCall(id_, ask.tool_name, ask.input) for id_, (ask, _) in zip(ids, run, strict=True)]
    )
    results = model.tool_message(
        [
            ToolOutcome(id_, ask.tool_name, value=answer)
            for id_, (ask, answer) in zip(ids, run, strict=True)
        ]
    )
    chain_id = run[0][0].chain_id
    place = len(said)
    if said and said[-1].is_reply:
        own = [index for index, each in enumerate(said) if each.chain_id == chain_id]
        others = [index for index, each in enumerate(said) if not each.is_reply]
        place = max(own or others, default=-1) + 1
    said.insert(place, _Said((calls, results), chain_id))

"""Asks on the wire (spec asks W1-W3). All that is read here is stored, so it is valid."""

from typing import assert_never

from parley.v1 import asks_pb2, conversations_pb2, turns_pb2
from parleyd.contract.answers import AskAction
from parleyd.contract.asks.ask import Ask, AskOrigin
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.conversations import PendingAsk
from parleyd.contract.json import (
    JsonObject,
    flag_at,
    objects_at,
    string_at,
    strings_at,
    whole_at,
)
from parleyd.rpc.cards import card_to_proto
from parleyd.rpc.kinds import kind_to_proto
from parleyd.rpc.times import time_to_proto


def origin_to_proto(origin: AskOrigin) -> asks_pb2.AskOrigin.ValueType:
    """Returns the enum value of an origin."""
    match origin:
        case "model":
            return asks_pb2.ASK_ORIGIN_MODEL
        case "approval":
            return asks_pb2.ASK_ORIGIN_APPROVAL
        case "service":
            return asks_pb2.ASK_ORIGIN_SERVICE
        case _:
            assert_never(origin)


def action_to_proto(action: AskAction) -> asks_pb2.AskAction.ValueType:
    """Returns the enum value of an action."""
    match action:
        case "accept":
            return asks_pb2.ASK_ACTION_ACCEPT
        case "decline":
            return asks_pb2.ASK_ACTION_DECLINE
        case "cancel":
            return asks_pb2.ASK_ACTION_CANCEL
        case _:
            assert_never(action)


def ask_input_to_proto(kind: AskKind, ask_input: JsonObject) -> asks_pb2.AskInput:
    """Returns the whole question.

    Raises:
        ValueError: There is no such kind.
    """
    message = asks_pb2.AskInput(
        prompt=string_at(ask_input, "prompt") or "",
        title=string_at(ask_input, "title"),
        submit_label=string_at(ask_input, "submitLabel"),
        allow_decline=flag_at(ask_input, "allowDecline"),
    )
    match kind:
        case "choice":
            message.choice.CopyFrom(_choice_to_proto(ask_input))
        case "confirm":
            message.confirm.CopyFrom(_confirm_to_proto(ask_input))
        case "markdown" | "form" | "files":
            raise ValueError(f"There is no kind of ask named {kind!r}.")
        case _:
            assert_never(kind)
    return message


def pending_ask_to_proto(pending: PendingAsk) -> turns_pb2.PendingAsk:
    """Returns an entry of the list over all conversations: the card, never the input (7.2)."""
    ask = pending.ask
    return turns_pb2.PendingAsk(
        conversation_id=str(ask.conversation_id),
        title=pending.title or "",
        tool_call_id=ask.tool_call_id,
        kind=kind_to_proto(ask.kind),
        simple=card_to_proto(ask.simple),
        create_time=time_to_proto(ask.create_time),
    )


def pending_summary_to_proto(ask: Ask) -> turns_pb2.PendingAskSummary:
    """Returns what a small client needs of the ask that its turn ended with (7.1)."""
    return turns_pb2.PendingAskSummary(
        tool_call_id=ask.tool_call_id,
        kind=kind_to_proto(ask.kind),
        simple=card_to_proto(ask.simple),
    )


def pending_view_to_proto(ask: Ask) -> conversations_pb2.PendingAskView:
    """Returns the ask that a conversation waits on, whole (7.3)."""
    return conversations_pb2.PendingAskView(
        tool_call_id=ask.tool_call_id,
        kind=kind_to_proto(ask.kind),
        input=ask_input_to_proto(ask.kind, ask.input),
        simple=card_to_proto(ask.simple),
        origin=origin_to_proto(ask.origin),
        create_time=time_to_proto(ask.create_time),
    )


def _choice_to_proto(ask_input: JsonObject) -> asks_pb2.ChoiceInput:
    many = string_at(ask_input, "select") == "many"
    return asks_pb2.ChoiceInput(
        select=asks_pb2.ChoiceInput.SELECT_MANY if many else asks_pb2.ChoiceInput.SELECT_ONE,
        options=map(_option_to_proto, objects_at(ask_input, "options")),
        default=strings_at(ask_input, "default"),
        min_selected=whole_at(ask_input, "minSelected"),
        max_selected=whole_at(ask_input, "maxSelected"),
        allow_other=flag_at(ask_input, "allowOther"),
        other_label=string_at(ask_input, "otherLabel"),
    )


def _option_to_proto(option: JsonObject) -> asks_pb2.Option:
    return asks_pb2.Option(
        id=string_at(option, "id") or "",
        label=string_at(option, "label") or "",
        description=string_at(option, "description"),
    )


def _confirm_to_proto(ask_input: JsonObject) -> asks_pb2.ConfirmInput:
    return asks_pb2.ConfirmInput(
        confirm_label=string_at(ask_input, "confirmLabel"),
        deny_label=string_at(ask_input, "denyLabel"),
        destructive=flag_at(ask_input, "destructive"),
    )

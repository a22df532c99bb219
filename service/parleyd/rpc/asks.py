"""Asks on the wire as they stand in conversations. All that is read here is stored."""

from typing import assert_never

from parley.v1 import asks_pb2, conversations_pb2, turns_pb2
from parleyd.contract.answers import AskAction
from parleyd.contract.asks.ask import Ask, AskOrigin
from parleyd.contract.conversations import PendingAsk
from parleyd.contract.json import compact
from parleyd.rpc.ask_inputs import ask_input_to_proto
from parleyd.rpc.cards import card_to_proto
from parleyd.rpc.kinds import kind_to_proto
from parleyd.rpc.times import moment_to_proto, time_to_proto


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
        expire_time=moment_to_proto(ask.expire_time),
    )


def pending_summary_to_proto(ask: Ask) -> turns_pb2.PendingAskSummary:
    """Returns what a small client needs of the ask that its turn ended with (7.1)."""
    return turns_pb2.PendingAskSummary(
        tool_call_id=ask.tool_call_id,
        kind=kind_to_proto(ask.kind),
        simple=card_to_proto(ask.simple),
    )


def guarded_tool(ask: Ask) -> str:
    """Returns the tool that an approval guards; of other asks nothing."""
    return ask.tool_name if ask.origin == "approval" else ""


def guarded_args(ask: Ask) -> str:
    """Returns as JSON text what the guarded tool will run with, digit for digit as stored."""
    return compact(ask.tool_args) if ask.origin == "approval" else ""


def pending_view_to_proto(ask: Ask) -> conversations_pb2.PendingAskView:
    """Returns the ask that a conversation waits on, whole (7.3)."""
    return conversations_pb2.PendingAskView(
        tool_call_id=ask.tool_call_id,
        kind=kind_to_proto(ask.kind),
        input=ask_input_to_proto(ask.kind, ask.input),
        simple=card_to_proto(ask.simple),
        origin=origin_to_proto(ask.origin),
        tool_name=guarded_tool(ask),
        tool_args_json=guarded_args(ask),
        create_time=time_to_proto(ask.create_time),
        expire_time=moment_to_proto(ask.expire_time),
    )

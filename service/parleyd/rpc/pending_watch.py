"""Watched asks on the wire (spec turns 16.6)."""

from typing import assert_never

from parley.v1 import turns_pb2 as pb
from parleyd.contract.answers import action_of
from parleyd.contract.asks.ask import Ask
from parleyd.contract.json import string_at
from parleyd.rpc.asks import action_to_proto, pending_ask_to_proto
from parleyd.turns.pending_feeds import Added, Removed, Snapshot
from parleyd.turns.pending_watch import Sent


def sent_to_proto(sent: Sent) -> pb.WatchPendingAsksResponse:
    """Returns what a watcher is sent; empty when nothing has happened for a while."""
    match sent:
        case Snapshot(pending=pending):
            asks = map(pending_ask_to_proto, pending)
            return pb.WatchPendingAsksResponse(snapshot=pb.PendingAskSnapshot(pending_asks=asks))
        case Added(pending=added):
            return pb.WatchPendingAsksResponse(added=pending_ask_to_proto(added))
        case Removed(ask=ask):
            return pb.WatchPendingAsksResponse(removed=_removed_to_proto(ask))
        case None:
            return pb.WatchPendingAsksResponse()
        case _:
            assert_never(sent)


def _removed_to_proto(ask: Ask) -> pb.PendingAskRemoved:
    assert ask.answer is not None, "an ask that waits no more is resolved"
    return pb.PendingAskRemoved(
        conversation_id=str(ask.conversation_id),
        tool_call_id=ask.tool_call_id,
        action=action_to_proto(action_of(ask.answer)),
        reason=string_at(ask.answer, "reason") or "",
        resolved_by_turn_id=str(ask.resolved_by_turn or ""),
    )

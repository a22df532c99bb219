"""Turns that no person and no model takes part in (spec turns 16.4, 16.5).

A service asks or withdraws its ask, or the time of an ask is over. Such a turn is stored closed,
has no events, and takes nobody's right to retry.
"""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.answers import EXPIRED, cancelled
from parleyd.contract.asks.ask import Ask
from parleyd.contract.surfaces import Surface
from parleyd.turns.records import PlacedRow, answer_row, call_row, place_rows
from parleyd.turns.state import SeenConversation, resolve


@dataclass(frozen=True)
class QuietTurn:
    """What such a turn writes into a conversation that is locked.

    It is a chain of its own. It makes the ask `asked`, which is then pending, or resolves
    `resolved`, which is as it becomes; the steps of that ask's chain go.
    """

    id: UUID
    kind: Literal["service", "system"]
    seen: SeenConversation
    rows: tuple[PlacedRow, ...]
    asked: Ask | None = None
    resolved: Ask | None = None
    surface: Surface = "full"


def plan_asking(ask: Ask, conversation: SeenConversation, surface: Surface) -> QuietTurn:
    """Plans the turn in which a service asks; the slot has to be free."""
    rows = place_rows([call_row(ask)], conversation.last_seq, 0)
    return QuietTurn(ask.chain_id, "service", conversation, tuple(rows), asked=ask, surface=surface)


def plan_withdrawal(
    ask: Ask, conversation: SeenConversation, turn_id: UUID, reason: str
) -> QuietTurn:
    """Plans the turn in which a service withdraws its pending ask."""
    return _plan_end(ask, conversation, turn_id, "service", cancelled(reason))


def plan_lapse(ask: Ask, conversation: SeenConversation, turn_id: UUID) -> QuietTurn:
    """Plans the turn in which an ask is cancelled whose time is over."""
    return _plan_end(ask, conversation, turn_id, "system", cancelled(EXPIRED))


def _plan_end(
    ask: Ask,
    conversation: SeenConversation,
    turn_id: UUID,
    kind: Literal["service", "system"],
    envelope: dict[str, JsonValue],
) -> QuietTurn:
    resolved = resolve(ask, envelope, turn_id, conversation.now)
    rows = place_rows([answer_row(resolved)], conversation.last_seq, 0)
    return QuietTurn(turn_id, kind, conversation, tuple(rows), resolved=resolved)

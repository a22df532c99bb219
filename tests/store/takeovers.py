"""Turns whose process is gone, and who takes them."""

from typing import Any

from parleyd.store.leases import PostgresLeaseStore
from parleyd.turns.lease_store import TakenTurn
from parleyd.turns.ports import OpenedTurn
from tests.store.chat import Chat
from tests.store.tool_calls import called, starts, step_of


async def take(leases: PostgresLeaseStore, holder: str = "process-2") -> TakenTurn:
    """Takes over the turn that is due, with no tool that may run again."""
    taken = await leases.take_turn(holder, ())
    assert taken
    return taken


async def everything(chat: Chat) -> list[list[tuple[Any, ...]]]:
    """Returns what is stored of turns, in every table."""
    tables = ("turns", "turn_events", "turn_steps", "tool_executions", "messages", "asks")
    return [await chat.query(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]


async def inside_a_tool(chat: Chat) -> OpenedTurn:
    """Returns a turn whose tool has started."""
    turn = await chat.prompt()
    calls = starts("lookup")
    await chat.turns.journal_step(turn, step_of(calls), called(calls), calls)
    return turn

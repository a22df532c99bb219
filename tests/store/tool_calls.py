"""Calls of host tools, and processes that die inside them."""

from collections.abc import Sequence

from pydantic import JsonValue
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.events import EventBody, ToolCalled
from parleyd.contract.executions import Execution, ToolStart
from parleyd.contract.steps import Step, StepCall
from parleyd.store.tables import tool_executions
from parleyd.turns.ports import CallPlace, OpenedTurn

RESULT: JsonValue = {"plan": "team", "seats": 9007199254740993}


def start(call_index: int = 0, tool_name: str = "lookup", *, step_no: int = 1) -> ToolStart:
    """Returns a host call that is about to run."""
    return ToolStart(
        step_no=step_no,
        call_index=call_index,
        tool_call_id=f"call_{step_no}_{call_index}",
        tool_name=tool_name,
        args={"of": call_index},
    )


def starts(*tool_names: str, step_no: int = 1) -> tuple[ToolStart, ...]:
    """Returns the host calls of a step."""
    return tuple(start(index, name, step_no=step_no) for index, name in enumerate(tool_names))


def place(call: ToolStart) -> CallPlace:
    """Returns where a call stands."""
    return CallPlace(call.step_no, call.call_index, call.tool_call_id, call.tool_name)


def step_of(calls: Sequence[ToolStart]) -> Step:
    """Returns the step that made these calls."""
    return Step(
        step_no=calls[0].step_no,
        provider="scripted",
        model="scripted-1",
        codec="scripted/1",
        messages=b"raw",
        calls=tuple(
            StepCall(
                tool_call_id=call.tool_call_id,
                provider_call_id=None,
                tool_name=call.tool_name,
                args=call.args,
                role="host",
            )
            for call in calls
        ),
    )


def called(calls: Sequence[ToolStart]) -> tuple[EventBody, ...]:
    """Returns the events of these calls."""
    return tuple(
        ToolCalled(tool_call_id=call.tool_call_id, tool_name=call.tool_name, args=call.args)
        for call in calls
    )


async def executions(engine: AsyncEngine, turn: OpenedTurn) -> tuple[Execution, ...]:
    """Returns what is stored of the calls of a turn's chain."""
    stored = select(*[tool_executions.c[name] for name in Execution.model_fields]).order_by(
        tool_executions.c.step_no, tool_executions.c.call_index
    )
    async with engine.connect() as connection:
        rows = await connection.execute(stored.where(tool_executions.c.chain_id == turn.chain_id))
        return tuple(Execution(**row) for row in rows.mappings())


async def die(engine: AsyncEngine, *turns: OpenedTurn, seconds: float = 1) -> None:
    """Lets leases run out, so long ago, as when their process dies."""
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "UPDATE turns SET lease_until = now() - make_interval(secs => :seconds)"
                " WHERE id = ANY(:turns)"
            ),
            {"turns": [turn.lease.turn_id for turn in turns], "seconds": seconds},
        )

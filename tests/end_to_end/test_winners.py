"""Who comes too late with an answer learns who was first (spec turns 8.2, 15.2)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import grpc
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import asks_pb2, conversations_pb2
from parleyd.models.script import Fail, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import Person, Played, accept, cancel, decline, refused
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, REGION_ID, ask_plan, ask_region

Decide = Callable[[Person, Played], Awaitable[Played]]
Message = conversations_pb2.Message


@dataclass(frozen=True)
class Won:
    """How an ask was decided before somebody answered it, and what that somebody is told.

    `events` are those of the turn that decided, `late` the ask that the late answer names.
    """

    decide: Decide
    action: str
    events: list[str]
    steps: tuple[ScriptedStep, ...] = ([Text("Done.")],)
    late: str = PLAN_ID
    current: str | None = None


async def the_turn_itself(_: Person, asked: Played) -> Played:
    return asked


def answering(answer: asks_pb2.AskAnswer) -> Decide:
    return lambda noor, asked: noor.answer(asked.conversation_id, PLAN_ID, answer)


REPLIED = ["started", "ask_resolved", "text", "done"]
WON = {
    "an accept": Won(answering(accept("team")), "accept", REPLIED),
    "a decline": Won(answering(decline()), "decline", REPLIED),
    "a cancel": Won(answering(cancel("closed the card")), "cancel", REPLIED),
    "a message": Won(
        lambda noor, asked: noor.prompt("Never mind", asked.conversation_id), "cancel", REPLIED
    ),
    "losing the slot": Won(
        the_turn_itself,
        "cancel",
        ["started", "ask", "done"],
        late=REGION_ID,
        current=PLAN_ID,
    ),
    "an accept whose turn asked again": Won(
        answering(accept("team")),
        "accept",
        ["started", "ask_resolved", "ask", "done"],
        steps=([ask_region()],),
        current=REGION_ID,
    ),
    "an accept whose turn failed": Won(
        answering(accept("team")),
        "accept",
        ["started", "ask_resolved", "error", "done"],
        steps=([Fail("other")],),
    ),
}


@pytest.mark.parametrize("won", WON.values(), ids=[*WON])
async def test_a15_a_late_answer_is_told_of_the_turn_that_decided(
    start_server: StartServer, engine: AsyncEngine, won: Won
) -> None:
    both = won.late == REGION_ID
    server = await start_server(in_turn([ask_plan(), *[ask_region()] * both], *won.steps))
    other = await start_server(in_turn())
    noor, watch = await server.person(), await other.person()
    asked = await noor.prompt("Set me up")
    own = asked.conversation_id
    decided = await won.decide(noor, asked)
    calls, rows = len(server.model.calls), await noor.messages(own)

    errors = [
        await refused(watch.answer(own, won.late, accept("team"))),
        await refused(watch.press(own, won.late, "skip")),
    ]

    for error in errors:
        assert error.code() == grpc.StatusCode.ABORTED
        told = error_of(error)
        assert told.reason == "ASK_NOT_PENDING"
        known = told.metadata
        assert datetime.fromisoformat(known["resolve_time"]) == await _resolved(engine, won.late)
        assert known == {
            "tool_call_id": won.late,
            "resolved_by_turn_id": decided.turn_id,
            "action": won.action,
            "resolve_time": known["resolve_time"],
            **({"current_tool_call_id": won.current} if won.current else {}),
        }
    assert len(server.model.calls) == calls
    assert await noor.messages(own) == rows
    watched = await watch.watch(own, decided.turn_id)
    assert watched.events == decided.events
    assert watched.names == won.events
    if "ask_resolved" in won.events:
        assert (
            asks_pb2.AskAction.Name(watched.resolved.action) == f"ASK_ACTION_{won.action.upper()}"
        )
        assert watched.resolved.tool_call_id == won.late
    else:
        (result,) = [row for row in rows if row.type == Message.TYPE_TOOL_RESULT]
        assert (result.tool_call_id, result.turn_id) == (won.late, decided.turn_id)


@pytest.mark.parametrize("waits", [True, False])
async def test_a15_of_an_ask_that_never_was_nothing_is_told_but_what_is_pending(
    start_server: StartServer, *, waits: bool
) -> None:
    server = await start_server(in_turn([ask_plan()] if waits else [Text("Hello.")]))
    noor = await server.person()
    own = (await noor.prompt("Set me up")).conversation_id
    error = await refused(noor.answer(own, "call_never", accept("team")))
    assert error.code() == grpc.StatusCode.ABORTED
    assert error_of(error).reason == "ASK_NOT_PENDING"
    assert error_of(error).metadata == {
        "tool_call_id": "call_never",
        **({"current_tool_call_id": PLAN_ID} if waits else {}),
    }


async def _resolved(engine: AsyncEngine, tool_call_id: str) -> datetime:
    async with engine.connect() as connection:
        time = await connection.scalar(
            text("SELECT resolve_time FROM asks WHERE tool_call_id = :id"), {"id": tool_call_id}
        )
    assert isinstance(time, datetime)
    return time.astimezone(UTC)

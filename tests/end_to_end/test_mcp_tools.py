"""Tools of MCP servers in turns: which wait for a person, and what a server that is away does."""

import json
from collections.abc import AsyncIterator, Iterator, MutableMapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol

import grpc
import pytest
from structlog.testing import capture_logs

from parley import error_of
from parley.v1 import asks_pb2, turns_pb2
from parleyd.models.script import Call, Text
from parleyd.models.scripted import in_turn
from parleyd.turns.model import ModelCall, ToolOutcome
from tests.end_to_end.guarded import (
    APPROVED,
    DONE,
    GUARDED_PAUSE,
    approval,
    denial,
    outcomes,
)
from tests.end_to_end.person import Person, refused
from tests.server import Server, StartServer
from tests.tools.mcp.shelves import (
    READ_ONLY,
    HttpWarehouse,
    Shelves,
    eventually,
    http_warehouse,
    listed,
)

ORDER = Call("stock_order", {"item": "box"}, "call_order")
LOOK = Call("stock_look", {"item": "box"}, "call_look")


@pytest.fixture
def shelves(tmp_path: Path) -> Shelves:
    return Shelves(tmp_path / "shelves", listed("look", READ_ONLY), listed("order"))


@pytest.fixture
def logged() -> Iterator[list[MutableMapping[str, Any]]]:
    with capture_logs() as lines:
        yield lines


class Warehouses(Protocol):
    async def __call__(self, port: int = 0) -> HttpWarehouse: ...


@pytest.fixture
async def warehouse(shelves: Shelves) -> AsyncIterator[Warehouses]:
    async with AsyncExitStack() as stack:

        async def start(port: int = 0) -> HttpWarehouse:
            return await stack.enter_async_context(http_warehouse(shelves, port=port))

        yield start


class Told:
    """What the service says of its server, in order."""

    def __init__(self, lines: list[MutableMapping[str, Any]]) -> None:
        self._lines = lines
        self._read = 0

    async def of(self, event: str) -> None:
        """Waits for the next line of an event."""

        def told() -> bool:
            events = [line["event"] for line in self._lines]
            if event not in events[self._read :]:
                return False
            self._read = events.index(event, self._read) + 1
            return True

        await eventually(told)


@pytest.fixture
def told(logged: list[MutableMapping[str, Any]]) -> Told:
    return Told(logged)


def by_pipes(shelves: Shelves, **more: Any) -> dict[str, Any]:
    return {"mcp_servers": {"stock": {"command": shelves.command(), **more}}}


async def test_a_tool_annotated_read_only_runs_at_once(
    start_server: StartServer, shelves: Shelves, told: Told
) -> None:
    shelves.answer("look", structuredContent={"boxes": 3})
    server = await start_server(in_turn([LOOK], DONE), **by_pipes(shelves))
    await told.of("mcp_server_connected")
    played = await (await server.person()).prompt("How many boxes are there?")
    assert played.names == ["started", "tool_call", "tool_result", "text", "done"]
    assert json.loads(played.results[0].result_json) == {"boxes": 3}
    assert outcomes(server.model.calls[1]) == [
        ToolOutcome("call_look", "stock_look", value={"boxes": 3})
    ]
    (call,) = shelves.noted("look")
    assert call["args"] == {"item": "box"}
    assert call["meta"] == {"parley/idempotencyKey": f"{played.turn_id}/1/0"}


async def test_d6_any_other_waits_for_the_person_and_then_runs_once(
    start_server: StartServer, shelves: Shelves, told: Told
) -> None:
    server = await start_server(in_turn([ORDER], DONE), **by_pipes(shelves))
    await told.of("mcp_server_connected")
    noor = await server.person()
    asked = await noor.prompt("Order a box")
    assert asked.names == GUARDED_PAUSE
    assert asked.ask.origin == asks_pb2.ASK_ORIGIN_APPROVAL
    assert (asked.ask.tool_name, asked.ask.tool_args_json) == ("stock_order", '{"item":"box"}')
    assert asked.ask.input.prompt == "Allow stock_order? Does order."
    assert shelves.noted("order") == []
    approved = await noor.answer(asked.conversation_id, asked.ask.tool_call_id, approval())
    assert approved.names == APPROVED
    (call,) = shelves.noted("order")
    assert call["args"] == {"item": "box"}
    assert call["meta"] == {
        "parley/idempotencyKey": f"{asked.turn_id}/1/0",
        "parley/approvalId": asked.ask.tool_call_id,
    }


async def test_a_denied_call_never_reaches_the_server(
    start_server: StartServer, shelves: Shelves, told: Told
) -> None:
    server = await start_server(in_turn([ORDER], DONE), **by_pipes(shelves))
    await told.of("mcp_server_connected")
    noor = await server.person()
    asked = await noor.prompt("Order a box")
    played = await noor.answer(asked.conversation_id, asked.ask.tool_call_id, denial())
    assert played.done.state == turns_pb2.Turn.STATE_COMPLETED
    assert shelves.noted("order") == []


def tools_told(call: ModelCall) -> list[str]:
    return [tool.name for tool in call.tools if not tool.name.startswith("ask_")]


async def test_a_turn_answers_although_the_server_is_dead(
    start_server: StartServer, warehouse: Warehouses
) -> None:
    server_of_tools = await warehouse()
    await server_of_tools.kill()
    server = await start_server(
        in_turn([Text("Hello.")]), mcp_servers={"stock": {"url": server_of_tools.url}}
    )
    played = await (await server.person()).prompt("Hello")
    assert played.names == ["started", "text", "done"]
    assert tools_told(server.model.calls[0]) == []


async def test_reserved_names_of_a_server_are_left_out(
    start_server: StartServer, shelves: Shelves, told: Told
) -> None:
    shelves.offer(listed("ask_form", READ_ONLY), listed("look", READ_ONLY))
    server = await start_server(in_turn([Text("Hello.")]), **by_pipes(shelves, prefix=""))
    await told.of("mcp_server_connected")
    await (await server.person()).prompt("Hello")
    assert tools_told(server.model.calls[0]) == ["look"]


class Waiting:
    """Somebody who is to approve a call of a server that may die."""

    def __init__(self, server: Server, noor: Person, own: str, approval_id: str) -> None:
        self.server = server
        self.noor = noor
        self.own = own
        self.approval_id = approval_id

    async def is_refused(self) -> None:
        before = await self.noor.messages(self.own)
        error = await refused(self.noor.answer(self.own, self.approval_id, approval()))
        assert error.code() == grpc.StatusCode.FAILED_PRECONDITION
        assert error_of(error).reason == "TOOL_UNAVAILABLE"
        pending = (await self.noor.conversation(self.own)).pending_ask
        assert pending.tool_call_id == self.approval_id
        assert await self.noor.messages(self.own) == before


async def waiting(start_server: StartServer, server_of_tools: HttpWarehouse, told: Told) -> Waiting:
    server = await start_server(
        in_turn([ORDER], DONE), mcp_servers={"stock": {"url": server_of_tools.url}}
    )
    await told.of("mcp_server_connected")
    noor = await server.person()
    asked = await noor.prompt("Order a box")
    return Waiting(server, noor, asked.conversation_id, asked.ask.tool_call_id)


async def test_what_can_t_run_is_not_approved_but_can_be_denied(
    start_server: StartServer, shelves: Shelves, warehouse: Warehouses, told: Told
) -> None:
    server_of_tools = await warehouse()
    case = await waiting(start_server, server_of_tools, told)
    await server_of_tools.kill()
    await told.of("mcp_server_lost")
    await case.is_refused()
    denied = await case.noor.answer(case.own, case.approval_id, denial())
    assert denied.done.state == turns_pb2.Turn.STATE_COMPLETED
    assert shelves.noted("order") == []


async def test_what_can_run_again_is_approved_and_runs_once(
    start_server: StartServer, shelves: Shelves, warehouse: Warehouses, told: Told
) -> None:
    server_of_tools = await warehouse()
    case = await waiting(start_server, server_of_tools, told)
    await server_of_tools.kill()
    await told.of("mcp_server_lost")
    await case.is_refused()
    await warehouse(server_of_tools.port)
    await told.of("mcp_server_connected")
    approved = await case.noor.answer(case.own, case.approval_id, approval())
    assert approved.names == APPROVED
    assert shelves.args("order") == [{"item": "box"}]


async def test_a_server_that_dies_inside_a_call_leaves_the_outcome_open(
    start_server: StartServer, shelves: Shelves, told: Told
) -> None:
    shelves.offer(listed("die", READ_ONLY))
    die = Call("stock_die", {}, "call_die")
    server = await start_server(in_turn([die], DONE), **by_pipes(shelves))
    await told.of("mcp_server_connected")
    played = await (await server.person()).prompt("Try it")
    assert played.names == ["started", "tool_call", "tool_result", "text", "done"]
    assert played.results[0].is_error
    assert "Whether it took effect is not known" in played.results[0].result_json
    assert len(shelves.noted("die")) == 1


async def test_a_call_that_hangs_ends_with_its_time(
    start_server: StartServer, shelves: Shelves, told: Told
) -> None:
    shelves.offer(listed("hang", READ_ONLY))
    hang = Call("stock_hang", {}, "call_hang")
    server = await start_server(in_turn([hang], DONE), **by_pipes(shelves, seconds=0.5))
    await told.of("mcp_server_connected")
    played = await (await server.person()).prompt("Try it")
    assert played.results[0].is_error
    assert "took longer than 0.5 s" in played.results[0].result_json
    await eventually(lambda: bool(shelves.noted("hang cancelled")))

"""The tests' own servers: processes that can be killed, failpoints, holds, tools that count."""

import asyncio
from pathlib import Path

import grpc
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.models.script import Hold, ScriptedMessage, Text, encode
from parleyd.models.scripted import by_progress, in_turn
from parleyd.models.signatures import signed
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.person import accept, refused
from tests.failpoints import Failpoint, Failpoints, Place, block, kill, lose_database, throw
from tests.holds import FileHolds
from tests.scripts import ASK, script_named
from tests.server import Processes, StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import LOOKUP_ID, PLANS, StandardTools, look_up, upsert

DEADLINE = 30


async def test_four_processes_serve_one_conversation_and_every_call_is_counted(
    processes: Processes,
) -> None:
    servers = [await processes.start("LOOKUP") for _ in range(4)]
    noor = [await server.person() for server in servers]
    first = await noor[0].prompt("How many plans are there?")
    for each in noor[1:]:
        await each.prompt("And now?", first.conversation_id)
    assert first.names == ["started", "tool_call", "tool_result", "text", "done"]
    folder = processes.folder
    assert [call.pid for call in folder.model_calls()] == [
        server.pid for server in servers for _ in range(2)
    ]
    assert folder.model_calls()[1].messages == (
        ScriptedMessage("user", (Text("How many plans are there?"),)),
        ScriptedMessage("model", (signed(look_up()),)),
        ScriptedMessage("tool", (ToolOutcome(LOOKUP_ID, "lookup", value=PLANS),)),
    )
    assert [run.pid for run in folder.tool_runs("lookup")] == [server.pid for server in servers]
    assert len({run.key for run in folder.tool_runs()}) == 4
    assert len(folder.title_calls()) == 1


async def test_a_process_is_killed_at_a_failpoint(processes: Processes) -> None:
    server = await processes.start("REPLY", kill("after_tx1", said="Die."))
    noor = await server.person()
    assert (await noor.prompt("Live.")).text == "Hello."
    error = await refused(noor.prompt("Die."))
    assert error.code() == grpc.StatusCode.UNAVAILABLE
    assert await server.wait() == -9
    assert len(processes.folder.model_calls()) == 1


async def test_a_process_can_be_killed_while_its_model_waits(processes: Processes) -> None:
    server = await processes.start("HELD_REPLY")
    noor = await server.person()
    playing = asyncio.create_task(refused(noor.prompt("Hello?")))
    await server.holds.reached("thinking")
    server.kill()
    assert await server.wait() == -9
    assert (await playing).code() == grpc.StatusCode.UNAVAILABLE
    assert [call.pid for call in processes.folder.model_calls()] == [server.pid]


async def test_a_process_that_is_told_to_stop_ends_well(processes: Processes) -> None:
    server = await processes.start("ASK")
    noor = await server.person()
    assert (await noor.prompt("Set up my workspace")).names == ["started", "ask", "done"]
    server.terminate()
    assert await server.wait() == 0


async def test_a_hold_in_a_tool_is_released_for_every_process(processes: Processes) -> None:
    server = await processes.start("HELD_LOOKUP")
    noor = await server.person()
    playing = asyncio.create_task(noor.prompt("How many plans are there?"))
    await server.holds.reached("inside")
    assert not playing.done()
    server.holds.release("inside")
    assert (await playing).text == "There are 3 plans."


async def test_failpoints_are_reached_where_their_transactions_are(
    start_server: StartServer, tmp_path: Path
) -> None:
    points = Failpoints(block("in_tool", said="upsert"), throw("in_log", RuntimeError("full")))
    tools = StandardTools(tmp_path / "runs", points=points)
    server = await start_server(
        by_progress([look_up(), upsert()], [Text("Done.")]),
        tools=tools.hosted,
        wrap_store=points.store,
        wrap_log=points.log,
    )
    noor = await server.person()
    playing = asyncio.create_task(noor.prompt("Count."))
    async with asyncio.timeout(DEADLINE):
        await points.holds.reached("in_tool")
        assert len(tools.runs()) == 2
        points.holds.release("in_tool")
        assert (await playing).text == "Done."
    assert points.reached == {
        **dict.fromkeys(("before_tx1", "after_tx1", "before_tool", "after_txj"), 1),
        **dict.fromkeys(("in_tool", "after_tool_run", "after_txr"), 2),
        **dict.fromkeys(("before_tx2", "after_tx2", "before_close"), 1),
        "in_log": points.reached["in_log"],
    }


@pytest.mark.parametrize(
    ("place", "stored"),
    [
        ("before_tx1", (0, 0, 0, 0)),
        ("after_tx1", (1, 0, 0, 0)),
        ("before_tool", (1, 0, 0, 0)),
        ("after_txj", (1, 1, 0, 0)),
        ("after_tool_run", (1, 1, 0, 0)),
        ("after_txr", (1, 1, 1, 0)),
        ("before_tx2", (1, 1, 1, 0)),
        ("after_tx2", (1, 0, 1, 1)),
        ("before_close", (1, 0, 1, 1)),
    ],
)
async def test_a_failpoint_stands_on_its_side_of_a_transaction(
    start_server: StartServer,
    engine: AsyncEngine,
    tmp_path: Path,
    place: Place,
    stored: tuple[int, ...],
) -> None:
    points = Failpoints(block(place))
    server = await start_server(
        by_progress([look_up()], [Text("Done.")]),
        tools=StandardTools(tmp_path / "runs").hosted,
        wrap_store=points.store,
    )
    noor = await server.person()
    playing = asyncio.create_task(noor.prompt("Count."))
    async with asyncio.timeout(DEADLINE):
        await points.holds.reached(place)
        async with engine.connect() as connection:
            counts = await connection.execute(
                text(
                    "SELECT (SELECT count(*) FROM turns), (SELECT count(*) FROM turn_steps), "
                    "(SELECT count(*) FROM tool_executions WHERE state = 'finished'), "
                    "(SELECT count(*) FROM messages WHERE type = 'assistant')"
                )
            )
            assert tuple(counts.one()) == stored
        points.holds.release(place)
        assert (await playing).text == "Done."


async def test_a_failpoint_means_some_turns_and_the_first_times_only(
    start_server: StartServer,
) -> None:
    points = Failpoints(lose_database("before_tx1", times=1, said="Hello?", kind="prompt"))
    server = await start_server(by_progress([Text("Hello.")]), wrap_store=points.store)
    noor = await server.person()
    assert (await noor.prompt("Anyone?")).text == "Hello."
    error = await refused(noor.prompt("Hello?"))
    assert error.code() == grpc.StatusCode.UNAVAILABLE
    assert (await noor.prompt("Hello?")).text == "Hello."


async def test_a_step_that_lost_its_signature_is_refused(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([ask_plan()]), refusals_expected=True)
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    unsigned = encode([ScriptedMessage("model", (ask_plan(),))])
    async with engine.begin() as connection:
        await connection.execute(
            text("UPDATE turn_steps SET messages = :messages"), {"messages": unsigned}
        )
    # Another process: the one that asked still knows what it was told.
    other = await start_server(in_turn(), refusals_expected=True)
    there = await other.person()
    answered = await there.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert answered.names == ["started", "ask_resolved", "error", "done"]
    assert other.model.refusals == ["the first call of a step, ask_choice, has no signature"]


async def test_two_servers_of_a_test_are_two_holders(start_server: StartServer) -> None:
    first = await start_server(in_turn([Hold("thinking"), Text("Hello.")]))
    second = await start_server(in_turn([Text("Hello too.")]))
    one, other = await first.person(), await second.person()
    playing = asyncio.create_task(one.prompt("Hello?"))
    async with asyncio.timeout(DEADLINE):
        await first.model.holds.reached("thinking")
        assert (await other.prompt("Hello?")).text == "Hello too."
        first.model.holds.release("thinking")
        assert (await playing).text == "Hello."


async def test_holds_in_files_tell_processes_apart(tmp_path: Path) -> None:
    mine, other = FileHolds(tmp_path), FileHolds(tmp_path, pid=1)
    waiting = [asyncio.create_task(mine.wait("gate")) for _ in range(2)]
    await mine.reached("gate", times=2)
    assert (mine.arrivals("gate"), other.arrivals("gate")) == (2, 0)
    other.release("gate")
    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(*waiting)


@pytest.mark.parametrize(
    "point",
    [
        kill("before_tx2", times=2, said='{"action":"decline"}', kind="answer"),
        block("in_tool"),
        lose_database("after_tx2"),
    ],
)
def test_a_failpoint_reaches_a_process_whole(point: Failpoint) -> None:
    assert Failpoint.from_json(point.to_json()) == point


def test_a_failpoint_never_kills_the_tests() -> None:
    with pytest.raises(AssertionError):
        Failpoints(kill("before_tx1"))


def test_scripts_have_names_here_and_elsewhere() -> None:
    assert script_named("ASK") is ASK
    assert script_named("tests.scripts:ASK") is ASK

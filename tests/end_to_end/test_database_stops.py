"""PostgreSQL stops and comes back while turns run: nothing is half saved, and all of them end."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import grpc
import pytest

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.models.script import Hold, ScriptedStep, Text, last_prompt
from parleyd.models.scripted import by_progress
from parleyd.store.migrate import migrate
from parleyd.turns.model import ModelCall
from parleyd.turns.writing import WAITS
from tests.end_to_end.leftovers import nobody_follows, open_streams
from tests.end_to_end.person import Person, Played, refused
from tests.server import Server, StartServer
from tests.standard_asks import ask_plan
from tests.standard_tools import StandardTools, look_up

pytestmark = pytest.mark.alone

TURNS = 20
DEADLINE = 60
RETRIES = sum(WAITS)
COUNTED = "There are 3 plans."


START = """
import sys
from pathlib import Path
from parleyd.app.embedded_postgres import start
print(start(Path(sys.argv[1]), fsync="off", max_connections="60").url)
"""


class OwnPostgres:
    """A server of this test's own, which can be stopped and started.

    Another process starts it: the programs of a process with gRPC in it may crash as they begin.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._pid_file = home / "data/postmaster.pid"

    async def start(self) -> str:
        """Starts it with the data that it has, and returns its address."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", START, str(self._home), stdout=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(DEADLINE):
            said, _ = await process.communicate()
        assert process.returncode == 0
        return said.decode().strip()

    async def stop(self) -> None:
        """Stops it, ending its connections. A repeat changes nothing."""
        if self._pid_file.exists():
            os.kill(int(self._pid_file.read_text().split()[0]), signal.SIGINT)
        async with asyncio.timeout(DEADLINE):
            while self._pid_file.exists():
                await asyncio.sleep(0.05)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter, not below pytest's: a socket's address has to be short."""
    path = Path(tempfile.mkdtemp(prefix="parley-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
async def own_postgres(folder: Path) -> AsyncIterator[OwnPostgres]:
    postgres = OwnPostgres(folder / "postgres")
    yield postgres
    await postgres.stop()


def held(call: ModelCall) -> ScriptedStep:
    """Waits where the prompt says, so that turns of every sort run when the database stops."""
    match last_prompt(call.messages).split():
        case ["thinking", hold]:
            steps = [[Text("There are "), Hold(hold), Text("3 plans.")]]
        case ["counting", hold]:
            steps = [[look_up(hold=hold)], [Text(COUNTED)]]
        case ["asking", hold]:
            steps = [[Hold(hold), ask_plan()]]
        case ["again", hold]:
            steps = [[look_up()], [Hold(hold), Text(COUNTED)]]
        case _:
            steps = [[Text("Hello.")]]
    return by_progress(*steps)(call)


KINDS = ("thinking", "counting", "asking", "again")
ROWS = {
    "thinking": ["user", "assistant"],
    "counting": ["user", "tool_call", "tool_result", "assistant"],
    "asking": ["user", "tool_call"],
    "again": ["user", "tool_call", "tool_result", "assistant"],
}
"""All that a turn of each sort stores: with TX2, or never."""


@pytest.mark.parametrize("seconds", [1, 6], ids=["a moment", "longer than a write is tried"])
async def test_f25_turns_outlive_a_restart_of_the_database(
    start_server: StartServer, own_postgres: OwnPostgres, tmp_path: Path, seconds: float
) -> None:
    url = await own_postgres.start()
    await migrate(url)
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(held, database_url=url, tools=tools.hosted, owner_turns=100)
    other = await start_server(held, database_url=url, tools=tools.hosted, owner_turns=100)
    noor, far_noor = await server.person(), await other.person()
    # The early ones meet a database that is away; the late ones one that is back.
    prompts = [
        f"{KINDS[number % len(KINDS)]} {'early' if number % 2 else 'late'}{number % 3}"
        for number in range(TURNS)
    ]
    playing = [asyncio.create_task(whole_or_unavailable(noor, prompt)) for prompt in prompts]
    async with asyncio.timeout(DEADLINE):
        for hold, times in Counter(prompt.split()[1] for prompt in prompts).items():
            await reached(server, tools, hold, times, prompts)

    await own_postgres.stop()
    release(server, other, tools, "early", prompts)
    error = await refused(noor.prompt("Hello?"))
    await asyncio.sleep(seconds)  # writes fail meanwhile, and are tried again
    assert await own_postgres.start() == url
    release(server, other, tools, "late", prompts)

    played = await asyncio.gather(*playing)
    connection = await asyncpg.connect(url)
    try:
        async with asyncio.timeout(DEADLINE):
            while await connection.fetchval("SELECT count(*) FROM turns WHERE state <> 'closed'"):
                await asyncio.sleep(0.1)
            while await connection.fetchval(LISTENERS) != 2:
                await asyncio.sleep(0.1)
        await all_or_nothing(connection, prompts)
    finally:
        await connection.close()
    assert error.code() == grpc.StatusCode.UNAVAILABLE
    assert error_of(error).reason == "UNAVAILABLE"
    assert len(tools.runs()) == sum(prompt.startswith(("counting", "again")) for prompt in prompts)
    whole = sum(each.names[-1] == "done" for each in played)
    assert whole == TURNS if seconds < RETRIES else 0 < whole < TURNS
    for device in (noor, far_noor):
        again = await device.prompt("Hello?")
        assert again.text == "Hello."
        assert (await noor.watch(again.conversation_id, again.turn_id)).names == again.names
    await nobody_follows()
    assert open_streams("noor") == 0


LISTENERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'parleyd'"
    " AND query LIKE 'LISTEN%'"
)


async def whole_or_unavailable(noor: Person, prompt: str) -> Played:
    """Plays a turn to its end, or as far as a database that is away lets it."""
    played, ended = Played(), grpc.StatusCode.OK
    request = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text=prompt))
    try:
        async for event in noor.stream(request):
            played.events.append(event)
    except grpc.aio.AioRpcError as error:
        ended = error.code()
    whole = played.names[-1] == "done"
    assert ended == (grpc.StatusCode.OK if whole else grpc.StatusCode.UNAVAILABLE)
    return played


async def reached(
    server: Server, tools: StandardTools, hold: str, times: int, prompts: list[str]
) -> None:
    """Waits until every turn of a hold is there, in its tool or in its model call."""
    in_tool = prompts.count(f"counting {hold}")
    await tools.holds.reached(hold, in_tool)
    await server.model.holds.reached(hold, times - in_tool)


def release(
    server: Server, other: Server, tools: StandardTools, which: str, prompts: list[str]
) -> None:
    for hold in {prompt.split()[1] for prompt in prompts}:
        if hold.startswith(which):
            for holds in (server.model.holds, other.model.holds, tools.holds):
                holds.release(hold)


async def all_or_nothing(
    connection: "asyncpg.Connection[asyncpg.Record]", prompts: list[str]
) -> None:
    """Checks that each turn has stored all its rows, and its events without a gap."""
    turns = await connection.fetch(
        "SELECT id, outcome, last_event,"
        " (SELECT array_agg(type ORDER BY position) FROM messages WHERE turn_id = turns.id) rows,"
        " (SELECT max(text) FROM messages WHERE turn_id = turns.id AND type = 'user') prompt,"
        " (SELECT array_agg(sequence ORDER BY sequence) FROM turn_events"
        "  WHERE turn_id = turns.id) events,"
        " (SELECT count(*) FROM asks WHERE created_by_turn = turns.id AND status = 'pending') asks,"
        " (SELECT count(*) FROM turn_steps WHERE turn_id = turns.id) steps"
        " FROM turns"
    )
    assert sorted(turn["prompt"] for turn in turns) == sorted(prompts)
    for turn in turns:
        kind = turn["prompt"].split()[0]
        asks = kind == "asking"
        assert turn["outcome"] == ("paused" if asks else "completed")
        assert turn["rows"] == ROWS[kind]
        assert turn["events"] == list(range(1, turn["last_event"] + 1))
        assert (turn["asks"], turn["steps"]) == ((1, 1) if asks else (0, 0))

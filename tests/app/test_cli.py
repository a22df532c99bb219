"""The command line, as processes of its own."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import grpc
import jwt
import pytest

import parley
from parley.v1.block_generation_pb2 import GenerateBlocksRequest
from parley.v1.turns_pb2 import PromptInput, StreamTurnRequest, TurnEvent, WatchTurnRequest
from parleyd.app.wiring import STOP_SECONDS
from tests.app.health import is_healthy, until_refused
from tests.app.processes import DEADLINE, environment, names_in, processes_in, run, serve, stop
from tests.database import Server
from tests.end_to_end.person import Person, refused
from tests.models.fake_gemini import FakeGemini, frame


async def test_help_is_quick_because_it_loads_nothing_heavy() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import sys, parleyd.app.cli; print(*sys.modules)",
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    heavy = {"google", "grpc", "pydantic", "questionary", "sqlalchemy", "structlog"}
    assert heavy.isdisjoint(out.decode().split())


async def test_help_names_the_commands(tmp_path: Path) -> None:
    ended = await run("--help", env=environment(tmp_path))
    assert ended.code == 0
    for command in ("serve", "migrate", "token", "demo", "chat", "asks", "notices"):
        assert command in ended.out


# ---------------------------------------------------------------- what stops the start


@dataclass(frozen=True)
class Stopped:
    """A command that can't be run, and the sentence that says so."""

    name: str
    arguments: list[str]
    sentence: str
    variables: dict[str, str] = field(default_factory=dict[str, str])
    code: int = 2


STOPPED = [
    Stopped(
        "serving without an issuer",
        ["serve"],
        "Nobody is trusted to issue tokens: set PARLEY_JWT_ISSUER and either PARLEY_JWKS_URL or "
        "PARLEY_JWKS_FILE, or start with --development on a machine of your own.",
    ),
    Stopped(
        "serving with an issuer without keys",
        ["serve"],
        "There is no way to check the tokens of https://issuer: set PARLEY_JWKS_URL or "
        "PARLEY_JWKS_FILE.",
        {"PARLEY_JWT_ISSUER": "https://issuer"},
    ),
    Stopped(
        "an unknown variable",
        ["serve", "--development"],
        "There is no setting PARLEY_PROT: write PARLEY_PORT, or leave it out.",
        {"PARLEY_PROT": "1"},
    ),
    Stopped(
        "a contradiction",
        ["serve", "--development"],
        "In development the service listens on this machine alone, not on '0.0.0.0': leave "
        "PARLEY_HOST out, or leave development and configure an issuer.",
        {"PARLEY_HOST": "0.0.0.0"},
    ),
    Stopped(
        "a malformed database address",
        ["migrate"],
        "PARLEY_DATABASE_URL can't be read as an address: write postgresql://user:password"
        "@host:port/name and percent-encode what is special in the password.",
        {"PARLEY_DATABASE_URL": "postgresql://u:se/cret@h:port/d"},
    ),
    Stopped(
        "a database that is not there",
        ["migrate"],
        "The database can't be reached: ",
        {"PARLEY_DATABASE_URL": "postgresql://u:secret@127.0.0.1:1/d"},
        code=1,
    ),
    Stopped(
        "tokens outside development",
        ["token"],
        "In development the service signs tokens with a key of its own, so PARLEY_JWT_ISSUER is "
        "of no use: leave it out, or leave development.",
        {"PARLEY_JWT_ISSUER": "https://issuer"},
    ),
    Stopped(
        "a chat with nobody",
        ["chat", "--target", "127.0.0.1:1"],
        "127.0.0.1:1: The service can't be reached.",
        code=1,
    ),
]


@pytest.mark.parametrize("stopped", STOPPED, ids=lambda stopped: stopped.name)
async def test_a_command_that_can_not_run_says_so_in_a_sentence(
    stopped: Stopped, tmp_path: Path
) -> None:
    ended = await run(*stopped.arguments, env=environment(tmp_path, **stopped.variables))
    assert ended.code == stopped.code
    assert ended.err.startswith(f"parleyd: {stopped.sentence}")
    assert "Traceback" not in ended.err
    assert "secret" not in ended.err
    assert "se/cret" not in ended.err


USAGE = [
    (["token", "--lifetime", "soon"], "Write a number and a unit: 90s, 30m, 12h or 7d."),
    (["token", "--lifetime", "0h"], "Write a number and a unit: 90s, 30m, 12h or 7d."),
    (
        ["token", "--service", "a", "--scope", "b", "--subject", "c"],
        "A token speaks for a person or a service: leave one out.",
    ),
    (["token", "--service", "a"], "A token of a service needs --service and --scope, both."),
    (["token", "--scope", "b"], "A token of a service needs --service and --scope, both."),
    (["chat", "--token", "x"], "A token is of use with --target alone."),
    (["serve", "--port", "65536"], "Input should be less than or equal to 65535"),
    (["sing"], "No such command 'sing'"),
]


@pytest.mark.parametrize(("arguments", "sentence"), USAGE, ids=lambda value: " ".join(value[:3]))
async def test_wrong_arguments_are_explained(
    arguments: list[str], sentence: str, tmp_path: Path
) -> None:
    ended = await run(*arguments, env=environment(tmp_path, COLUMNS="200"))
    assert ended.code == 2
    assert sentence in ended.err


# ---------------------------------------------------------------- migrate, token, demo


async def test_migrate_makes_the_tables_and_a_repeat_changes_nothing(
    postgres: Server, tmp_path: Path
) -> None:
    url = await postgres.make("template1")
    try:
        env = environment(tmp_path, PARLEY_DATABASE_URL=url)
        for _ in range(2):
            ended = await run("migrate", env=env)
            assert (ended.code, ended.out) == (0, "The database is at this version.\n")
        connection = await asyncpg.connect(url)
        try:
            assert await connection.fetchval("SELECT count(*) FROM conversations") == 0
        finally:
            await connection.close()
    finally:
        await postgres.drop(url)


async def test_a_token_speaks_for_whom_it_says_and_as_long(tmp_path: Path) -> None:
    ended = await run("token", "--subject", "noor", "--lifetime", "30m", env=environment(tmp_path))
    assert ended.code == 0
    claims = jwt.decode(ended.out.strip(), options={"verify_signature": False})
    assert claims["sub"] == "noor"
    assert claims["exp"] - claims["iat"] == 30 * 60


async def test_a_token_of_a_service_says_what_it_may_do(tmp_path: Path) -> None:
    scopes = ("--scope", "blocks.generate", "--scope", "asks.write")
    ended = await run("token", "--service", "reports", *scopes, env=environment(tmp_path))
    assert ended.code == 0
    claims = jwt.decode(ended.out.strip(), options={"verify_signature": False})
    assert (claims["sub"], claims["aud"]) == ("reports", "parley-internal")
    assert claims["scope"] == "blocks.generate asks.write"


async def test_the_demo_plays_to_its_end_and_leaves_nothing_behind(open_folder: Path) -> None:
    ended = await run("demo", env=environment(open_folder / "data", TMPDIR=str(open_folder)))
    assert ended.code == 0, ended.err
    assert ended.err == ""
    assert "Your workspace is on the Team plan now." in ended.out
    assert "your completed todos are deleted" in ended.out
    assert names_in(open_folder) == []


async def test_the_demo_fails_with_a_sentence_where_there_is_no_database(
    open_folder: Path,
) -> None:
    programs = open_folder / "postgres" / "bin"
    programs.mkdir(parents=True)
    for name in ("initdb", "postgres"):
        (programs / name).write_text("#!/bin/sh\necho no disk; exit 1\n")
        (programs / name).chmod(0o755)
    ended = await run("demo", env=environment(open_folder, PARLEY_PG_HOME=str(programs.parent)))
    assert ended.code == 1
    assert ended.err.startswith("parleyd: PostgreSQL can't make its data in ")
    assert ended.err.endswith("no disk\n\n")
    assert "Traceback" not in ended.err


async def test_the_demo_heeds_no_settings(open_folder: Path) -> None:
    env = environment(
        open_folder, TMPDIR=str(open_folder), PARLEY_DATABASE_URL="nonsense", GEMINI_API_KEY="k"
    )
    ended = await run("demo", env=env)
    assert ended.code == 0, ended.err


# ---------------------------------------------------------------- serve


async def test_serve_answers_with_a_database_of_its_own_and_stops_when_told(
    open_folder: Path,
) -> None:
    env = environment(open_folder, PARLEY_MODEL="demo")
    async with serve("--development", "--port", "0", env=env) as serving:
        assert await is_healthy(serving.address)
        async with parley.connect(serving.address, serving.token) as client:
            played = await Person(client).prompt("Set up my plan")
        assert played.names == ["started", "ask", "done"]
        assert await stop(serving.process) == 0
    async with serve("--development", "--port", "0", env=env) as again:
        async with parley.connect(again.address, serving.token) as client:
            (pending,) = await Person(client).pending()
        assert pending.tool_call_id == played.ask.tool_call_id


@pytest.mark.alone  # the signal has to come before the reply is over
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name
)
async def test_a_turn_that_runs_when_serve_is_stopped_goes_on_with_the_next(
    number: signal.Signals, database_url: str, tmp_path: Path
) -> None:
    env = environment(tmp_path, PARLEY_DATABASE_URL=database_url)
    async with (
        serve("--development", "--port", "0", env=env) as serving,
        parley.connect(serving.address, serving.token) as client,
    ):
        prompt = StreamTurnRequest(prompt=PromptInput(text="What can you do?"))
        events = Person(client).stream(prompt)
        started = await anext(events)
        serving.process.send_signal(number)
        error = await refused(_all_of(events))
        assert error.code() == grpc.StatusCode.UNAVAILABLE
        async with asyncio.timeout(DEADLINE):
            assert await serving.process.wait() == 0
    async with (
        serve("--development", "--port", "0", env=env) as serving,
        parley.connect(serving.address, serving.token) as client,
        asyncio.timeout(DEADLINE),
    ):
        request = WatchTurnRequest(
            conversation_id=started.started.conversation_id,
            turn_id=started.turn_id,
            after_sequence=started.sequence,
        )
        rest = [each.event async for each in client.turns.WatchTurn(request)]
        stored = [event.WhichOneof("event") for event in rest if event.sequence]
        # A process that was about to take turns when it was told to stop may have taken its own.
        *resumed, text, done = stored
        assert set(resumed) == {"resumed"}
        assert (text, done) == ("text", "done")
        assert rest[-1].done.title


async def _all_of(events: AsyncIterator[TurnEvent]) -> list[TurnEvent]:
    return [event async for event in events]


SLOW_TOOL = """
import asyncio

from parleyd.tools import tool


@tool
async def look_around() -> None:
    '''Takes a long look.'''
    await asyncio.sleep(600)
"""


@pytest.mark.alone  # it takes as long as a tool may, and hardly more
async def test_a_second_signal_stops_without_waiting_for_tools(
    open_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "slow_tools.py").write_text(SLOW_TOOL)
    gemini = FakeGemini()
    gemini.answer(frame({"functionCall": {"name": "look_around", "args": {}}}, finish="STOP"))
    async with gemini.serving():
        env = environment(
            open_folder,
            GEMINI_API_KEY="AIza-key",
            PARLEY_GEMINI_BASE_URL=gemini.url,
            PARLEY_TOOLS="slow_tools",
            PYTHONPATH=str(tmp_path),
        )
        async with (
            asyncio.timeout(STOP_SECONDS),
            serve("--development", "--port", "0", env=env) as serving,
            parley.connect(serving.address, serving.token) as client,
        ):
            called = asyncio.Event()
            turn = asyncio.create_task(refused(_until_called(Person(client), called)))
            await called.wait()
            serving.process.send_signal(signal.SIGTERM)
            await until_refused(serving.address)
            assert serving.process.returncode is None
            serving.process.send_signal(signal.SIGTERM)
            assert await serving.process.wait() == 1
            await turn
    assert processes_in(open_folder) == []


async def _until_called(person: Person, called: asyncio.Event) -> None:
    prompt = StreamTurnRequest(prompt=PromptInput(text="Look around"))
    async for event in person.stream(prompt):
        if event.HasField("tool_call"):
            called.set()


async def test_the_tokens_of_the_token_command_count(database_url: str, tmp_path: Path) -> None:
    env = environment(tmp_path, PARLEY_DATABASE_URL=database_url)
    token = (await run("token", "--subject", "noor", env=env)).out.strip()
    as_service = ("token", "--service", "reports", "--scope", "blocks.generate")
    service_token = (await run(*as_service, env=env)).out.strip()
    async with serve("--development", "--port", "0", env=env) as serving:
        async with parley.connect(serving.address, token) as client:
            assert await Person(client).pending() == []
        async with parley.connect(serving.address, service_token) as client:
            await client.generation.GenerateBlocks(GenerateBlocksRequest(prompt="Hello"))
        async with parley.connect(serving.address, token[:-4]) as client:
            error = await refused(Person(client).pending())
        assert error.code() == grpc.StatusCode.UNAUTHENTICATED


async def test_a_port_that_is_taken_is_said_so(database_url: str, tmp_path: Path) -> None:
    env = environment(tmp_path, PARLEY_DATABASE_URL=database_url)
    async with serve("--development", "--port", "0", env=env) as serving:
        port = serving.address.rpartition(":")[2]
        ended = await run("serve", "--development", "--port", port, env=env)
    assert ended.code == 1
    assert f"parleyd: The address 127.0.0.1:{port} can't be had; it may be in use" in ended.err
    assert "Traceback" not in ended.err


async def test_in_production_nothing_is_printed_but_the_address(
    database_url: str, tmp_path: Path
) -> None:
    keys = tmp_path / "key.pem"
    keys.write_text(PUBLIC_KEY)
    env = environment(
        tmp_path,
        PARLEY_DATABASE_URL=database_url,
        PARLEY_JWT_ISSUER="https://issuer",
        PARLEY_JWKS_FILE=str(keys),
        PARLEY_PORT="0",
    )
    async with serve(env=env) as serving:
        assert await is_healthy(serving.address)
        assert await stop(serving.process) == 0
        assert serving.process.stdout
        assert await serving.process.stdout.read() == b""


PUBLIC_KEY = """-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
-----END PUBLIC KEY-----
"""

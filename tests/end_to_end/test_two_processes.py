"""Two server processes share one database; one answer of fifty wins."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import grpc

import parley
from parley import error_of
from parley.v1 import conversations_pb2
from parleyd.app.development_key import DevelopmentKey
from tests.end_to_end.person import Person, Played, accept
from tests.server import LIFETIME

CLIENTS = 50
ROUNDS = 20
PLANS = ("starter", "team", "enterprise")


@asynccontextmanager
async def server_process(database_url: str, data_dir: Path) -> AsyncGenerator[str]:
    """Runs `parleyd serve` on a free port and yields its address; stops it by its id."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "parleyd.app.cli",
        "serve",
        "--development",
        "--port",
        "0",
        env={
            **{key: value for key, value in os.environ.items() if not key.startswith("PARLEY_")},
            "PARLEY_DATABASE_URL": database_url,
            "PARLEY_DATA_DIR": str(data_dir),
            "PARLEY_MODEL": "demo",
        },
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout
        async with asyncio.timeout(30):
            line = (await process.stdout.readline()).decode()
        yield line.removeprefix("Parley listens on ").strip().rstrip(".")
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()


async def test_of_fifty_answers_on_two_processes_one_wins(
    database_url: str, tmp_path: Path
) -> None:
    key = DevelopmentKey.in_folder(tmp_path)
    async with AsyncExitStack() as stack:
        addresses = [
            await stack.enter_async_context(server_process(database_url, tmp_path))
            for _ in range(2)
        ]
        devices = [
            Person(
                await stack.enter_async_context(
                    parley.connect(addresses[number % 2], key.issue("noor", LIFETIME))
                )
            )
            for number in range(CLIENTS)
        ]
        for _ in range(ROUNDS):
            await _race(devices)


async def _race(devices: list[Person]) -> None:
    asked = await devices[0].prompt("Set up my plan")
    picks = [PLANS[number % len(PLANS)] for number in range(len(devices))]

    outcomes = await asyncio.gather(
        *[
            device.answer(asked.conversation_id, asked.ask.tool_call_id, accept(pick))
            for device, pick in zip(devices, picks, strict=True)
        ],
        return_exceptions=True,
    )

    won = [place for place, outcome in enumerate(outcomes) if isinstance(outcome, Played)]
    assert len(won) == 1
    winner = outcomes[won[0]]
    assert isinstance(winner, Played)
    for outcome in outcomes[: won[0]] + outcomes[won[0] + 1 :]:
        assert isinstance(outcome, grpc.aio.AioRpcError)
        assert outcome.code() == grpc.StatusCode.ABORTED
        assert error_of(outcome).metadata["resolved_by_turn_id"] == winner.turn_id
    results = [
        message
        for message in await devices[1].messages(asked.conversation_id)
        if message.type == conversations_pb2.Message.TYPE_TOOL_RESULT
    ]
    assert [result.ask.answer for result in results] == [accept(picks[won[0]])]

"""A process that slept through its leases wakes, when others have gone on with its turns (15.6).

It slept at every place of a turn. All of it happens once, side by side.
"""

import asyncio
import signal
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.database import Server as DatabaseServer
from tests.end_to_end.crash_scene import Stood, scene, stored
from tests.end_to_end.crash_table import (
    IN_MODEL,
    IN_SECOND_CALL,
    IN_TITLE,
    INSIDE,
    LATE_CALL,
    ROWS,
    Row,
)
from tests.end_to_end.rows import types

EVERY = [*ROWS, IN_TITLE]


@dataclass
class Night:
    """What became of turns whose processes slept, before and after these woke.

    `before` and `after` are all that is stored, `seen` is how the turns looked just before.
    """

    stood: dict[str, Stood]
    pids: set[int]
    before: dict[str, list[str]]
    after: dict[str, list[str]]
    counts: dict[str, tuple[int, int, int]]
    exit_codes: list[int]


@pytest.fixture(scope="module")
def night(postgres: DatabaseServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[Night]:
    url = asyncio.run(postgres.make())
    yield asyncio.run(_night(url, tmp_path_factory.mktemp("night")))
    asyncio.run(postgres.drop(url))


async def _night(url: str, path: Path) -> Night:
    async with scene(url, path, ROWS) as sleeping:
        sleeping.send(signal.SIGSTOP)
        sleeping.survivor.holds.release(INSIDE)
        await sleeping.watched()
        await sleeping.look()
        before = await stored(url)
        counts = {each.row.name: _counts(each) for each in sleeping.stood.values()}
        for row in EVERY:
            # This one model call still hangs when its process wakes, all others go on at once.
            if row is not IN_MODEL:
                sleeping.survivor.holds.release(row.waits_at)
        sleeping.send(signal.SIGCONT)
        await sleeping.told()
        for process in sleeping.ending:
            process.terminate()
        exit_codes = [await process.wait() for process in sleeping.ending]
        await sleeping.look()
        after = await stored(url)
        return Night(sleeping.stood, sleeping.pids, before, after, counts, exit_codes)


def _counts(stood: Stood) -> tuple[int, int, int]:
    return len(stood.calls), len(stood.runs), stood.titles


def test_c10_a_stale_runner_writes_nothing(night: Night) -> None:
    assert night.after == night.before
    assert night.exit_codes == [0, 0]


@pytest.mark.parametrize("row", EVERY, ids=lambda row: row.waits_at)
def test_c10_a_stale_runner_runs_no_tool_and_calls_no_model(night: Night, row: Row) -> None:
    stood = night.stood[row.name]
    assert _counts(stood) == night.counts[row.name]
    assert _counts(stood) == (sum(row.calls), sum(row.runs), row.titles)


@pytest.mark.parametrize("row", EVERY, ids=lambda row: row.waits_at)
def test_c10_clients_of_a_stale_runner_see_the_events_of_the_other(night: Night, row: Row) -> None:
    stood = night.stood[row.name]
    assert stood.own.names == row.events.split()
    assert stood.own.events == stood.watched.events
    assert stood.own_error is None


def test_c10_a_call_that_hangs_when_its_process_wakes_is_given_up(night: Night) -> None:
    stood = night.stood[IN_MODEL.name]
    assert [call.pid in night.pids for call in stood.calls] == [True, False]
    assert stood.own.names == ["started", "resumed", "text", "done"]


def test_c10_what_a_model_says_after_its_turn_was_taken_counts_for_nothing(night: Night) -> None:
    late = night.stood[LATE_CALL.name]
    assert [run.pid in night.pids for run in late.runs] == [False]
    second = night.stood[IN_SECOND_CALL.name]
    assert second.lines[-1].text == second.watched.text
    assert types(second.lines).count("assistant") == 1

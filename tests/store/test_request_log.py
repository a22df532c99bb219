"""The request log at the store: what its lines hold, how they are written, and what is lost."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from time import monotonic
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Connection, event, text
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs

from parleyd.store.engine import create_engine
from parleyd.store.requests import (
    LEAVE_SECONDS,
    LINES_KEPT,
    LINES_WRITTEN,
    WRITE_SECONDS,
    PostgresRequestLog,
)
from parleyd.turns.request_log import LoggedRequest
from tests.docs.pages import REFERENCE, read_page, table_of

SECRET = "a secret of Ada's"
LINE = LoggedRequest(
    owner="ada",
    conversation_id=uuid4(),
    turn_id=uuid4(),
    request_type="general",
    ai_model="scripted-1",
    prompt="Set me up",
    response="Done.",
    error=None,
    response_time_ms=120,
    tokens_used=34,
)


def said(*prompts: str) -> list[LoggedRequest]:
    return [replace(LINE, prompt=prompt) for prompt in prompts]


async def write(engine: AsyncEngine, *lines: LoggedRequest) -> None:
    """Logs lines and leaves the log."""
    async with PostgresRequestLog(engine) as requests:
        for line in lines:
            await requests.log_request(line)


async def rows(engine: AsyncEngine, columns: str = "prompt") -> list[Any]:
    async with engine.connect() as connection:
        found = await connection.execute(text(f"SELECT {columns} FROM ai_requests ORDER BY id"))
        return [tuple(row) for row in found]


async def wait_for_rows(engine: AsyncEngine, count: int) -> None:
    async with asyncio.timeout(5):
        while len(await rows(engine)) < count:
            pass


class Inserts:
    """When lines were written, one time for each statement that did it."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.times: list[float] = []
        event.listen(engine.sync_engine, "before_cursor_execute", self._count)

    def _count(self, connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        del connection, cursor
        if "INSERT INTO ai_requests" in statement:
            self.times.append(monotonic())


@asynccontextmanager
async def locked_table(engine: AsyncEngine) -> AsyncGenerator[None]:
    """Keeps everyone from the table, as a migration may."""
    async with engine.begin() as connection:
        await connection.execute(text("LOCK TABLE ai_requests"))
        yield


# ---------------------------------------------------------------- what a line holds


async def test_a_line_is_a_row(engine: AsyncEngine) -> None:
    asked = {"ask": {"kind": "choice", "phase": "asked", "tool_call_id": "call_plan"}}

    await write(engine, replace(LINE, metadata=asked))

    fields = (
        "owner, conversation_id, turn_id, ai_model, request_type, prompt, response, error, "
        "response_time_ms, tokens_used, metadata"
    )
    assert await rows(engine, fields) == [
        (
            *("ada", LINE.conversation_id, LINE.turn_id, "scripted-1", "general"),
            *("Set me up", "Done.", None, 120, 34, asked),
        )
    ]
    ((age,),) = await rows(engine, "extract(epoch FROM now() - create_time)::float")
    assert 0 <= age < 60


async def test_what_a_line_lacks_is_null_and_what_is_empty_is_not(engine: AsyncEngine) -> None:
    failed = replace(LINE, response=None, error="503 from the provider", tokens_used=None)
    asked_only = replace(LINE, response="")

    await write(engine, failed, asked_only)

    assert await rows(engine, "response, error, tokens_used, metadata IS NULL") == [
        (None, "503 from the provider", None, True),
        ("", None, 34, True),
    ]


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        pytest.param("a\x00b", "a\ufffdb", id="a null"),
        pytest.param("half \ud83d", "half \ufffd", id="half a pair"),
        pytest.param("\udc00\x00", "\ufffd\ufffd", id="both"),
        pytest.param("😀 ü \u2028", "😀 ü \u2028", id="characters of every length"),
        pytest.param("'; DROP TABLE ai_requests; --", "'; DROP TABLE ai_requests; --", id="sql"),
        pytest.param("\\u0000 $1 %s {x}", "\\u0000 $1 %s {x}", id="what looks like a place"),
    ],
)
async def test_h7_logged_texts_are_data(engine: AsyncEngine, written: str, stored: str) -> None:
    line = replace(
        LINE,
        ai_model=written,
        prompt=written,
        response=written,
        error=written,
        metadata={"ask": [written]},
    )

    await write(engine, line, LINE)

    first, second = await rows(engine, "ai_model, prompt, response, error, metadata")
    assert first == (stored, stored, stored, stored, {"ask": [stored]})
    assert second == ("scripted-1", "Set me up", "Done.", None, None)


async def test_long_texts_are_kept_whole(engine: AsyncEngine) -> None:
    long = [f"{number}{'ß' * 100_000}" for number in range(20)]

    await write(engine, *said(*long))

    assert await rows(engine) == [(prompt,) for prompt in long]


# ---------------------------------------------------------------- how lines are written


async def test_lines_that_come_together_are_one_statement(engine: AsyncEngine) -> None:
    inserts = Inserts(engine)
    prompts = [str(number) for number in range(50)]

    async with PostgresRequestLog(engine) as requests:
        for line in said(*prompts):
            await requests.log_request(line)
        await wait_for_rows(engine, 50)

        assert len(inserts.times) == 1
    assert await rows(engine) == [(prompt,) for prompt in prompts]


async def test_a_line_is_written_while_the_log_stays_open(engine: AsyncEngine) -> None:
    async with PostgresRequestLog(engine) as requests:
        for count in range(1, 4):
            await requests.log_request(LINE)
            await wait_for_rows(engine, count)


async def test_a_line_after_a_quiet_time_is_written(engine: AsyncEngine) -> None:
    async with PostgresRequestLog(engine) as requests:
        quiet_until = monotonic() + 2 * WRITE_SECONDS
        while monotonic() < quiet_until:
            assert await rows(engine) == []
        await requests.log_request(LINE)
        await wait_for_rows(engine, 1)


async def test_writes_keep_their_distance(engine: AsyncEngine) -> None:
    inserts = Inserts(engine)

    async with PostgresRequestLog(engine) as requests:
        while len(inserts.times) < 4:
            await requests.log_request(LINE)
            await rows(engine)

        times = inserts.times[:4]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) >= WRITE_SECONDS * 0.99
    assert max(gaps) < WRITE_SECONDS + 1


async def test_leaving_the_log_writes_what_is_left_at_once(engine: AsyncEngine) -> None:
    inserts = Inserts(engine)
    count = 2 * LINES_WRITTEN + 1

    await write(engine, *[LINE] * count)

    assert len(await rows(engine)) == count
    assert len(inserts.times) == 3
    assert inserts.times[-1] - inserts.times[0] < WRITE_SECONDS * 2


async def test_lines_that_came_before_the_log_was_entered_are_written(engine: AsyncEngine) -> None:
    requests = PostgresRequestLog(engine)
    await requests.log_request(LINE)

    async with requests:
        await wait_for_rows(engine, 1)


async def test_a_log_that_is_never_used_writes_nothing(engine: AsyncEngine) -> None:
    inserts = Inserts(engine)

    await write(engine)

    assert inserts.times == []


# ---------------------------------------------------------------- what is lost


async def test_a_write_that_fails_loses_its_lines_alone_and_says_no_word_of_them(
    engine: AsyncEngine,
) -> None:
    async with engine.begin() as connection:
        await connection.execute(
            text("ALTER TABLE ai_requests ADD CHECK (prompt NOT LIKE '%Ada%')")
        )

    with capture_logs() as logs:
        async with PostgresRequestLog(engine) as requests:
            for line in said(SECRET, "with it"):
                await requests.log_request(line)
            async with asyncio.timeout(5):
                while not logs:
                    await asyncio.sleep(0)
            await requests.log_request(LINE)
            await wait_for_rows(engine, 1)

    assert logs == [
        {
            "event": "request_log_failed",
            "lines": 2,
            "error": "IntegrityError",
            "log_level": "warning",
        }
    ]
    assert await rows(engine) == [("Set me up",)]


async def test_no_database_is_no_fault_of_whoever_logs() -> None:
    nowhere = create_engine("postgresql://nobody@127.0.0.1:1/none", pool_size=1)

    with capture_logs() as logs:
        await write(nowhere, LINE, LINE)

    assert [(line["event"], line["lines"], line["error"]) for line in logs] == [
        ("request_log_failed", 2, "Unavailable")
    ]


async def test_lines_beyond_what_is_kept_are_lost_and_counted(engine: AsyncEngine) -> None:
    requests = PostgresRequestLog(engine)
    for number in range(LINES_KEPT + 3):
        await requests.log_request(replace(LINE, response_time_ms=number))

    with capture_logs() as logs:
        async with requests:
            pass

    ((count, last),) = await _stretch(engine)
    assert (count, last) == (LINES_KEPT, LINES_KEPT - 1)
    assert logs == [{"event": "request_log_full", "lines": 3, "log_level": "warning"}]


async def _stretch(engine: AsyncEngine) -> list[Any]:
    async with engine.connect() as connection:
        query = text("SELECT count(*), max(response_time_ms) FROM ai_requests")
        return [tuple(row) for row in await connection.execute(query)]


async def test_a_write_that_hangs_holds_up_nobody_who_logs_and_the_end_for_a_time_only(
    engine: AsyncEngine,
) -> None:
    left = monotonic()

    with capture_logs() as logs:
        async with locked_table(engine):
            await write(engine, *[LINE] * (LINES_WRITTEN + 1))

    assert monotonic() - left < LEAVE_SECONDS + 2
    assert [(line["lines"], line["error"]) for line in logs] == [
        (LINES_WRITTEN, "Unavailable"),
        (1, "TimeoutError"),
    ]
    assert await rows(engine) == []


# ---------------------------------------------------------------- the page about it

PAGE = REFERENCE / "request-log.md"


async def test_the_page_of_the_request_log_names_every_column(engine: AsyncEngine) -> None:
    query = text("SELECT * FROM ai_requests")
    async with engine.connect() as connection:
        columns = list((await connection.execute(query)).keys())

    table = table_of(read_page(PAGE.name), "Request log", "column")

    assert [name.strip("`") for name, _ in table.rows] == columns


async def test_the_queries_of_the_page_of_the_request_log_run(engine: AsyncEngine) -> None:
    answered = {"phase": "answered", "action": "accept", "kind": "choice", "tool_call_id": "c"}
    await write(engine, LINE, replace(LINE, error="503", metadata={"ask": answered}))
    queries = re.findall("```sql\n(.*?);\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

    found: list[Any] = []
    async with engine.begin() as connection:
        for query in queries:
            result = await connection.exec_driver_sql(query)
            found.append([tuple(row) for row in result] if result.returns_rows else None)

    of_turn, of_models, of_kinds, removed = found
    assert of_turn == []
    assert of_models == [("scripted-1", "general", 2, 1, 68, 120.0)]
    assert of_kinds == [("choice", "accept", 1)]
    assert removed is None
    assert len(await rows(engine)) == 2

"""The request log: one line for each turn and each title (spec turns 12.1)."""

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import fields
from itertools import islice
from types import TracebackType
from typing import Final, Self

import structlog
from pydantic import TypeAdapter
from sqlalchemy import Connection, insert, literal, select
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.store.columns import Stored
from parleyd.store.engine import Database
from parleyd.store.request_tables import ai_requests
from parleyd.store.statements import given, rows_of, run
from parleyd.turns.request_log import LoggedRequest

WRITE_SECONDS: Final = 0.2
"""How long after one write the next one begins at the earliest."""
LEAVE_SECONDS: Final = 5
LINES_KEPT: Final = 10_000
"""Lines that wait to be written, at most."""
LINES_WRITTEN: Final = 500
"""Lines in one statement, at most."""

log = structlog.stdlib.get_logger()


class PostgresRequestLog:
    """Keeps the request log in PostgreSQL; fulfils `RequestLog`.

    While the log is entered, a line is written soon after it came, together with those that came
    meanwhile. Leaving it writes the rest, so the last turn has to have ended before. What can't be
    written is lost, and only the service's own log tells of it: no turn waits for a line, and none
    fails for it.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)
        self._lines: deque[LoggedRequest] = deque()
        self._refused = 0
        self._come = asyncio.Event()
        self._left = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Starts to write."""
        self._writer = asyncio.create_task(self._write_until_left(), name="request log")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Writes what is left, in `LEAVE_SECONDS` at most, and stops."""
        self._left.set()
        self._come.set()
        if self._writer is None:
            return
        try:
            async with asyncio.timeout(LEAVE_SECONDS):
                await self._writer
        except TimeoutError as timeout:
            self._lose(len(self._lines), timeout)

    async def log_request(self, request: LoggedRequest) -> None:
        """See `RequestLog`. Returns at once. A line beyond `LINES_KEPT` is lost."""
        if len(self._lines) < LINES_KEPT:
            self._lines.append(request)
        else:
            self._refused += 1
        self._come.set()

    async def _write_until_left(self) -> None:
        while True:
            if not (self._lines or self._left.is_set()):
                self._come.clear()
                await self._come.wait()
            if not self._lines:
                return
            await self._write()
            with suppress(TimeoutError):
                async with asyncio.timeout(WRITE_SECONDS):
                    await self._left.wait()

    async def _write(self) -> None:
        """Writes what has come together, or loses it."""
        lines = tuple(islice(self._lines, LINES_WRITTEN))
        try:
            await self._database.write(
                lambda connection: _insert(connection, lines), _taken_as_written
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, the turns go on
            self._lose(len(lines), error)
        for _ in lines:
            self._lines.popleft()
        if self._refused:
            log.warning("request_log_full", lines=self._refused)
            self._refused = 0

    def _lose(self, lines: int, error: Exception) -> None:
        # The type alone: an error's text may quote what people wrote.
        log.warning("request_log_failed", lines=lines, error=type(error).__name__)


def _insert(connection: Connection, lines: tuple[LoggedRequest, ...]) -> None:
    run(connection, _INSERT, lines=lines)


def _taken_as_written(connection: Connection) -> bool:
    """Takes a lost COMMIT for one that went through: nothing hangs on these lines."""
    del connection
    return True


_NAMED: Final = {each.name: each for each in ai_requests.c}
_COLUMNS: Final = [_NAMED[each.name] for each in fields(LoggedRequest)]
"""A line is a row, field by field."""
_LINES: Final = Stored(TypeAdapter(tuple[LoggedRequest, ...]))
_INSERT: Final = select(literal(1)).add_cte(
    insert(ai_requests)
    .from_select(
        _COLUMNS,
        select(*rows_of("new_line", _COLUMNS, given("lines", _LINES)).c),
    )
    .cte("new_lines")
)

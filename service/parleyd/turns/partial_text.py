"""What the running step has said, stored for those who read the turn elsewhere (spec turns 4.2)."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from parleyd.contract import limits
from parleyd.contract.errors import ParleyError
from parleyd.turns.ports import Fenced

log = structlog.stdlib.get_logger()


class PartialText:
    """Stores the running step's text, at most once a second, and never the text of a short reply.

    `text` returns it as it is now, empty once the step has called a tool.
    """

    def __init__(self, text: Callable[[], str], keep: Callable[[str], Awaitable[None]]) -> None:
        self._text = text
        self._keep = keep
        self._kept = ""
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def grown(self) -> None:
        """Notes that there is more of it."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(limits.PARTIAL_TEXT_SECONDS, self._store)

    async def settle(self) -> None:
        """Ends what is under way; text that turned out to be no reply is taken back."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._task:
            await self._task
        if self._kept and not self._text():
            await self._write("")

    def _store(self) -> None:
        self._timer = None
        if self._task and not self._task.done():
            self.grown()  # the write before is slow; what it does not hold is for the next one
        elif (text := self._text()) != self._kept:
            self._task = asyncio.get_running_loop().create_task(self._write(text))

    async def _write(self, text: str) -> None:
        try:
            await self._keep(text)
            self._kept = text
        except (Fenced, ParleyError) as error:
            # A snapshot alone is lost; what matters is written by the turn itself.
            log.info("partial_text_not_kept", cause=type(error).__name__)

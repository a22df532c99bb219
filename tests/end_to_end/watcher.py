"""Somebody who watches what waits on them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from parley import Client
from parley.v1 import asks_pb2, turns_pb2

SECONDS = 20
"""How long a test waits for what must come."""


class Watcher:
    """What a stream of pending asks has said so far, without its signs of life."""

    def __init__(self) -> None:
        self.seen: list[turns_pb2.WatchPendingAsksResponse] = []
        self.quiet = 0
        self._more = asyncio.Event()

    def take(self, response: turns_pb2.WatchPendingAsksResponse) -> None:
        if response.WhichOneof("change"):
            self.seen.append(response)
        else:
            self.quiet += 1
        self._more.set()

    @property
    def told(self) -> list[str]:
        """Returns what was said in short: `3 wait`, `+call_plan`, `-call_plan accept`."""
        return [_short(response) for response in self.seen]

    @property
    def last(self) -> turns_pb2.WatchPendingAsksResponse:
        return self.seen[-1]

    async def until(self, count: int) -> None:
        """Waits until so much was said."""
        async with asyncio.timeout(SECONDS):
            while len(self.seen) < count:
                self._more.clear()
                await self._more.wait()

    async def follow(self, client: Client) -> None:
        """Watches until the stream ends, or is cancelled."""
        request = turns_pb2.WatchPendingAsksRequest()
        async for response in client.turns.WatchPendingAsks(request):
            self.take(response)


@asynccontextmanager
async def watching(client: Client) -> AsyncGenerator[Watcher]:
    """Yields somebody who watches, and has been told what waits."""
    watcher = Watcher()
    task = asyncio.create_task(watcher.follow(client))
    try:
        await watcher.until(1)
        yield watcher
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _short(response: turns_pb2.WatchPendingAsksResponse) -> str:
    match response.WhichOneof("change"):
        case "snapshot":
            return f"{len(response.snapshot.pending_asks)} wait"
        case "added":
            return f"+{response.added.tool_call_id}"
        case "removed":
            removed = response.removed
            action = asks_pb2.AskAction.Name(removed.action)
            return f"-{removed.tool_call_id} {action.removeprefix('ASK_ACTION_').lower()}"
        case _:
            return "quiet"

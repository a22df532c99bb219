"""Starts turns and holds on to them (spec turns 3.9)."""

import asyncio
from collections.abc import AsyncGenerator
from uuid import UUID

import structlog

from parleyd.contract.errors import Unavailable
from parleyd.contract.events import TurnEvent
from parleyd.contract.turns import TurnRequest, TurnResult
from parleyd.turns.log import TurnLog
from parleyd.turns.model import Model
from parleyd.turns.options import TurnOptions
from parleyd.turns.ports import Ids, TurnStore
from parleyd.turns.runner import Deployment, open_turn

log = structlog.stdlib.get_logger()


class RunningTurn:
    """A turn that was stored and runs here, for whoever started it."""

    def __init__(self, turn_id: UUID, turn_log: TurnLog) -> None:
        self.turn_id = turn_id
        self._log = turn_log

    def events(self) -> AsyncGenerator[TurnEvent, None]:
        """Yields the turn's events from the first to `Done`. Leaving early changes nothing.

        Raises:
            Unavailable: This process can't go on with the turn.
        """
        return self._log.follow()

    async def result(self) -> TurnResult:
        """Waits until the turn is closed and returns how it ended.

        Raises:
            Unavailable: This process can't go on with the turn.
        """
        return await self._log.result()


class Turns:
    """Every turn of this process.

    A turn runs in a task of its own, which nobody but `drain` cancels: grpc cancels a handler whose
    client leaves, and the turn must go on then.
    """

    def __init__(
        self,
        *,
        store: TurnStore,
        model: Model | None,
        title_model: Model | None,
        ids: Ids,
        options: TurnOptions,
        holder: str,
    ) -> None:
        self.options = options
        self._shared = Deployment(
            store=store,
            model=model,
            title_model=title_model or model,
            ids=ids,
            options=options,
            holder=holder,
        )
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False

    async def start(self, request: TurnRequest) -> RunningTurn:
        """Checks a request and stores its turn, which then runs on without its caller.

        Raises:
            ParleyError: A check failed; nothing was stored.
            Unavailable: The database can't be reached, or the process stops.
        """
        if self._stopping:
            raise Unavailable("This server is stopping; send the request again.")
        turn_log = TurnLog()
        turn_id = self._shared.ids.uuid()
        opened = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(turn_id, request, turn_log, opened))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.shield(opened)
        return RunningTurn(turn_id, turn_log)

    async def drain(self, seconds: float) -> None:
        """Takes no more turns, waits for those that run, and stops what is left after `seconds`."""
        self._stopping = True
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _run(
        self,
        turn_id: UUID,
        request: TurnRequest,
        turn_log: TurnLog,
        opened: "asyncio.Future[None]",
    ) -> None:
        with structlog.contextvars.bound_contextvars(turn_id=str(turn_id)):
            try:
                turn = await open_turn(self._shared, turn_id, request, turn_log)
            except BaseException as error:
                _reject(opened, error)
                if not isinstance(error, Exception):
                    raise
                return
            if not opened.done():
                opened.set_result(None)
            try:
                await turn.run()
            except asyncio.CancelledError:
                turn_log.end(Unavailable("This server is stopping; the turn is not finished."))
                raise


def _reject(opened: "asyncio.Future[None]", error: BaseException) -> None:
    if opened.done():
        return
    if isinstance(error, asyncio.CancelledError):
        error = Unavailable("This server is stopping; send the request again.")
    opened.set_exception(error)
    opened.exception()  # the caller may have left; its fault is nobody's then

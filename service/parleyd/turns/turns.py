"""Starts turns, holds on to them, and hands them over when the process stops (spec turns 3.9)."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, Final
from uuid import UUID

import structlog
from structlog.contextvars import bound_contextvars

from parleyd.contract.errors import RateLimited, Unavailable
from parleyd.contract.turns import Turn, TurnRequest, TurnResult
from parleyd.turns.accounts import TurnAccount
from parleyd.turns.admission import ReadyTurn, open_turn
from parleyd.turns.deployment import Deployment
from parleyd.turns.followers import Sent
from parleyd.turns.live import LiveTurn
from parleyd.turns.ports import Lease, OpenedTurn
from parleyd.turns.runner import STOPPING, TurnRun
from parleyd.turns.situations import RepeatedRequest

TAKING_SECONDS: Final = 1
"""How long a stop waits for a takeover that is under way."""

log = structlog.stdlib.get_logger()


class FollowedTurn:
    """A stored turn, for somebody who follows it. Leaving early changes nothing."""

    def __init__(
        self,
        shared: Deployment,
        owner: str,
        conversation_id: UUID,
        turn_id: UUID,
        events: AsyncGenerator[Sent, None],
        live: LiveTurn | None = None,
    ) -> None:
        self.conversation_id = conversation_id
        self.turn_id = turn_id
        self._shared = shared
        self._owner = owner
        self._events = events
        self._live = live

    def events(self) -> AsyncGenerator[Sent, None]:
        """Yields the turn's events up to `Done`, and previews; None when nothing happens.

        Raises:
            EventsExpired: The events are gone, or a closed turn never had as many.
            Unavailable: This process can't go on; the turn may be watched on another one.
        """
        return self._events

    async def result(self) -> TurnResult:
        """Waits until the turn is closed, wherever it runs, and returns how it ended.

        Raises:
            Unavailable: This process can't go on; the turn may be read on another one.
        """
        if self._live and (result := await self._live.wait()):
            return result
        async with aclosing(self._events) as events:
            async for _ in events:
                pass
        reader = self._shared.reader
        turn = await reader.read_turn(self._owner, self.conversation_id, self.turn_id)
        assert turn.result, "a closed turn has a result"
        return turn.result


class Turns:
    """Every turn of this process.

    A turn runs in a task of its own, which only the stop of the process ends: grpc cancels a
    handler whose client leaves, and the turn must go on then.
    """

    def __init__(self, shared: Deployment) -> None:
        self.options = shared.options
        self._shared = shared
        self._followers = shared.followers
        self._running: dict[UUID, TurnRun] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.stopping = False
        """Set once this process takes no more turns."""
        self.taking: asyncio.Task[None] | None = None
        """Takes over turns of others, while it does."""

    # ------------------------------------------------------------ for callers

    async def start(self, request: TurnRequest) -> FollowedTurn:
        """Checks a request and stores its turn, which then runs on without its caller.

        A repeat with the same request id gets the turn that the first one made, and watches it.

        Raises:
            ParleyError: A check failed; nothing was stored.
            Unavailable: The database can't be reached, or the process stops.
        """
        if self.stopping:
            raise Unavailable(STOPPING)
        opened: asyncio.Future[FollowedTurn] = asyncio.get_running_loop().create_future()
        self.hold(self._start(self._shared.ids.uuid(), request, opened))
        return await asyncio.shield(opened)

    async def watch(
        self, owner: str, conversation_id: UUID, turn_id: UUID, after: int
    ) -> FollowedTurn:
        """Returns a turn to follow from the event after `after` on, wherever it runs.

        Raises:
            ConversationNotFound, TurnNotFound: There is none.
            NotOwner: It is someone else's.
            RateLimited: The person watches too many already.
            Unavailable: The database can't be reached, or the process stops.
        """
        if self.stopping:
            raise Unavailable(STOPPING)
        await self.read(owner, conversation_id, turn_id)
        events = self._watched(owner, turn_id, after)
        return FollowedTurn(self._shared, owner, conversation_id, turn_id, events)

    async def read(self, owner: str, conversation_id: UUID, turn_id: UUID) -> Turn:
        """Reads where a turn stands.

        Raises:
            ConversationNotFound, TurnNotFound: There is none.
            NotOwner: It is someone else's.
        """
        return await self._shared.reader.read_turn(owner, conversation_id, turn_id)

    # ------------------------------------------------------------ for the process

    @property
    def leases(self) -> list[Lease]:
        """Returns the leases of the turns that run here."""
        return [run.lease for run in self._running.values()]

    def keep(self, lease: Lease, since: float) -> None:
        """Notes that a lease was renewed by what was asked of the database at `since`."""
        run = self._running.get(lease.turn_id)
        if run and run.lease == lease:
            run.stops.keep(since)

    def lose(self, lease: Lease) -> None:
        """Stops a turn whose lease is gone; it may have ended meanwhile, or be held again."""
        run = self._running.get(lease.turn_id)
        if run and run.lease == lease:
            run.stops.fence()

    def hold(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Runs work in a task of its own, which the stop of the process waits for."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def run(self, ready: ReadyTurn, live: LiveTurn) -> None:
        """Runs a stored turn to its end here, or as far as this process may."""
        run = TurnRun(self._shared, ready, live)
        self._running[run.lease.turn_id] = run
        if self.stopping:
            run.stops.hand_over()
        try:
            await run.run()
        except asyncio.CancelledError:
            live.give_up(Unavailable(STOPPING))
            raise
        finally:
            if self._running.get(run.lease.turn_id) is run:
                del self._running[run.lease.turn_id]
            self._followers.remove(live)

    async def hand_over(self, seconds: float) -> None:
        """Takes no more turns and gives up those that run, so that others go on with them at once.

        Model calls are cut short, tools get their time; what is left after `seconds` is cancelled,
        and its lease runs out. Whoever follows a turn is told to watch it elsewhere. A repeat
        changes nothing.
        """
        self.stopping = True
        if self.taking:
            # It would take again what is given up here.
            await asyncio.wait({self.taking}, timeout=TAKING_SECONDS)
        for run in list(self._running.values()):
            run.stops.hand_over()
        self._followers.close(Unavailable(STOPPING))
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while self._tasks and loop.time() < end:  # a takeover under way adds one more
            await asyncio.wait(self._tasks, timeout=end - loop.time())
        late = list(self._tasks)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    # ------------------------------------------------------------ running

    async def _start(
        self, turn_id: UUID, request: TurnRequest, opened: "asyncio.Future[FollowedTurn]"
    ) -> None:
        with bound_contextvars(turn_id=str(turn_id)):
            try:
                ready = await open_turn(self._shared, turn_id, request)
                if isinstance(ready, RepeatedRequest):
                    _accept(opened, self._repeated(request.owner, ready))
                    return
            except BaseException as error:
                _reject(opened, error)
                if not isinstance(error, Exception):
                    raise
                return
            # The turn needs no more of it, and it may hold megabytes of files.
            del request
            turn = ready if isinstance(ready, OpenedTurn) else ready.turn
            live = make_live(self._shared, turn)
            _accept(opened, self._followed(turn, live))
            if isinstance(ready, OpenedTurn):
                await self._close(ready, live)
            else:
                await self.run(ready, live)

    async def _close(self, turn: OpenedTurn, live: LiveTurn) -> None:
        """Ends a turn that was closed as it was opened, for those who follow it and in the log."""
        assert turn.result, "a turn that needs no model is closed"
        live.end(turn.result)
        self._followers.remove(live)
        account = TurnAccount(turn, turn.model or "unknown")
        await account.log_turn(self._shared.request_log, turn.result, None)

    def _followed(self, turn: OpenedTurn, live: LiveTurn) -> FollowedTurn:
        lease = turn.lease
        events = self._followers.follow(turn.owner, lease.turn_id, 0, live)
        return FollowedTurn(
            self._shared, turn.owner, lease.conversation_id, lease.turn_id, events, live
        )

    def _repeated(self, owner: str, repeated: RepeatedRequest) -> FollowedTurn:
        live = self._followers.live(repeated.turn_id)
        events = self._watched(owner, repeated.turn_id, 0)
        return FollowedTurn(
            self._shared, owner, repeated.conversation_id, repeated.turn_id, events, live
        )

    def _watched(self, owner: str, turn_id: UUID, after: int) -> AsyncGenerator[Sent, None]:
        """Returns the events of a turn for one more stream of its owner.

        Raises:
            RateLimited: The person watches too many already.
        """
        most = self.options.limits.owner_streams
        if self._followers.open_streams(owner) >= most:
            raise RateLimited("streams of one person may be open", most)
        return self._followers.watch(owner, turn_id, after)


def make_live(shared: Deployment, turn: OpenedTurn) -> LiveTurn:
    """Returns a turn that this process writes from now on, made known to those who follow it."""
    lease = turn.lease
    before = turn.earlier[-1].sequence if turn.earlier else 0
    blocks = shared.options.blocks
    live = LiveTurn(
        lease.turn_id,
        lease.conversation_id,
        before,
        shared.followers.wake,
        blocks.options if blocks else None,
    )
    live.append(turn.events)
    shared.followers.add(live)
    return live


def _accept(opened: "asyncio.Future[FollowedTurn]", turn: FollowedTurn) -> None:
    if not opened.done():
        opened.set_result(turn)


def _reject(opened: "asyncio.Future[FollowedTurn]", error: BaseException) -> None:
    if opened.done():
        return
    if isinstance(error, asyncio.CancelledError):
        error = Unavailable(STOPPING)
    opened.set_exception(error)
    opened.exception()  # the caller may have left; its fault is nobody's then

"""Where a turn can be stopped: in model calls, waits and tools, never in a transaction.

A transaction that is cancelled in its COMMIT leaves nobody knowing what became of it, so nothing
here ever interrupts one (spec turns 3.9).
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from operator import itemgetter

from parleyd.contract import limits
from parleyd.turns.ports import Fenced


class HandedOver(Exception):
    """The process stops: another one is to go on with the turn."""


class TimeOver(Exception):
    """The turn's wall time is over."""


class Stop:
    """A stretch of work that may be stopped.

    `own_end` is when its own time is over, by the loop's clock; `cause` is what its end, as it is
    scheduled now, will mean. A timer may fire a little early, so the clock can't tell afterwards.
    """

    def __init__(self, scope: asyncio.Timeout, seconds: float | None, grace: float) -> None:
        self.scope = scope
        self.seconds = math.inf if seconds is None else seconds
        self.grace = grace
        self.own_end = math.inf
        self.renewed = -math.inf
        self.cause: type[Exception] = TimeoutError

    def check(self) -> None:
        """Returns while it may go on.

        Raises:
            TimeoutError: Its end has come; `Stops.within` tells which.
        """
        if self.scope.expired():
            raise TimeoutError


async def _nobody_else() -> bool:
    return True


class Stops:
    """The stops of one turn. `seconds` is what is left of its wall time.

    Its lease was known to hold at `held_since`, by the loop's clock; `still_held` asks the database
    whether it does, and renews it.
    """

    def __init__(
        self,
        seconds: float,
        *,
        held_since: float | None = None,
        still_held: Callable[[], Awaitable[bool]] = _nobody_else,
    ) -> None:
        self._deadline = _now() + seconds
        self._held_since = _now() if held_since is None else held_since
        self._still_held = still_held
        self._handed_over = math.inf
        self._fenced = math.inf
        self._open: set[Stop] = set()

    def hand_over(self) -> None:
        """Ends what runs, and what begins later, after its grace. A repeat changes nothing."""
        self._handed_over = min(self._handed_over, _now())
        self._reschedule()

    def fence(self) -> None:
        """Ends what runs now at once, and what would begin later: another process owns the turn."""
        self._fenced = min(self._fenced, _now())
        self._reschedule()

    def keep(self, since: float) -> None:
        """Notes that the lease was renewed by what was asked of the database at `since`."""
        self._held_since = max(self._held_since, since)

    async def sure(self, *, grace: float = 0) -> None:
        """Returns once the turn may go on, and no other process can have gone on with it.

        A process that slept for as long as a lease lasts doesn't know yet that it lost its turns. A
        tool that it ran now would run beside the one of the other process.

        Raises:
            HandedOver, Fenced, TimeOver: As `within` does.
            ParleyError: The lease may be over, and the database does not say.
        """
        self._check(grace)
        asked = _now()
        if asked < self._held_since + limits.LEASE_SECONDS:
            return
        if await self._still_held():
            self.keep(asked)
        else:
            self.fence()
        self._check(grace)

    def check(self) -> None:
        """Returns while the turn may go on.

        Raises:
            HandedOver: The process stops.
            Fenced: Another process owns the turn.
            TimeOver: The wall time is over.
        """
        self._check(grace=0)

    @asynccontextmanager
    async def within(
        self, seconds: float | None = None, *, grace: float = 0
    ) -> AsyncGenerator[Stop]:
        """Runs a stretch of work that may be stopped, for `seconds` at most.

        With `grace` it may even begin after the turn was handed over: a tool that was started in
        the journal just then would otherwise be said to have an unknown outcome.

        Raises:
            TimeoutError: Its own time is over.
            HandedOver: The process stops, and `grace` seconds are over.
            Fenced: Another process owns the turn.
            TimeOver: The turn's wall time is over.
        """
        self._check(grace)
        scope = asyncio.timeout(None)
        stop = Stop(scope, seconds, grace)
        try:
            async with scope:
                self._give_time(stop, _now())
                self._open.add(stop)
                try:
                    yield stop
                finally:
                    self._open.discard(stop)
        except TimeoutError:
            if not scope.expired():
                raise
            raise (stop.cause if self._fenced == math.inf else Fenced) from None

    def renew(self, stop: Stop) -> None:
        """Gives an open stretch its own time anew; the turn's stays what it is.

        It is called for every part that a model says, so a hundredth of that time is let pass.
        """
        now = _now()
        if now >= stop.renewed + stop.seconds / 100:
            self._give_time(stop, now)

    def _give_time(self, stop: Stop, now: float) -> None:
        stop.renewed = now
        stop.own_end = now + stop.seconds
        self._schedule(stop)

    def _check(self, grace: float) -> None:
        if self._fenced != math.inf:
            raise Fenced
        if _now() >= self._handed_over + grace:
            raise HandedOver
        if _now() >= self._deadline:
            raise TimeOver

    def _reschedule(self) -> None:
        for stop in self._open:
            self._schedule(stop)

    def _schedule(self, stop: Stop) -> None:
        """Lets a stretch end at the first of its ends; of two at once the graver one counts."""
        if stop.scope.expired():
            return  # it is on its way out, and can't be told another time any more
        end, stop.cause = min(
            (self._fenced, Fenced),
            (self._handed_over + stop.grace, HandedOver),
            (self._deadline, TimeOver),
            (stop.own_end, TimeoutError),
            key=itemgetter(0),
        )
        stop.scope.reschedule(None if end == math.inf else end)


def is_stopped() -> bool:
    """Tells whether a CancelledError means the running task, not another one that it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _now() -> float:
    return asyncio.get_running_loop().time()

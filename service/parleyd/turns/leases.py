"""Leases: this process keeps those of its turns, and takes over turns whose process is gone (16.3).

A blocked event loop loses leases as a crash does. The process may then take over its own turn: what
counts is the epoch, not the holder alone.
"""

import asyncio
from typing import assert_never

import structlog
from structlog.contextvars import bound_contextvars

from parleyd.contract.errors import Unavailable
from parleyd.contract.reasons import Reason
from parleyd.turns.accounts import TurnAccount
from parleyd.turns.admission import take_up
from parleyd.turns.deployment import Deployment
from parleyd.turns.lease_store import TakenTurn
from parleyd.turns.live import LiveTurn
from parleyd.turns.ports import EndedTurn, Lease, OpenedTurn
from parleyd.turns.runner import STOPPING
from parleyd.turns.turns import Turns, make_live
from parleyd.turns.writing import TurnWriter, left_open

log = structlog.stdlib.get_logger()


class Leases:
    """The leases of one process."""

    def __init__(self, shared: Deployment, turns: Turns) -> None:
        self.released = asyncio.Event()
        """Set when another process has given a turn up."""
        self._shared = shared
        self._turns = turns
        self._taken: set[Lease] = set()
        self._replay_safe = frozenset(
            name for name, tool in shared.options.tools.items() if tool.replay_safe
        )

    async def renew(self) -> None:
        """Renews the leases of all turns that run here, in one statement; stops those it lost."""
        leases = list(self._taken.union(self._turns.leases))
        if not leases:
            return
        asked = _now()
        held = await self._shared.leases.renew_leases(leases)
        for lease in leases:
            if lease.turn_id in held:
                self._turns.keep(lease, asked)
            else:
                self._turns.lose(lease)

    async def take_due(self) -> None:
        """Takes over turns, one by one, until none is due. Each then runs in a task of its own.

        Cancelled, it still goes on with the turn that it was about to take: a transaction that is
        cut short in its COMMIT would leave a turn to nobody until its lease ends.
        """
        if self._shared.model is None:
            return  # a process that can run no turn leaves them to one that can
        self._turns.taking = self._turns.hold(self._take_all())
        await asyncio.shield(self._turns.taking)

    async def _take_all(self) -> None:
        while not self._turns.stopping:
            asked = _now()
            taken = await self._shared.leases.take_turn(self._shared.holder, self._replay_safe)
            if taken is None:
                return
            self._turns.hold(self._go_on(taken, asked))

    async def _go_on(self, taken: TakenTurn, asked: float) -> None:
        turn = taken.turn
        with bound_contextvars(
            turn_id=str(turn.lease.turn_id), conversation_id=str(turn.lease.conversation_id)
        ):
            log.info("turn_taken_over", verdict=taken.verdict, epoch=turn.lease.epoch)
            for lease in self._turns.leases:
                if lease.turn_id == turn.lease.turn_id:
                    self._turns.lose(lease)
            # Its lease is kept from here on: making its tools may take longer than a lease lasts.
            self._taken.add(turn.lease)
            try:
                await self._as_judged(taken, asked)
            finally:
                self._taken.discard(turn.lease)

    async def _as_judged(self, taken: TakenTurn, asked: float) -> None:
        turn = taken.turn
        live = make_live(self._shared, turn)
        try:
            await self._to_the_end(taken, live, asked)
        except asyncio.CancelledError:
            live.give_up(Unavailable(STOPPING))
            raise
        finally:
            self._shared.followers.remove(live)

    async def _to_the_end(self, taken: TakenTurn, live: LiveTurn, asked: float) -> None:
        turn = taken.turn
        match taken.verdict:
            case "go_on":
                await self._run(turn, live, asked)
            case "close":
                await self._end(turn, live, None)
            case "interrupted":
                await self._end(turn, live, Reason.INTERRUPTED, taken.partial_text)
            case "timed_out":
                await self._end(turn, live, Reason.TURN_TIMEOUT, taken.partial_text)
            case _:
                assert_never(taken.verdict)

    async def _run(self, turn: OpenedTurn, live: LiveTurn, asked: float) -> None:
        try:
            ready = await take_up(self._shared, turn, asked)
        except Exception:
            log.exception("turn_not_taken_up")
            await self._end(turn, live, Reason.INTERNAL)
            return
        await self._turns.run(ready, live)

    async def _end(
        self, turn: OpenedTurn, live: LiveTurn, reason: Reason | None, partial_text: str = ""
    ) -> None:
        """Closes a turn whose rows are stored, or fails it for a reason."""
        writer = TurnWriter(self._shared.store, turn, live)
        ended = await left_open(
            live, writer.fail(reason, partial_text) if reason else writer.close(None)
        )
        if ended:
            await self._account(turn, live, ended)

    async def _account(self, turn: OpenedTurn, live: LiveTurn, ended: EndedTurn) -> None:
        assert ended.result, "a turn that is closed has a result"
        live.end(ended.result)
        account = TurnAccount(turn, turn.model or "unknown")
        await account.log_turn(self._shared.request_log, ended.result, None)


def _now() -> float:
    return asyncio.get_running_loop().time()

"""The port of leases: who writes a turn, and what becomes of one whose process is gone (16.3)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from parleyd.turns.ports import Lease, OpenedTurn

Verdict = Literal["go_on", "close", "interrupted", "timed_out"]
"""What is to become of a turn whose process is gone (the table of spec turns 16.3).

`go_on`: continue by 3.6.2. `close`: its rows are stored, only `done` is missing. `interrupted` and
`timed_out`: it fails.
"""


@dataclass(frozen=True)
class TakenTurn:
    """A turn that this process took over.

    `partial_text` is what its running step had said, where the verdict is a failure.
    """

    turn: OpenedTurn
    verdict: Verdict
    partial_text: str = ""


class LeaseStore(Protocol):
    """Keeps the leases of turns (spec turns 16.3). All times are the database's."""

    async def take_turn(self, holder: str, replay_safe: Collection[str]) -> TakenTurn | None:
        """Takes over one turn whose lease ran out or was released (TX-K); None when none is due.

        Of a turn that goes on, unfinished executions become unknown, but for those of the tools
        named in `replay_safe`.
        """
        ...

    async def renew_leases(self, leases: Sequence[Lease]) -> frozenset[UUID]:
        """Renews leases in one statement, on a connection of its own; returns what is held."""
        ...

    async def release_turn(self, turn: OpenedTurn) -> None:
        """Gives a turn up, so that another process goes on with it at once."""
        ...

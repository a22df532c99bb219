"""Notices: what the deployment's own receiver is told of asks, and the ports that takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias
from uuid import UUID

from parleyd.contract.asks.ask import Ask
from parleyd.turns.action_tokens import ActionToken

NoticeKind: TypeAlias = Literal["asked", "resolved"]
"""An ask came to wait on its owner, or it is answered, cancelled or over."""


@dataclass(frozen=True)
class Notice:
    """A notice that this process has claimed, with its ask as it is now.

    `attempts` counts the tries that were begun, this one included. `title` is the conversation's.
    """

    id: UUID
    kind: NoticeKind
    attempts: int
    ask: Ask
    title: str | None


class NotTaken(Exception):
    """The receiver has not said that it took a notice; it may have got it all the same.

    `why` is a status or the name of a fault. A `final` one is not tried again; any other not
    before the `seconds` that the receiver has asked for.
    """

    def __init__(self, why: str, *, final: bool = False, seconds: float = 0) -> None:
        super().__init__(why)
        self.why = why
        self.final = final
        self.seconds = seconds


class NoticeSender(Protocol):
    """Sends notices to the receiver: a webhook, or whatever else a deployment has."""

    async def send(self, notice: Notice, token: ActionToken | None) -> None:
        """Sends a notice; returns when the receiver has taken it.

        A repeat sends it again, with the same id, by which the receiver can tell. `token` presses
        buttons of the card without a session; None where no button may be pressed so.

        Raises:
            NotTaken: It was not taken, as far as we know.
        """
        ...


class NoticeStore(Protocol):
    """Keeps what is to be told. Every call is one transaction; `Unavailable` says it was lost.

    A claim is one process's alone and runs out by itself, by the database's clock. What is written
    of a notice after that, when another process may have it, changes nothing.
    """

    async def note(self, ask_ids: Sequence[UUID]) -> None:
        """Notes what is to be told of these asks, as they are now.

        A pending one that is young enough is to be told of. Of one that is resolved, the end is
        due if it was told of; if not, nothing is told any more. A repeat changes nothing.
        """
        ...

    async def note_all(self) -> None:
        """Does what `note` does for all asks, and forgets notices that ended long ago."""
        ...

    async def claim(self, most: int) -> tuple[Notice, ...]:
        """Claims notices that are due, the longest due first, and counts a try of each."""
        ...

    async def end_sent(self, notice: Notice) -> None:
        """Ends a notice that was taken; once its ask is resolved, that is to be told too."""
        ...

    async def drop(self, notice: Notice) -> None:
        """Ends a notice unsent that there is no more reason for."""
        ...

    async def put_off(self, notice: Notice, why: str, seconds: float) -> None:
        """Lets a notice be claimed again when `seconds` are over."""
        ...

    async def end_dead(self, notice: Notice, why: str) -> None:
        """Ends a notice that could not be sent; somebody may make it due again."""
        ...

    async def give_back(self, notice: Notice) -> None:
        """Lets a notice be claimed again at once; the try that was begun does not count."""
        ...

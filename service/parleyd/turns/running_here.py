"""What runs in this process beside turns, and how much of it may."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from parleyd.contract.errors import RateLimited


@dataclass(frozen=True)
class Bound:
    """How many may run at once of whom, or where. `what` ends "At most … at once"."""

    of: str | UUID
    most: int
    what: str


class RunningHere:
    """Counts what runs here of everyone, and everywhere.

    It is no row, so other processes know nothing of it. Turns, which are rows, are counted by
    themselves.
    """

    def __init__(self) -> None:
        self._running: Counter[str | UUID] = Counter()

    def one_more(self, *bounds: Bound) -> Callable[[], None]:
        """Counts one more against each bound, until what it returns is called, once.

        Raises:
            RateLimited: There are too many already; nothing is counted then.
        """
        for bound in bounds:
            if self._running[bound.of] >= bound.most:
                raise RateLimited(bound.what, bound.most)
        counted = Counter(bound.of for bound in bounds)
        self._running += counted

        def ended() -> None:
            self._running -= counted  # forgets who has none

        return ended

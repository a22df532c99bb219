"""Tokens that were checked a moment ago: a signature costs more than the rest of a call."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from parleyd.rpc.callers import Caller

KNOWN_SECONDS: Final = 60
"""A token is checked anew after this, so a key that was withdrawn counts no longer than that."""
KNOWN_TOKENS: Final = 10_000


class KnownTokens:
    """Remembers whose a token is, for a minute and never beyond its end.

    Of too many the one that was used longest ago is forgotten. `clock` tells the time as tokens do,
    in seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._callers: OrderedDict[str, tuple[Caller, float]] = OrderedDict()

    def caller(self, token: str) -> Caller | None:
        """Returns whom a token speaks for that was checked lately; None where it was not."""
        known = self._callers.get(token)
        if known is None:
            return None
        caller, until = known
        if self._clock() >= until:
            del self._callers[token]
            return None
        self._callers.move_to_end(token)
        return caller

    def remember(self, token: str, caller: Caller, end: float) -> None:
        """Notes that a token was checked and counts until `end`."""
        self._callers[token] = (caller, min(end, self._clock() + KNOWN_SECONDS))
        self._callers.move_to_end(token)
        while len(self._callers) > KNOWN_TOKENS:
            self._callers.popitem(last=False)

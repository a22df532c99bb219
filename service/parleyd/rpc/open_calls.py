"""The calls that are open, and how they end when the server stops."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from parleyd.contract.errors import Unavailable
from parleyd.rpc.calls import Call

FAREWELL_SECONDS: Final = 0.5
"""How long those who watch a server's health have to read that it stops."""


class OpenCalls:
    """Lets calls in until the server stops, and ends those that are open too long after that.

    Whoever is not let in or is ended is told UNAVAILABLE, which says to try elsewhere. grpc itself
    would say CANCELLED, which says that the client left.
    """

    def __init__(self) -> None:
        self._open: dict[asyncio.Timeout, Call] = {}
        self._refusing = False

    @asynccontextmanager
    async def admit(self, call: Call) -> AsyncGenerator[None, None]:
        """Stands around a call.

        Raises:
            Unavailable: The server stops.
        """
        if self._refusing and not call.is_about_the_server:
            raise Unavailable("This server is stopping; send the request again.")
        scope = asyncio.timeout(None)
        try:
            async with scope:
                self._open[scope] = call
                try:
                    yield
                finally:
                    del self._open[scope]
        except TimeoutError as error:
            if scope.expired():
                raise Unavailable("This server has stopped; try another.") from error
            raise

    def refuse(self) -> None:
        """Lets in no more calls, but for those that ask after the server itself."""
        self._refusing = True

    def end(self, grace: float) -> None:
        """Ends the calls that are still open after `grace` seconds.

        Those about the server itself would stay open for ever, so they get half a second. Of
        several graces the shortest counts.
        """
        now = asyncio.get_running_loop().time()
        for scope, call in self._open.items():
            if scope.expired():
                continue
            end = now + (min(grace, FAREWELL_SECONDS) if call.is_about_the_server else grace)
            when = scope.when()
            scope.reschedule(end if when is None else min(end, when))

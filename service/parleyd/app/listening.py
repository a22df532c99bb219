"""Where the service answers: gRPC on one port and HTTP on another, with one certificate."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog

from parleyd.app.faults import CommandFailed, ConfigurationError
from parleyd.app.settings import Settings, is_loopback, variable
from parleyd.rpc.server import Serving
from parleyd.rpc.tls import Tls, TlsUnusable

if TYPE_CHECKING:
    from parleyd.rpc.web.web_server import WebServer

ENDING_SECONDS: Final = 6.0
"""How long HTTP may take, once the calls behind it had to end, to tell its clients so."""

log = structlog.stdlib.get_logger()


class Listening:
    """A service that answers gRPC at `address`, `host:port`, and HTTP at `web_address`, if any."""

    def __init__(
        self, serving: Serving, address: str, web: "WebServer | None", web_address: str | None
    ) -> None:
        self.address = address
        self.web_address = web_address
        self._serving = serving
        self._web = web

    async def refuse_new_calls(self) -> None:
        """Tells that the service stops: new calls are UNAVAILABLE, whichever way they come."""
        await self._serving.refuse_new_calls()

    async def stop(self, seconds: float) -> None:
        """Closes what has no calls, and ends when the open calls have, after `seconds` at most.

        What came over HTTP is a call of the gRPC server too, and ends as that ends it.
        """
        await asyncio.gather(
            self._serving.stop(seconds),
            *([self._web.stop(seconds + ENDING_SECONDS)] if self._web else []),
        )


@asynccontextmanager
async def listening(settings: Settings, serving: Serving) -> AsyncGenerator[Listening]:
    """Takes the addresses of the settings and answers there. Who leaves has stopped it before.

    Raises:
        ConfigurationError: The certificate or its key can't be used.
        CommandFailed: An address can't be had.
    """
    tls = _tls_of(settings)
    host, web_address = settings.host, None
    async with AsyncExitStack() as stack:
        web = await _web_front(settings, serving, tls, stack) if settings.web else None
        try:
            address = _taken(partial(serving.listen, tls=tls), host, settings.port, "port")
            if web:
                web_address = _taken(web.listen, host, settings.own_web_port, "web_port")
        except CommandFailed:
            await serving.stop(0)
            raise
        await serving.start()
        if web:
            await web.start()
        yield Listening(serving, address, web, web_address)


def _tls_of(settings: Settings) -> Tls | None:
    if not (settings.tls_cert and settings.tls_key):
        if not is_loopback(settings.host):
            log.warning(
                "not_encrypted",
                host=settings.host,
                hint="tokens can be read on the way, unless something in front encrypts: set "
                "PARLEY_TLS_CERT and PARLEY_TLS_KEY",
            )
        return None
    try:
        return Tls.read(settings.tls_cert, settings.tls_key, settings.tls_client_ca)
    except TlsUnusable as error:
        raise ConfigurationError(f"TLS can't be had: {error}.") from error


async def _web_front(
    settings: Settings, serving: Serving, tls: Tls | None, stack: AsyncExitStack
) -> "WebServer":
    # A fifth of a second, for whoever serves HTTP alone.
    from parleyd.rpc.web.playground import Playground  # noqa: PLC0415
    from parleyd.rpc.web.web_front import web_front  # noqa: PLC0415

    playground = Playground(settings.blocks_image_hosts) if settings.shows_playground else None
    try:
        front = web_front(serving, tls=tls, file_bytes=settings.file_bytes, playground=playground)
        return await stack.enter_async_context(front)
    except OSError as error:
        raise CommandFailed(f"HTTP can't be served: {error}") from error


def _taken(listen: Callable[[str, int], str], host: str, port: int, setting: str) -> str:
    try:
        return listen(host, port)
    except OSError as error:
        raise CommandFailed(
            f"The address {host}:{port} can't be had; it may be in use: "
            f"choose another port with {variable(setting)}, or 0 for a free one."
        ) from error

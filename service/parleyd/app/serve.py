"""Runs the service until it is told to stop."""

import asyncio
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import structlog
import uvloop

from parleyd.app.allocator import give_large_blocks_back
from parleyd.app.faults import CommandFailed
from parleyd.app.garbage import spare_what_stays
from parleyd.app.identity import DEVELOPER, TOKEN_LIFETIME, development_token
from parleyd.app.settings import Settings
from parleyd.app.signals import told_to_stop
from parleyd.app.wiring import RunningService, whole_service

if TYPE_CHECKING:
    from parleyd.app.gateway.envoy import Envoy

log = structlog.stdlib.get_logger()


def serve(settings: Settings) -> None:
    """Serves until a signal says to stop, then lets running turns end; a second one stops at once.

    Prints its addresses when it answers, and in development a token, and where to open the page
    that uses it.

    Raises:
        ConfigurationError: Nobody is trusted, or the database's address is malformed.
        CommandFailed: The database or an address can't be had, the gateway ended on its own, or a
            second signal came.
    """
    try:
        uvloop.run(_serve(settings))
    except asyncio.CancelledError as error:
        raise CommandFailed("Stopped before the running turns had ended.") from error


async def _serve(settings: Settings) -> None:
    give_large_blocks_back()
    with told_to_stop() as stop:
        async with AsyncExitStack() as stack:
            service = await stack.enter_async_context(whole_service(settings))
            gateway = await _gateway(settings, service, stack) if settings.gateway else None
            if not (settings.database_url or settings.development):
                log.warning(
                    "own_database", hint="set PARLEY_DATABASE_URL to a server you look after"
                )
            spare_what_stays()
            _announce(settings, service, gateway)
            fault = await _stopped(stop, gateway)
            log.info("stopping")
            # The gateway stays until everybody has heard through it that the service stops.
            await service.stop()
            if fault:
                raise fault


async def _gateway(settings: Settings, service: RunningService, stack: AsyncExitStack) -> "Envoy":
    from parleyd.app.gateway.running import gateway_before  # noqa: PLC0415 - for a gateway alone

    return await stack.enter_async_context(gateway_before(service, settings))


async def _stopped(stop: asyncio.Event, gateway: "Envoy | None") -> CommandFailed | None:
    """Waits until we are told to stop, or until a gateway has ended: then returns that fault."""
    if gateway is None:
        await stop.wait()
        return None
    from parleyd.app.gateway.running import stopped  # noqa: PLC0415 - for a gateway alone

    return await stopped(stop, gateway)


def _announce(settings: Settings, service: RunningService, gateway: "Envoy | None") -> None:
    lines = [f"Parley listens on {service.address}."]
    web = None
    if gateway:
        web = gateway.url
        lines.append(f"Its gateway listens on {web}, for every protocol.")
    elif service.web_address:
        web = f"{'https' if settings.tls_cert else 'http'}://{service.web_address}"
        lines.append(f"It serves JSON and Connect on {web}.")
    if settings.development:
        hours = round(TOKEN_LIFETIME.total_seconds() / 3600)
        token = development_token(settings)
        lines += [f"A token for {DEVELOPER!r}, good for {hours} hours:", token]
        if web and settings.shows_playground:
            # No browser sends what follows the #, and no server keeps it in a log.
            lines.append(f"Open {web}/#token={token}")
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()

"""The gateway beside the service, and on its own, until it is told to stop."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import structlog
import uvloop

from parleyd.app.faults import CommandFailed
from parleyd.app.gateway.envoy import Envoy, envoy_binary, running_gateway
from parleyd.app.gateway.plan import Address, GatewayPlan
from parleyd.app.gateway.plan_of_settings import plan_of, reachable
from parleyd.app.settings import Settings
from parleyd.app.signals import told_to_stop
from parleyd.app.wiring import RunningService

log = structlog.stdlib.get_logger()


def run_gateway(plan: GatewayPlan, binary: Path) -> None:
    """Runs a gateway until a signal says to stop, and prints its address once it answers.

    Raises:
        CommandFailed: It does not start, or ended on its own.
    """
    try:
        uvloop.run(_run(plan, binary))
    except asyncio.CancelledError as error:
        raise CommandFailed("Stopped before the gateway had ended.") from error


async def _run(plan: GatewayPlan, binary: Path) -> None:
    with told_to_stop() as stop:
        async with running_gateway(plan, binary) as envoy:
            sys.stdout.write(f"The gateway listens on {envoy.url}.\n")
            sys.stdout.flush()
            if fault := await stopped(stop, envoy):
                raise fault
            log.info("stopping")


@asynccontextmanager
async def gateway_before(service: RunningService, settings: Settings) -> AsyncGenerator[Envoy]:
    """Runs the gateway of the settings in front of a service, until it is left.

    Raises:
        CommandFailed: It does not start, or its address can't be had.
    """
    assert service.web_address, "settings with a gateway and no web front are refused"
    grpc, web = (
        replace(address, host=reachable(address.host))
        for address in map(Address.read, (service.address, service.web_address))
    )
    plan = plan_of(settings, [grpc], [web])
    async with running_gateway(plan, envoy_binary(settings.envoy)) as envoy:
        yield envoy


async def stopped(stop: asyncio.Event, envoy: Envoy) -> CommandFailed | None:
    """Waits until we are told to stop, or until the gateway has ended: then returns that fault.

    A gateway that ends is not started again: whoever looks after the service starts both, and
    hears of it. Turns are handed over meanwhile, as they are whenever the service stops.
    """
    told = asyncio.create_task(stop.wait())
    ended = asyncio.create_task(envoy.ended())
    try:
        await asyncio.wait((told, ended), return_when=asyncio.FIRST_COMPLETED)
        return None if stop.is_set() else await ended
    finally:
        told.cancel()
        ended.cancel()

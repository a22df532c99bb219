"""A real server of files with the real interceptors, over a real database and a folder."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from grpc import aio
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parley.v1.files_pb2 import UploadFileRequest
from parley.v1.files_pb2_grpc import add_FileServiceServicer_to_server
from parleyd.app.development_key import ALGORITHM, AUDIENCE, ISSUER, DevelopmentKey
from parleyd.app.ids import RandomIds
from parleyd.contract import limits
from parleyd.rpc.auth import Authenticator
from parleyd.rpc.files import FileServicer
from parleyd.rpc.open_calls import OpenCalls
from parleyd.rpc.server import OPTIONS, interceptors
from parleyd.store.byte_stores import byte_store_of
from parleyd.store.files import PostgresFileRows
from parleyd.turns.file_store import StoreFailed
from parleyd.turns.files import Files
from tests.refused_uploads import refused_upload
from tests.rpc.wire import HOUR


class FolderStore:
    """The real store in a folder. While it is `away` it does nothing; it may make URLs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._store = byte_store_of(str(folder))
        self.away = False
        self.url: str | None = None

    async def put(self, key: str, data: bytes | BinaryIO) -> None:
        self._reach()
        await self._store.put(key, data)

    def read(self, key: str) -> AsyncGenerator[bytes, None]:
        self._reach()
        return self._store.read(key)

    async def delete(self, key: str) -> None:
        self._reach()
        await self._store.delete(key)

    async def signed_url(self, key: str, seconds: int) -> str | None:
        self._reach()
        if self.url:
            return f"{self.url}/{key}?seconds={seconds}"
        return await self._store.signed_url(key, seconds)

    def objects(self) -> list[Path]:
        """Returns all that is kept."""
        return [path for path in self._folder.rglob("*") if path.is_file()]

    def _reach(self) -> None:
        if self.away:
            raise StoreFailed


@dataclass(frozen=True)
class FileServer:
    """A running server of files, and the folder of their bytes."""

    address: str
    store: FolderStore
    key: DevelopmentKey
    stack: AsyncExitStack

    async def client(self, subject: str = "noor") -> parley.Client:
        """Returns a connection of somebody."""
        client = parley.connect(self.address, self.key.issue(subject, HOUR))
        return await self.stack.enter_async_context(client)

    async def refusal(
        self, requests: Iterable[UploadFileRequest], *, unfinished: bool = False
    ) -> parley.ParleyError:
        """Returns why an upload of Noor's is refused."""
        token = self.key.issue("noor", HOUR)
        return await refused_upload(self.address, token, requests, unfinished=unfinished)


@asynccontextmanager
async def serving_files(
    engine: AsyncEngine,
    folder: Path,
    *,
    kept: bool = True,
    uploads: bool = True,
    file_bytes: int = limits.FILE_BYTES,
    silence_seconds: float = limits.UPLOAD_SILENCE_SECONDS,
) -> AsyncGenerator[FileServer]:
    """Runs the server on a free port of this machine; without `kept` it keeps no files."""
    key, store, ids = DevelopmentKey.in_folder(folder), FolderStore(folder / "files"), RandomIds()
    files = Files(PostgresFileRows(engine), store, ids, file_bytes=file_bytes)
    servicer = FileServicer(
        files if kept else None, uploads=uploads, silence_seconds=silence_seconds
    )
    authenticator = Authenticator(
        issuer=ISSUER, audience=AUDIENCE, keys=key.keys, algorithms=[ALGORITHM]
    )
    server = aio.server(interceptors=interceptors(authenticator, ids, OpenCalls()), options=OPTIONS)
    add_FileServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with AsyncExitStack() as stack, asyncio.timeout(60):
            yield FileServer(f"127.0.0.1:{port}", store, key, stack)
    finally:
        await server.stop(None)

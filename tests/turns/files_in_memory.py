"""Where files are kept, as small as tests need it."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    Collection,
    Coroutine,
    Mapping,
)
from datetime import UTC, datetime
from typing import Any, BinaryIO, TypeVar
from uuid import UUID

from parleyd.contract.errors import FileNotFound, NotOwner, Unavailable
from parleyd.contract.files import File, FileDraft
from parleyd.models.played import Holds
from parleyd.turns.file_store import BytesMissing, StoreFailed, UploadSeen
from parleyd.turns.requests import RequestKey

T = TypeVar("T")


class Unstoppable:
    """Runs work that goes on when nobody waits for it any more, as a thread or a database does."""

    def __init__(self) -> None:
        self._works: list[asyncio.Task[Any]] = []

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.create_task(work)
        self._works.append(task)
        return await asyncio.shield(task)

    async def ended(self) -> None:
        """Waits until nothing goes on."""
        await asyncio.gather(*self._works, return_exceptions=True)


class MemoryBytes:
    """Fulfils `ByteStore`. A call waits at the hold of its name while that is `held`."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.unstoppable = Unstoppable()
        self.holds = Holds()
        self.held: set[str] = set()
        self.fails: dict[str, Exception] = {}
        """What a call raises, by its name."""
        self.stuck: set[str] = set()
        """Keys whose bytes are not given up."""
        self.puts: list[type[bytes | BinaryIO]] = []
        self.reads: list[str] = []
        """The keys whose bytes were asked for."""
        self.places: dict[str, str] = {}
        """The URLs of keys."""

    async def put(self, key: str, data: bytes | BinaryIO) -> None:
        await self.unstoppable.run(self._put(key, data))

    async def _put(self, key: str, data: bytes | BinaryIO) -> None:
        self.puts.append(type(data))
        await self._call("put")
        self.objects[key] = data if isinstance(data, bytes) else data.read()

    async def read(self, key: str) -> AsyncGenerator[bytes, None]:
        self.reads.append(key)
        await self._call("read")
        if key not in self.objects:
            raise BytesMissing(key)
        data = self.objects[key]
        for start in range(0, len(data), 1000):
            yield data[start : start + 1000]

    async def delete(self, key: str) -> None:
        await self._call("delete")
        if key in self.stuck:
            raise StoreFailed
        self.objects.pop(key, None)

    async def signed_url(self, key: str, seconds: int) -> str | None:
        await self._call("signed_url")
        return f"{self.places[key]}?seconds={seconds}" if key in self.places else None

    async def _call(self, name: str) -> None:
        if name in self.held:
            await self.holds.wait(name)
        await asyncio.sleep(0)
        if name in self.fails:
            raise self.fails[name]


class MemoryFileRows:
    """Fulfils `FileRows`. An insert waits at the hold `add` while that is `held`."""

    def __init__(self) -> None:
        self.files: dict[UUID, File] = {}
        self.deleted: dict[UUID, File] = {}
        """Deleted files whose bytes may still be there."""
        self.unused: set[UUID] = set()
        """Files whose time is over."""
        self.uploads: dict[tuple[str, UUID], tuple[File, bytes]] = {}
        self.unstoppable = Unstoppable()
        self.holds = Holds()
        self.held: set[str] = set()
        self.away: list[Exception] = []
        """What the inserts raise that come next, once they have inserted if `late`."""
        self.late = False
        self.away_afterwards = False
        """Nobody can look up then whether they have."""
        self.sought: list[set[UUID]] = []

    async def add_file(self, draft: FileDraft, request: RequestKey | None = None) -> File:
        return await self.unstoppable.run(self._add(draft, request))

    async def _add(self, draft: FileDraft, request: RequestKey | None) -> File:
        if "add" in self.held:
            await self.holds.wait("add")
        if self.away and not self.late:
            raise self.away.pop()
        if request and (seen := self.uploads.get((draft.owner, request.id))):
            raise UploadSeen(*seen)
        file = File(**dict(draft), create_time=datetime.now(UTC))
        self.files[file.id] = file
        if request:
            self.uploads[draft.owner, request.id] = file, request.digest
        if self.away:
            raise self.away.pop()
        return file

    async def read_upload(self, owner: str, request: RequestKey) -> tuple[File, bytes] | None:
        return self.uploads.get((owner, request.id))

    async def find_files(self, owner: str, file_ids: Collection[UUID]) -> Mapping[UUID, File]:
        self.sought.append({*file_ids})
        if self.away_afterwards:
            raise Unavailable("Away.")
        return {
            file_id: self.files[file_id]
            for file_id in file_ids
            if file_id in self.files and self.files[file_id].owner == owner
        }

    async def find_answered_file(self, service: str, file_id: UUID) -> File | None:
        raise NotImplementedError

    async def delete_file(self, owner: str, file_id: UUID) -> File:
        if file_id not in self.files:
            raise FileNotFound(file_id)
        if self.files[file_id].owner != owner:
            raise NotOwner("file")
        self.deleted[file_id] = self.files.pop(file_id)
        return self.deleted[file_id]

    async def forget_bytes(self, file_ids: Collection[UUID]) -> None:
        for file_id in file_ids:
            del self.deleted[file_id]

    async def take_leftovers(self, most: int) -> tuple[File, ...]:
        for file_id in self.unused & self.files.keys():
            self.deleted[file_id] = self.files.pop(file_id)
        return tuple(self.deleted.values())[:most]

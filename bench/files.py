"""How much memory files take while they pass through the service, and how fast they do.

Every case has a server of its own. Its idle memory is looked at after a turn with a small file; the
peak is the most that it held during any run, with whatever the runs before it have left. A file has
as many bytes as one may have, and is of a type that the model is shown whole. A scripted model is
called in the same process and drops what it is shown, so what is seen is what the service holds
for a model call, which is all files of a turn at once.

The floors, measured in the same run, are the same bytes through a bare grpc.aio server, in the same
pieces, or read from the same disk; and for the uploads, below the table, written to it.

    python -m bench.files [--runs N]
"""

import argparse
import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import TypeAlias

import uvloop
from rich.console import Console
from rich.table import Table

import parley
from bench.file_floors import Floor, Floors, floors, median_seconds
from bench.peaks import peak_of
from bench.postgres import migrated_postgres
from bench.servers import Fleet, fleet
from bench.waiting import PROMPT, Waiting, ask, stored_events
from parley import Client
from parley.v1 import asks_pb2, files_pb2
from parley.v1 import turns_pb2 as pb
from parleyd.contract import limits

AIM_MB = 200
"""What a server may hold above its idle memory, whatever the case."""
AT_ONCE = 4
"""Uploads side by side."""
SETTLING_SECONDS = 1
MB = 1e6

PDF, JSON = "application/pdf", "application/json"
SIGN = b"%PDF-1.7\n"
SMALL = SIGN
LARGE = SIGN + bytes(limits.FILE_BYTES - len(SIGN))
INLINE = (LARGE, LARGE[: limits.RECEIVE_BYTES - limits.FILE_BYTES - 4096])
"""Files that fit into one message, which they nearly fill."""

Work: TypeAlias = Callable[[], Awaitable[None]]


def rows_of_json() -> bytes:
    """Returns a JSON file of the largest size: many small values, and one wide character."""
    row = json.dumps({"id": 1, "name": "Noor", "tags": ["a", "b"], "score": 0.5}).encode()
    count = (limits.FILE_BYTES - 100) // (len(row) + 1)
    return b"[" + b",".join([row] * count) + ',"🙂"]'.encode()


@dataclass
class Here:
    """A server's client, and the files that were uploaded before."""

    client: Client
    files: list[files_pb2.File] = field(default_factory=list[files_pb2.File])

    async def upload(self, data: bytes, mime_type: str = PDF) -> files_pb2.File:
        """Uploads a file."""
        return await parley.upload_file(
            self.client, data, filename=f"plan.{mime_type[-3:]}", mime_type=mime_type
        )


@dataclass(frozen=True)
class Case:
    """What is done once in every run. `prepare` comes before the clock and returns the rest."""

    name: str
    size: int
    prepare: Callable[[Here], Awaitable[Work]]
    floor: Floor
    floor_name: str
    uploaded: int = 0
    """How many files there are before."""


@dataclass(frozen=True)
class Found:
    """What a case took: seconds of each run, and bytes."""

    seconds: Sequence[float]
    idle: int
    peak: int
    left: int


def cases(floors: Floors) -> list[Case]:
    """Returns all cases with their floors."""
    rows, most = rows_of_json(), limits.FILES_MAX
    inline = sum(map(len, INLINE))
    whole = partial(floors.streamed, LARGE)
    at_once = partial(floors.streamed_at_once, LARGE, AT_ONCE)
    poured = partial(floors.poured, len(LARGE))
    sent, read = partial(floors.sent, bytes(inline)), partial(floors.read, LARGE, most)
    ten = most * len(LARGE)
    return [
        Case("upload, PDF", len(LARGE), partial(_upload, LARGE, PDF, 1), whole, "gRPC"),
        Case("upload, JSON", len(rows), partial(_upload, rows, JSON, 1), whole, "gRPC"),
        Case(
            f"{AT_ONCE} uploads at once, PDF",
            AT_ONCE * len(LARGE),
            partial(_upload, LARGE, PDF, AT_ONCE),
            at_once,
            "gRPC",
        ),
        Case(
            f"{AT_ONCE} uploads at once, JSON",
            AT_ONCE * len(rows),
            partial(_upload, rows, JSON, AT_ONCE),
            at_once,
            "gRPC",
        ),
        Case("download", len(LARGE), _download, poured, "gRPC", uploaded=1),
        Case(f"answer, {most} uploads", ten, _answer_uploads, read, "read", uploaded=most),
        Case(f"answer, {len(INLINE)} files inline", inline, _answer_inline, sent, "gRPC"),
        Case(f"prompt, {most} uploads", ten, _prompt_uploads, read, "read", uploaded=most),
        Case(f"prompt, {len(INLINE)} files inline", inline, _prompt_inline, sent, "gRPC"),
    ]


async def main(runs: int) -> None:
    """Measures every case and prints one table."""
    table = Table("what", "MB", "p50 ms", "worst ms", "MB/s", "floor ms", "floor", "of the floor")
    for column in ("idle MB", "peak above MB", f"of {AIM_MB} MB", "left MB"):
        table.add_column(column)
    async with migrated_postgres() as url, fleet() as servers, floors() as beside:
        for case in cases(beside):
            floor = await median_seconds(case.floor, runs)
            found = await run(case, url, servers, runs)
            took, above = median(found.seconds), (found.peak - found.idle) / MB
            table.add_row(
                case.name,
                f"{case.size / MB:.0f}",
                f"{took * 1000:.0f}",
                f"{max(found.seconds) * 1000:.0f}",
                f"{case.size / took / MB:.0f}",
                f"{floor * 1000:.0f}",
                case.floor_name,
                f"{took / floor:.1f}",
                f"{found.idle / MB:.0f}",
                f"{above:.0f}",
                f"{above / AIM_MB:.0%}",
                f"{(found.left - found.idle) / MB:.0f}",
            )
        written = await median_seconds(partial(beside.written, LARGE, synced=False), runs)
        synced = await median_seconds(partial(beside.written, LARGE, synced=True), runs)
    console = Console(width=160)
    console.print(table)
    console.print(
        f"{runs} runs each. A file of {len(LARGE) / MB:.0f} MB is written to the disk in "
        f"{written * 1000:.0f} ms, with fsync in {synced * 1000:.0f} ms; the service does not wait "
        "for fsync."
    )


async def run(case: Case, url: str, servers: Fleet, runs: int) -> Found:
    """Runs a case on a server of its own."""
    async with (
        servers.server(url, "files") as server,
        servers.clients(server) as [client],
    ):
        here = Here(client)
        await _warm_up(here)
        await asyncio.sleep(SETTLING_SECONDS)
        idle = server.resident_bytes
        here.files = [await here.upload(LARGE) for _ in range(case.uploaded)]
        seconds: list[float] = []
        peaks: list[int] = []
        for _ in range(runs):
            work = await case.prepare(here)
            with peak_of(server.pid) as peak:
                start = time.perf_counter()
                await work()
                seconds.append(time.perf_counter() - start)
            peaks.append(peak.resident_bytes)
        await asyncio.sleep(SETTLING_SECONDS)
        return Found(seconds, idle, max(peaks), server.resident_bytes)


async def _warm_up(here: Here) -> None:
    """Does once with a small file what the cases do."""
    file = await here.upload(SMALL)
    await parley.download_file(here.client, file.file_id)
    await _answered(here, await ask(here.client), [_by_id(file)])


async def _upload(data: bytes, mime_type: str, count: int, here: Here) -> Work:
    async def upload() -> None:
        await asyncio.gather(*(here.upload(data, mime_type) for _ in range(count)))

    return upload


async def _download(here: Here) -> Work:
    async def download() -> None:
        got = await parley.download_file(here.client, here.files[0].file_id)
        if len(got.data) != len(LARGE):
            raise AssertionError(f"{len(got.data)} bytes are not the file")

    return download


async def _answer_uploads(here: Here) -> Work:
    return partial(_answered, here, await ask(here.client), [*map(_by_id, here.files)])


async def _answer_inline(here: Here) -> Work:
    files = [
        asks_pb2.FileRef(filename="plan.pdf", mime_type=PDF, size=len(data), data=data)
        for data in INLINE
    ]
    return partial(_answered, here, await ask(here.client), files)


async def _prompt_uploads(here: Here) -> Work:
    return partial(
        _asked,
        here,
        [pb.Attachment(type=pb.Attachment.TYPE_FILE, file_id=each.file_id) for each in here.files],
    )


async def _prompt_inline(here: Here) -> Work:
    return partial(
        _asked,
        here,
        [pb.Attachment(type=pb.Attachment.TYPE_FILE, mime_type=PDF, data=data) for data in INLINE],
    )


def _by_id(file: files_pb2.File) -> asks_pb2.FileRef:
    return asks_pb2.FileRef(
        filename=file.filename,
        mime_type=file.mime_type,
        size=file.size_bytes,
        file_id=file.file_id,
    )


async def _answered(here: Here, waiting: Waiting, files: Sequence[asks_pb2.FileRef]) -> None:
    """Answers an ask with files, and waits for the reply."""
    accept = asks_pb2.AcceptAnswer(files=asks_pb2.FilesAnswer(files=files))
    request = pb.StreamTurnRequest(
        conversation_id=waiting.conversation_id,
        answer=pb.AnswerInput(
            tool_call_id=waiting.tool_call_id, answer=asks_pb2.AskAnswer(accept=accept)
        ),
    )
    *_, done = [event async for event in stored_events(here.client, request)]
    if done.done.state != pb.Turn.STATE_COMPLETED:
        raise AssertionError(f"no reply: {done}")


async def _asked(here: Here, attachments: Sequence[pb.Attachment]) -> None:
    """Sends a message with attachments, and waits for the question that comes of it."""
    prompt = pb.PromptInput(text=PROMPT.prompt.text, attachments=attachments)
    await ask(here.client, pb.StreamTurnRequest(prompt=prompt))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The memory that files take, and their speed.")
    parser.add_argument("--runs", type=int, default=10, help="of every case, on one server")
    uvloop.run(main(**vars(parser.parse_args())))

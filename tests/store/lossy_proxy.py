"""A network that loses what commits a write, or its answer."""

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.listening import stop_listening

Loss = Literal["before", "after"]
"""`before`: the server never sees the commit. `after`: nobody sees its answer."""

_READY = b"Z\x00\x00\x00\x05I"
"""What the server says when a transaction is over."""


class _Session:
    """What a client has said to the server, as far as it tells what commits a write.

    That is a COMMIT, or a prepared statement that writes and stands alone.
    """

    def __init__(self) -> None:
        self._begun = False
        self._started = False
        self._writing: dict[bytes, bool] = {}
        self._rest = b""

    def commits(self, data: bytes) -> bool:
        """Tells whether `data`, the next that is sent, commits a write."""
        noted = [self._note(kind, body) for kind, body in self._messages(data)]
        return True in noted

    def _note(self, kind: bytes, body: bytes) -> bool:
        match kind:
            case b"P":
                name, query, *_ = body.split(b"\0")
                self._writing[name] = any(
                    word in query.replace(b"FOR NO KEY UPDATE", b"")
                    for word in (b"INSERT ", b"UPDATE ", b"DELETE ")
                )
            case b"B":
                _, name, *_ = body.split(b"\0")
                return self._writing.get(name, False) and not self._begun
            case b"Q":
                self._begun = body.startswith(b"BEGIN")
                return body.startswith(b"COMMIT")
            case _:
                pass
        return False

    def _messages(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        self._rest += data
        while len(self._rest) >= 5:
            typed = int(self._started)  # the first message has no type
            end = typed + int.from_bytes(self._rest[typed : typed + 4])
            if len(self._rest) < end:
                return
            yield self._rest[:typed], self._rest[typed + 4 : end]
            self._rest = self._rest[end:]
            self._started = True


@dataclass
class LossyProxy:
    """Stands between a pool and the server. Loses the next commit once it is armed."""

    url: str
    armed: Loss | None = None
    lost: int = 0


@asynccontextmanager
async def lossy_proxy(url: str) -> AsyncGenerator[LossyProxy]:
    """Yields a proxy to the server of `url`."""
    # Not below pytest's own folder: the address of a socket has to be short.
    folder = Path(tempfile.mkdtemp(prefix="parley-"))
    parts = urlsplit(url)
    where = parse_qs(parts.query)
    real = Path(where["host"][0]) / f".s.PGSQL.{where['port'][0]}"
    own = urlencode({"host": str(folder), "port": where["port"][0]})
    proxy = LossyProxy(parts._replace(query=own).geturl())

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, out = await asyncio.open_unix_connection(real)
        session = _Session()
        answers = asyncio.create_task(_copy(there, writer))
        try:
            while data := await reader.read(65536):
                if session.commits(data) and proxy.armed:
                    await _lose(proxy, proxy.armed, data, answers, there, out)
                    break
                out.write(data)
        finally:
            answers.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await answers
            out.close()
            writer.close()

    server = await asyncio.start_unix_server(serve, folder / real.name)
    try:
        yield proxy
    finally:
        await stop_listening(server)
        shutil.rmtree(folder)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()


async def _lose(
    proxy: LossyProxy,
    loss: Loss,
    data: bytes,
    answers: "asyncio.Task[None]",
    there: asyncio.StreamReader,
    out: asyncio.StreamWriter,
) -> None:
    """Ends the connection, the server's answer to the commit included."""
    proxy.armed = None
    proxy.lost += 1
    answers.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await answers
    if loss == "after":
        out.write(data)
        answer = b""
        while not answer.endswith(_READY):
            answer += await there.read(65536)

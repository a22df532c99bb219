"""A network that loses a COMMIT, or its answer."""

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlencode, urlsplit

Loss = Literal["before", "after"]
"""`before`: the server never sees the COMMIT. `after`: nobody sees its answer."""


@dataclass
class LossyProxy:
    """Stands between a pool and the server. Loses the next COMMIT once it is armed."""

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
        answers = asyncio.create_task(_copy(there, writer))
        try:
            while data := await reader.read(65536):
                if proxy.armed and b"COMMIT;" in data:
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
        server.close()
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
    """Ends the connection, the server's answer to the COMMIT included."""
    proxy.armed = None
    proxy.lost += 1
    answers.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await answers
    if loss == "after":
        out.write(data)
        assert b"COMMIT" in await there.read(65536)

"""A web front of its own before a server of gRPC."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from grpc import aio

from parleyd.contract import limits
from parleyd.rpc.web.playground import Playground
from parleyd.rpc.web.web_front import CHANNEL_OPTIONS, web_app
from parleyd.rpc.web.web_server import WebServer


@asynccontextmanager
async def web_before(
    target: str,
    *,
    file_bytes: int = limits.FILE_BYTES,
    playground: Playground | None = None,
) -> AsyncGenerator[str]:
    """Serves HTTP before the gRPC server at `target`, and yields the address."""
    async with aio.insecure_channel(target, options=CHANNEL_OPTIONS) as channel:
        web = WebServer(web_app(channel, file_bytes=file_bytes, playground=playground))
        address = web.listen("127.0.0.1", 0)
        await web.start()
        try:
            yield address
        finally:
            await web.stop(0)

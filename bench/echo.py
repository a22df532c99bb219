"""A bare grpc.aio server: what calls and open streams cost without Parley.

`Echo` returns what it gets. `Watch` sends it back at once, and again when a line of the server's
input releases all streams, which ends them. `Sink` takes a stream of bytes and drops it, `Pour`
sends as many bytes as it is asked for. Prints its address; stops when its input ends.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator

import grpc
import uvloop

from parleyd.contract import limits

ECHO = "/bench.Echo/Echo"
WATCH = "/bench.Echo/Watch"
SINK = "/bench.Echo/Sink"
POUR = "/bench.Echo/Pour"


async def _echo(request: bytes, _: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
    return request


async def _sink(
    requests: AsyncIterator[bytes], _: "grpc.aio.ServicerContext[bytes, bytes]"
) -> bytes:
    size = 0
    async for request in requests:
        size += len(request)
    return str(size).encode()


async def _pour(
    request: bytes, _: "grpc.aio.ServicerContext[bytes, bytes]"
) -> AsyncGenerator[bytes, None]:
    piece = bytes(limits.DOWNLOAD_CHUNK_BYTES)
    for _sent in range(0, int(request), len(piece)):
        yield piece


async def serve() -> None:
    """Serves on a free loopback port until its input ends."""
    released = asyncio.Event()

    async def watch(
        request: bytes, _: "grpc.aio.ServicerContext[bytes, bytes]"
    ) -> AsyncGenerator[bytes, None]:
        yield request
        await released.wait()
        yield request

    # As large messages as Parley takes.
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", limits.RECEIVE_BYTES)])
    echo: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(_echo)
    watching: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_stream_rpc_method_handler(watch)
    sink: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_unary_rpc_method_handler(_sink)
    pour: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_stream_rpc_method_handler(_pour)
    handlers = {"Echo": echo, "Watch": watching, "Sink": sink, "Pour": pour}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench.Echo", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
    )
    while await lines.readline():
        released.set()
    await server.stop(1)


if __name__ == "__main__":
    uvloop.run(serve())

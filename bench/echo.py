"""A bare grpc.aio server: what calls and open streams cost without Parley.

`Echo` returns what it gets. `Watch` sends it back at once, and again when a line of the server's
input releases all streams, which ends them. Prints its address; stops when its input ends.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator

import grpc
import uvloop

ECHO = "/bench.Echo/Echo"
WATCH = "/bench.Echo/Watch"


async def _echo(request: bytes, _: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
    return request


async def serve() -> None:
    """Serves on a free loopback port until its input ends."""
    released = asyncio.Event()

    async def watch(
        request: bytes, _: "grpc.aio.ServicerContext[bytes, bytes]"
    ) -> AsyncGenerator[bytes, None]:
        yield request
        await released.wait()
        yield request

    server = grpc.aio.server()
    echo: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(_echo)
    watching: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_stream_rpc_method_handler(watch)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("bench.Echo", {"Echo": echo, "Watch": watching}),)
    )
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

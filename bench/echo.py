"""A bare grpc.aio server that returns what it gets: what a call costs without Parley."""

import asyncio
import sys

import grpc

METHOD = "/bench.Echo/Echo"


async def _echo(request: bytes, _: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
    return request


async def serve() -> None:
    """Serves on a free loopback port, prints the address, and stops when its input ends."""
    server = grpc.aio.server()
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(_echo)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("bench.Echo", {"Echo": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await server.stop(1)


if __name__ == "__main__":
    asyncio.run(serve())

"""Ending a server of asyncio's own without losing a connection."""

import asyncio

ROUNDS = 10
"""More than the loop takes to make a connection that it has accepted already."""


async def stop_listening(server: asyncio.Server) -> None:
    """Accepts no more, lets what was accepted come to its callback, and closes the server.

    A connection that is accepted in the moment of `close` would be lost open: Python 3.11 fails to
    attach it to a server that is closed, and tells nobody.
    """
    loop = asyncio.get_running_loop()
    for socket in server.sockets:
        loop.remove_reader(socket.fileno())
    for _ in range(ROUNDS):
        await asyncio.sleep(0)
    server.close()

"""What goes on to the gRPC server with every call, and what becomes of it when a client leaves."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from parleyd.contract.errors import InvalidRequest
from parleyd.contract.field_errors import Code, quoted
from parleyd.rpc import fields
from parleyd.rpc.addresses import FORWARDED_FOR
from parleyd.rpc.caller_keys import CALLER_KEY
from parleyd.rpc.log import REQUEST_ID_KEY

Metadata: TypeAlias = tuple[tuple[str, str], ...]

FORWARDED: Final = ("authorization", CALLER_KEY, REQUEST_ID_KEY, FORWARDED_FOR)
"""The headers that go on as metadata, as often as they are there. A browser sends many more."""

TIMEOUT_HEADER: Final = "x-timeout-ms"
"""The header with which a client bounds a call, in milliseconds."""

_PLAIN: Final = re.compile(r"[ -~]*")
_MILLISECONDS: Final = re.compile(r"[1-9][0-9]{0,9}")


def with_addresses(app: ASGIApp) -> ASGIApp:
    """Returns an app that finds the address of who sends a request last in `x-forwarded-for`."""
    name = FORWARDED_FOR.encode()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if client := scope.get("client"):
            host: str = client[0]
            headers: list[tuple[bytes, bytes]] = scope["headers"]
            # In one value: of several gRPC keeps the last alone.
            passed = b", ".join([*(value for key, value in headers if key == name), host.encode()])
            others = [(key, value) for key, value in headers if key != name]
            scope = {**scope, "headers": [*others, (name, passed)]}
        await app(scope, receive, send)

    return answer


def metadata_of(request: Request) -> Metadata:
    """Returns the metadata of a call. What is no plain text can't be sent on and is left out."""
    return tuple(
        (name, value)
        for name in FORWARDED
        for value in request.headers.getlist(name)
        if is_plain(value)
    )


def is_plain(value: str) -> bool:
    """Tells whether the value of a header can be sent on as metadata."""
    return _PLAIN.fullmatch(value) is not None


def timeout_of(request: Request) -> float | None:
    """Returns the seconds that a call may take; None for as long as it takes.

    Raises:
        InvalidRequest: The client's wish is no number of milliseconds.
    """
    match request.headers.getlist(TIMEOUT_HEADER):
        case []:
            return None
        case [text] if _MILLISECONDS.fullmatch(text):
            return int(text) / 1000
        case texts:
            raise fields.malformed(
                InvalidRequest,
                TIMEOUT_HEADER,
                Code.INVALID_FORMAT,
                f"{TIMEOUT_HEADER} is {quoted(', '.join(texts))}.",
                "Send it once, as a whole number of milliseconds, or leave it out.",
            )


async def while_here(receive: Receive, work: Callable[[], Awaitable[None]]) -> None:
    """Does the work to its end, or until the client leaves, which cancels it.

    The body of the request has been read before. Faults of the work pass through.
    """
    working = asyncio.ensure_future(work())
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
    if not working.cancelled():
        working.result()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

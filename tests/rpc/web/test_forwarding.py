"""What the web front tells the gRPC server of whoever sends a request."""

from collections.abc import Mapping
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from parleyd.rpc.web.forwarding import metadata_of, with_addresses

BEFORE = "x-forwarded-for"


async def nothing(*_: Any) -> Any:
    raise AssertionError("nothing is read and nothing is sent")


async def told(scope: Mapping[str, object], *headers: tuple[str, str]) -> list[tuple[str, str]]:
    """Returns the metadata of a request with these headers."""
    found: list[tuple[str, str]] = []

    async def app(seen: Scope, receive: Receive, send: Send) -> None:
        del receive, send
        found.extend(metadata_of(Request(seen)))

    sent = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    await with_addresses(app)({"type": "http", **scope, "headers": sent}, nothing, nothing)
    return found


@pytest.mark.parametrize(
    ("headers", "address"),
    [
        ((), "203.0.113.7"),
        (((BEFORE, "1.1.1.1"),), "1.1.1.1, 203.0.113.7"),
        (
            ((BEFORE, "1.1.1.1, 2.2.2.2"), (BEFORE, "3.3.3.3")),
            "1.1.1.1, 2.2.2.2, 3.3.3.3, 203.0.113.7",
        ),
    ],
)
async def test_the_address_of_the_client_comes_last_in_one_value(
    headers: tuple[tuple[str, str], ...], address: str
) -> None:
    others = (("x-request-id", "req-1"), ("cookie", "a=b"))
    metadata = await told({"client": ("203.0.113.7", 40000)}, *headers, *others)
    assert sorted(metadata) == [(BEFORE, address), ("x-request-id", "req-1")]


async def test_a_client_without_an_address_has_none() -> None:
    assert await told({"client": None}) == []

"""The JSON front as clients meet it: real HTTP before a real gRPC server."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from parleyd.contract import limits
from parleyd.rpc.web.playground import Playground
from tests.rpc.web.fronts import web_before

SECONDS = 20.0


@asynccontextmanager
async def http_front(
    target: str,
    token: str = "",
    *,
    file_bytes: int = limits.FILE_BYTES,
    playground: Playground | None = None,
) -> AsyncGenerator[httpx2.AsyncClient]:
    """Yields a client of a front of its own, before the gRPC server at `target`."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with (
        web_before(target, file_bytes=file_bytes, playground=playground) as address,
        httpx2.AsyncClient(
            base_url=f"http://{address}", headers=headers, timeout=SECONDS, trust_env=False
        ) as client,
    ):
        yield client


@dataclass
class Event:
    """A server-sent event."""

    data: Any = None
    id: str | None = None


@dataclass
class Heard:
    """What a stream of server-sent events said."""

    events: list[Event] = field(default_factory=list[Event])
    comments: int = 0

    @property
    def shapes(self) -> list[Any]:
        return [event.data for event in self.events]

    @property
    def ids(self) -> list[str | None]:
        return [event.id for event in self.events]


async def events_of(response: httpx2.Response) -> AsyncIterator[Event | None]:
    """Yields the events of a stream, None for a comment."""
    event = Event()
    async for line in response.aiter_lines():
        name, _, value = line.partition(": ")
        match name:
            case "" if not line:
                if event.data is not None:
                    yield event
                event = Event()
            case "":
                yield None
            case "id":
                event.id = value
            case "data":
                assert event.data is None, "an event has one line of data"
                event.data = json.loads(value)
            case _:
                raise AssertionError(f"no line of an event: {line!r}")


async def heard(response: httpx2.Response) -> Heard:
    """Reads a stream to its end."""
    said = Heard()
    async for event in events_of(response):
        if event is None:
            said.comments += 1
        else:
            said.events.append(event)
    return said


def body(response: httpx2.Response) -> Any:
    """Returns the JSON of an answer."""
    assert response.headers["content-type"] == "application/json"
    return json.loads(response.content)


def reason(response: httpx2.Response) -> str | None:
    """Returns the reason of a refusal, None where it has none."""
    for detail in body(response)["details"]:
        if detail["@type"].endswith("ErrorInfo"):
            return detail["reason"]
    return None


def faults(response: httpx2.Response) -> list[tuple[str, str]]:
    """Returns path and code of every fault of a field; each says how to mend it."""
    fields = body(response)["fields"]
    assert all(field["message"] and field["fix"] for field in fields)
    return [(field["path"], field["code"]) for field in fields]

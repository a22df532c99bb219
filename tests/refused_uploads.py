"""Uploads that the server refuses, often while they still come."""

import asyncio
from collections.abc import Iterable, Iterator
from threading import Event
from typing import Any

import grpc
import pytest

import parley
import parley.sync
from parley.v1.files_pb2 import UploadFileRequest
from tests.end_to_end.person import upload_requests
from tests.server import Server

SECONDS = 30


async def refused_upload(
    address: str, token: str, requests: Iterable[UploadFileRequest], *, unfinished: bool = False
) -> parley.ParleyError:
    """Makes an upload that must be refused, and returns why it is.

    An `unfinished` one says nothing after its requests, and has no end.

    grpc's client for threads makes the call. The one for asyncio forgets what the server said where
    one of its writes meets the end of the call, so it can't tell how a server refuses.
    """
    over = Event()

    def sent() -> Iterator[UploadFileRequest]:
        yield from requests
        if unfinished:
            over.wait(SECONDS)

    def made() -> parley.ParleyError:
        with parley.sync.connect(address, token) as client:
            try:
                with pytest.raises(grpc.RpcError) as raised:
                    client.files.UploadFile(sent(), timeout=SECONDS)
            finally:
                over.set()
        return parley.error_of(raised.value)

    return await asyncio.to_thread(made)


async def refused_file(
    server: Server, filename: str, mime_type: str, data: bytes, **facts: Any
) -> parley.ParleyError:
    """Uploads a file of Noor's that must be refused, as `Person.upload` does; returns why it is."""
    requests = upload_requests(filename, mime_type, data, **facts)
    return await refused_upload(server.address, server.token(), requests)

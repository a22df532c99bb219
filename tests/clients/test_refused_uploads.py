"""Uploads that the server refuses while they still come (spec turns 11.2)."""

import grpc
import pytest

import parley
from parleyd.models.scripted import in_turn
from tests.server import StartServer

LARGE = b"\x89PNG\r\n\x1a\n" + bytes(10 * 1024 * 1024 - 8)


async def test_what_the_server_says_reaches_a_client_that_still_sends(
    start_server: StartServer,
) -> None:
    """Of forty uploads without the further tries, some are INTERNAL on a busy machine."""
    server = await start_server(in_turn([]), uploads=False)
    noor = await server.person()
    for _ in range(40):
        with pytest.raises(parley.ParleyError) as refused:
            await parley.upload_file(
                noor.client, LARGE, filename="large.png", mime_type="image/png"
            )
        assert refused.value.code == grpc.StatusCode.PERMISSION_DENIED
        assert refused.value.reason == "UPLOADS_DISABLED"

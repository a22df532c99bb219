"""What the tests of the JSON front share."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from tests.rpc.web.http import http_front
from tests.rpc.wire import HOUR, Wire


@pytest.fixture
async def http(wire: Wire) -> AsyncIterator[httpx2.AsyncClient]:
    """A front before the servicer that does what the test says, and Ada's token."""
    async with http_front(wire.target, wire.key.issue("ada", HOUR)) as client:
        yield client

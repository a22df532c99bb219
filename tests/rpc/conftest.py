"""What the tests of the wire share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parleyd.app.development_key import DevelopmentKey
from tests.rpc.wire import Wire, serving


@pytest.fixture
def key(tmp_path: Path) -> DevelopmentKey:
    """A key of the test's own."""
    return DevelopmentKey.in_folder(tmp_path)


@pytest.fixture
async def wire(key: DevelopmentKey) -> AsyncIterator[Wire]:
    """A server whose servicer does what the test says."""
    async with serving(key) as running:
        yield running

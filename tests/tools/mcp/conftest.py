"""What the tests of MCP servers share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.mcp.shelves import Shelves, children, eventually


@pytest.fixture
def shelves(tmp_path: Path) -> Shelves:
    return Shelves(tmp_path / "shelves")


@pytest.fixture(autouse=True)
async def _leaves_no_process() -> AsyncIterator[None]:
    before = children()
    yield
    await eventually(lambda: not children() - before)

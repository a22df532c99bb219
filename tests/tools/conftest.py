"""What the tests of tools share."""

from collections.abc import Iterator, MutableMapping
from typing import Any

import pytest
from structlog.testing import capture_logs


@pytest.fixture(autouse=True)
def logged() -> Iterator[list[MutableMapping[str, Any]]]:
    """Keeps what is logged, instead of printing it."""
    with capture_logs() as lines:
        yield lines

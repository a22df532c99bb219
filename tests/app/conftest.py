"""What the tests of the command line share."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.processes import processes_in


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A data folder that a database server can reach that runs as another user."""
    folder = Path(tempfile.mkdtemp(prefix="parley-cli-"))
    folder.chmod(0o711)
    yield folder
    left = processes_in(folder)
    shutil.rmtree(folder)
    assert left == []

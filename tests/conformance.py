"""The conformance cases (spec asks 17).

They lie beside the repository; the environment variable PARLEY_CONFORMANCE names another folder.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[1]
FOLDER = Path(
    os.environ.get("PARLEY_CONFORMANCE") or REPOSITORY.parent / "shared" / "conformance" / "asks"
)
FILES = sorted(FOLDER.glob("*.json"))
CASES: list[dict[str, Any]] = [json.loads(path.read_text(encoding="utf-8")) for path in FILES]

needs_cases = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"no conformance cases at {FOLDER}; set PARLEY_CONFORMANCE"
)

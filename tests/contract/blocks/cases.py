"""The conformance cases of documents (spec blocks 26).

They lie beside the repository; the environment variable PARLEY_BLOCKS_CONFORMANCE names another
folder.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.options import BlockOptions, KnownColumn

REPOSITORY = Path(__file__).parents[3]
FOLDER = Path(
    os.environ.get("PARLEY_BLOCKS_CONFORMANCE")
    or REPOSITORY.parent / "shared" / "conformance" / "blocks"
)
CASES: list[dict[str, Any]] = [
    json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))
]

needs_cases = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"no cases at {FOLDER}; set PARLEY_BLOCKS_CONFORMANCE"
)


def cases(op: str) -> list[dict[str, Any]]:
    """Returns the cases of an operation."""
    return [case for case in CASES if case["op"] == op]


def options_of(case: dict[str, Any]) -> BlockOptions:
    """Returns the options of a case."""
    given = case.get("options", {})
    return BlockOptions(
        html=given.get("html", False),
        image_hosts=tuple(given.get("imageHosts", ())),
        host_actions=tuple(given["hostActions"]) if "hostActions" in given else None,
        datasets={
            its_id: tuple(KnownColumn(column["name"], column["type"]) for column in it["columns"])
            for its_id, it in given.get("datasets", {}).items()
        },
    )


def told(issues: Sequence[BlockIssue]) -> list[dict[str, str]]:
    """Returns issues as the cases write them."""
    return [{"path": issue.path, "code": str(issue.code)} for issue in issues]

"""The OpenAPI document, and whether the gateway does what it says."""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from openapi_spec_validator import validate

from parleyd.models.scripted import by_progress
from parleyd.rpc.server import SERVICES
from parleyd.rpc.web.bindings import bindings_of
from tests.gateway.conftest import StartGateway
from tests.scripts import HELLO
from tests.server import StartServer
from tests.server_process import LIFETIME

PATH: Final = Path("docs/reference/openapi/parley.v1.json").absolute()
DOCUMENT: Final[dict[str, Any]] = json.loads(PATH.read_text())
VARIABLE: Final = re.compile(r"\{[^}]+\}")
CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "ignored_auth",
)
"""Whether bad data is refused is no check here: null for "left out" is no fault in ProtoJSON."""
EXAMPLES: Final = 12
"""How many made-up requests each operation is sent, beside those that cover its parameters."""


def test_the_document_keeps_the_rules_of_openapi() -> None:
    validate(DOCUMENT)


def test_every_annotated_path_is_in_the_document() -> None:
    told = {
        (verb.upper(), VARIABLE.sub("{}", path))
        for path, operations in DOCUMENT["paths"].items()
        for verb in operations
    }
    for binding in bindings_of(SERVICES):
        assert (binding.verb, binding.template.shape) in told


@pytest.mark.timeout(300)
async def test_the_gateway_does_what_the_document_says(
    start_server: StartServer, start_gateway: StartGateway, tmp_path: Path
) -> None:
    server = await start_server(by_progress([HELLO]), web=True, blocks=True)
    gateway = await start_gateway(server)
    token = server.key.issue("noor", LIFETIME)
    exploring = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli", "run", str(PATH), "--url", gateway.url),
        *("--header", f"Authorization: Bearer {token}", "--checks", ",".join(CHECKS)),
        *("--max-examples", str(EXAMPLES), "--phases", "coverage,fuzzing", "--seed", "1"),
        *("--generation-deterministic", "--no-color", "--continue-on-failure"),
        cwd=tmp_path,  # where it keeps what it found
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await exploring.communicate()
    assert exploring.returncode == 0, said.decode()

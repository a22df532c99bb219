"""The OpenAPI document, and whether the gateway does what it says."""

import asyncio
import base64
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from openapi_spec_validator import validate

from parleyd.models.scripted import by_progress
from parleyd.rpc.callers import OPEN
from parleyd.rpc.server import SERVICES
from parleyd.rpc.web.bindings import bindings_of
from parleyd.rpc.web.downloads import DOWNLOADS
from parleyd.rpc.web.event_streams import LAST_EVENT_ID
from parleyd.rpc.web.uploads import FILE, REQUEST_ID, SHA256, UPLOADS
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


def test_the_document_has_every_path_that_is_served_and_no_other() -> None:
    told = {
        (verb.upper(), VARIABLE.sub("{}", path))
        for path, operations in DOCUMENT["paths"].items()
        for verb in operations
    }
    annotated = {(each.verb, each.template.shape) for each in bindings_of(SERVICES)}
    assert told == annotated | {("POST", UPLOADS.shape), ("GET", DOWNLOADS.shape)}


def test_a_form_has_the_parts_that_are_read() -> None:
    content = DOCUMENT["paths"][UPLOADS.text]["post"]["requestBody"]["content"]
    form = content["multipart/form-data"]["schema"]
    assert {*form["properties"]} == {FILE, SHA256, REQUEST_ID}
    assert form["required"] == [FILE]
    digest = hashlib.sha256()
    for text in (digest.hexdigest(), base64.b64encode(digest.digest()).decode()):
        assert re.search(form["properties"][SHA256]["pattern"], text)


def test_every_sequence_may_be_the_last_one_that_was_received() -> None:
    headers = [
        parameter
        for operations in DOCUMENT["paths"].values()
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
        if parameter["name"].lower() == LAST_EVENT_ID
    ]
    assert headers
    for header in headers:
        assert re.search(header["schema"]["pattern"], str(2**31 - 1))


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
        # Its stream has no end, and would be read to it.
        *("--exclude-operation-id", "WatchPendingAsks"),
        *("--generation-deterministic", "--no-color", "--continue-on-failure"),
        cwd=tmp_path,  # where it keeps what it found
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await exploring.communicate()
    assert exploring.returncode == 0, said.decode()


def test_what_needs_no_bearer_token_says_so() -> None:
    open_to_all = {
        operation["operationId"]
        for path in DOCUMENT["paths"].values()
        for operation in path.values()
        if operation.get("security") == []
    }
    assert open_to_all == {method.rpartition("/")[2] for method in OPEN}

"""What the page on the gateway says is what the gateway does."""

import re
from pathlib import Path

from parleyd.app.gateway.configuration import (
    CONNECTIONS_MAX,
    HEADER_KIB,
    HEADER_SECONDS,
    STREAMS_MAX,
)
from parleyd.app.gateway.routes import HEALTHY_PATH, READY_PATH, UPLOAD_PATH
from parleyd.app.settings import Settings, variable
from parleyd.contract import limits

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "run-the-gateway.md").read_text()
MIB = 1024 * 1024


def test_its_limits_are_the_gateway_s() -> None:
    (table,) = re.findall(r"^## Limits\n(.*)", PAGE, re.DOTALL | re.MULTILINE)
    for told in (
        f"| one message of gRPC | {limits.RECEIVE_BYTES // MIB} MiB,",
        f"| a body of Connect or JSON | {limits.RECEIVE_BYTES // MIB} MiB,",
        f"`POST {UPLOAD_PATH}` | `PARLEY_FILE_BYTES`,",
        f"| {HEADER_KIB} KiB, 431 beyond; {HEADER_SECONDS} seconds to come in |",
        f"| open calls of one HTTP/2 connection | {STREAMS_MAX:,} |",
        f"| connections | {CONNECTIONS_MAX:,} |",
        f"sends something every {limits.QUIET_SECONDS} seconds",
    ):
        assert told in table
    assert f"| `{HEALTHY_PATH}` | 200" in PAGE
    assert f"| `{READY_PATH}` | 200" in PAGE


def test_it_names_settings_and_defaults_that_there_are() -> None:
    known = {variable(name) for name in Settings.model_fields}
    assert set(re.findall(r"\bPARLEY_[A-Z_]+\b", PAGE)) <= known
    default = Settings()
    assert f"http://{default.gateway_host}:{default.gateway_port}" in PAGE
    assert f"10.0.0.7:{default.port} --web-upstream 10.0.0.7:{default.own_web_port}" in PAGE

"""What may be said of an MCP server."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from parleyd.tools import McpServer, ToolsUnusable, mcp_tools

URL = "http://127.0.0.1:1/mcp"

CONTRADICTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "two ways": ({"url": URL, "command": ["x"]}, "a url and a command: leave one out"),
    "no way": ({}, "no url and no command: write one"),
    "no program": ({"command": [" "]}, "names no program: write one"),
    "headers to a command": ({"command": ["x"], "headers": {"A": "b"}}, "headers are of no use"),
    "an environment to a url": ({"url": URL, "env": {"A": "b"}}, "env is of no use to a url"),
    "a log file to a url": ({"url": URL, "log_file": "x"}, "log_file is of no use to a url"),
    "both approvals": (
        {"url": URL, "needs_approval": ["a"], "no_approval": ["b", "a"]},
        "the tool 'a' is in needs_approval and in no_approval: leave one out",
    ),
    "an approval of a tool that is left out": (
        {"url": URL, "tools": ["a"], "needs_approval": ["a", "b"]},
        "needs_approval names the tool 'b', which tools leaves out",
    ),
    "a freedom of a tool where none is offered": (
        {"url": URL, "tools": [], "no_approval": ["b"]},
        "no_approval names the tool 'b', which tools leaves out",
    ),
    "an unknown key": ({"url": URL, "uri": URL}, "Extra inputs are not permitted"),
    "no time": ({"url": URL, "seconds": 0}, "greater than 0"),
    "another approval": ({"url": URL, "approval": "sometimes"}, "'as_annotated', 'always'"),
    "no url": ({"url": "warehouse"}, "valid URL"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_is_refused_with_a_sentence(name: str) -> None:
    given, sentence = CONTRADICTIONS[name]
    with pytest.raises(ValidationError) as refused:
        McpServer.model_validate(given)
    assert sentence in str(refused.value)


def test_secrets_and_addresses_are_not_shown() -> None:
    http = McpServer.model_validate({"url": f"{URL}?key=s3cret", "headers": {"A": "s3cret"}})
    pipes = McpServer.model_validate({"command": ["x", "--key=s3cret"], "env": {"A": "s3cret"}})
    assert "s3cret" not in f"{http!r}{http}{pipes!r}{pipes}"


def test_variables_stand_in_for_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOCK_KEY", "s3cret")
    http = McpServer.model_validate(
        {"url": URL, "headers": {"Authorization": "Bearer ${STOCK_KEY}", "X-Plain": "a$b{c}"}}
    )
    pipes = McpServer.model_validate({"command": ["x"], "env": {"KEY": "${STOCK_KEY}"}})
    assert http.secret_headers("w") == {"Authorization": "Bearer s3cret", "X-Plain": "a$b{c}"}
    assert pipes.secret_env("w") == {"KEY": "s3cret"}


UNUSABLE: dict[str, tuple[dict[str, str], str]] = {
    "a variable that is not set": ({"A": "${NO_SUCH_KEY}"}, "'NO_SUCH_KEY', which is not set"),
    "a name that is none": ({"A b": "x"}, "'A b' in its headers, which is no name"),
    "a line feed": ({"A": "s3cret\nX-Admin: yes"}, "characters that can't be sent"),
}


@pytest.mark.parametrize("name", UNUSABLE)
async def test_a_secret_that_will_not_do_stops_the_start(name: str) -> None:
    headers, sentence = UNUSABLE[name]
    server = McpServer.model_validate({"url": URL, "headers": headers})
    with pytest.raises(ToolsUnusable, match="The MCP server `stock`") as stopped:
        async with mcp_tools({"stock": server}):
            pass
    assert sentence in str(stopped.value)
    assert "s3cret" not in str(stopped.value)


async def test_without_servers_there_are_no_tools() -> None:
    async with mcp_tools({}) as remote_tools:
        assert await remote_tools() == {}


def test_a_log_file_is_kept_as_a_path() -> None:
    assert McpServer.model_validate({"command": ["x"], "log_file": "a/b"}).log_file == Path("a/b")

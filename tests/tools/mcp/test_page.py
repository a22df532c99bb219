"""The page on MCP servers says what happens."""

import os
import re
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest

from parleyd.app.settings_sources import load_settings
from parleyd.tools import McpServer, mcp_tools
from parleyd.turns.tools import RemoteTools, ToolSet
from tests.tools.mcp.shelves import REPOSITORY, eventually
from tests.tools.shop import CONTEXT

PAGE = (REPOSITORY / "docs" / "how-to" / "connect-an-mcp-server.md").read_text("utf-8")
(WEATHER,) = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)
FIRST, OVERRIDDEN, ELSEWHERE = re.findall("```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Writes the server of the page where the process starts."""
    for name in [name for name in os.environ if name.upper().startswith("PARLEY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PARLEY_CONFIG", "parley.toml")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weather.py").write_text(WEATHER, "utf-8")
    return tmp_path


async def weather(remote_tools: RemoteTools) -> ToolSet:
    async def there() -> bool:
        return bool(await remote_tools())

    await eventually(there)
    return await remote_tools()


async def test_the_server_of_the_page_is_connected(
    folder: Path, logged: list[MutableMapping[str, Any]]
) -> None:
    (folder / "parley.toml").write_text(FIRST)
    async with mcp_tools(load_settings(development=True).mcp_servers) as remote_tools:
        tools = await weather(remote_tools)
        assert {name: await tool.needs_approval({}, CONTEXT) for name, tool in tools.items()} == {
            "weather_forecast": False,
            "weather_set_alarm": True,
        }
        forecast, alarm = tools.values()
        told = await forecast.run({"city": "Bern"}, CONTEXT)
        assert told == {"result": "Sunny in Bern, 21 °C."}
        assert await alarm.run({"city": "Bern"}, CONTEXT) == {"result": "Bern is warned."}
    (line,) = [line for line in logged if line["event"] == "mcp_server_connected"]
    about = f"server={line['server']} tools={line['tools']}"
    assert f"`{line['event']}` with `{about}`" in PAGE


async def test_what_the_settings_say_counts_more_than_annotations(folder: Path) -> None:
    (folder / "parley.toml").write_text(OVERRIDDEN)
    async with mcp_tools(load_settings(development=True).mcp_servers) as remote_tools:
        tools = await weather(remote_tools)
        assert [await tool.needs_approval({}, CONTEXT) for tool in tools.values()] == [False, True]


def test_the_page_lists_every_key_of_a_server() -> None:
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    assert set(re.findall("`(.*?)`", "".join(rows))) == {*McpServer.model_fields}


def test_the_settings_of_a_server_elsewhere_are_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOCK_TOKEN", "t0ken")
    (folder / "parley.toml").write_text(ELSEWHERE)
    stock = load_settings(development=True).mcp_servers["stock"]
    assert stock.secret_headers("stock") == {"Authorization": "Bearer t0ken"}
    assert (stock.tools, stock.prefix, stock.seconds) == (("find_item", "order"), "", 20)

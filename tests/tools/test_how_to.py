"""The page on tools says what happens."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from parleyd.tools import ToolFailed, ToolFile, TurnContext, load_request_tools, load_tools
from tests.tools.shop import CONTEXT
from tests.tools.test_hooks import TURN

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "add-a-tool.md").read_text("utf-8")
TOOLS, EXPORT, PER_TURN = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Writes the modules of the page where the process starts."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "tools.py").write_text(TOOLS, "utf-8")
    (tmp_path / "shop" / "export.py").write_text(EXPORT, "utf-8")
    (tmp_path / "shop" / "per_turn.py").write_text(PER_TURN, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    yield
    for name in [name for name in sys.modules if name == "shop" or name.startswith("shop.")]:
        del sys.modules[name]


async def test_the_tools_of_the_page_do_what_it_says() -> None:
    tools = load_tools(["shop.tools"], asks_on=True)
    assert [*tools] == ["find_order", "refund"]
    find_order, refund = tools.values()
    assert await find_order.run({"order_id": "A-17"}, CONTEXT) == {
        "order_id": "A-17",
        "parcels": 3,
        "due": None,
    }
    with pytest.raises(ToolFailed, match="There is no order B-1"):
        await find_order.run({"order_id": "B-1"}, CONTEXT)
    assert await refund.run({"order_id": "A-17", "cents": 5}, CONTEXT) == (
        "5 cents for A-17, under chain/1/0"
    )
    assert (find_order.replay_safe, refund.seconds) == (True, 20)
    assert [*load_tools(["shop.tools:find_order"], asks_on=True)] == ["find_order"]


def test_the_faults_of_the_page_are_those_that_are_told() -> None:
    refund = load_tools(["shop.tools:refund"], asks_on=True)["refund"]
    told = refund.faults({"orderid": "A-17", "cents": 0})
    assert told is not None
    heading, *faults = told.split("\n")
    assert f"```\n{heading}\n" in PAGE
    assert len(faults) == 3
    for fault in faults:
        assert f"\n{fault}\n" in PAGE


async def test_a_tool_of_the_page_returns_a_file() -> None:
    export_orders = load_tools(["shop.export"], asks_on=True)["export_orders"]
    file = await export_orders.run({}, CONTEXT)
    assert isinstance(file, ToolFile)
    assert file.data.decode().splitlines() == ["order;parcels", "A-17;3"]
    assert (file.mime_type, file.filename, file.text) == ("text/csv", "orders.csv", "1 order")


async def test_the_tools_for_one_turn_are_made_for_their_owner() -> None:
    request_tools = load_request_tools("shop.per_turn:tools_for")
    (count_rows,) = (await request_tools(TURN)).values()
    assert await count_rows.run({"table": "invoices"}, CONTEXT) == {"table": "invoices", "rows": 0}
    assert count_rows.faults({"table": "salaries"}) is not None
    eve = TurnContext("eve", TURN.conversation_id, TURN.turn_id, "prompt", "full", None)
    assert await request_tools(eve) == {}

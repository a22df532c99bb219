"""Charts and tables of datasets on the server, as a terminal shows them."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from prompt_toolkit.input import PipeInput
from pydantic import JsonValue
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.models.script import Call, ScriptedStep, Text
from parleyd.tools import HostTool, RegisteredDataset, ToolContext
from parleyd.tools import tool as host_tool
from parleyd.turns.model import ModelCall
from tests.app.display import Display
from tests.app.keyboard import CTRL_D, DOWN, ENTER
from tests.app.seat import Seat, Sit
from tests.contract.blocks.documents import actions, document
from tests.server import StartServer

DEADLINE = 20

COLUMNS: Final = [{"name": "day", "type": "date"}, {"name": "sold", "type": "number"}]
ROWS: Final = [[f"2026-03-{1 + i // 24:02}T{i % 24:02}:00:00Z", i] for i in range(24 * 20)]
TABLE: Final[dict[str, JsonValue]] = {"type": "table", "data": "hours", "title": "Hours"}
FIRST: Final = DOWN + ENTER
CHART: Final[dict[str, JsonValue]] = {
    "type": "chart",
    "id": "sold",
    "kind": "bar",
    "data": "weeks",
    "x": "day",
    "y": "sold",
}
SWITCH: Final[dict[str, JsonValue]] = {
    "type": "segmented",
    "id": "grain",
    "target": "sold",
    "options": [{"label": "Weeks", "data": "weeks"}, {"label": "Days", "data": "days"}],
}


@dataclass
class Agent:
    """Looks sales up and shows them in some blocks."""

    blocks: tuple[dict[str, JsonValue], ...]
    datasets: dict[str, dict[str, JsonValue]]
    registered: list[RegisteredDataset] = field(default_factory=list[RegisteredDataset])
    steps: int = 0

    @property
    def tools(self) -> Mapping[str, HostTool]:
        async def sales(context: ToolContext) -> dict[str, JsonValue]:
            """Looks the sales up."""
            self.registered.append(await context.datasets.register(COLUMNS, ROWS))
            return self.registered[-1].as_json()

        return {"sales": host_tool(sales)}

    def pick(self, call: ModelCall) -> ScriptedStep:
        del call
        self.steps += 1
        if self.steps == 1:
            return [Call("sales", {})]
        if self.steps > 2:
            return [Text("Fine.")]
        id_ = self.registered[-1].dataset_id
        datasets = {
            name: {"source": "ref", "id": id_, **its} for name, its in self.datasets.items()
        }
        return [Text(json.dumps(document(*self.blocks, **datasets)))]


async def seated(sit: Sit, agent: Agent) -> Seat:
    return await sit(agent.pick, tools=agent.tools, blocks=True)


def bars(shown: str) -> dict[str, str]:
    """Returns what the bars are labelled with and what stands behind them."""
    lines = [line.split() for line in shown.splitlines() if line.startswith("2026-")]
    return {line[0]: line[-1] for line in lines}


async def test_a_chart_is_drawn_with_the_grain_of_its_data_and_switched_to_another(
    sit: Sit,
) -> None:
    datasets: dict[str, dict[str, JsonValue]] = {
        "weeks": {"grain": "week"},
        "days": {"grain": "day", "limit": 4},
    }
    agent = Agent((CHART, actions("a", SWITCH)), datasets)
    seat = await seated(sit, agent)
    shown = await seat.chat(f"a{ENTER}", FIRST, CTRL_D)
    weeks, _, days = shown.partition("[ Weeks | Days ]")
    assert bars(weeks) == {
        "2026-02-23": str(sum(range(24))),
        "2026-03-02": str(sum(range(24, 192))),
        "2026-03-09": str(sum(range(192, 360))),
        "2026-03-16": str(sum(range(360, 480))),
    }
    thinned = bars(days)
    assert len(thinned) == 4
    assert thinned["2026-03-01"] == str(sum(range(24)))
    assert thinned["2026-03-20"] == str(sum(range(456, 480)))
    assert "on the server" not in shown


async def test_a_table_comes_page_by_page_as_long_as_its_document_says(sit: Sit) -> None:
    seat = await seated(sit, Agent((TABLE,), {"hours": {"limit": 30}}))
    shown = await seat.chat(f"a{ENTER}", FIRST, FIRST, DOWN * 2 + ENTER, CTRL_D)
    told = [line.strip() for line in shown.splitlines() if line.startswith("Rows ")]
    assert told == [
        "Rows 1 to 30 of 480",
        "Rows 31 to 60 of 480",
        "Rows 61 to 90 of 480",
        "Rows 31 to 60 of 480",
    ]
    counts = [shown.count(f"Z │ {number:4} │") for number in (0, 29, 30, 59, 60, 89, 90)]
    assert counts == [1, 1, 2, 2, 1, 1, 0]


async def test_a_page_is_never_longer_than_a_person_reads(sit: Sit) -> None:
    seat = await seated(sit, Agent((TABLE,), {"hours": {"grain": "hour", "limit": 1000}}))
    assert "Rows 1 to 50 of 480" in await seat.chat(f"a{ENTER}", CTRL_D)


async def test_rows_that_are_gone_are_told_and_the_chat_goes_on(
    sit: Sit, engine: AsyncEngine
) -> None:
    seat = await seated(sit, Agent((CHART, TABLE), {"weeks": {"grain": "week"}, "hours": {}}))
    await seat.chat(f"a{ENTER}", CTRL_D)
    (conversation_id,) = await seat.conversation_ids()
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE datasets SET expire_time = now()"))
    again = DOWN * 2 + ENTER
    shown = await seat.chat(again, ENTER, f"b{ENTER}", CTRL_D, conversation_id=conversation_id)
    assert shown.count("(The rows could not be fetched. ") == 3
    assert "✗" not in shown
    assert "Fine." in shown


async def test_rows_that_did_not_come_can_be_fetched_again(
    start_server: StartServer, keys: PipeInput, display: Display, engine: AsyncEngine
) -> None:
    agent = Agent((TABLE,), {"hours": {"limit": 30}})
    server = await start_server(agent.pick, tools=agent.tools, blocks=True)
    seat = Seat(await server.person(), keys, display, display.console)
    await seat.chat(f"a{ENTER}", CTRL_D)
    (conversation_id,) = await seat.conversation_ids()
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE datasets SET expire_time = now()"))
    async with asyncio.timeout(DEADLINE):
        chatting = asyncio.create_task(seat.chat(conversation_id=conversation_id))
        await display.until(lambda shown: "could not be fetched" in shown)
        async with engine.begin() as connection:
            await connection.execute(text("UPDATE datasets SET expire_time = NULL"))
        keys.send_text(FIRST + CTRL_D)
        await chatting
    assert "Rows 1 to 30 of 480" in display.standing

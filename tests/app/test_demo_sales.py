"""The demo agent's sales: a stored dataset and a host action, over the wire."""

import asyncio
import io
import json
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
from prompt_toolkit.input import PipeInput

import parley
from parley.v1.blocks_pb2 import BlockDocument, RefDataset
from parley.v1.datasets_pb2 import GetDatasetRequest
from parley.v1.turns_pb2 import (
    PromptInput,
    RunBlockActionRequest,
    RunBlockActionResponse,
    StreamTurnRequest,
)
from parleyd.app.demo_sales import COLUMNS, YEARS, hours_of_sales, sales_of, sales_rows
from parleyd.app.identity import development_token
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, running_service
from parleyd.contract.blocks import limits
from parleyd.contract.datasets.checks import checked
from parleyd.models.demo import DemoModel
from tests.app.keyboard import CTRL_D, DOWN, ENTER
from tests.app.seat import Seat
from tests.end_to_end.person import Person, Played

WISH: Final = "Show my sales by day"
SLOW: Final = 60.0
"""Pauses of a model that never comes to the end of its reply."""
DEADLINE: Final = 30


@asynccontextmanager
async def talking(
    folder: Path, database_url: str, pause: float = 0.0, **settings: Any
) -> AsyncGenerator[Person]:
    """Yields somebody who talks to the demo agent."""
    here = Settings(environment="development", port=0, data_dir=folder, **settings)
    replacements = Replacements(model=DemoModel(pause))
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(
            running_service(here, database_url=database_url, replacements=replacements)
        )
        token = development_token(here)
        yield Person(await stack.enter_async_context(parley.connect(service.address, token)))


def document_of(played: Played) -> BlockDocument:
    checked_reply = played.events[-2].blocks
    assert checked_reply.ok, checked_reply.errors
    return checked_reply.document


async def press(person: Person, played: Played, element_id: str) -> RunBlockActionResponse:
    """Presses one of the buttons that count, as a client does."""
    [block] = [each for each in document_of(played).blocks if each.id == "count"]
    [element] = [each for each in block.actions.elements if each.id == element_id]
    callback = element.button.action.callback
    reply = (await person.messages(played.conversation_id))[-1]
    return await person.client.turns.RunBlockAction(
        RunBlockActionRequest(
            conversation_id=played.conversation_id,
            message_id=reply.message_id,
            block_id=block.id,
            element_id=element.id,
            action=callback.name,
            payload_json=callback.payload_json,
        )
    )


def test_the_made_up_sales_are_the_same_every_time_and_too_many_for_a_document() -> None:
    rows = sales_rows()
    assert rows == sales_rows()
    assert len(rows) == 6260  # as the page on datasets says
    assert len(rows) > 5 * limits.REF_LIMIT
    assert len(rows) > 10 * limits.DATASET_ROWS
    dataset = checked(COLUMNS, rows, len(rows))
    assert len(dataset.rows) == len(rows)
    times = [each.sold_at for each in hours_of_sales()]
    assert times == sorted({*times})
    assert all(each.sales > each.customers > 0 for each in hours_of_sales())


async def test_the_agent_draws_a_dataset_that_its_tool_has_registered(
    tmp_path: Path, database_url: str
) -> None:
    async with talking(tmp_path, database_url, blocks=True) as person:
        played = await person.prompt(WISH)
        assert played.names == ["started", "tool_call", "tool_result", "text", "blocks", "done"]
        refs = {each.name: each.ref for each in document_of(played).datasets}
        told = json.loads(played.results[0].result_json)
        assert {ref.id for ref in refs.values()} == {told["datasetId"]}
        assert refs["months"].grain == RefDataset.GRAIN_MONTH

        months = await person.client.datasets.GetDataset(
            GetDatasetRequest(dataset_id=refs["months"].id, grain=refs["months"].grain)
        )
        expected = Counter[str]()
        for each in hours_of_sales():
            expected[f"{each.sold_at:%Y-%m}-01T00:00:00.000Z"] += each.sales
        assert {row.cells[0].text: row.cells[1].number for row in months.rows} == expected
        assert months.row_count == 12 * len(YEARS)

        days = await person.client.datasets.GetDataset(
            GetDatasetRequest(
                dataset_id=refs["days"].id, grain=refs["days"].grain, limit=refs["days"].limit
            )
        )
        assert len(days.rows) == refs["days"].limit < days.row_count

        hours = GetDatasetRequest(dataset_id=refs["hours"].id, limit=refs["hours"].limit, page=2)
        page = await person.client.datasets.GetDataset(hours)
        assert (len(page.rows), page.more) == (refs["hours"].limit, True)
        assert page.row_count == len(sales_rows())


async def test_its_buttons_count_a_year_in_place_of_themselves(
    tmp_path: Path, database_url: str
) -> None:
    async with talking(tmp_path, database_url, blocks=True) as person:
        played = await person.prompt(WISH)
        counted = sales_of(2027)
        assert counted
        response = await press(person, played, "count_2027")
        assert response.replace == RunBlockActionResponse.REPLACE_BLOCK
        assert not response.text
        columns, buttons = response.blocks.blocks
        figures = [each.metric.value for each in columns.columns.children]
        assert figures == [f"{counted.sales:,}", f"{counted.customers:,}", f"{counted.hours:,}"]
        assert (buttons.id, [each.id for each in buttons.actions.elements]) == (
            "count",
            ["count_2026"],
        )

        without = await press(person, played, "count_2025")
        assert without.text == "There are no sales of 2025: I have those of 2026 and 2027."
        assert not without.HasField("blocks")


@pytest.mark.parametrize("payload", ["{}", '{"year": "2027"}', '{"year": 3}', '{"day": 1}'])
async def test_a_payload_that_does_not_fit_is_refused(
    tmp_path: Path, database_url: str, payload: str
) -> None:
    async with talking(tmp_path, database_url, blocks=True) as person:
        played = await person.prompt(WISH)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await person.client.turns.RunBlockAction(
                RunBlockActionRequest(
                    conversation_id=played.conversation_id,
                    message_id="1",
                    block_id="count",
                    element_id="count_2027",
                    action="recountSales",
                    payload_json=payload,
                )
            )
        assert parley.error_of(refused.value).reason == "INVALID_REQUEST"


async def test_without_blocks_it_says_what_it_takes(tmp_path: Path, database_url: str) -> None:
    async with talking(tmp_path, database_url) as person:
        played = await person.prompt(WISH)
        assert played.names == ["started", "text", "done"]
        assert "PARLEY_BLOCKS=true" in played.text


async def test_an_action_of_the_deployment_takes_the_place_of_one_of_the_agent(
    tmp_path: Path, database_url: str
) -> None:
    own = ("tests.app.own_actions",)
    async with talking(tmp_path, database_url, blocks=True, host_actions=own) as person:
        played = await person.prompt(WISH)
        assert (await press(person, played, "count_2027")).text == "Our own count of 2027."


async def test_another_process_draws_what_the_first_has_looked_up(
    tmp_path: Path, database_url: str
) -> None:
    async with asyncio.timeout(DEADLINE):
        async with talking(tmp_path, database_url, SLOW, blocks=True) as person:
            request = StreamTurnRequest(prompt=PromptInput(text=WISH))
            seen = Played()
            async for event in person.stream(request):
                seen.events.append(event)
                if event.HasField("tool_result"):
                    break
        async with talking(tmp_path, database_url, blocks=True) as person:
            rest = await person.watch(seen.conversation_id, seen.turn_id, seen.events[-1].sequence)
    assert rest.names == ["resumed", "text", "blocks", "done"]
    told = json.loads(seen.results[0].result_json)
    assert {each.ref.id for each in document_of(rest).datasets} == {told["datasetId"]}


async def test_at_a_terminal_they_are_drawn_paged_and_counted(
    tmp_path: Path, database_url: str, keys: PipeInput, screen: io.StringIO
) -> None:
    weeks, more, count = DOWN + ENTER, DOWN * 3 + ENTER, DOWN * 5 + ENTER
    async with talking(tmp_path, database_url, blocks=True) as person:
        seat = Seat(person, keys, screen)
        shown = await seat.chat(f"{WISH}{ENTER}", weeks, more, count, CTRL_D)
    total = len(sales_rows())
    for seen in (
        "The agent calls loadSales.",
        "2026-01-01: ",
        "→ 2027-12-01: ",
        "2025-12-29: ",
        f"Rows 1 to 20 of {total}",
        f"Rows 21 to 40 of {total}",
        "Sales of 2026",
    ):
        assert seen in shown
    assert "✗" not in shown
    assert "on the server" not in shown

"""A tool registers a dataset, a document draws it, and its owner alone reads it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from grpc import aio
from pydantic import JsonValue
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parley.v1 import blocks_pb2
from parley.v1.datasets_pb2 import GetDatasetRequest, GetDatasetResponse
from parleyd.models.played import Pick
from parleyd.models.script import Call, ScriptedStep, Text
from parleyd.tools import DatasetRefused, DatasetsOff, HostTool, RegisteredDataset, ToolContext
from parleyd.tools import tool as host_tool
from parleyd.turns.model import ModelCall
from tests.end_to_end.person import Person, Played
from tests.server import StartServer

COLUMNS = [{"name": "day", "type": "date"}, {"name": "sold", "type": "number"}]
ROWS: list[list[JsonValue]] = [
    [f"2026-03-{1 + i // 24:02}T{i % 24:02}:00:00Z", i % 7] for i in range(24 * 20)
]


@dataclass
class Sales:
    """An agent that looks sales up and draws them, and its tool."""

    columns: Sequence[object] = field(default_factory=lambda: COLUMNS)
    y: str = "sold"
    registered: list[RegisteredDataset] = field(default_factory=list[RegisteredDataset])
    refused: list[Exception] = field(default_factory=list[Exception])
    steps: int = 0

    @property
    def tools(self) -> Mapping[str, HostTool]:
        async def sales(context: ToolContext) -> dict[str, JsonValue]:
            """Looks the sales up."""
            try:
                dataset = await context.datasets.register(self.columns, ROWS)
            except (DatasetRefused, DatasetsOff) as error:
                self.refused.append(error)
                raise
            self.registered.append(dataset)
            return dataset.as_json()

        return {"sales": host_tool(sales)}

    @property
    def pick(self) -> Pick:
        def pick(call: ModelCall) -> ScriptedStep:
            del call
            self.steps += 1
            return [Call("sales", {})] if self.steps == 1 else [Text(self.document())]

        return pick

    def document(self) -> str:
        if not self.registered:
            return "I can't look them up."
        chart: JsonValue = {"type": "chart", "kind": "line", "data": "s", "x": "day", "y": self.y}
        dataset: JsonValue = {"source": "ref", "id": self.dataset_id, "grain": "week"}
        return json.dumps({"v": 1, "datasets": {"s": dataset}, "blocks": [chart]})

    @property
    def dataset_id(self) -> str:
        return self.registered[-1].dataset_id


async def read(person: Person, request: GetDatasetRequest) -> GetDatasetResponse:
    return await person.client.datasets.GetDataset(request)


async def reason(person: Person, dataset_id: str) -> tuple[str, str]:
    with pytest.raises(aio.AioRpcError) as raised:
        await read(person, GetDatasetRequest(dataset_id=dataset_id))
    error = parley.error_of(raised.value)
    return error.reason, error.message.replace(dataset_id, "it")


def only_dataset(played: Played) -> blocks_pb2.Dataset:
    [dataset] = played.events[-2].blocks.document.datasets
    return dataset


async def test_what_a_tool_registers_is_drawn_by_its_id(start_server: StartServer) -> None:
    agent = Sales()
    server = await start_server(agent.pick, tools=agent.tools, blocks=True)
    noor = await server.person()

    played = await noor.prompt("How are sales?")

    assert played.names[-3:] == ["text", "blocks", "done"]
    assert played.events[-2].blocks.ok
    told = json.loads(played.results[0].result_json)
    assert told == agent.registered[0].as_json()
    assert (told["rowCount"], len(told["preview"])) == (480, 20)
    assert told["stats"] == {"sold": {"min": 0, "max": 6}}
    ref = only_dataset(played).ref
    assert ref.id == told["datasetId"]
    weeks = await read(noor, GetDatasetRequest(dataset_id=ref.id, grain=ref.grain))
    assert [row.cells[0].text for row in weeks.rows] == [
        "2026-02-23T00:00:00.000Z",
        "2026-03-02T00:00:00.000Z",
        "2026-03-09T00:00:00.000Z",
        "2026-03-16T00:00:00.000Z",
    ]
    assert sum(row.cells[1].number for row in weeks.rows) == sum(i % 7 for i in range(480))
    assert (weeks.row_count, weeks.page, weeks.more) == (4, 1, False)


async def test_a_document_that_names_no_column_of_it_breaks_a_rule(
    start_server: StartServer,
) -> None:
    agent = Sales(y="profit")
    server = await start_server(agent.pick, tools=agent.tools, blocks=True)
    noor = await server.person()

    played = await noor.prompt("How are sales?")

    assert not played.events[-2].blocks.ok
    assert [error.code for error in played.events[-2].blocks.errors] == ["COLUMN_NOT_FOUND"]


async def test_nobody_else_reads_it_and_nobody_once_it_has_expired(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    agent = Sales()
    server = await start_server(agent.pick, tools=agent.tools, blocks=True, dataset_ttl_days=1)
    noor, max_ = await server.person(), await server.person("max")
    played = await noor.prompt("How are sales?")
    unknown = await reason(noor, "ds_unknown")
    assert unknown[0] == "DATASET_NOT_FOUND"
    assert (await read(noor, GetDatasetRequest(dataset_id=agent.dataset_id))).row_count == 480

    assert await reason(max_, agent.dataset_id) == unknown
    async with engine.begin() as connection:
        await connection.execute(
            text("UPDATE datasets SET expire_time = expire_time - interval '1 day'")
        )
    assert await reason(noor, agent.dataset_id) == unknown
    assert played.events[-2].blocks.ok


async def test_its_rows_come_page_by_page_or_thinned_out(start_server: StartServer) -> None:
    agent = Sales()
    server = await start_server(agent.pick, tools=agent.tools, blocks=True)
    noor = await server.person()
    await noor.prompt("How are sales?")

    last = await read(noor, GetDatasetRequest(dataset_id=agent.dataset_id, limit=200, page=3))
    assert [row.cells[0].text for row in last.rows] == [row[0] for row in ROWS[400:]]
    assert (last.row_count, last.page, last.more) == (480, 3, False)
    first = await read(noor, GetDatasetRequest(dataset_id=agent.dataset_id, limit=200, page=1))
    assert (len(first.rows), first.more) == (200, True)
    thin = await read(noor, GetDatasetRequest(dataset_id=agent.dataset_id, limit=3))
    assert [thin.rows[0].cells[0].text, thin.rows[2].cells[0].text] == [ROWS[0][0], ROWS[-1][0]]
    assert (len(thin.rows), thin.row_count, thin.page, thin.more) == (3, 480, 1, False)


async def test_rows_without_dates_are_not_put_together(start_server: StartServer) -> None:
    agent = Sales(columns=[{"name": "day", "type": "string"}, COLUMNS[1]])
    server = await start_server(agent.pick, tools=agent.tools, blocks=True)
    noor = await server.person()
    await noor.prompt("How are sales?")

    grain = blocks_pb2.RefDataset.GRAIN_DAY
    with pytest.raises(aio.AioRpcError) as raised:
        await read(noor, GetDatasetRequest(dataset_id=agent.dataset_id, grain=grain))
    error = parley.error_of(raised.value)
    assert (error.reason, [fault.path for fault in error.fields]) == ("INVALID_REQUEST", ["grain"])


async def test_a_dataset_that_is_not_fit_fails_its_call_and_the_turn_goes_on(
    start_server: StartServer,
) -> None:
    agent = Sales(columns=[{"name": "Day", "type": "date"}])
    server = await start_server(agent.pick, tools=agent.tools, blocks=True)
    noor = await server.person()

    played = await noor.prompt("How are sales?")

    assert json.loads(played.results[0].result_json) == {"error": "The tool sales failed."}
    assert [type(error) for error in agent.refused] == [DatasetRefused]
    assert played.text == "I can't look them up."


async def test_where_replies_are_texts_nothing_is_registered_and_nothing_read(
    start_server: StartServer,
) -> None:
    agent = Sales()
    server = await start_server(agent.pick, tools=agent.tools)
    noor = await server.person()

    played = await noor.prompt("How are sales?")

    assert [type(error) for error in agent.refused] == [DatasetsOff]
    assert "PARLEY_BLOCKS" in str(agent.refused[0])
    assert played.names[-1] == "done"
    assert (await reason(noor, "ds_unknown"))[0] == "BLOCKS_DISABLED"


async def test_a_deployment_limits_the_rows_of_a_dataset(start_server: StartServer) -> None:
    agent = Sales()
    server = await start_server(
        agent.pick, tools=agent.tools, blocks=True, dataset_max_rows=len(ROWS) - 1
    )
    noor = await server.person()

    await noor.prompt("How are sales?")

    assert [str(error)[:42] for error in agent.refused] == [
        "The dataset has 480 rows, more than 479: p"
    ]

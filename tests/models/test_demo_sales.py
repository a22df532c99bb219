"""The demo agent draws sales that a tool looks up: what it knows of them is in the result."""

from typing import Final

import pytest
from pydantic import JsonValue

from parleyd.contract.blocks.options import BlockOptions, KnownColumn
from parleyd.contract.blocks.prompt import prompt_section
from parleyd.contract.json import object_at, objects_at, string_at
from parleyd.models.demo import DemoModel
from parleyd.turns.model import ModelCall, Tool, ToolOutcome
from tests.models.streamed import parts_of
from tests.models.test_demo import HOSTED, Conversation, ask_of, text_of
from tests.models.test_demo_documents import NASTY, blocks_in, document_in, types_in

LOAD: Final = "loadSales"
TOOLS: Final = (*HOSTED, Tool(LOAD, "Looks up sales.", {"type": "object"}))
COLUMNS: Final = (KnownColumn("sold_at", "date"), KnownColumn("sales", "number"))
ALLOWED: Final = BlockOptions(host_actions=("recountSales",), datasets={"ds_1": COLUMNS})
SYSTEM: Final = prompt_section(ALLOWED)
WISHES: Final = (
    "Show my sales by day",
    "sales for the whole year",
    "My DAILY sales, please",
    "How were sales this year?",
    "hourly sales",
)
RESULT: Final[dict[str, JsonValue]] = {
    "datasetId": "ds_1",
    "columns": [{"name": each.name, "type": each.type} for each in COLUMNS],
    "preview": [["2026-01-01T08:00:00Z", 30]],
    "rowCount": 6260,
    "stats": {"sales": {"min": 12, "max": 1480}},
}


def talking(system: str | None = SYSTEM, tools: tuple[Tool, ...] = TOOLS) -> Conversation:
    return Conversation(system=system, hosted=tools)


@pytest.mark.parametrize("wish", WISHES)
async def test_it_looks_up_what_is_more_than_a_document_holds(wish: str) -> None:
    call = ask_of(await talking().say(wish))
    assert (call.name, call.args) == (LOAD, {})


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize(
    ("system", "tools"),
    [
        (None, TOOLS),
        ("Be kind. `recountSales`", TOOLS),
        (prompt_section(BlockOptions(host_actions=())), TOOLS),
        (SYSTEM, HOSTED),
    ],
    ids=["texts", "texts still", "no callbacks", "no tool"],
)
async def test_where_it_can_not_draw_them_it_says_so(
    wish: str, system: str | None, tools: tuple[Tool, ...]
) -> None:
    assert "but here I can't" in text_of(await talking(system, tools).say(wish))


async def test_its_document_refers_to_the_dataset_that_the_result_names() -> None:
    conversation = talking()
    call = ask_of(await conversation.say(WISHES[0]))
    document = document_in(await conversation.answer(call, RESULT), ALLOWED)
    refs = object_at(document, "datasets")
    assert {string_at(object_at(refs, name), "id") for name in refs} == {"ds_1"}
    assert object_at(refs, "months")["grain"] == "month"
    assert object_at(refs, "hours")["limit"] == 20
    shown = {string_at(block, "type"): block for block in blocks_in(document)}
    assert (shown["chart"]["x"], shown["chart"]["y"]) == ("sold_at", "sales")
    assert shown["table"]["data"] == "hours"
    payloads = [
        object_at(object_at(button, "action"), "payload")
        for block in blocks_in(document)
        if block.get("id") == "count"
        for button in objects_at(block, "elements")
    ]
    assert payloads == [{"year": 2026}, {"year": 2027}, {"year": 2025}]
    assert "6,260" in [block.get("value") for block in blocks_in(document)]


async def test_it_remembers_nothing_but_its_messages() -> None:
    first, other = DemoModel(), DemoModel()
    asked = first.user_message(WISHES[0])
    tools = tuple(TOOLS)
    call = ask_of(await parts_of(first, ModelCall(SYSTEM, (asked,), tools, "auto", 1.0)))
    stored = first.encode(
        [
            first.assistant_message([call]),
            first.tool_message([ToolOutcome(call.call_id, call.name, value=RESULT)]),
        ]
    )
    messages = (other.user_message(WISHES[0]), *other.decode(first.codec, stored))
    parts = await parts_of(other, ModelCall(SYSTEM, messages, tools, "auto", 1.0))
    assert '"id": "ds_1"' in text_of(parts)
    assert "table" in types_in(document_in(parts, ALLOWED))


ODD: Final[list[JsonValue]] = [
    {},
    {**RESULT, "datasetId": 3},
    {**RESULT, "columns": [{"name": "sales", "type": "number"}]},
    {**RESULT, "columns": [{"name": "sold_at", "type": "date"}]},
    {**RESULT, "preview": []},
    {**RESULT, "preview": [[]]},
    {**RESULT, "preview": [[None, 3]]},
    {**RESULT, "preview": [["W", 3]]},
    {**RESULT, "preview": "none"},
    {**RESULT, "stats": {}},
    "no object",
]


@pytest.mark.parametrize("result", ODD)
async def test_of_a_result_that_says_less_it_shows_less(result: JsonValue) -> None:
    conversation = talking()
    call = ask_of(await conversation.say(WISHES[0]))
    assert document_in(await conversation.answer(call, result), ALLOWED)


async def test_a_tool_that_failed_is_told() -> None:
    for error in ("There are too many rows.", *NASTY):
        conversation = talking()
        call = ask_of(await conversation.say(WISHES[0]))
        document = document_in(await conversation.answer(call, error=error), ALLOWED)
        assert types_in(document) == {"text"}


@pytest.mark.parametrize(
    "prompt",
    ["show my sales", "Show my sales by month", "Show my sales by product", "How is my revenue?"],
)
async def test_what_it_knows_itself_it_looks_up_nowhere(prompt: str) -> None:
    assert types_in(document_in(await talking().say(prompt), ALLOWED)) >= {"heading", "chart"}

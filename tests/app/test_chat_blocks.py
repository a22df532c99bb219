"""Replies that are documents, as a terminal shows them."""

import asyncio
import io
import json
from pathlib import Path
from typing import Any, Final

import pytest
from prompt_toolkit.input import PipeInput
from pydantic import JsonValue
from rich.console import Console

from parley import connect
from parley.v1.blocks_pb2 import Block, BlockDocument, BlockElement
from parleyd.app.chat.blocks.charts import BARS_SHOWN, COLUMNS_SHOWN
from parleyd.app.chat.blocks.documents import drawn_document
from parleyd.app.chat.blocks.rows import ROWS_SHOWN
from parleyd.app.chat.previews import ReplyPreview
from parleyd.app.identity import development_token
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, running_service
from parleyd.contract.blocks.catalog import BLOCK
from parleyd.contract.json import objects_at
from parleyd.models.demo import DemoModel
from parleyd.models.script import Hold, ScriptedStep, Text
from parleyd.models.scripted import TITLE, in_turn
from parleyd.rpc.blocks import document_to_proto
from tests.app.display import Display
from tests.app.keyboard import CTRL_D, DOWN, ENTER
from tests.app.seat import Seat, Sit
from tests.contract.blocks.documents import actions, button, document, inline
from tests.end_to_end.person import Person
from tests.rpc.every_block import every_record
from tests.server import StartServer
from tests.standard_asks import ask_plan

DEADLINE = 20

LOANS: Final = inline("branch:string", "total:number", rows=[["Harbour", 41], ["Hillside", 17.5]])


def drawn(value: dict[str, JsonValue] | BlockDocument, width: int = 80) -> str:
    """Returns a document as it stands on a screen."""
    message = value if isinstance(value, BlockDocument) else document_to_proto(value)
    screen = io.StringIO()
    Console(file=screen, width=width).print(drawn_document(message))
    return "\n".join(line.rstrip() for line in screen.getvalue().splitlines())


def chart(kind: str, *values: float, **fields: Any) -> dict[str, JsonValue]:
    points: list[JsonValue] = [
        {"label": f"p{place}", "value": value} for place, value in enumerate(values)
    ]
    return {"type": "chart", "kind": kind, "points": points, **fields}


SHOWN: list[tuple[dict[str, JsonValue], tuple[str, ...]]] = [
    ({"type": "heading", "text": "Loans", "size": "xl"}, ("Loans",)),
    ({"type": "text", "markdown": "It is **done**."}, ("It is done.",)),
    (
        {
            "type": "metric",
            "label": "Total",
            "value": "41",
            "delta": "+3",
            "trend": "up",
            "helper": "since May",
        },
        ("Total", "41  ▲ +3", "since May"),
    ),
    ({"type": "badge", "text": "New", "status": "success"}, ("New",)),
    ({"type": "divider"}, ("─" * 80,)),
    ({"type": "context", "text": "As of today"}, ("As of today",)),
    (
        {"type": "chart", "kind": "bar", "data": "d", "x": "branch", "y": "total", "title": "By"},
        ("By", "Harbour  █", "█   41", "Hillside █", "17.5"),
    ),
    (chart("line", 0, 7), ("▁█", "p0: 0 → p1: 7", "lowest 0, highest 7")),
    (chart("area", 0, 7, height="sm"), (" █\n █\n▁█\n",)),
    (chart("donut", 1, 3), ("1 (25%)", "3 (75%)")),
    (chart("bar", emptyText="No loans."), ("No loans.",)),
    ({"type": "table", "data": "d", "title": "All"}, ("All", "branch", "│ Harbour  │    41 │")),
    ({"type": "table", "data": "d", "columns": ["total"]}, ("┃ total ┃", "│  17.5 │")),
    ({"type": "columns", "children": [{"type": "badge", "text": it} for it in "ab"]}, (" a ", "b")),
    ({"type": "card", "title": "Box", "children": [{"type": "divider"}]}, ("╭─ Box ─", "│ ───")),
    ({"type": "html", "html": "<p>Hi", "title": "Page"}, ("Preview by the agent: Page", "HTML")),
    ({"type": "callout", "text": "Mind it", "status": "alert"}, ("─ Alert ─", "│ Mind it")),
    ({"type": "image", "alt": "A ship", "src": "file:1"}, ("[Image: A ship]",)),
    ({"type": "details", "title": "More", "text": "The rest"}, ("▾ More\nThe rest",)),
    (
        actions(
            "do",
            button("a", {"kind": "reply", "text": "Show all"}),
            button("b", {"kind": "open", "url": "https://books.example"}),
            button("c", {"kind": "open", "route": "/loans"}),
            button("d", {"kind": "select", "target": "loans", "data": "d"}),
            button("e", {"kind": "callback", "name": "renew"}),
            {
                "type": "segmented",
                "id": "f",
                "target": "loans",
                "options": [{"label": "Day", "data": "d"}, {"label": "Week", "data": "w"}],
            },
        ),
        (
            "[ Go ] says “Show all”",
            "[ Go ] opens https://books.example",
            "[ Go ] opens /loans",
            "[ Go ] shows d in loans",
            "[ Go ] calls the app: renew",
            "[ Day | Week ] shows other data in loans",
        ),
    ),
]


@pytest.mark.parametrize(
    ("block", "shown"), SHOWN, ids=[f"{it['type']}_{n}" for n, (it, _) in enumerate(SHOWN)]
)
def test_a_block_is_shown_as_what_a_terminal_can_show_of_it(
    block: dict[str, JsonValue], shown: tuple[str, ...]
) -> None:
    on_screen = drawn(document(block, d=LOANS))
    assert [it for it in shown if it not in on_screen] == []


def test_every_type_of_block_is_shown() -> None:
    assert {str(block["type"]) for block, _ in SHOWN} == {*BLOCK.records}


@pytest.mark.parametrize("name", every_record())
def test_whatever_a_document_holds_it_is_drawn_and_steers_nothing(name: str) -> None:
    for value in every_record()[name]:
        for width in (12, 80):
            on_screen = drawn(value, width)
            assert [sign for sign in on_screen if ord(sign) < ord(" ") and sign != "\n"] == []


def test_no_text_of_a_document_steers_the_terminal_or_is_markup() -> None:
    nasty = "[red]a\x1b[2J\x9b1m\u202eb"
    blocks: list[Any] = [
        {"type": "heading", "text": nasty},
        {"type": "text", "markdown": nasty},
        {"type": "metric", "label": nasty, "value": nasty, "delta": nasty, "helper": nasty},
        {"type": "badge", "text": nasty},
        {"type": "context", "text": nasty},
        {
            "type": "chart",
            "kind": "bar",
            "points": [{"label": nasty, "value": 1}],
            "title": nasty,
        },
        chart("line", emptyText=nasty),
        {"type": "table", "data": nasty, "title": nasty},
        {"type": "table", "data": "d", "title": nasty},
        {"type": "card", "title": nasty, "children": [{"type": "context", "text": nasty}]},
        {"type": "html", "html": nasty, "title": nasty},
        {"type": "callout", "text": nasty},
        {"type": "image", "alt": nasty, "src": nasty},
        {"type": "details", "title": nasty, "text": nasty},
        actions("do", {**button("a", {"kind": "reply", "text": nasty}), "text": nasty}),
    ]
    on_screen = drawn(document(*blocks, d=inline(f"{nasty}:string", rows=[[nasty]])), 200)
    assert not {"\x1b", "\x9b", "\u202e"} & {*on_screen}
    assert on_screen.count("[red]a") >= len(blocks)


def test_what_is_newer_than_this_terminal_is_told() -> None:
    newer = document_to_proto(document(actions("do", button("a", None)), {"type": "divider"}))
    newer.blocks.append(Block(id="new"))
    newer.blocks[0].actions.elements.append(BlockElement(id="new"))
    newer.blocks.add().card.children.append(Block(id="inner"))
    on_screen = drawn(newer)
    assert on_screen.count("(A block that this version does not know.)") == 2
    assert "(Something to press that this version does not know.)" in on_screen
    assert "[ Go ] does something that this version does not know" in on_screen


@pytest.mark.parametrize(
    "block",
    [
        {"type": "chart", "kind": "line", "data": "r", "x": "day", "y": "total"},
        {"type": "table", "data": "r"},
    ],
    ids=["chart", "table"],
)
def test_of_a_dataset_elsewhere_it_is_said_that_its_rows_are_on_the_server(
    block: dict[str, JsonValue],
) -> None:
    value = document(block, r={"source": "ref", "id": "set_1"})
    assert "(The rows of “r” are on the server.)" in drawn(value)


def test_of_many_rows_and_points_the_first_are_shown() -> None:
    many = inline("n:number", rows=[[number] for number in range(ROWS_SHOWN + 7)])
    table = drawn(document({"type": "table", "data": "d"}, d=many))
    assert f"Rows 1 to {ROWS_SHOWN} of {ROWS_SHOWN + 7}" in table
    assert f"│ {ROWS_SHOWN - 1} │" in table
    assert f"│ {ROWS_SHOWN} │" not in table
    bars = drawn(document(chart("bar", *range(BARS_SHOWN + 3))))
    assert f"p{BARS_SHOWN - 1} " in bars
    assert f"p{BARS_SHOWN} " not in bars
    assert "… and 3 more" in bars


@pytest.mark.parametrize("width", [10, 200])
def test_a_curve_of_many_points_fits_its_place(width: int) -> None:
    lines = drawn(document(chart("line", *range(500))), width).splitlines()
    assert len(lines[0]) == min(width, COLUMNS_SHOWN)
    assert lines[0][0] == "▁"
    assert lines[0][-1] == "█"


def test_numbers_are_shown_as_they_were_written() -> None:
    value = document(chart("bar", 9007199254740993, 5.0, 0.1, 1e300, 12))
    assert [line.split()[-1] for line in drawn(value).splitlines()] == [
        "9007199254740993",
        "5.0",
        "0.1",
        "1e+300",
        "12",
    ]


# ---------------------------------------------------------------- in a conversation


def says(value: JsonValue) -> ScriptedStep:
    return [Text(json.dumps(value))]


OFFER: Final = document(
    {"type": "heading", "text": "Loans"},
    actions("next", button("more", {"kind": "reply", "text": "Show the rest"})),
)
WRONG: Final = document(*[{"type": "heading"}] * 5)


async def test_a_document_is_shown_as_blocks_and_not_as_it_is_written(sit: Sit) -> None:
    seat = await sit(in_turn(says(OFFER)), blocks=True)
    shown = await seat.chat(f"a{ENTER}", CTRL_D)
    assert "Loans" in shown
    assert "[ Go ] says “Show the rest”" in shown
    assert '"v"' not in shown
    (conversation_id,) = await seat.conversation_ids()
    back = await seat.chat(CTRL_D, conversation_id=conversation_id)
    assert "[ Go ] says “Show the rest”" in back
    assert '"v"' not in back


async def test_a_reply_that_is_offered_can_be_picked(sit: Sit) -> None:
    seat = await sit(in_turn(says(OFFER), says(document({"type": "divider"}))), blocks=True)
    await seat.chat(f"a{ENTER}", DOWN + ENTER, CTRL_D)
    (conversation_id,) = await seat.conversation_ids()
    messages = await seat.person.messages(conversation_id)
    assert [message.text for message in messages][0::2] == ["a", "Show the rest"]


async def test_who_is_offered_replies_can_write_another(sit: Sit) -> None:
    seat = await sit(in_turn(says(OFFER), [Text("Fine.")]), blocks=True)
    shown = await seat.chat(f"a{ENTER}", ENTER, f"my own{ENTER}", CTRL_D)
    (conversation_id,) = await seat.conversation_ids()
    messages = await seat.person.messages(conversation_id)
    assert messages[2].text == "my own"
    assert "Fine." in shown


async def test_an_invalid_document_is_its_text_and_the_first_three_errors(sit: Sit) -> None:
    seat = await sit(in_turn(says(WRONG)), blocks=True)
    shown = await seat.chat(f"a{ENTER}", CTRL_D)
    assert shown.count('"v": 1') == 1
    assert "✗ The reply is no valid document." in shown
    assert shown.count("MISSING_REQUIRED") == 3
    assert shown.index('"v": 1') < shown.index("✗ ")


async def test_prose_where_a_document_was_due_is_prose(sit: Sit) -> None:
    seat = await sit(in_turn([Text("Just **text**.")]), blocks=True)
    shown = await seat.chat(f"a{ENTER}", CTRL_D)
    assert shown.count("Just text.") == 1
    assert "✗" not in shown


async def test_a_feature_of_yaml_that_is_not_allowed_is_told(sit: Sit) -> None:
    yaml = "v: 1\nblocks:\n  - &a {type: divider}\n"
    seat = await sit(in_turn([Text(yaml)]), blocks=True)
    shown = await seat.chat(f"a{ENTER}", CTRL_D)
    assert "✗ The reply is no valid document." in shown
    assert "document  YAML_FEATURE_DISALLOWED" in shown


async def test_a_document_that_is_mended_is_shown_once(sit: Sit) -> None:
    seat = await sit(in_turn(says(WRONG), says(OFFER)), blocks=True, blocks_repair=True)
    shown = await seat.chat(f"a{ENTER}", CTRL_D)
    assert shown.count("Loans") == 1
    assert '"v"' not in shown
    assert "✗" not in shown


async def test_without_blocks_a_document_is_shown_as_it_is_written(sit: Sit) -> None:
    seat = await sit(in_turn(says(OFFER), [ask_plan()]))
    shown = await seat.chat(f"a{ENTER}", CTRL_D)
    assert shown.count('{"v": 1') == 1
    assert "[ Go ]" not in shown


async def test_finished_blocks_are_seen_while_the_rest_is_written(
    start_server: StartServer, keys: PipeInput, display: Display
) -> None:
    heading, pressed = map(json.dumps, objects_at(OFFER, "blocks"))
    server = await start_server(
        in_turn(
            [
                Text(f"v: 1\nblocks:\n  - {heading}\n  - {pressed[:9]}"),
                Hold("middle"),
                Text(pressed[9:]),
            ]
        ),
        title=[Hold("title"), *TITLE],
        blocks=True,
    )
    seat = Seat(await server.person(), keys, display, display.console)
    async with asyncio.timeout(DEADLINE):
        chatting = asyncio.create_task(seat.chat(f"a{ENTER}", CTRL_D))
        shown = await display.until(lambda shown: "Loans" in shown)
        assert shown.index("Loans") < shown.index("The agent works")
        assert "[ Go ]" not in shown
        server.model.holds.release("middle")
        shown = await display.until(lambda shown: "[ Go ]" in shown)
        server.model.holds.release("title")
        await chatting
    assert display.standing.count("Loans") == 1
    assert "The agent works" not in display.standing


def test_of_a_long_document_the_end_is_previewed() -> None:
    preview = ReplyPreview()
    blocks = [{"type": "context", "text": f"block {number}"} for number in range(100)]
    preview.show(document_to_proto(document(*blocks)))
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, color_system=None, width=20, height=5)
    console.print(preview)
    lines = [line.strip() for line in screen.getvalue().splitlines()]
    assert lines[:-1] == ["block 98", "", "block 99"]


def test_a_preview_of_blocks_is_dropped_with_all_else() -> None:
    preview = ReplyPreview()
    preview.show(document_to_proto(OFFER))
    preview.drop()
    screen = io.StringIO()
    Console(file=screen, width=40).print(preview)
    assert "Loans" not in screen.getvalue()


async def test_the_demo_agent_shows_its_figures_and_goes_on_by_its_buttons(
    tmp_path: Path, database_url: str, keys: PipeInput, screen: io.StringIO
) -> None:
    settings = Settings(environment="development", port=0, data_dir=tmp_path, blocks=True)
    replacements = Replacements(model=DemoModel())
    token = development_token(settings)
    async with (
        running_service(settings, database_url=database_url, replacements=replacements) as service,
        connect(service.address, token) as client,
    ):
        seat = Seat(Person(client), keys, screen)
        by_month, by_product = DOWN * 4 + ENTER, DOWN * 2 + ENTER
        shown = await seat.chat(
            f"show my sales{ENTER}", by_month, by_product, f"{ENTER}bye{ENTER}", CTRL_D
        )
    for seen in ("Your sales", "Sales by day", "Sales by month", "Visitors", "Bread", "You said"):
        assert seen in shown
    assert "v: 1" not in shown
    assert "✗" not in shown

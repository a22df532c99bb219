"""What can be pressed in a reply, pressed at a terminal."""

import asyncio
import io
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from prompt_toolkit.input import PipeInput
from pydantic import JsonValue

from parley import connect
from parley.v1.blocks_pb2 import BlockElement
from parleyd.app.chat.blocks.presses import CallApp, Open, Redraw, Say, presses_in
from parleyd.app.chat.blocks.rows import Datasets, named_in
from parleyd.app.chat.blocks.shown_document import ShownDocument
from parleyd.app.chat.terminal import Terminal
from parleyd.app.identity import development_token
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, running_service
from parleyd.models.script import ScriptedStep, Text
from parleyd.models.scripted import in_turn
from parleyd.models.strict import StrictModel
from parleyd.rpc.blocks import document_to_proto
from tests import loan_actions
from tests.app.display import Display
from tests.app.keyboard import CTRL_D, DOWN, ENTER
from tests.app.seat import Seat, Sit
from tests.contract.blocks.documents import actions, button, document, inline
from tests.end_to_end.person import Person
from tests.end_to_end.pressed import ACTIONS
from tests.server import StartServer

DEADLINE = 20

WEEK: Final = inline("branch:string", "total:number", rows=[["Harbour", 41]])
MONTH: Final = inline("branch:string", "total:number", rows=[["Hillside", 170]])
CHART: Final[dict[str, JsonValue]] = {
    "type": "chart",
    "id": "loans",
    "kind": "bar",
    "data": "week",
    "x": "branch",
    "y": "total",
    "title": "Loans",
}
SWITCH: Final[dict[str, JsonValue]] = {
    "type": "segmented",
    "id": "span",
    "target": "loans",
    "options": [{"label": "A week", "data": "week"}, {"label": "A month", "data": "month"}],
}
FIRST: Final = DOWN + ENTER
"""Picks the first line below the one that lets a person write."""
SECOND: Final = DOWN * 2 + ENTER


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    loan_actions.forget()


def says(value: JsonValue) -> ScriptedStep:
    return [Text(json.dumps(value))]


def calls(id_: str, name: str, payload: JsonValue = None) -> dict[str, JsonValue]:
    """Returns a button that calls the app, and reads as it is named."""
    action: dict[str, JsonValue] = {"kind": "callback", "name": name}
    if payload is not None:
        action["payload"] = payload
    return {**button(id_, action), "text": id_}


def in_a_card(*blocks: JsonValue) -> dict[str, JsonValue]:
    return {"type": "card", "children": [*blocks]}


async def seated(sit: Sit, value: JsonValue, *more: JsonValue) -> Seat:
    """Seats somebody whose agent says documents, with the actions of a lender."""
    steps = [says(each) for each in (value, *more)]
    return await sit(in_turn(*steps), blocks=True, host_actions=ACTIONS)


# ---------------------------------------------------------------- what there is to press


def test_all_that_can_be_pressed_is_listed_in_the_order_in_which_it_is_shown() -> None:
    inner = actions("b", calls("pay", "repay", {"loan_id": "L-1"}))
    value = document(
        actions("a", button("d", {"kind": "reply", "text": "Show all"}), SWITCH),
        CHART,
        in_a_card(inner),
        actions(
            "e",
            button("f", {"kind": "open", "route": "/loans"}),
            button("g", {"kind": "open", "url": "https://books.example"}),
            button("h", {"kind": "select", "target": "loans", "data": "month"}),
        ),
        week=WEEK,
        month=MONTH,
    )
    shown = document_to_proto(value)
    chart = shown.blocks[1]
    presses = presses_in(shown.blocks, Datasets(named_in(shown)))
    assert [(press.label, press.told) for press in presses] == [
        ("Go", "Says: Show all"),
        ("A month", "Shows month in “Loans”"),
        ("pay", "Calls the app: repay"),
        ("Go", "Tells where to go: /loans"),
        ("Go", "Tells where to go: https://books.example"),
        ("Go", "Shows month in “Loans”"),
    ]
    assert [press.does for press in presses] == [
        Say("Show all"),
        Redraw(chart, "month"),
        CallApp("b", "pay", "repay", '{"loan_id":"L-1"}'),
        Open("/loans"),
        Open("https://books.example"),
        Redraw(chart, "month"),
    ]


def test_what_is_newer_than_this_terminal_can_not_be_pressed() -> None:
    newer = document_to_proto(document(actions("do", button("a", None))))
    newer.blocks[0].actions.elements.append(BlockElement(id="new"))
    assert presses_in(newer.blocks, Datasets({})) == []


def test_the_labels_steer_no_terminal() -> None:
    nasty = "a\x1b[2J\u202eb\nc"
    pressed = {**button("a", {"kind": "reply", "text": nasty}), "text": nasty}
    shown = document_to_proto(document(actions("do", pressed)))
    (press,) = presses_in(shown.blocks, Datasets({}))
    assert (press.label, press.told) == ("a[2Jb c", "Says: a[2Jb c")
    assert press.does == Say(nasty)


# ---------------------------------------------------------------- in a conversation


async def test_a_switch_draws_its_chart_with_the_other_data_and_can_be_taken_back(
    sit: Sit,
) -> None:
    seat = await seated(sit, document(CHART, actions("a", SWITCH), week=WEEK, month=MONTH))
    shown = await seat.chat(f"a{ENTER}", FIRST, FIRST, CTRL_D)
    places = [place for place in range(len(shown)) if shown.startswith("Loans", place)]
    first, second, third = (shown[start:] for start in places)
    assert "Harbour" in first[: places[1] - places[0]]
    assert "Hillside" in second[: places[2] - places[1]]
    assert "Harbour" not in second[: places[2] - places[1]]
    assert "Harbour" in third
    assert shown.count("[ A week | A month ]") == 1
    (conversation_id,) = await seat.conversation_ids()
    assert len(await seat.person.messages(conversation_id)) == 2


async def test_a_switch_to_data_that_there_is_not_changes_nothing(sit: Sit) -> None:
    switch = button("a", {"kind": "select", "target": "loans", "data": "year"})
    seat = await seated(sit, document(CHART, actions("do", switch), week=WEEK))
    shown = await seat.chat(f"a{ENTER}", FIRST, CTRL_D)
    assert "This reply has no such data, so nothing changes." in shown
    assert shown.count("Harbour") == 1


async def test_where_something_is_is_told_and_not_opened(sit: Sit) -> None:
    opening = button("a", {"kind": "open", "url": "https://books.example/a\u202eb"})
    seat = await seated(sit, document(actions("do", opening)))
    shown = await seat.chat(f"a{ENTER}", FIRST, CTRL_D)
    assert "Open it yourself: https://books.example/ab" in shown


@pytest.mark.parametrize("inside", [False, True], ids=["by itself", "in a card"])
async def test_a_callback_runs_for_its_button_and_its_blocks_take_its_place(
    sit: Sit, *, inside: bool
) -> None:
    payload: JsonValue = {"loan_id": "L-1", "parts": [{"cents": 3}]}
    due = actions("due", calls("pay", "repay", payload))
    value = document(actions("rest", calls("later", "remind")), in_a_card(due) if inside else due)
    seat = await seated(sit, value, document({"type": "divider"}))
    # Two lines are left, so that two steps down lead back to the first, which lets a person write.
    shown = await seat.chat(f"a{ENTER}", SECOND, SECOND, f"bye{ENTER}", CTRL_D)
    assert shown.index("Paid.") < shown.index("L-1: 3")
    [(name, context)] = loan_actions.calls
    assert (name, context is not None) == ("repay", True)
    assert context
    (conversation_id,) = await seat.conversation_ids()
    _, reply, said, _ = await seat.person.messages(conversation_id)
    assert said.text == "bye"
    assert (str(context.message_id), context.block_id, context.element_id) == (
        reply.message_id,
        "due",
        "pay",
    )
    assert str(context.conversation_id) == conversation_id


async def test_a_document_in_place_of_the_message_takes_all_of_its_buttons_with_it(
    sit: Sit,
) -> None:
    value = document(actions("a", calls("terms", "showTerms"), calls("later", "remind")))
    seat = await seated(sit, value, document({"type": "divider"}))
    shown = await seat.chat(f"a{ENTER}", FIRST, DOWN + ENTER, f"bye{ENTER}", CTRL_D)
    assert "Terms" in shown
    assert loan_actions.calls == []
    (conversation_id,) = await seat.conversation_ids()
    assert [each.text for each in await seat.person.messages(conversation_id)][2] == "bye"


async def test_blocks_beside_a_reply_can_be_pressed_too(sit: Sit) -> None:
    seat = await seated(sit, document(actions("a", calls("more", "offer"))))
    shown = await seat.chat(f"a{ENTER}", FIRST, SECOND, CTRL_D)
    assert "[ Go ] calls the app: remind" in shown
    assert [name for name, _ in loan_actions.calls] == ["remind"]
    assert "Done." in shown


FAULTS: list[tuple[str, JsonValue, str]] = [
    ("repay", {"loan_id": "L-1", "parts": [{"cents": 0}]}, "Invalid payload."),
    ("fail", None, "✗ "),
    ("openCamera", None, "✗ "),
]


@pytest.mark.parametrize(("name", "payload", "told"), FAULTS, ids=[name for name, *_ in FAULTS])
async def test_why_an_action_failed_is_told_and_the_chat_goes_on(
    sit: Sit, name: str, payload: JsonValue, told: str
) -> None:
    seat = await seated(
        sit, document(actions("a", calls("go", name, payload))), document({"type": "divider"})
    )
    shown = await seat.chat(f"a{ENTER}", FIRST, ENTER, f"bye{ENTER}", CTRL_D)
    assert told in shown
    assert "✗" in shown
    assert loan_actions.SECRET not in shown
    (conversation_id,) = await seat.conversation_ids()
    assert [each.text for each in await seat.person.messages(conversation_id)][2] == "bye"


async def test_what_was_shown_before_can_be_pressed_by_who_comes_back(sit: Sit) -> None:
    seat = await seated(sit, document(actions("do", calls("pay", "repay", {"loan_id": "L-2"}))))
    await seat.chat(f"a{ENTER}", CTRL_D)
    (conversation_id,) = await seat.conversation_ids()
    shown = await seat.chat(FIRST, CTRL_D, conversation_id=conversation_id)
    assert "L-2: 0" in shown
    [(_, context)] = loan_actions.calls
    assert context
    messages = await seat.person.messages(conversation_id)
    assert str(context.message_id) == messages[-1].message_id


async def test_a_press_names_the_reply_that_it_is_in_and_not_one_of_another_device(
    start_server: StartServer, keys: PipeInput, display: Display
) -> None:
    value = document(actions("a", calls("pay", "repay", {"loan_id": "L-3"})))
    server = await start_server(
        in_turn(says(value), says(document({"type": "divider"}))), blocks=True, host_actions=ACTIONS
    )
    person = await server.person()
    seat = Seat(person, keys, display, display.console)
    async with asyncio.timeout(DEADLINE):
        chatting = asyncio.create_task(seat.chat(f"a{ENTER}"))
        await display.until(lambda shown: "[ pay ]" in shown and "works" not in shown)
        (conversation_id,) = await seat.conversation_ids()
        await person.prompt("b", conversation_id)
        keys.send_text(FIRST + CTRL_D)
        await chatting
    _, reply, _, _ = await person.messages(conversation_id)
    [(_, context)] = loan_actions.calls
    assert context
    assert str(context.message_id) == reply.message_id


async def test_where_rows_do_not_come_a_block_stays_as_it_was(
    start_server: StartServer, terminal: Terminal, screen: io.StringIO
) -> None:
    server = await start_server(in_turn(), blocks=True)
    elsewhere: dict[str, JsonValue] = {"source": "ref", "id": "ds_1"}
    value = document_to_proto(document(CHART, actions("a", SWITCH), week=WEEK, month=elsewhere))
    shown = ShownDocument((await server.person()).client, value)
    await shown.show(terminal)
    before = shown.presses()
    (press,) = before
    assert isinstance(press.does, Redraw)
    await shown.redraw(terminal, press.does)
    assert "The rows could not be fetched." in screen.getvalue()
    assert shown.presses() == before


async def test_switching_leaves_the_document_itself_alone(
    start_server: StartServer, terminal: Terminal
) -> None:
    server = await start_server(in_turn(), blocks=True)
    value = document_to_proto(document(CHART, actions("a", SWITCH), week=WEEK, month=MONTH))
    shown = ShownDocument((await server.person()).client, value)
    (press,) = shown.presses()
    assert isinstance(press.does, Redraw)
    await shown.redraw(terminal, press.does)
    assert [press.label for press in shown.presses()] == ["A week"]
    assert value.blocks[0].chart.binding.data == "week"


async def test_pages_of_a_long_table_are_turned_back_and_forth(sit: Sit) -> None:
    rows: list[list[Any]] = [[f"row {number}"] for number in range(120)]
    value = document(
        {"type": "table", "data": "d", "title": "All"}, d=inline("n:string", rows=rows)
    )
    seat = await seated(sit, value)
    shown = await seat.chat(f"a{ENTER}", FIRST, FIRST, FIRST, CTRL_D)
    told = [line.strip() for line in shown.splitlines() if line.startswith("Rows ")]
    assert told == [
        "Rows 1 to 50 of 120",
        "Rows 51 to 100 of 120",
        "Rows 101 to 120 of 120",
        "Rows 51 to 100 of 120",
    ]
    assert shown.count("row 119") == 1


async def test_a_service_that_is_gone_is_told_and_the_chat_stays(
    tmp_path: Path, database_url: str, keys: PipeInput, display: Display
) -> None:
    settings = Settings(
        environment="development", port=0, data_dir=tmp_path, blocks=True, host_actions=ACTIONS
    )
    model = StrictModel(in_turn(says(document(actions("a", calls("go", "remind"))))))
    async with asyncio.timeout(DEADLINE), AsyncExitStack() as stack:
        service = await stack.enter_async_context(
            running_service(
                settings, database_url=database_url, replacements=Replacements(model=model)
            )
        )
        async with connect(service.address, development_token(settings)) as client:
            seat = Seat(Person(client), keys, display, display.console)
            chatting = asyncio.create_task(seat.chat(f"a{ENTER}"))
            await display.until(lambda shown: "[ go ]" in shown and "works" not in shown)
            await stack.aclose()
            keys.send_text(FIRST)
            await display.until(lambda shown: "✗ The service can't be reached." in shown)
            keys.send_text(CTRL_D)
            await chatting
    assert loan_actions.calls == []

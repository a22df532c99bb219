"""Values that other systems lose on the way: numbers, dates, emoji, halves of characters."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pydantic import JsonValue

from parley.v1 import asks_pb2
from parleyd.contract.text import units
from parleyd.models.script import Call, ScriptedMessage, Text
from parleyd.models.scripted import in_turn
from parleyd.models.signatures import signed
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.answers import form, picks
from tests.end_to_end.kinds_asked import ASK_ID
from tests.end_to_end.person import COMPACT
from tests.end_to_end.waiting import wait_on
from tests.server import Server, StartServer

HALF = "\ud83d"
"""The first half of most emoji."""


def content_read(server: Server) -> JsonValue:
    """Returns what the model's last call read as the content of the answer."""
    message = server.model.calls[-1].messages[-1]
    assert isinstance(message, ScriptedMessage)
    (outcome,) = message.parts
    assert isinstance(outcome, ToolOutcome)
    assert isinstance(outcome.value, dict)
    return outcome.value["content"]


NUMBERS: dict[str, JsonValue] = {
    "fields": [
        {"id": "count", "type": "number", "label": "Count"},
        {"id": "qty", "type": "number", "label": "Quantity", "integer": True},
        {"id": "price", "type": "number", "label": "Price", "default": 3.0},
        {"id": "far", "type": "number", "label": "Far"},
    ]
}


async def test_bc_072_numbers_keep_their_digits(start_server: StartServer) -> None:
    waiting = await wait_on(start_server, "form", NUMBERS)
    await waiting.server.stop()
    server = await start_server(in_turn([Text("Done.")]))
    noor = await server.person()

    await noor.answer(
        waiting.conversation_id,
        ASK_ID,
        form({"count": 2.0**53, "qty": 12, "price": 3.25, "far": -1e300}),
    )

    read = json.dumps(content_read(server), sort_keys=True)
    whole = f"{-int(1e300)}"
    assert read == (
        f'{{"values": {{"count": 9007199254740992, "far": {whole}, "price": 3.25, "qty": 12}}}}'
    )
    messages = await noor.messages(waiting.conversation_id)
    stored = json.loads(messages[2].result_json)
    assert json.dumps(stored["content"], sort_keys=True) == read
    assert '"default":3.0' in messages[1].args_json
    assert messages[1].ask.input.form.fields[2].number.default == 3.0


@pytest.fixture(params=["America/Los_Angeles", "Pacific/Kiritimati"])
def far_away(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A place whose day is another than in Greenwich for most of the time."""
    with monkeypatch.context() as there:
        there.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


DATES: dict[str, JsonValue] = {
    "fields": [
        {"id": "day", "type": "date", "label": "Day", "default": "2026-03-29", "required": True},
        {"id": "time", "type": "time", "label": "Time", "default": "02:30"},
        {
            "id": "at",
            "type": "datetime",
            "label": "At",
            "default": "2026-03-29T02:30:00+14:00",
        },
    ]
}


@pytest.mark.usefixtures("far_away")
async def test_bc_074_a_date_is_the_same_everywhere(start_server: StartServer) -> None:
    waiting = await wait_on(start_server, "form", DATES)
    view = (await waiting.noor.conversation(waiting.conversation_id)).pending_ask
    day, clock, moment = view.input.form.fields
    defaults = {
        "day": day.date.default,
        "time": clock.time.default,
        "at": moment.datetime.default,
    }
    assert defaults == {
        "day": "2026-03-29",
        "time": "02:30",
        "at": "2026-03-29T02:30:00+14:00",
    }

    await waiting.noor.press(waiting.conversation_id, ASK_ID, "submit-defaults")

    assert content_read(waiting.server) == {"values": defaults}
    messages = await waiting.noor.messages(waiting.conversation_id)
    assert json.loads(messages[2].result_json)["content"] == {"values": defaults}


@dataclass(frozen=True)
class Cut:
    """A label, and what a button shows of it: 20 units at most, a pair of surrogates never torn."""

    name: str
    label: str
    shown: str


CUTS = [
    Cut("a family", "Wild camping 👨\u200d👩\u200d👧\u200d👦 for all", "Wild camping…"),
    Cut(
        "a family without a space",
        "Campingplatz👨\u200d👩\u200d👧\u200d👦x",
        "Campingplatz👨\u200d👩\u200d…",
    ),
    Cut("a flag", "Abcdefghijklmnopq🇵🇹🇵🇹", "Abcdefghijklmnopq🇵…"),
    Cut("half an emoji", "Abcdefghijklmnopqr🍍🍍", "Abcdefghijklmnopqr…"),
    Cut("a skin tone", "Abcdefghijklmnopq👍🏽👍🏽", "Abcdefghijklmnopq👍…"),
    Cut("a Devanagari cluster", "क्षत्रियक्षत्रियक्षत्रिय", "क्षत्रियक्षत्रियक्ष…"),
    Cut("a combining accent", "Abcdefghijklmnopqre\u0301re\u0301", "Abcdefghijklmnopqre…"),
]


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.name)
async def test_bc_077_a_cut_label_is_sound_text_within_its_limit(
    start_server: StartServer, cut: Cut
) -> None:
    waiting = await wait_on(
        start_server,
        "choice",
        {
            "select": "one",
            "options": [{"id": "long", "label": cut.label}, {"id": "short", "label": "No"}],
        },
    )
    view = (await waiting.noor.conversation(waiting.conversation_id)).pending_ask
    label = view.simple.buttons[0].label
    assert label == cut.shown
    assert units(label) <= 20
    assert cut.label.startswith(label.removesuffix("…"))
    assert view.input.choice.options[0].label == cut.label


async def test_bc_079_half_a_character_is_replaced_everywhere_alike(
    start_server: StartServer,
) -> None:
    call = Call(
        "ask_form",
        {
            "prompt": f"Who{HALF}?",
            "title": f"{HALF}You",
            "fields": [
                {"id": "name", "type": "text", "label": f"Name{HALF}", "default": f"Zoë{HALF}"}
            ],
        },
        ASK_ID,
    )
    server = await start_server(in_turn([call], [Text("Done.")]))
    noor = await server.person()

    played = await noor.prompt("Please")

    expected = asks_pb2.AskInput(
        prompt="Who\ufffd?",
        title="\ufffdYou",
        form=asks_pb2.FormInput(
            fields=[
                asks_pb2.FormField(
                    id="name",
                    label="Name\ufffd",
                    text=asks_pb2.TextField(default="Zoë\ufffd"),
                )
            ]
        ),
    )
    view = (await noor.conversation(played.conversation_id)).pending_ask
    row = (await noor.messages(played.conversation_id))[1]
    assert played.ask.input == view.input == row.ask.input == expected
    assert played.ask.simple == view.simple
    assert (view.simple.text, view.simple.title) == ("Who\ufffd?", "\ufffdYou")
    assert "Zoë\ufffd" in row.args_json
    await noor.press(played.conversation_id, ASK_ID, "submit-defaults")
    assert content_read(server) == {"values": {"name": "Zoë\ufffd"}}
    assert server.model.calls[1].messages[1] == ScriptedMessage("model", (signed(call),))


async def test_bc_079_half_a_character_in_a_choice_is_replaced_too(
    start_server: StartServer,
) -> None:
    options: list[JsonValue] = [{"id": "a", "label": f"A{HALF}"}, {"id": "b", "label": "B"}]
    waiting = await wait_on(start_server, "choice", {"select": "one", "options": options})
    view = (await waiting.noor.conversation(waiting.conversation_id)).pending_ask
    assert view.input.choice.options[0].label == "A\ufffd"
    assert view.simple.buttons[0].label == "A\ufffd"
    played = await waiting.noor.answer(waiting.conversation_id, ASK_ID, picks("a"))
    assert played.text == "Done."


async def test_bc_079_labels_that_only_halves_tell_apart_are_alike_on_a_small_screen(
    start_server: StartServer,
) -> None:
    """What is checked is what is shown: once replaced, the halves are alike."""
    call = Call(
        "ask_choice",
        {
            "prompt": "Which?",
            "select": "one",
            "options": [{"id": "a", "label": HALF}, {"id": "b", "label": "\ude00"}],
        },
        ASK_ID,
    )
    server = await start_server(in_turn([call], [Text("Then not.")]))
    noor = await server.person()
    played = await noor.prompt("Please", surface=COMPACT)
    assert played.names == ["started", "text", "done"]

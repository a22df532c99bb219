"""An answer that does not fit is refused with its faults, and the ask waits on (turns 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from pydantic import JsonValue

from parley.v1 import asks_pb2
from parleyd.contract.asks.kind import AskKind
from parleyd.models.script import ScriptedMessage
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.answers import file, files, form, markdown, nothing, picks
from tests.end_to_end.kinds_asked import ASK_ID, NOTES, PNG
from tests.end_to_end.person import accept
from tests.end_to_end.waiting import Faults, wait_on
from tests.server import StartServer


def options(count: int) -> list[JsonValue]:
    return [{"id": f"item-{n}", "label": f"Item {n}"} for n in range(count)]


ONE: dict[str, JsonValue] = {"select": "one", "options": options(3)}
MANY: dict[str, JsonValue] = {
    "select": "many",
    "options": options(37),
    "minSelected": 1,
    "maxSelected": 3,
    "allowOther": True,
}
DRAFT: dict[str, JsonValue] = {"initial": "A draft", "minLength": 4, "maxLength": 12}
FIELDS: dict[str, JsonValue] = {
    "fields": [
        {"id": "name", "type": "text", "label": "Name", "required": True, "maxLength": 5},
        {"id": "age", "type": "number", "label": "Age", "min": 18, "max": 120, "integer": True},
        {"id": "day", "type": "date", "label": "Day"},
        {"id": "time", "type": "time", "label": "Time"},
        {"id": "at", "type": "datetime", "label": "At"},
        {"id": "email", "type": "email", "label": "Email"},
        {"id": "dish", "type": "select", "label": "Dish", "options": options(2)},
        {"id": "sides", "type": "multiselect", "label": "Sides", "options": options(3)},
    ]
}
IMAGES: dict[str, JsonValue] = {"accept": ["image"], "minFiles": 1, "maxFiles": 2}

SELECTED = "content.selected"
VALUES = "content.values"
FIRST = "content.files[0]"
SECOND = "content.files[1]"


@dataclass(frozen=True)
class Wrong:
    """Answers to one ask, each with the faults that it must be refused with."""

    kind: AskKind
    input: dict[str, JsonValue]
    answers: Sequence[tuple[asks_pb2.AskAnswer, Faults]]


ANOTHER_KIND: Faults = [
    ("content.confirmed", "UNKNOWN_KEY"),
    ("content.selected", "MISSING_REQUIRED"),
]
WRONG = {
    "a choice of one": Wrong(
        "choice",
        ONE,
        [
            (picks("item-0", "item-1"), [(SELECTED, "SELECTION_COUNT")]),
            (picks("gold"), [("content.selected[0]", "OPTION_NOT_OFFERED")]),
            (picks("ITEM-0"), [("content.selected[0]", "OPTION_NOT_OFFERED")]),
            (picks("item-0", other="Mine"), [("content.other", "OTHER_NOT_ALLOWED")]),
            (accept(confirmed=True), ANOTHER_KIND),
            (asks_pb2.AskAnswer(), [("action", "MISSING_REQUIRED")]),
        ],
    ),
    "a choice of several": Wrong(
        "choice",
        MANY,
        [
            (picks("item-0", "item-1", "item-2", other="Mine"), [(SELECTED, "SELECTION_COUNT")]),
            (picks(other="x" * 501), [("content.other", "TOO_LONG")]),
            (picks(other="🍍" * 251), [("content.other", "TOO_LONG")]),
        ],
    ),
    "a confirm": Wrong(
        "confirm",
        {},
        [
            (picks("yes"), [("content.confirmed", "MISSING_REQUIRED"), (SELECTED, "UNKNOWN_KEY")]),
            (
                asks_pb2.AskAnswer(decline=asks_pb2.DeclineAnswer()),
                [("action", "DECLINE_NOT_ALLOWED")],
            ),
        ],
    ),
    "a draft": Wrong(
        "markdown",
        DRAFT,
        [
            (markdown("A much longer draft", changed=True), [("content.markdown", "TOO_LONG")]),
            (markdown("   no   ", changed=True), [("content.markdown", "TOO_SHORT")]),
            (markdown("A draft", changed=True), [("content.changed", "CHANGED_MISMATCH")]),
            (markdown("A draft!", changed=False), [("content.changed", "CHANGED_MISMATCH")]),
            (markdown("A draft\n", changed=False), [("content.changed", "CHANGED_MISMATCH")]),
            (markdown("A draft!"), [("content.changed", "MISSING_REQUIRED")]),
            (markdown("x" * 20_001, changed=True), [("content.markdown", "TOO_LONG")]),
        ],
    ),
    "a form": Wrong(
        "form",
        FIELDS,
        [
            (form({}), [(f"{VALUES}.name", "REQUIRED_FIELD")]),
            (
                form({"name": "Zoë", "Name": "Zoë", "age": 18.5, "sides": ["item-1", "item-1"]}),
                [
                    (f"{VALUES}.Name", "UNKNOWN_KEY"),
                    (f"{VALUES}.age", "FIELD_TYPE_MISMATCH"),
                    (f"{VALUES}.sides[1]", "DUPLICATE_ID"),
                ],
            ),
            (
                form({"name": "Zoë Fox", "email": "zoe@", "dish": "item-7", "sides": ["item-9"]}),
                [
                    (f"{VALUES}.dish", "OPTION_NOT_OFFERED"),
                    (f"{VALUES}.email", "FIELD_TYPE_MISMATCH"),
                    (f"{VALUES}.name", "TOO_LONG"),
                    (f"{VALUES}.sides[0]", "OPTION_NOT_OFFERED"),
                ],
            ),
            (form({"name": True}), [(f"{VALUES}.name", "FIELD_TYPE_MISMATCH")]),
            (form({"name": "Zoë", "age": None}), [(f"{VALUES}.age", "FIELD_TYPE_MISMATCH")]),
            (
                form({"name": "Zoë", "age": float("nan")}),
                [(f"{VALUES}.age", "FIELD_TYPE_MISMATCH")],
            ),
            (form({"name": "Zoë", "age": 121}), [(f"{VALUES}.age", "OUT_OF_RANGE")]),
        ],
    ),
    "files": Wrong(
        "files",
        IMAGES,
        [
            (
                files(*[file(f"{n}.png", "image/png", PNG) for n in range(3)]),
                [("content.files", "FILE_COUNT")],
            ),
            (
                files(file("a.txt", "text/plain", NOTES), file("b.txt", "image/png", NOTES)),
                [(f"{FIRST}.mimeType", "FILE_TYPE_NOT_ACCEPTED")],
            ),
            (
                files(file("", "image/png", PNG), file("b.png", "image/png", PNG, size=-1)),
                [(f"{FIRST}.filename", "TOO_SHORT"), (f"{SECOND}.size", "RANGE_INVALID")],
            ),
            (
                files(file("a.png", "image/png", PNG, size=10_485_761)),
                [(f"{FIRST}.size", "FILE_TOO_LARGE")],
            ),
            (
                files(asks_pb2.FileRef(filename="a.png", mime_type="image/png", size=1)),
                [(FIRST, "MISSING_REQUIRED")],
            ),
            (
                files(
                    asks_pb2.FileRef(
                        filename="a.png",
                        mime_type="image/png",
                        size=1,
                        url="https://example.org/a.png",
                    )
                ),
                [(f"{FIRST}.url", "INVALID_FORMAT")],
            ),
            (
                files(asks_pb2.FileRef(data=PNG)),
                [
                    (f"{FIRST}.filename", "MISSING_REQUIRED"),
                    (f"{FIRST}.mimeType", "MISSING_REQUIRED"),
                    (f"{FIRST}.size", "MISSING_REQUIRED"),
                ],
            ),
        ],
    ),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=[*WRONG])
async def test_a_wrong_answer_of_every_kind_leaves_the_ask_pending(
    start_server: StartServer, wrong: Wrong
) -> None:
    waiting = await wait_on(start_server, wrong.kind, wrong.input)
    assert [await waiting.faults_of(answer) for answer, _ in wrong.answers] == [
        faults for _, faults in wrong.answers
    ]


MISSING: Faults = [("content", "MISSING_REQUIRED")]
EMPTY = {
    "a choice of one": Wrong("choice", ONE, [(picks(), [(SELECTED, "SELECTION_COUNT")])]),
    "a choice of several": Wrong(
        "choice",
        MANY,
        [
            (picks(), [(SELECTED, "SELECTION_COUNT")]),
            (picks(other=""), [("content.other", "TOO_SHORT")]),
            (picks(other=" \u00a0\ufeff"), [("content.other", "TOO_SHORT")]),
            (picks(""), [("content.selected[0]", "OPTION_NOT_OFFERED")]),
        ],
    ),
    "a confirm": Wrong(
        "confirm",
        {},
        [
            (
                asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer(confirm=asks_pb2.ConfirmAnswer())),
                [("content.confirmed", "MISSING_REQUIRED")],
            )
        ],
    ),
    "a draft": Wrong(
        "markdown",
        DRAFT,
        [
            (
                markdown(),
                [
                    ("content.changed", "MISSING_REQUIRED"),
                    ("content.markdown", "MISSING_REQUIRED"),
                ],
            ),
            (markdown("", changed=True), [("content.markdown", "TOO_SHORT")]),
            (markdown(" \n\t \u2003 ", changed=True), [("content.markdown", "TOO_SHORT")]),
        ],
    ),
    "a form": Wrong(
        "form",
        FIELDS,
        [
            (form({}), [(f"{VALUES}.name", "REQUIRED_FIELD")]),
            (form({"name": ""}), [(f"{VALUES}.name", "REQUIRED_FIELD")]),
            (form({"name": " \u00a0\u3000\ufeff"}), [(f"{VALUES}.name", "REQUIRED_FIELD")]),
            (form({"name": []}), [(f"{VALUES}.name", "REQUIRED_FIELD")]),
        ],
    ),
    "files": Wrong("files", IMAGES, [(files(), [("content.files", "FILE_COUNT")])]),
}


@pytest.mark.parametrize("empty", EMPTY.values(), ids=[*EMPTY])
async def test_bc_064_an_empty_answer_is_none(start_server: StartServer, empty: Wrong) -> None:
    waiting = await wait_on(start_server, empty.kind, empty.input)
    assert await waiting.faults_of(nothing()) == MISSING
    for answer, faults in empty.answers:
        assert await waiting.faults_of(answer) == faults


async def test_bc_006_a_bad_value_can_be_mended_and_resumes_once(
    start_server: StartServer,
) -> None:
    ask_input: dict[str, JsonValue] = {
        "fields": [{"id": "age", "type": "number", "label": "Age", "min": 18, "max": 120}]
    }
    waiting = await wait_on(start_server, "form", ask_input)

    assert await waiting.faults_of(form({"age": "seventeen"})) == [
        ("content.values.age", "FIELD_TYPE_MISMATCH")
    ]
    assert await waiting.faults_of(form({"age": 17})) == [("content.values.age", "OUT_OF_RANGE")]
    played = await waiting.noor.answer(waiting.conversation_id, ASK_ID, form({"age": 34}))

    assert played.names == ["started", "ask_resolved", "text", "done"]
    assert len(waiting.server.model.calls) == 2
    assert waiting.server.model.calls[1].messages[-1] == ScriptedMessage(
        "tool",
        (
            ToolOutcome(
                ASK_ID,
                "ask_form",
                value={"action": "accept", "content": {"values": {"age": 34}}},
            ),
        ),
    )


async def test_bc_062_picks_from_a_long_list_are_counted_and_known(
    start_server: StartServer,
) -> None:
    waiting = await wait_on(start_server, "choice", MANY)
    count: Faults = [(SELECTED, "SELECTION_COUNT")]
    assert await waiting.faults_of(picks()) == count
    assert await waiting.faults_of(picks("item-0", "item-1", "item-2", "item-36")) == count
    assert await waiting.faults_of(picks("item-7", "item-7")) == [
        ("content.selected[1]", "DUPLICATE_ID")
    ]
    assert await waiting.faults_of(picks("item-36", "item-37")) == [
        ("content.selected[1]", "OPTION_NOT_OFFERED")
    ]
    assert await waiting.faults_of(picks("x", "x", "item-2", "item-3")) == [
        *count,
        ("content.selected[0]", "OPTION_NOT_OFFERED"),
        ("content.selected[1]", "DUPLICATE_ID"),
    ]
    played = await waiting.noor.answer(
        waiting.conversation_id, ASK_ID, picks("item-36", "item-0", "item-7")
    )
    assert played.text == "Done."


@pytest.mark.parametrize("picked", [["item-5"], ["item-0", "item-1", "item-36"]])
async def test_bc_062_one_pick_or_three_are_taken(
    start_server: StartServer, picked: list[str]
) -> None:
    waiting = await wait_on(start_server, "choice", MANY)
    played = await waiting.noor.answer(waiting.conversation_id, ASK_ID, picks(*picked))
    assert played.text == "Done."


BAD_DATES = {
    "no such day": ("day", "2026-02-30"),
    "no leap day": ("day", "2026-02-29"),
    "a day with a time": ("day", "2026-03-29T00:00:00Z"),
    "a day of another calendar": ("day", "2026-13-01"),
    "24:00": ("time", "24:00"),
    "a time with seconds": ("time", "23:59:59"),
    "no offset": ("at", "2026-03-29T12:00"),
    "no time": ("at", "2026-03-29"),
}


@pytest.mark.parametrize(("field", "value"), BAD_DATES.values(), ids=[*BAD_DATES])
async def test_bc_074_what_is_no_date_is_refused(
    start_server: StartServer, field: str, value: str
) -> None:
    waiting = await wait_on(start_server, "form", FIELDS)
    assert await waiting.faults_of(form({"name": "Zoë", field: value})) == [
        (f"content.values.{field}", "INVALID_DATE")
    ]

"""Every kind of question, answered in a terminal with a real service behind it."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from prompt_toolkit.input import PipeInput
from pydantic import JsonValue
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1.asks_pb2 import AskAnswer
from parley.v1.conversations_pb2 import MessageAsk
from parleyd.models.played import Pick
from parleyd.models.script import Call, Text
from parleyd.models.scripted import by_progress, in_turn
from tests.app.keyboard import BACK, CLEAR, CTRL_D, DOWN, ENTER, FINISH, SPACE, UP
from tests.app.seat import Sit
from tests.end_to_end.answers import form, markdown, picks
from tests.end_to_end.kinds_asked import ASKED, NOTES, PNG
from tests.end_to_end.person import accept, decline
from tests.standard_asks import ask_plan

DEADLINE = 10

DELETE = Call(
    "ask_confirm",
    {
        "prompt": "Delete all of them?",
        "confirmLabel": "Delete",
        "denyLabel": "Keep",
        "destructive": True,
    },
    "call_delete",
)


PLAN = by_progress([ask_plan()], [Text("All set.")])
DELETION = by_progress([DELETE], [Text("As you say.")])
KINDS = {asked.name: by_progress([asked.call()], [Text("As you say.")]) for asked in ASKED}


@dataclass(frozen=True)
class Answered:
    """Keys in a menu, and the answer they give."""

    name: str
    pick: Pick
    keys: str
    answer: AskAnswer


ANSWERS = [
    Answered("the preselected option", PLAN, ENTER, accept("team")),
    Answered("the option below", PLAN, DOWN + ENTER, accept("enterprise")),
    Answered("the option above", PLAN, UP + ENTER, accept("starter")),
    Answered("skip", PLAN, DOWN * 2 + ENTER, decline()),
    Answered("denial, where it can't be undone", DELETION, ENTER, accept(confirmed=False)),
    Answered("approval", DELETION, UP + ENTER, accept(confirmed=True)),
    Answered(
        "several picks, one of them one's own",
        KINDS["a choice of several, with one of one's own"],
        "".join([ENTER, SPACE, DOWN, SPACE, DOWN * 2, SPACE, ENTER, "Pineapple 🍍", ENTER]),
        picks("capers", "rocket", other="Pineapple 🍍"),
    ),
    Answered(
        "several picks, skipped",
        KINDS["a choice of several, with one of one's own"],
        DOWN + ENTER,
        decline(),
    ),
    Answered(
        "a draft, edited",
        KINDS["a draft that is changed"],
        "".join([ENTER, BACK * 7, "*now*.", FINISH, ENTER]),
        markdown("# Hello\n\nSee you *now*.", changed=True),
    ),
    Answered(
        "a draft, as it is",
        KINDS["a draft that is changed"],
        UP + ENTER,
        markdown("# Hello\n\nSee you *soon*.", changed=False),
    ),
    Answered("a draft, skipped", KINDS["a draft that is changed"], DOWN + ENTER, decline()),
    Answered(
        "a form",
        KINDS["a form of texts and numbers"],
        "".join(
            [
                *(ENTER, "Zoë", ENTER),
                *(ENTER, "more", FINISH),
                *("zoe@example", ENTER, ".org", ENTER),
                *(ENTER, ENTER),
                *(CLEAR, "34", ENTER),
                *(ENTER, "00:00", ENTER),
                ENTER,
            ]
        ),
        form(
            {
                "name": "Zoë",
                "bio": "…\nmore",
                "email": "zoe@example.org",
                "age": 34,
                "day": "2026-03-29",
                "time": "00:00",
            }
        ),
    ),
    Answered(
        "a form of picks",
        KINDS["a form of picks"],
        "".join(
            [
                *(ENTER, "2026-03-29T02:30Z", ENTER),
                *(UP, ENTER),
                *(UP, ENTER),
                *(DOWN, SPACE, ENTER),
                *(ENTER, ENTER),
            ]
        ),
        form({"at": "2026-03-29T02:30Z", "patio": True, "dish": "soup", "sides": ["beans"]}),
    ),
    Answered("a form, skipped", KINDS["a form of picks"], UP * 2 + ENTER, decline()),
    Answered("files, skipped", KINDS["files"], DOWN + ENTER, decline()),
]


@pytest.mark.parametrize("answered", ANSWERS, ids=lambda answered: answered.name)
async def test_a_question_is_answered_from_its_menu(answered: Answered, sit: Sit) -> None:
    seat = await sit(answered.pick)
    shown = await seat.chat("Please", ENTER, answered.keys, CTRL_D)
    (conversation_id,) = await seat.conversation_ids()
    assert await seat.asks(conversation_id) == [(MessageAsk.STATUS_ANSWERED, answered.answer)]
    assert not (await seat.person.conversation(conversation_id)).HasField("pending_ask")
    assert "All set." in shown or "As you say." in shown


async def test_files_are_sent_from_this_machine(sit: Sit, tmp_path: Path) -> None:
    (tmp_path / "scan.png").write_bytes(PNG)
    (tmp_path / "notes.txt").write_bytes(NOTES)
    seat = await sit(KINDS["files"])
    await seat.chat(
        *("Please", ENTER),
        *(ENTER, f"{tmp_path}/scan.png", ENTER),
        *(DOWN, ENTER, f"{tmp_path}/notes.txt", ENTER),
        *(ENTER, CTRL_D),
    )
    (conversation_id,) = await seat.conversation_ids()
    ((status, answer),) = await seat.asks(conversation_id)
    assert status == MessageAsk.STATUS_ANSWERED
    assert [(each.filename, each.size) for each in answer.accept.files.files] == [
        ("scan.png", len(PNG)),
        ("notes.txt", len(NOTES)),
    ]


async def test_a_message_instead_drops_a_question_of_any_kind(sit: Sit) -> None:
    (asked,) = [asked for asked in ASKED if asked.kind == "files"]
    seat = await sit(in_turn([asked.call()], [Text("As you say.")]))
    await seat.chat("Please", ENTER, UP, ENTER, f"forget it{ENTER}", CTRL_D)
    (conversation_id,) = await seat.conversation_ids()
    ((status, answer),) = await seat.asks(conversation_id)
    assert status == MessageAsk.STATUS_CANCELLED
    assert answer.cancel.reason == "user_sent_message"


@dataclass(frozen=True)
class Stricter:
    """A question whose rules become stricter than the terminal knows, and how it goes then.

    `change` is made to the stored input. `typed` answers by the old rules, `mended` by the new.
    """

    name: str
    asked: dict[str, JsonValue]
    tool: str
    change: dict[str, JsonValue]
    typed: str
    mended: str
    told: str
    answer: AskAnswer


NAME: dict[str, JsonValue] = {"id": "name", "type": "text", "label": "Name"}
AGE: dict[str, JsonValue] = {"id": "age", "type": "number", "label": "Age"}
ABC: JsonValue = [{"id": each, "label": each.upper()} for each in "abc"]
STRICTER = [
    Stricter(
        "a form",
        {"fields": [NAME, AGE]},
        "ask_form",
        {"fields": [{**NAME, "maxLength": 3}, AGE]},
        "".join([ENTER, "Zoë II", ENTER, "34", ENTER, ENTER]),
        "".join([ENTER, BACK * 3, ENTER, ENTER]),
        "✗ “Name” does not fit.\n  “Name” has 6 UTF-16 units, too many",
        form({"name": "Zoë", "age": 34}),
    ),
    Stricter(
        "a draft",
        {"initial": "Hello"},
        "ask_markdown",
        {"maxLength": 8},
        "".join([ENTER, " everybody", FINISH, ENTER]),
        "".join([DOWN, ENTER, BACK * 7, FINISH, ENTER]),
        "✗ The service does not take this answer.\n  The text has 15 UTF-16 units, too many",
        markdown("Hello ev", changed=True),
    ),
    Stricter(
        "several picks",
        {"select": "many", "options": ABC, "allowOther": True},
        "ask_choice",
        {"maxSelected": 2},
        "".join([ENTER, SPACE, DOWN, SPACE, DOWN * 2, SPACE, ENTER, "Mine", ENTER]),
        "".join([ENTER, SPACE, ENTER, "!", ENTER]),
        "✗ The service does not take this answer.\n  The number of picks in the list is 3",
        picks("b", other="Mine!"),
    ),
]


@pytest.mark.parametrize("stricter", STRICTER, ids=lambda stricter: stricter.name)
async def test_what_the_service_refuses_is_asked_again_and_nothing_typed_is_lost(
    stricter: Stricter, sit: Sit, keys: PipeInput, engine: AsyncEngine
) -> None:
    asked = Call(stricter.tool, {"prompt": "Well?", **stricter.asked}, "call_1")
    seat = await sit(in_turn([asked], [Text("As you say.")]))
    chatting = asyncio.create_task(seat.chat("Please", ENTER))
    async with asyncio.timeout(DEADLINE):
        while not await seat.person.pending():
            pass
        async with engine.begin() as connection:
            change = "UPDATE asks SET input = input || CAST(:change AS jsonb)"
            await connection.execute(text(change), {"change": json.dumps(stricter.change)})
        keys.send_text(stricter.typed + stricter.mended + CTRL_D)
        shown = await chatting
    (conversation_id,) = await seat.conversation_ids()
    assert await seat.asks(conversation_id) == [(MessageAsk.STATUS_ANSWERED, stricter.answer)]
    assert "✗ The service does not take this answer." in shown
    assert stricter.told in shown
    assert "As you say." in shown


async def test_a_refused_file_can_be_taken_out(
    sit: Sit, keys: PipeInput, engine: AsyncEngine, tmp_path: Path
) -> None:
    (tmp_path / "scan.png").write_bytes(PNG)
    (tmp_path / "notes.txt").write_bytes(NOTES)
    seat = await sit(KINDS["files"])
    chatting = asyncio.create_task(seat.chat("Please", ENTER))
    async with asyncio.timeout(DEADLINE):
        while not await seat.person.pending():
            pass
        async with engine.begin() as connection:
            await connection.execute(
                text("""UPDATE asks SET input = input || '{"accept": ["text"]}'""")
            )
        keys.send_text(
            "".join(
                [
                    *(ENTER, f"{tmp_path}/scan.png", ENTER),
                    *(DOWN, ENTER, f"{tmp_path}/notes.txt", ENTER),
                    ENTER,
                    *(DOWN, ENTER, ENTER, CTRL_D),
                ]
            )
        )
        shown = await chatting
    assert "The type of “scan.png” is" in shown
    (conversation_id,) = await seat.conversation_ids()
    ((_, answer),) = await seat.asks(conversation_id)
    assert [each.filename for each in answer.accept.files.files] == ["notes.txt"]

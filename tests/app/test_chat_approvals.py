"""What a person is shown before a tool runs, and what comes of the answer."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from parleyd.app.chat.guarded_calls import GuardedCall
from parleyd.app.chat.printable import visible
from parleyd.contract.json import compact
from parleyd.models.script import Call, Text
from parleyd.models.scripted import in_turn
from tests.app.desk import Desk, answer, asked
from tests.app.keyboard import CTRL_C, CTRL_D, DOWN, ENTER, UP
from tests.app.seat import Sit
from tests.standard_tools import DELETE, StandardTools, delete

ARGS: dict[str, JsonValue] = {
    "list": "home\u200b",
    "count": 9007199254740993,
    "price": 3.0,
    "body": "Dear all,\n\u202egnp.exe",
    "tag": "\u2066\U000e0100\u3164",
}
READABLE = """{
  "list": "home\\u200b",
  "count": 9007199254740993,
  "price": 3.0,
  "body": "Dear all,\\n\\u202egnp.exe",
  "tag": "\\u2066\\u{e0100}\\u3164"
}"""
CALL = GuardedCall(DELETE, compact(ARGS))
YES, NO = (
    answer("accept { confirm { confirmed: %s } }" % said)  # noqa: UP031 - braces all around
    for said in ("true", "false")
)


def test_the_arguments_are_laid_out_with_what_is_hidden_as_escapes() -> None:
    assert CALL.arguments == READABLE
    assert GuardedCall(DELETE, "{}").arguments == "{}"


@pytest.mark.parametrize(
    "args_json", ["no json\u202e", "[" * 100_000, '{"a": ' + "1" * 5000 + "}"], ids=len
)
def test_what_can_not_be_laid_out_is_shown_as_it_is(args_json: str) -> None:
    assert GuardedCall(DELETE, args_json).arguments == visible(args_json)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcödé ✓ שלום 漢字 🚢\n", "plain, ünïcödé ✓ שלום 漢字 🚢\n"),
        ("\u200b\u202e\u2066\u3164", r"\u200b\u202e\u2066\u3164"),
        ("\U000e0100\U000e0041", r"\u{e0100}\u{e0041}"),
        ("a\tb\rc\x1b[2J\x9b", r"a\u0009b\u000dc\u001b[2J\u009b"),
        ("\xa0\u2003\u2028\xad\ufeff", r"\u00a0\u2003\u2028\u00ad\ufeff"),
        (
            "\u115f\u1160\uffa0\u2800\u034f\ufe0f\u180e",
            r"\u115f\u1160\uffa0\u2800\u034f\ufe0f\u180e",
        ),
        ("\ud800\ue000\U0010ffff", r"\ud800\ue000\u{10ffff}"),
    ],
    ids=["plain", "the usual ones", "tags", "controls", "spaces", "blanks", "no characters"],
)
def test_what_nobody_sees_is_shown_as_escapes(text: str, shown: str) -> None:
    assert visible(text) == shown


async def test_an_approval_shows_what_will_run_beside_the_question(desk: Desk) -> None:
    said = await desk.answer(asked('confirm {} prompt: "Delete all?"', CALL), UP, ENTER)
    assert said == YES
    places = [
        desk.shown.index(text)
        for text in ("This will run", DELETE, r'"list": "home\u200b"', "Delete all?")
    ]
    assert places == sorted(places)


async def test_bc_051_a_question_that_hides_something_says_so(desk: Desk) -> None:
    await desk.answer(
        asked(r'confirm {} prompt: "Pay \342\200\256eve?" title: "\342\200\213"', CALL), ENTER
    )
    assert r"Pay \u202eeve?" in desk.shown
    assert r"\u200b" in desk.shown.partition("Pay")[0].rpartition("}")[2]


async def test_what_can_not_be_undone_is_shown_as_plainly(desk: Desk) -> None:
    await desk.answer(asked(r'confirm { destructive: true } prompt: "Wipe\342\200\213 it?"'), ENTER)
    assert r"Wipe\u200b it?" in desk.shown
    await desk.answer(asked('confirm { destructive: true } prompt: "🗑\ufe0f Wipe it?"'), ENTER)
    assert "🗑\ufe0f Wipe it?" in desk.shown


async def test_an_approval_is_never_a_mere_press_of_enter_away(desk: Desk) -> None:
    assert await desk.answer(asked("confirm {}", CALL), ENTER) == NO
    assert await desk.answer(asked("confirm {}"), ENTER) == YES


async def test_long_arguments_are_shown_whole(desk: Desk) -> None:
    words = " ".join(f"word{number}" for number in range(2000))
    call = GuardedCall(DELETE, compact({"note": words, "last": "x" * 500}))
    await desk.answer(asked("confirm {}", call), ENTER)
    framed = desk.shown.replace("│ │ ", "").replace(" │", "")
    assert words in framed
    assert "x" * 500 in framed.replace(" ", "")


@pytest.fixture
def tools(tmp_path: Path) -> StandardTools:
    return StandardTools(tmp_path / "runs.jsonl")


async def test_bc_051_a_tool_runs_once_it_is_allowed_with_all_that_was_hidden(
    sit: Sit, tools: StandardTools
) -> None:
    seat = await sit(in_turn([Call(DELETE, ARGS)], [Text("All gone.")]), tools=tools.all_hosted)
    shown = await seat.chat(f"a{ENTER}", UP + ENTER, CTRL_D)
    places = [
        shown.index(text)
        for text in (
            f"The agent calls {DELETE}.",
            "This will run",
            r'"list": "home\u200b"',
            f"Allow {DELETE}? Counts the plans",
            "All gone.",
        )
    ]
    assert places == sorted(places)
    assert "did not run" not in shown
    (run,) = tools.runs(DELETE)
    assert run.args == ARGS


async def test_a_tool_that_is_not_allowed_does_not_run(sit: Sit, tools: StandardTools) -> None:
    seat = await sit(in_turn([delete()], [Text("I left them.")]), tools=tools.all_hosted)
    shown = await seat.chat(f"a{ENTER}", ENTER, CTRL_D)
    assert shown.index(f"{DELETE} did not run: you did not allow it.") < shown.index("I left them.")
    assert "failed" not in shown
    assert tools.runs(DELETE) == []


async def test_who_comes_back_is_shown_what_will_run_again(sit: Sit, tools: StandardTools) -> None:
    seat = await sit(in_turn([Call(DELETE, ARGS)], [Text("All gone.")]), tools=tools.all_hosted)
    left = await seat.chat(f"a{ENTER}", CTRL_C)
    assert "The question stays open" in left
    back = await seat.chat(ENTER, UP + ENTER, CTRL_D)
    assert back.index("This will run") < back.index(r'"list": "home\u200b"')
    assert back.index(r'"list": "home\u200b"') < back.index("All gone.")
    assert len(tools.runs(DELETE)) == 1


async def test_a_message_instead_lets_nothing_run(sit: Sit, tools: StandardTools) -> None:
    seat = await sit(in_turn([delete()], [Text("Never mind.")]), tools=tools.all_hosted)
    shown = await seat.chat(f"a{ENTER}", DOWN + ENTER, f"stop{ENTER}", CTRL_D)
    assert "Never mind." in shown
    assert tools.runs(DELETE) == []

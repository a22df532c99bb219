"""Drafts, edited in a terminal or in an editor."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from prompt_toolkit.input import PipeInput

from tests.app.desk import Desk, Keys, answer, asked
from tests.app.keyboard import BACK, CTRL_C, DOWN, ENTER, FINISH, UP

DRAFT = 'markdown { initial: "Dear all" min_length: 4 max_length: 20 placeholder: "Dear …" }'

DRAFTS = [
    Keys(
        "as it is",
        UP + ENTER,
        'accept { markdown { markdown: "Dear all" changed: false } }',
        ("Dear all",),
    ),
    Keys(
        "edited",
        ENTER + ", hello" + FINISH + ENTER,
        'accept { markdown { markdown: "Dear all, hello" changed: true } }',
        ("Dear all, hello",),
    ),
    Keys(
        "edited back",
        ENTER + "!" + FINISH + DOWN + ENTER + BACK + FINISH + UP + ENTER,
        'accept { markdown { markdown: "Dear all" changed: false } }',
    ),
    Keys(
        "too long at first",
        ENTER + ", how do you do?" + FINISH + ENTER + BACK * 10 + FINISH + ENTER,
        'accept { markdown { markdown: "Dear all, how " changed: true } }',
        ("✗ That does not fit. The text has 24 UTF-16 units, too many", "Shorten the text to 20"),
    ),
    Keys(
        "not edited after all",
        ENTER + "gone" + CTRL_C + UP + ENTER,
        'accept { markdown { markdown: "Dear all" changed: false } }',
    ),
    Keys("skipped", DOWN + ENTER, "decline {}"),
]


@pytest.mark.parametrize("case", DRAFTS, ids=lambda case: case.name)
async def test_a_draft_is_edited_in_the_terminal(desk: Desk, case: Keys) -> None:
    assert await desk.answer(asked(DRAFT), case.typed) == answer(case.said)
    assert [text for text in case.shown if text not in desk.shown] == []


Editor = Callable[[str], None]


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: PipeInput) -> Editor:
    """Makes a shell script the person's editor; `$2` is the file to edit."""
    del keys  # it takes other editors away
    script = tmp_path / "my editor"

    def use(lines: str) -> None:
        script.write_text(f"#!/bin/sh\n{lines}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("EDITOR", f"'{script}' --wait")

    return use


async def test_a_draft_is_edited_in_the_persons_own_editor(desk: Desk, editor: Editor) -> None:
    editor('[ "$1" = --wait ] && sed -i "s/all/both/; s/$/ 👋/" "$2"')
    said = await desk.answer(asked(DRAFT), ENTER, ENTER)
    assert said == answer('accept { markdown { markdown: "Dear both 👋" changed: true } }')
    assert "Dear both 👋" in desk.shown


async def test_an_editor_that_only_ends_the_last_line_has_changed_nothing(
    desk: Desk, editor: Editor
) -> None:
    editor('echo >> "$2"')
    said = await desk.answer(asked(DRAFT), ENTER, UP, ENTER)
    assert said == answer('accept { markdown { markdown: "Dear all" changed: false } }')


async def test_what_is_wrong_after_the_editor_can_be_mended_there(
    desk: Desk, editor: Editor
) -> None:
    editor('if grep -q all "$2"; then echo no > "$2"; else echo "yes, yes" > "$2"; fi')
    said = await desk.answer(asked(DRAFT), ENTER, ENTER, ENTER)
    assert said == answer('accept { markdown { markdown: "yes, yes" changed: true } }')
    assert "✗ That does not fit. The text has 2 UTF-16 units" in desk.shown


async def test_who_gives_up_in_the_editor_keeps_the_text(desk: Desk, editor: Editor) -> None:
    editor('echo lost > "$2"; exit 3')
    said = await desk.answer(asked(DRAFT), ENTER, UP, ENTER)
    assert said == answer('accept { markdown { markdown: "Dear all" changed: false } }')
    assert "ended with 3; the text stays as it was." in desk.shown


async def test_an_editor_that_is_not_there_gives_way_to_the_terminal(
    desk: Desk, keys: PipeInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    del keys
    monkeypatch.setenv("VISUAL", "/nowhere/editor")
    said = await desk.answer(asked(DRAFT), ENTER, "!", FINISH, ENTER)
    assert said == answer('accept { markdown { markdown: "Dear all!" changed: true } }')
    assert "The editor /nowhere/editor can't be started" in desk.shown

"""The person's own editor: a script stands in for it."""

import asyncio
import stat
from pathlib import Path

import psutil
import pytest

from parleyd.app.chat.editor import EditorFailed, EditorMissing, edited, editor_command

DEADLINE = 10


def script(folder: Path, lines: str) -> str:
    """Makes an editor out of shell lines and returns its command; `$1` is the file to edit."""
    path = folder / "an editor"
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"'{path}'"


@pytest.mark.parametrize(
    ("variables", "command"),
    [
        ({}, None),
        ({"EDITOR": "nano"}, "nano"),
        ({"VISUAL": "code --wait", "EDITOR": "nano"}, "code --wait"),
        ({"VISUAL": "", "EDITOR": "nano"}, "nano"),
    ],
)
def test_the_visual_editor_comes_first(
    variables: dict[str, str], command: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert editor_command() == command


@pytest.mark.parametrize(
    "text", ["", "one", "one\n", "one\n\n", "\n", "one\r\ntwo\r\n", " ünïcödé 👋\u2028", "\ufeff"]
)
async def test_what_is_left_alone_comes_back_byte_for_byte(tmp_path: Path, text: str) -> None:
    assert await edited(text, script(tmp_path, "true")) == text


@pytest.mark.parametrize(
    ("text", "written", "left"),
    [
        ("one", "two\n", "two"),
        ("one", "two\n\n", "two\n"),
        ("one", "two", "two"),
        ("one\n", "two\n", "two\n"),
        ("one", "", ""),
    ],
)
async def test_the_line_break_that_editors_add_is_taken_off(
    tmp_path: Path, text: str, written: str, left: str
) -> None:
    (tmp_path / "written").write_text(written)
    command = script(tmp_path, f'cat "{tmp_path}/written" > "$1"')
    assert await edited(text, command) == left


async def test_the_file_is_markdown_for_nobody_else_and_gone_afterwards(tmp_path: Path) -> None:
    note = tmp_path / "note"
    command = script(tmp_path, f'stat -c "%n" "$1" > "{note}"; stat -c %a "${{1%/*}}" >> "{note}"')
    await edited("secret", command)
    path, mode = note.read_text().split()
    assert path.endswith(".md")
    assert mode == "700"
    assert not await asyncio.to_thread(Path(path).exists)


@pytest.mark.parametrize("command", ["/nowhere/editor", "'unclosed", "''"])
async def test_an_editor_that_can_not_be_started_is_missing(command: str) -> None:
    with pytest.raises(EditorMissing, match="can't be started"):
        await edited("one", command)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("exit 3", "ended with 3; the text stays as it was."),
        ('printf "\\377" > "$1"', "can't be read"),
        ('rm "$1"', "can't be read"),
    ],
)
async def test_an_editor_that_leaves_no_text_has_failed(
    tmp_path: Path, lines: str, told: str
) -> None:
    with pytest.raises(EditorFailed, match=told):
        await edited("one", script(tmp_path, lines))


async def test_an_editor_does_not_outlive_the_chat(tmp_path: Path) -> None:
    started = tmp_path / "started"
    command = script(tmp_path, f'echo $$ > "{started}"; exec sleep 60')
    editing = asyncio.create_task(edited("one", command))
    async with asyncio.timeout(DEADLINE):
        while not (started.exists() and started.read_text()):
            await asyncio.sleep(0)
        editing.cancel()
        await asyncio.wait([editing])
    assert editing.cancelled()
    assert not psutil.pid_exists(int(started.read_text()))

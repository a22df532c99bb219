"""What the terminal shows, and what it makes of keys."""

import asyncio
import io
from pathlib import Path

import pytest
from prompt_toolkit.application import get_app
from prompt_toolkit.input import PipeInput

from parley.v1.turns_pb2 import PromptInput
from parleyd.app.chat.printable import printable
from parleyd.app.chat.terminal import Terminal
from tests.app.keyboard import BACK, CLEAR, CTRL_C, CTRL_D, DOWN, ENTER, FINISH, SPACE

DEADLINE = 10


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcödé ✓\nand\ttabs", "plain, ünïcödé ✓\nand\ttabs"),
        ("\x1b]0;title\x07\x1b[2Jgone", "]0;title[2Jgone"),
        ("a\rb\x08c\x7fd\x9be", "abcde"),
        ("pay \u202egnp.exe\u202c \u2066now\u2069", "pay gnp.exe now"),
    ],
    ids=["plain", "escape sequences", "single controls", "reading direction"],
)
def test_what_could_steer_the_terminal_is_not_printed(text: str, shown: str) -> None:
    assert printable(text) == shown


async def test_a_message_is_read_whole(terminal: Terminal, keys: PipeInput) -> None:
    keys.send_text(f"Set up my plan{ENTER}")
    assert await terminal.read_message() == PromptInput(text="Set up my plan")


async def test_blank_lines_are_no_message(terminal: Terminal, keys: PipeInput) -> None:
    keys.send_text(f"{ENTER}   {ENTER}hello{ENTER}")
    assert await terminal.read_message() == PromptInput(text="hello")


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D], ids=["ctrl-c", "ctrl-d"])
async def test_leaving_is_no_message(terminal: Terminal, keys: PipeInput, key: str) -> None:
    keys.send_text(key)
    assert await terminal.read_message() is None


async def test_a_line_is_picked_with_the_arrows(terminal: Terminal, keys: PipeInput) -> None:
    keys.send_text(f"{DOWN}{DOWN}{ENTER}")
    lines = [("one", "", 1), ("two", "the second", 2), ("one", "", 3)]
    assert await terminal.pick("Which?", lines) == 3


async def test_the_preselected_line_is_one_key_away(terminal: Terminal, keys: PipeInput) -> None:
    keys.send_text(ENTER)
    assert await terminal.pick("Which?", [("one", "", 1), ("two", "", 2)], preselected=1) == 2


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D], ids=["ctrl-c", "ctrl-d"])
async def test_leaving_picks_nothing(terminal: Terminal, keys: PipeInput, key: str) -> None:
    keys.send_text(key)
    assert await terminal.pick("Which?", [("one", "", 1)]) is None


async def test_lines_are_checked_with_space(terminal: Terminal, keys: PipeInput) -> None:
    keys.send_text(f"{DOWN}{SPACE}{DOWN}{SPACE}{ENTER}")
    lines = [("one", "", 1), ("two", "the second", 2), ("three", "", 3)]
    assert await terminal.check("Which?", lines, {1, 3}) == [1, 2]


async def test_nothing_may_be_checked(terminal: Terminal, keys: PipeInput) -> None:
    keys.send_text(ENTER)
    assert await terminal.check("Which?", [("one", "", 1), ("two", "", 2)], ()) == []


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D], ids=["ctrl-c", "ctrl-d"])
async def test_leaving_checks_nothing(terminal: Terminal, keys: PipeInput, key: str) -> None:
    keys.send_text(f"{SPACE}{key}")
    assert await terminal.check("Which?", [("one", "", 1)], ()) is None


async def test_a_line_begins_as_it_is_given(terminal: Terminal, keys: PipeInput) -> None:
    keys.send_text(f"{BACK}e{ENTER}{CLEAR}new{ENTER}{CTRL_D}{CTRL_C}")
    assert await terminal.write_line("Name:", "old") == "ole"
    assert await terminal.write_line("Name:", "old") == "new"
    assert await terminal.write_line("Name:") is None
    assert await terminal.write_line("Name:", "old") is None


async def test_lines_are_written_until_the_person_ends_them(
    terminal: Terminal, keys: PipeInput
) -> None:
    keys.send_text(f"{ENTER}two{FINISH}{CTRL_C}")
    assert await terminal.write_lines("Text:", "one", "Dear all, …") == "one\ntwo"
    assert await terminal.write_lines("Text:", "one") is None


async def test_a_path_is_completed_with_tab(
    terminal: Terminal, keys: PipeInput, tmp_path: Path
) -> None:
    (tmp_path / "receipt-of-today.png").touch()
    reading = asyncio.create_task(terminal.name_file("Path:"))
    keys.send_text(f"{tmp_path}/rec\t")
    async with asyncio.timeout(DEADLINE):
        while not get_app().current_buffer.text.endswith(".png"):
            await asyncio.sleep(0)
        keys.send_text(ENTER)
        assert await reading == f"{tmp_path}/receipt-of-today.png"


def test_a_question_is_shown_as_plain_text(terminal: Terminal, screen: io.StringIO) -> None:
    terminal.show_question("\x1b]0;x", "[red]Really?[/red] **now**\x1b[2J", grave=False)
    assert "[red]Really?[/red] **now**" in screen.getvalue()
    assert "\x1b" not in screen.getvalue()


def test_a_draft_is_shown_as_it_is_written(terminal: Terminal, screen: io.StringIO) -> None:
    terminal.show_draft("# Hello\n[bold]*all*[/bold]\x1b[2J")
    terminal.show_draft("")
    assert "# Hello" in screen.getvalue()
    assert "[bold]*all*[/bold]" in screen.getvalue()
    assert "\x1b" not in screen.getvalue()
    assert "(nothing yet)" in screen.getvalue()


def test_a_reply_is_drawn_with_its_addresses_in_sight(
    terminal: Terminal, screen: io.StringIO
) -> None:
    terminal.show_reply("See [the bank](https://evil.example) [bold]now[/bold].")
    assert "https://evil.example" in screen.getvalue()
    assert "[bold]now[/bold]" in screen.getvalue()


def test_a_fault_is_shown_with_how_to_mend_it(terminal: Terminal, screen: io.StringIO) -> None:
    terminal.show_fault("The answer does not fit.", ["Pick one of the options."])
    assert screen.getvalue() == "✗ The answer does not fit.\n  Pick one of the options.\n"

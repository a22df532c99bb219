"""What the terminal shows, and what it makes of keys."""

import io
from collections.abc import Iterator

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from parley.v1.asks_pb2 import AskInput, ConfirmInput
from parley.v1.cards_pb2 import SimpleCard
from parley.v1.turns_pb2 import PromptInput
from parleyd.app.chat.menus import OpenQuestion
from parleyd.app.chat.terminal import Terminal, printable

ENTER = "\r"
DOWN = "\x1b[B"
CTRL_C = "\x03"
CTRL_D = "\x04"


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    """The keyboard of the terminal in this test."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


@pytest.fixture
def screen() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def terminal(screen: io.StringIO) -> Terminal:
    return Terminal(Console(file=screen, width=80))


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


async def test_leaving_picks_nothing(terminal: Terminal, keys: PipeInput) -> None:
    keys.send_text(CTRL_C)
    assert await terminal.pick("Which?", [("one", "", 1)]) is None


async def test_a_question_is_shown_as_plain_text(
    terminal: Terminal, keys: PipeInput, screen: io.StringIO
) -> None:
    keys.send_text(ENTER)
    asked = AskInput(prompt="[red]Really?[/red] **now**\x1b[2J", confirm=ConfirmInput())
    await terminal.read_answer(OpenQuestion("call_1", asked, SimpleCard()))
    assert "[red]Really?[/red] **now**" in screen.getvalue()
    assert "\x1b" not in screen.getvalue()


async def test_a_message_may_be_written_instead_of_an_answer(
    terminal: Terminal, keys: PipeInput
) -> None:
    keys.send_text(f"{DOWN}{DOWN}{ENTER}something else{ENTER}")
    asked = AskInput(prompt="Really?", confirm=ConfirmInput())
    said = await terminal.read_answer(OpenQuestion("call_1", asked, SimpleCard()))
    assert said == PromptInput(text="something else")


def test_a_reply_is_drawn_with_its_addresses_in_sight(
    terminal: Terminal, screen: io.StringIO
) -> None:
    terminal.show_reply("See [the bank](https://evil.example) [bold]now[/bold].")
    assert "https://evil.example" in screen.getvalue()
    assert "[bold]now[/bold]" in screen.getvalue()


def test_a_fault_is_shown_with_how_to_mend_it(terminal: Terminal, screen: io.StringIO) -> None:
    terminal.show_fault("The answer does not fit.", ["Pick one of the options."])
    assert screen.getvalue() == "✗ The answer does not fit.\n  Pick one of the options.\n"

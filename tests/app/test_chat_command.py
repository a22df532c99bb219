"""`parleyd chat` as a person meets it: a process in a terminal."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.app.keyboard import BACK, CTRL_C, CTRL_D, DOWN, ENTER, SPACE, UP
from tests.app.processes import COMMAND, DEADLINE, environment, names_in, processes_in, serve

_STEERING = re.compile(r"\x1b(\[[0-9;?]*[a-zA-Z]|\][^\x07]*\x07|[=>78])|\r")


class Screen:
    """A terminal with a command in it."""

    def __init__(self, process: asyncio.subprocess.Process, device: int) -> None:
        self.process = process
        self._device = device
        self._shown = ""
        self._more = asyncio.Event()

    def receive(self) -> None:
        """Takes what the command wrote."""
        try:
            self._shown += os.read(self._device, 65536).decode(errors="replace")
        except OSError:  # the command has closed its side
            asyncio.get_running_loop().remove_reader(self._device)
        self._more.set()

    async def wait_for(self, text: str) -> None:
        """Waits until `text` is shown, and forgets what came before it."""
        while text not in (plain := _STEERING.sub("", self._shown)):
            self._more.clear()
            try:
                async with asyncio.timeout(DEADLINE):
                    await self._more.wait()
            except TimeoutError:
                raise AssertionError(f"{text!r} is not shown after {plain!r}") from None
        self._shown = plain.partition(text)[2]

    def type(self, keys: str) -> None:
        """Presses keys."""
        os.write(self._device, keys.encode())


@asynccontextmanager
async def terminal(*arguments: str, env: dict[str, str]) -> AsyncGenerator[Screen]:
    """Runs a command in a terminal and ends it unless it has ended."""
    device, theirs = os.openpty()
    plain = {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "COLUMNS": "100", "LINES": "40"}
    process = await asyncio.create_subprocess_exec(
        COMMAND, *arguments, env={**env, **plain}, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    screen = Screen(process, device)
    asyncio.get_running_loop().add_reader(device, screen.receive)
    try:
        yield screen
    finally:
        asyncio.get_running_loop().remove_reader(device)
        if process.returncode is None:
            process.terminate()
        await process.wait()
        os.close(device)


async def test_one_command_is_enough_to_chat(open_folder: Path) -> None:
    env = environment(open_folder)
    async with terminal("chat", env=env) as screen:
        await screen.wait_for("You:")
        screen.type(f"Set up my plan{ENTER}")
        await screen.wait_for("Which plan should your workspace have?")
        await screen.wait_for("Team")
        screen.type(ENTER)
        await screen.wait_for("Your workspace is on the Team plan now.")
        await screen.wait_for("You:")
        screen.type(f"Delete my completed todos{ENTER}")
        await screen.wait_for("Delete all of your completed todos?")
        await screen.wait_for("Keep them")
        screen.type(CTRL_C)
        await screen.wait_for("The question stays open")
        assert await screen.process.wait() == 0
    assert "chat.log" in names_in(open_folder)
    async with terminal("chat", env=env) as screen:
        await screen.wait_for("Questions wait for you.")
        screen.type(ENTER)
        await screen.wait_for("Keep them")
        screen.type(UP + ENTER)
        await screen.wait_for("Done: your completed todos are deleted")
        await screen.wait_for("You:")
        screen.type(CTRL_D)
        assert await screen.process.wait() == 0


async def test_the_demo_agent_asks_every_kind_and_each_is_answered(
    open_folder: Path, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/Saturday/Sunday/g" "$1"\n')
    editor.chmod(0o755)
    (tmp_path / "receipt.txt").write_text("Two teas")
    env = environment(open_folder, EDITOR=str(editor))
    async with terminal("chat", env=env) as screen:

        async def meet(*shown_and_typed: tuple[str, str]) -> None:
            for shown, typed in shown_and_typed:
                await screen.wait_for(shown)
                screen.type(typed)

        await meet(
            ("You:", f"Plan my weekend{ENTER}"),
            ("Pick from the list", ENTER),
            ("Something else", f"{DOWN}{SPACE}{DOWN * 4}{SPACE}{ENTER}"),
            ("Something else:", f"A nap{ENTER}"),
            ("the farmers' market, a museum and “A nap”", ""),
            ("You:", f"Write an invitation{ENTER}"),
            ("I'm cooking on Saturday", ""),
            ("Edit the text", ENTER),
            ("I'm cooking on Sunday", ""),
            ("Take this text", ENTER),
            ("I take your version", ""),
            ("You:", f"Book a table{ENTER}"),
            ("Fill it in", ENTER),
            ("Name (required):", f"Zoë{ENTER}"),
            ("Guests (required):", f"0{ENTER}"),
            ("Set “Guests” to a number from 1 up to 12.", ""),
            ("Guests (required):", f"{BACK * 2}4{ENTER}"),
            ("Day (required):", f"2027-06-30{ENTER}"),
            ("Time (required):", ENTER),
            ("Where to sit:", f"{DOWN}{ENTER}"),
            ("Extras:", ENTER),
            ("For the confirmation, and nothing else.", ""),
            ("Email:", ENTER),
            ("Remind me:", ENTER),
            ("Book it", ENTER),
            ("Your table is booked: “Zoë”, 4 guests, 2027-06-30 at 19:30, on the", ""),
            ("You:", f"Summarise my document{ENTER}"),
            ("Add a file", ENTER),
            ("Path of the file:", f"{tmp_path}/receipt.txt{ENTER}"),
            ("Send them", ENTER),
            ("“receipt.txt” has 1 line and 2 words", ""),
            ("You:", CTRL_D),
        )
        assert await screen.process.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
async def test_a_chat_that_is_killed_leaves_no_database_running(
    number: signal.Signals, open_folder: Path
) -> None:
    async with terminal("chat", env=environment(open_folder)) as screen:
        await screen.wait_for("You:")
        assert processes_in(open_folder) != []
        screen.process.send_signal(number)
        await screen.wait_for("Stopped by a signal.")
        assert await screen.process.wait() == 1
    assert processes_in(open_folder) == []


@pytest.mark.parametrize("own_token", [True, False], ids=["a token", "the token of this machine"])
async def test_a_running_service_can_be_chatted_with(
    own_token: bool,  # noqa: FBT001 - a parameter of the table
    database_url: str,
    tmp_path: Path,
) -> None:
    env = environment(tmp_path, PARLEY_DATABASE_URL=database_url)
    async with serve("--development", "--port", "0", env=env) as serving:
        told = ["--token", serving.token] if own_token else []
        async with terminal("chat", "--target", serving.address, *told, env=env) as screen:
            await screen.wait_for("You:")
            screen.type(f"Hello{ENTER}")
            await screen.wait_for("I can set up your plan")
            await screen.wait_for("You:")
            screen.type(CTRL_D)
            assert await screen.process.wait() == 0

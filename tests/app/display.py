"""A screen that somebody looks at, who sees what stands on it and not how it came there."""

import asyncio
import io
import re
from collections.abc import Callable

from rich.console import Console
from typing_extensions import override

_WRITTEN = re.compile(r"\x1b\[(\??[\d;]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


class Display(io.StringIO):
    """A screen as wide as its longest line. Knows as much of a terminal as progress needs."""

    def __init__(self) -> None:
        super().__init__()
        self.console = Console(
            file=self, force_terminal=True, color_system=None, width=80, height=24
        )
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()

    @override
    def write(self, text: str, /) -> int:
        """Takes a frame; what moves on the screen is drawn by a thread."""
        length = super().write(text)
        self._loop.call_soon_threadsafe(self._changed.set)
        return length

    @property
    def standing(self) -> str:
        """Returns the lines that stand on the screen."""
        return standing(self.getvalue())

    async def until(self, seen: Callable[[str], bool]) -> str:
        """Waits until what stands on the screen is so, and returns it."""
        while not seen(now := self.standing):
            self._changed.clear()
            await self._changed.wait()
        return now


def standing(written: str) -> str:
    """Returns what a terminal shows after it was sent `written`."""
    lines, row, column = [""], 0, 0
    for match in _WRITTEN.finditer(written):
        number, order, control, text = match.groups()
        if order == "A":
            row = max(row - int(number or 1), 0)
        elif order == "K":
            assert number == "2", "only whole lines are erased"
            lines[row] = ""
        elif control == "\r":
            column = 0
        elif control == "\n":
            row, column = row + 1, 0
            lines += [""] * (row == len(lines))
        elif text:
            before, after = lines[row][:column].ljust(column), lines[row][column + len(text) :]
            lines[row], column = before + text + after, column + len(text)
        else:
            assert order in {"h", "l", "m"}, f"{match[0]!r} is not known here"
    return "\n".join(line.rstrip() for line in lines)

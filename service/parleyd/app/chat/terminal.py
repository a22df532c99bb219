"""The person's terminal: shows what the agent says and reads what the person does."""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import questionary
from prompt_toolkit.history import InMemoryHistory
from rich.console import Console
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

from parley.v1.turns_pb2 import PromptInput
from parleyd.app.chat.menus import OpenQuestion, PersonInput, menu_of

Item = TypeVar("Item")

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Returns `text` without what could steer the terminal or turn the reading direction.

    What agents and services write is not trusted with the screen.
    """
    return _UNPRINTABLE.sub("", text)


class Terminal:
    """A terminal that a person sits at. Reading ends with Ctrl-D or Ctrl-C: the person leaves."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._written = InMemoryHistory()

    async def read_message(self) -> PromptInput | None:
        """Returns what the person writes, or nothing when they leave. Blank lines do not count."""
        while True:
            text: str | None = await _asked(
                questionary.text("You:", qmark="›", history=self._written)
            )
            if text is None:
                return None
            if text.strip():
                return PromptInput(text=text)

    async def read_answer(self, question: OpenQuestion) -> PersonInput | None:
        """Shows `question` and returns what the person does, or nothing when they leave."""
        asked = question.input
        self._console.print(
            Panel(
                Text(printable(asked.prompt or question.card.text)),
                title=Text(printable(asked.title or question.card.title or "Question")),
                title_align="left",
                border_style="red" if asked.confirm.destructive else "cyan",
            )
        )
        menu = menu_of(question)
        if menu.handoff:
            self.say("There are more answers than fit here; another app may offer them.")
        item = await self.pick(
            "Your answer:",
            [(item.label, item.description, item) for item in menu.items],
            preselected=menu.preselected,
        )
        if item is None:
            return None
        return item.input or await self.read_message()

    async def pick(
        self, question: str, lines: Sequence[tuple[str, str, Item]], *, preselected: int = 0
    ) -> Item | None:
        """Returns the value of the picked line, or nothing when the person leaves.

        A line is its label, its description and its value.
        """
        choices = [
            questionary.Choice(
                printable(label), value=index, description=printable(description) or None
            )
            for index, (label, description, _) in enumerate(lines)
        ]
        index: int | None = await _asked(
            questionary.select(question, choices, default=choices[preselected], qmark="?")
        )
        return None if index is None else lines[index][2]

    def show_reply(self, text: str) -> None:
        """Shows a reply; Markdown in it is drawn, addresses stay in sight."""
        self._console.print(Markdown(printable(text), hyperlinks=False))
        self._console.print()

    def show_fault(self, text: str, fixes: Sequence[str] = ()) -> None:
        """Shows what went wrong and, where known, how to mend it."""
        self._console.print(Text(f"✗ {printable(text)}", style="red"))
        for fix in fixes:
            self._console.print(Text(f"  {printable(fix)}", style="red"))

    def say(self, text: str) -> None:
        """Shows a line of the terminal's own."""
        self._console.print(Text(printable(text), style="dim"))

    @contextmanager
    def working(self) -> Generator[None]:
        """Shows that the agent works, until the context ends."""
        with self._console.status(Text("The agent works …", style="dim")):
            yield


async def _asked(question: questionary.Question) -> Any:  # noqa: ANN401 - questionary's answers are untyped
    try:
        return await question.unsafe_ask_async()
    except (KeyboardInterrupt, EOFError):
        return None

"""The person's terminal: shows what the agent says and reads what the person does."""

from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import questionary
from prompt_toolkit.completion import PathCompleter
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.keys import Keys
from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

from parley.v1.blocks_pb2 import Block
from parley.v1.turns_pb2 import PromptInput
from parleyd.app.chat.blocks.documents import drawn_blocks
from parleyd.app.chat.blocks.rows import Datasets
from parleyd.app.chat.editor import EditorFailed, EditorMissing, edited, editor_command
from parleyd.app.chat.previews import ReplyPreview
from parleyd.app.chat.printable import printable

Item = TypeVar("Item")


class Terminal:
    """A terminal that a person sits at. Reading ends with Ctrl-D or Ctrl-C: the person goes back.

    Every reading returns None then, whatever was on its way to be read.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._written = InMemoryHistory()

    async def read_message(self) -> PromptInput | None:
        """Returns what the person writes. Blank lines do not count."""
        while True:
            text: str | None = await _asked(
                questionary.text("You:", qmark="›", history=self._written)
            )
            if text is None:
                return None
            if text.strip():
                return PromptInput(text=text)

    async def write_line(self, question: str, text: str = "") -> str | None:
        """Returns a line that the person writes, beginning with `text`."""
        return await _asked(questionary.text(printable(question), default=text))

    async def write_lines(self, question: str, text: str = "", placeholder: str = "") -> str | None:
        """Returns lines that the person writes, beginning with `text`."""
        return await _asked(
            questionary.text(
                printable(question),
                default=text,
                multiline=True,
                placeholder=printable(placeholder),
            )
        )

    async def edit(self, text: str, placeholder: str = "") -> str | None:
        """Returns `text` as the person edits it: in their editor if they name one, else here."""
        if command := editor_command():
            try:
                return await edited(text, command)
            except EditorMissing as error:
                self.show_fault(str(error))
            except EditorFailed as error:
                self.show_fault(str(error))
                return None
        return await self.write_lines("Your text:", text, placeholder)

    async def name_file(self, question: str, path: str = "") -> str | None:
        """Returns a path that the person writes, beginning with `path`; Tab completes it."""
        return await _asked(
            questionary.text(
                printable(question),
                default=path,
                completer=PathCompleter(expanduser=True),
                complete_while_typing=False,
            )
        )

    async def pick(
        self, question: str, lines: Sequence[tuple[str, str, Item]], *, preselected: int = 0
    ) -> Item | None:
        """Returns the value of the picked line. A line is its label, its description, its value."""
        choices = _choices(lines)
        index: int | None = await _asked(
            _leavable(
                questionary.select(
                    printable(question), choices, default=choices[preselected], qmark="?"
                )
            )
        )
        return None if index is None else lines[index][2]

    async def check(
        self, question: str, lines: Sequence[tuple[str, str, Item]], checked: Collection[Item]
    ) -> list[Item] | None:
        """Returns the values of the checked lines, in the order of the lines."""
        choices = _choices(lines)
        for choice, (_, _, value) in zip(choices, lines, strict=True):
            choice.checked = value in checked
        indices: list[int] | None = await _asked(
            _leavable(questionary.checkbox(printable(question), choices, qmark="?"))
        )
        return None if indices is None else [lines[index][2] for index in indices]

    def show_question(self, title: str, text: str, *, grave: bool) -> None:
        """Shows a question as plain text."""
        self._console.print(
            Panel(
                Text(printable(text)),
                title=Text(printable(title or "Question")),
                title_align="left",
                border_style="red" if grave else "cyan",
            )
        )

    def show_call(self, tool_name: str, arguments: str) -> None:
        """Shows what an approval lets run. The frame tells it from all that the terminal says."""
        self._console.print(
            Panel(
                Text(printable(f"{tool_name}\n{arguments}"), overflow="fold"),
                title="This will run",
                title_align="left",
                border_style="yellow",
            )
        )

    def show_draft(self, text: str) -> None:
        """Shows a text to edit, as it is written."""
        shown = Text(printable(text)) if text else Text("(nothing yet)", style="dim")
        self._console.print(Panel(shown, border_style="dim"))

    def show_reply(self, text: str) -> None:
        """Shows a reply; Markdown in it is drawn, addresses stay in sight."""
        self._console.print(Markdown(printable(text), hyperlinks=False))
        self._console.print()

    def show_blocks(self, blocks: Sequence[Block], datasets: Datasets) -> None:
        """Shows blocks of a reply, with the rows that were fetched for them."""
        self._console.print(drawn_blocks(blocks, datasets))
        self._console.print()

    def show_source(self, text: str) -> None:
        """Shows a document as it is written."""
        self._console.print(Text(printable(text)))
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
    def working(self) -> Generator[ReplyPreview]:
        """Shows that the agent works and what it writes, until the context ends.

        What is shown meanwhile stays above it. Where the output is no terminal there is neither.
        """
        preview = ReplyPreview()
        with Live(preview, console=self._console, transient=True, refresh_per_second=12.5):
            yield preview

    @contextmanager
    def waiting(self, text: str) -> Generator[None]:
        """Shows what is waited for, until the context ends; where the output is no terminal not."""
        with self._console.status(Text(text, style="dim")):
            yield


def _choices(lines: Sequence[tuple[str, str, object]]) -> list[questionary.Choice]:
    return [
        questionary.Choice(
            printable(label), value=index, description=printable(description) or None
        )
        for index, (label, description, _) in enumerate(lines)
    ]


def _leavable(menu: questionary.Question) -> questionary.Question:
    """Lets Ctrl-D leave a menu too, as it leaves a line."""
    keys = KeyBindings()

    @keys.add(Keys.ControlD, eager=True)
    def leave(event: KeyPressEvent) -> None:
        event.app.exit(exception=EOFError)

    bindings = menu.application.key_bindings
    menu.application.key_bindings = merge_key_bindings([bindings, keys] if bindings else [keys])
    return menu


async def _asked(question: questionary.Question) -> Any:  # noqa: ANN401 - questionary's answers are untyped
    try:
        return await question.unsafe_ask_async()
    except (KeyboardInterrupt, EOFError):
        return None

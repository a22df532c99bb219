"""What stands at the foot of the terminal while the agent works."""

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.spinner import Spinner
from rich.text import Text

from parleyd.app.chat.printable import printable

_REST_LINES = 2
"""Below and above the text: the spinner and the cursor's own line."""


class ReplyPreview:
    """The end of what the agent is writing, as much as fits, and that it works.

    The text is plain until the reply is whole: drawing its Markdown again with every word would
    cost more than the reply, and half of a table is none.
    """

    def __init__(self) -> None:
        self._text = ""
        works = Text("The agent works …", style="dim")
        self._works = Spinner("dots", works, style="status.spinner")

    def add(self, text: str) -> None:
        """Adds what the agent has written since."""
        self._text += printable(text)

    def drop(self) -> None:
        """Takes away what the agent wrote."""
        self._text = ""

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Yields the latest lines, for rich to draw."""
        room = max(options.size.height - _REST_LINES, 1)
        # Enough for the lines that fit, however long the whole text is.
        end = Text(self._text[-room * options.max_width :])
        if end.plain.strip():
            yield Text("\n").join(end.wrap(console, options.max_width)[-room:])
        yield self._works

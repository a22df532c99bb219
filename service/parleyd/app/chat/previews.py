"""What stands at the foot of the terminal while the agent works."""

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment, Segments
from rich.spinner import Spinner
from rich.text import Text

from parley.v1.blocks_pb2 import BlockDocument
from parleyd.app.chat.blocks.documents import drawn_document
from parleyd.app.chat.printable import printable

_REST_LINES = 2
"""Below and above the text: the spinner and the cursor's own line."""


class ReplyPreview:
    """The end of what the agent is writing, as much as fits, and that it works.

    The text is plain until the reply is whole: drawing its Markdown again with every word would
    cost more than the reply, and half of a table is none. Of a document its finished blocks are
    shown, drawn once each time that there is one more.
    """

    def __init__(self) -> None:
        self._text = ""
        self._blocks: _DrawnOnce | None = None
        works = Text("The agent works …", style="dim")
        self._works = Spinner("dots", works, style="status.spinner")

    def add(self, text: str) -> None:
        """Adds what the agent has written since."""
        self._text += printable(text)

    def show(self, document: BlockDocument) -> None:
        """Shows what is finished of a document, in place of all before."""
        self._text = ""
        self._blocks = _DrawnOnce(drawn_document(document)) if document.blocks else None

    def drop(self) -> None:
        """Takes away what the agent wrote."""
        self._text = ""
        self._blocks = None

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Yields the latest lines, for rich to draw."""
        room = max(options.size.height - _REST_LINES, 1)
        # Enough for the lines that fit, however long the whole text is.
        end = Text(self._text[-room * options.max_width :])
        if end.plain.strip():
            yield Text("\n").join(end.wrap(console, options.max_width)[-room:])
        if blocks := self._blocks:  # another thread draws: it may be gone by the next line
            yield blocks.end(console, options, room)
        yield self._works


class _DrawnOnce:
    """Something whose last lines are wanted again and again."""

    def __init__(self, content: RenderableType) -> None:
        self._content = content
        self._width = 0
        self._lines: list[list[Segment]] = []

    def end(self, console: Console, options: ConsoleOptions, room: int) -> Segments:
        """Returns the last lines, as many as there is room for."""
        if self._width != options.max_width:
            # Without a height: what is as high as the screen allows would be as high as the screen.
            self._lines = console.render_lines(
                self._content, options.update(height=None), pad=False, new_lines=True
            )
            self._width = options.max_width
        return Segments(segment for line in self._lines[-room:] for segment in line)

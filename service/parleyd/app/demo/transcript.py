"""What a demonstration prints: who did what, line by line."""

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from parley.v1.cards_pb2 import SimpleCard, SimpleCardButton

_STYLES = {
    SimpleCardButton.STYLE_PRIMARY: "bold cyan",
    SimpleCardButton.STYLE_DESTRUCTIVE: "bold red",
}
_WHO_WIDTH = 7
_CARD_WIDTH = 48


class Transcript:
    """A transcript on a console."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def heading(self, text: str) -> None:
        """Begins a part."""
        self._console.print()
        self._console.rule(Text(text), align="left", style="dim")

    def line(self, who: str, text: str) -> None:
        """Says that `who` said or did something."""
        self._row(Text(who, style="bold"), Text(text))

    def card(self, who: str, card: SimpleCard) -> None:
        """Shows a card as `who` sees it."""
        buttons = [
            Text(f"[ {button.label} ]", style=_STYLES.get(button.style, ""))
            for button in card.buttons
        ]
        self.line(who, "sees this card:")
        face = Group(Text(card.text), Text(), Columns(buttons))
        self._row(Text(), Panel(face, title=Text(card.title or "Question"), width=_CARD_WIDTH))

    def note(self, text: str) -> None:
        """Adds what nobody said, but is so."""
        self._row(Text(), Text(text, style="dim"))

    def _row(self, who: Text, what: RenderableType) -> None:
        row = Table.grid(padding=(0, 2))
        row.add_column(justify="right", width=_WHO_WIDTH)
        row.add_column()
        row.add_row(who, what)
        self._console.print(row)

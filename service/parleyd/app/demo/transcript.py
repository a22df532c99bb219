"""What a demonstration prints: who did what, line by line."""

from rich.columns import Columns
from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from parley.v1.cards_pb2 import SimpleCard, SimpleCardButton

_STYLES = {
    SimpleCardButton.STYLE_PRIMARY: "bold cyan",
    SimpleCardButton.STYLE_DESTRUCTIVE: "bold red",
}
_WHO_WIDTH = 7


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
        self._console.print(
            Text(f"{who:>{_WHO_WIDTH}}", style="bold") + Text(f"  {text}", "not bold")
        )

    def card(self, who: str, card: SimpleCard) -> None:
        """Shows a card as `who` sees it."""
        buttons = [
            Text(f"[ {button.label} ]", style=_STYLES.get(button.style, ""))
            for button in card.buttons
        ]
        panel = Panel(Group(Text(card.text), Text(), Columns(buttons)), title=card.title, width=48)
        self.line(who, "sees this card:")
        self._console.print(Columns([Text(" " * _WHO_WIDTH), panel]))

    def note(self, text: str) -> None:
        """Adds what nobody said, but is so."""
        self._console.print(Text(f"{'':>{_WHO_WIDTH}}  {text}", style="dim"))

"""The blocks that are a few words: each as a terminal shows it."""

from typing import Final

from rich.console import RenderableType
from rich.markdown import Markdown
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from parley.v1.blocks_pb2 import (
    BadgeBlock,
    CalloutBlock,
    ContextBlock,
    DetailsBlock,
    HeadingBlock,
    HtmlBlock,
    ImageBlock,
    MetricBlock,
    TextBlock,
)
from parleyd.app.chat.printable import in_a_line, printable

_HEADINGS: Final = {
    HeadingBlock.SIZE_SM: "",
    HeadingBlock.SIZE_XL: "bold underline",
    HeadingBlock.SIZE_2XL: "bold underline",
}
_TRENDS: Final = {
    MetricBlock.TREND_UP: ("▲", "green"),
    MetricBlock.TREND_DOWN: ("▼", "red"),
    MetricBlock.TREND_FLAT: ("▶", "dim"),
}
_BADGES: Final = {
    BadgeBlock.STATUS_INFO: "blue",
    BadgeBlock.STATUS_ERROR: "red",
    BadgeBlock.STATUS_WARNING: "yellow",
    BadgeBlock.STATUS_SUCCESS: "green",
    BadgeBlock.STATUS_ACTIVE: "cyan",
}
_CALLOUTS: Final = {
    CalloutBlock.STATUS_WARNING: ("Warning", "yellow"),
    CalloutBlock.STATUS_ALERT: ("Alert", "red"),
}


def drawn_heading(heading: HeadingBlock) -> RenderableType:
    """Returns a heading, the larger the more it stands out."""
    return Text(in_a_line(heading.text), style=_HEADINGS.get(heading.size, "bold"))


def drawn_text(text: TextBlock) -> RenderableType:
    """Returns Markdown as it is drawn; addresses stay in sight."""
    return Markdown(printable(text.markdown), hyperlinks=False)


def drawn_metric(metric: MetricBlock) -> RenderableType:
    """Returns a figure below what it counts, with how it changed."""
    drawn = Text(f"{in_a_line(metric.label)}\n", style="dim")
    drawn.append(in_a_line(metric.value), style="not dim bold")
    sign, style = _TRENDS.get(metric.trend, ("", "dim"))
    if change := f"{sign} {in_a_line(metric.delta)}".strip():
        drawn.append(f"  {change}", style=f"not dim {style}" if style != "dim" else style)
    if metric.helper:
        drawn.append(f"\n{in_a_line(metric.helper)}")
    return drawn


def drawn_badge(badge: BadgeBlock) -> RenderableType:
    """Returns a word or two that stand out."""
    return Text().append(
        f" {in_a_line(badge.text)} ", style=f"reverse {_BADGES.get(badge.status, 'dim')}"
    )


def drawn_divider() -> RenderableType:
    """Returns a line."""
    return Rule(style="dim")


def drawn_context(context: ContextBlock) -> RenderableType:
    """Returns a small remark."""
    return Text(printable(context.text), style="dim italic")


def drawn_html(html: HtmlBlock) -> RenderableType:
    """Returns a frame in place of a page, which a terminal can't show."""
    title = f"Preview by the agent: {html.title}" if html.title else "Preview by the agent"
    return framed(Text("This HTML can't be shown in a terminal.", style="dim"), title, "dim")


def drawn_callout(callout: CalloutBlock) -> RenderableType:
    """Returns a remark in a frame of the colour of its status."""
    title, style = _CALLOUTS.get(callout.status, ("Note", "blue"))
    return framed(Text(printable(callout.text)), title, style)


def drawn_image(image: ImageBlock) -> RenderableType:
    """Returns what an image shows, in words."""
    return Text(f"[Image: {in_a_line(image.alt)}]", style="italic")


def drawn_details(details: DetailsBlock) -> RenderableType:
    """Returns a text below its title, unfolded: here nothing can be unfolded later."""
    # One renderable, so that it stays together where blocks stand side by side.
    text = Text(f"▾ {in_a_line(details.title)}\n", style="bold")
    return text.append(printable(details.text), style="not bold")


def framed(content: RenderableType, title: str, style: str = "none") -> RenderableType:
    """Returns something in a frame, with a title unless it is empty."""
    shown = Text(in_a_line(title)) if title else None
    return Panel(content, title=shown, title_align="left", border_style=style)

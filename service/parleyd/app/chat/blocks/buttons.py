"""What a document lets a person press: a terminal can only tell of it."""

from typing import assert_never

from rich.console import Group, RenderableType
from rich.text import Text

from parley.v1.blocks_pb2 import ActionsBlock, BlockAction, BlockElement
from parleyd.app.chat.printable import in_a_line


def drawn_actions(actions: ActionsBlock) -> RenderableType:
    """Returns a line for everything that could be pressed, and what it does."""
    return Group(*map(_line, actions.elements))


def _line(element: BlockElement) -> Text:
    kind = element.WhichOneof("element")
    match kind:
        case "button":
            line = Text(f"[ {in_a_line(element.button.text)} ]", style="bold")
            return line.append(f" {_told(element.button.action)}", style="not bold dim")
        case "segmented":
            labels = " | ".join(in_a_line(option.label) for option in element.segmented.options)
            line = Text(f"[ {labels} ]", style="bold")
            told = f" shows other data in {in_a_line(element.segmented.target)}"
            return line.append(told, style="not bold dim")
        case None:
            return Text("(Something to press that this version does not know.)", style="dim")
        case _:
            assert_never(kind)


def _told(action: BlockAction) -> str:
    kind = action.WhichOneof("action")
    match kind:
        case "reply":
            return f"says “{in_a_line(action.reply.text)}”"
        case "open":
            return f"opens {in_a_line(action.open.url or action.open.route)}"
        case "select":
            select = action.select
            return f"shows {in_a_line(select.data)} in {in_a_line(select.target)}"
        case "callback":
            return f"calls the app: {in_a_line(action.callback.name)}"
        case None:
            return "does something that this version does not know"
        case _:
            assert_never(kind)

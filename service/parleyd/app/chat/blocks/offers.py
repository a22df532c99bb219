"""The replies that a document offers, as a menu."""

from collections.abc import Iterator, Sequence

from parley.v1.blocks_pb2 import Block, BlockDocument, ButtonElement
from parley.v1.turns_pb2 import PromptInput
from parleyd.app.chat.menus import Menu, MenuItem, PersonInput, pick_input, write
from parleyd.app.chat.printable import in_a_line
from parleyd.app.chat.terminal import Terminal


def offered_replies(document: BlockDocument) -> Sequence[MenuItem]:
    """Returns the buttons that send a message, as lines of a menu, in their order."""
    return [
        MenuItem(
            in_a_line(button.text),
            PromptInput(text=button.action.reply.text),
            f"Says: {in_a_line(button.action.reply.text)}",
        )
        for button in _buttons(document.blocks)
        if button.action.HasField("reply")
    ]


async def read_after_offer(terminal: Terminal, offered: Sequence[MenuItem]) -> PersonInput | None:
    """Returns what the person does where a document offers replies, or nothing when they leave.

    Who thinks better of a message sees the menu again, and leaves from there.
    """
    menu = Menu((MenuItem("Write a message", write), *offered))
    return await pick_input(terminal, "What next?", lambda: menu)


def _buttons(blocks: Sequence[Block]) -> Iterator[ButtonElement]:
    """Yields the buttons in the order in which they are shown."""
    for block in blocks:
        for element in block.actions.elements:
            if element.HasField("button"):
                yield element.button
        yield from _buttons(block.columns.children or block.card.children)

"""The agent's replies, on their way to the screen."""

from collections.abc import Sequence
from typing import Final

from parley.v1.blocks_pb2 import BlockDocument
from parley.v1.conversations_pb2 import Message
from parley.v1.turns_pb2 import BlocksChecked
from parleyd.app.chat.blocks.offers import offered_replies
from parleyd.app.chat.menus import MenuItem
from parleyd.app.chat.terminal import Terminal
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.parsing import parse

ERRORS_SHOWN: Final = 3

_NO_DOCUMENT: Final = "NOT_A_DOCUMENT"


class Replies:
    """Shows replies: prose at once, and what reads like a document when its verdict has come.

    Without a verdict, which only comes where blocks are on, a document is shown as it is written.
    """

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._held = ""
        self._offered: Sequence[MenuItem] = ()

    @property
    def offered(self) -> Sequence[MenuItem]:
        """The messages that the latest reply suggests."""
        return self._offered

    def show(self, text: str) -> None:
        """Shows a reply, or holds it in place of one that is held."""
        self._held = ""
        if isinstance(parse(text), BlockIssue):
            self._terminal.show_reply(text)
        else:
            self._held = text

    def judge(self, checked: BlocksChecked) -> None:
        """Shows the reply as blocks, or its text and what is wrong with it.

        That a reply is prose instead of a document is not worth a word.
        """
        if checked.ok:
            self._held = ""
            self._show_document(checked.document)
            return
        self.release()
        if errors := [error for error in checked.errors if error.code != _NO_DOCUMENT]:
            self._terminal.show_fault(
                "The reply is no valid document.",
                [
                    f"{error.path or 'document'}  {error.code}  {error.message}"
                    for error in errors[:ERRORS_SHOWN]
                ],
            )

    def release(self) -> None:
        """Shows what is held, as it is written."""
        if self._held:
            self._terminal.show_source(self._held)
            self._held = ""

    def show_past(self, reply: Message) -> None:
        """Shows a reply of a conversation that the person comes back to."""
        self._offered = ()
        if reply.HasField("blocks"):
            self._show_document(reply.blocks)
        else:
            self._terminal.show_reply(reply.text)

    def withdraw(self) -> None:
        """Forgets what was suggested: the conversation has gone on."""
        self._offered = ()

    def _show_document(self, document: BlockDocument) -> None:
        self._terminal.show_document(document)
        self._offered = offered_replies(document)

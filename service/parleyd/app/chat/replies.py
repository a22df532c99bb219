"""The agent's replies, on their way to the screen."""

from typing import Final

from parley import Client
from parley.v1.conversations_pb2 import Message
from parley.v1.turns_pb2 import BlocksChecked
from parleyd.app.chat.blocks.shown_reply import ShownReply
from parleyd.app.chat.terminal import Terminal
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.parsing import parse

ERRORS_SHOWN: Final = 3

_NO_DOCUMENT: Final = "NOT_A_DOCUMENT"


class Replies:
    """Shows replies: prose at once, and what reads like a document when its verdict has come.

    Without a verdict, which only comes where blocks are on, a document is shown as it is written.
    """

    def __init__(self, client: Client, terminal: Terminal) -> None:
        self._client = client
        self._terminal = terminal
        self._held = ""
        self._latest: ShownReply | None = None

    @property
    def pressable(self) -> ShownReply | None:
        """The latest reply, if there is something in it to press."""
        return self._latest if self._latest and self._latest.items() else None

    def show(self, text: str) -> None:
        """Shows a reply, or holds it in place of one that is held."""
        self._held = ""
        if isinstance(parse(text), BlockIssue):
            self._terminal.show_reply(text)
        else:
            self._held = text

    async def judge(self, checked: BlocksChecked, conversation_id: str, turn_id: str) -> None:
        """Shows the reply of a turn as blocks, or its text and what is wrong with it.

        That a reply is prose instead of a document is not worth a word.
        """
        if checked.ok:
            self._held = ""
            self._latest = ShownReply(self._client, conversation_id, turn_id)
            await self._latest.show(self._terminal, checked.document)
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

    async def show_past(self, reply: Message) -> None:
        """Shows a reply of a conversation that the person comes back to."""
        self._latest = None
        if reply.HasField("blocks"):
            self._latest = ShownReply(
                self._client, reply.conversation_id, reply.turn_id, reply.message_id
            )
            await self._latest.show(self._terminal, reply.blocks)
        else:
            self._terminal.show_reply(reply.text)

    def withdraw(self) -> None:
        """Forgets what could be pressed: the conversation has gone on."""
        self._latest = None

"""The latest reply, as far as it is blocks: what stands of it, and what can be pressed."""

from collections.abc import Sequence
from functools import partial

import grpc

from parley import Client, error_of
from parley.v1.blocks_pb2 import BlockDocument
from parley.v1.turns_pb2 import PromptInput, RunBlockActionRequest, RunBlockActionResponse
from parleyd.app.chat.blocks.presses import CallApp, Open, Press, Redraw, Say
from parleyd.app.chat.blocks.shown_document import ShownDocument
from parleyd.app.chat.faults import explain, fixes_of
from parleyd.app.chat.menus import WRITE, Menu, MenuItem, PersonInput, Step, pick_input
from parleyd.app.chat.past import reply_id
from parleyd.app.chat.terminal import Terminal


class ShownReply:
    """A reply of blocks. Where its buttons bring more blocks, those are part of it on the screen.

    None of that is kept: who comes back sees the reply as it was.
    """

    def __init__(
        self, client: Client, conversation_id: str, turn_id: str, message_id: str = ""
    ) -> None:
        self._client = client
        self._conversation_id = conversation_id
        self._turn_id = turn_id
        self._message_id = message_id
        self._documents: list[ShownDocument] = []

    async def show(self, terminal: Terminal, document: BlockDocument) -> None:
        """Shows a document below what stands already."""
        shown = ShownDocument(self._client, document)
        self._documents.append(shown)
        await shown.show(terminal)

    def items(self) -> Sequence[MenuItem]:
        """Returns what can be pressed now, as lines of a menu."""
        return [
            MenuItem(press.label, self._does(shown, press), press.told)
            for shown in self._documents
            for press in shown.presses()
        ]

    async def read_input(self, terminal: Terminal) -> PersonInput | None:
        """Returns what the person does after the reply, or nothing when they leave.

        What they press comes to its end first. Who thinks better of a message sees the menu again,
        and leaves from there.
        """

        def menu() -> Menu:
            return Menu((WRITE, *self.items()))

        return await pick_input(terminal, "What next?", menu)

    def _does(self, shown: ShownDocument, press: Press) -> PersonInput | Step:
        match press.does:
            case Say(text=text):
                return PromptInput(text=text)
            case Open(place=place):
                return partial(_tell, place)
            case Redraw() as redraw:
                return partial(_redraw, shown, redraw)
            case CallApp() as call:
                return partial(self._call, shown, call)

    async def _call(self, shown: ShownDocument, call: CallApp, terminal: Terminal) -> None:
        try:
            with terminal.waiting("The app works …"):
                response = await self._run(call)
        except grpc.aio.AioRpcError as error:
            fault = error_of(error)
            terminal.show_fault(explain(fault), fixes_of(fault))
            return
        if response.text:
            terminal.show_reply(response.text)
        if response.HasField("blocks"):
            match response.replace:
                case RunBlockActionResponse.REPLACE_BLOCK:
                    shown.take_out(call.block_id)
                case RunBlockActionResponse.REPLACE_MESSAGE:
                    self._documents.clear()
                case _:
                    pass
            await self.show(terminal, response.blocks)
        elif not response.text:
            terminal.say("Done.")

    async def _run(self, call: CallApp) -> RunBlockActionResponse:
        if not self._message_id:
            self._message_id = await reply_id(self._client, self._conversation_id, self._turn_id)
        return await self._client.turns.RunBlockAction(
            RunBlockActionRequest(
                conversation_id=self._conversation_id,
                message_id=self._message_id,
                block_id=call.block_id,
                element_id=call.element_id,
                action=call.name,
                payload_json=call.payload_json,
            )
        )


async def _tell(place: str, terminal: Terminal) -> None:
    terminal.say(f"Open it yourself: {place}")


async def _redraw(shown: ShownDocument, redraw: Redraw, terminal: Terminal) -> None:
    await shown.redraw(terminal, redraw)

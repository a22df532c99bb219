"""A conversation in the terminal: what the person does goes out, what happens comes back."""

from contextlib import aclosing
from typing import Final

import grpc

from parley import Client, ParleyError, error_of, turn_events
from parley.v1.conversations_pb2 import GetConversationRequest, Message
from parley.v1.turns_pb2 import (
    AnswerInput,
    ButtonInput,
    ListPendingAsksRequest,
    PromptInput,
    RetryInput,
    StreamTurnRequest,
    TurnEvent,
    WatchTurnRequest,
)
from parleyd.app.chat.answering import read_answer
from parleyd.app.chat.faults import explain, fixes_of
from parleyd.app.chat.menus import PersonInput, Sheet
from parleyd.app.chat.past import latest_lines
from parleyd.app.chat.previews import ReplyPreview
from parleyd.app.chat.questions import OpenQuestion, question_of, told
from parleyd.app.chat.replies import Replies
from parleyd.app.chat.retrying import read_after_failure, try_again
from parleyd.app.chat.sheets import sheet_of
from parleyd.app.chat.terminal import Terminal
from parleyd.app.chat.tool_results import told_file, told_outcome

PATIENCE_SECONDS: Final = 60.0
"""How long a turn is tried for while no server says a word, as one that starts again does not."""

_BEFORE_BLOCKS: Final = frozenset({"text", "text_replaced", "ask", "resumed", "blocks"})
"""What comes between a reply and the verdict on it (spec turns 6.1)."""

_ELSEWHERE: Final = {
    "ASK_NOT_PENDING": "This question was answered or dropped elsewhere.",
    "TURN_NOT_RETRYABLE": "This was tried again elsewhere, or the conversation went on.",
}


class Chat:
    """One person's conversation with the agent, held in a terminal.

    The service keeps the conversation: who leaves with a question open finds it again, here or on
    another device. A turn goes on when its server does not: it is watched wherever it runs.
    """

    def __init__(
        self, client: Client, terminal: Terminal, *, patience: float = PATIENCE_SECONDS
    ) -> None:
        self._client = client
        self._terminal = terminal
        self._patience = patience
        self._conversation_id = ""
        self._title = ""
        self._replies = Replies(client, terminal)
        self._sheet: Sheet | None = None
        self._failed_turn_id = ""
        """Names the failed turn that may be tried again; empty where there is none."""

    async def run(self, conversation_id: str = "") -> None:
        """Converses until the person leaves.

        Without a conversation the person picks one of those that wait on them, or starts anew.

        Raises:
            grpc.aio.AioRpcError: The service refuses, or can't be reached, before there is a
                conversation. Later faults are shown and the conversation goes on.
        """
        picked = conversation_id or await self._pick_conversation()
        if picked is None:
            return
        if picked:
            self._conversation_id = picked
            await self._catch_up()
        while (said := await self._next_input()) is not None:
            await self._take_turn(said)
        if self._sheet:
            self._terminal.say("The question stays open, here and on every other device.")

    async def _pick_conversation(self) -> str | None:
        """Returns the conversation to go back to, "" for a new one, nothing when they leave."""
        try:
            response = await self._client.turns.ListPendingAsks(ListPendingAsksRequest())
        except grpc.aio.AioRpcError as error:
            if error_of(error).reason == "ASKS_DISABLED":
                return ""
            raise
        if not response.pending_asks:
            return ""
        waiting = [
            (f"{ask.title}: {ask.simple.text}" if ask.title else ask.simple.text, ask)
            for ask in response.pending_asks
        ]
        return await self._terminal.pick(
            "Questions wait for you. Go back to:",
            [
                *((label, "", ask.conversation_id) for label, ask in waiting),
                ("A new conversation", "", ""),
            ],
        )

    async def _catch_up(self) -> None:
        """Shows the latest lines of the conversation and what it waits on.

        A turn that runs is watched to its end.
        """
        running_turn_id = await self._reload()
        for line in await latest_lines(self._client, self._conversation_id, running_turn_id):
            if line.type == Message.TYPE_USER:
                self._replies.withdraw()
                self._terminal.say(f"› {line.text}")
                continue
            await self._replies.show_past(line)
            if line.status == Message.STATUS_ERROR:
                self._terminal.say("The agent got no further.")
        if running_turn_id:
            await self._follow(
                WatchTurnRequest(conversation_id=self._conversation_id, turn_id=running_turn_id)
            )

    async def _next_input(self) -> PersonInput | None:
        failed = self._failed_turn_id
        if self._sheet:
            others = [try_again(failed)] if failed else []
            return await read_answer(self._terminal, self._sheet, others)
        if failed:
            return await read_after_failure(self._terminal, failed)
        if reply := self._replies.pressable:
            return await reply.read_input(self._terminal)
        return await self._terminal.read_message()

    async def _take_turn(self, said: PersonInput) -> None:
        request = StreamTurnRequest(conversation_id=self._conversation_id)
        match said:
            case PromptInput():
                request.prompt.CopyFrom(said)
            case AnswerInput():
                request.answer.CopyFrom(said)
            case ButtonInput():
                request.button.CopyFrom(said)
            case RetryInput():
                request.retry.CopyFrom(said)
        await self._follow(request)

    async def _follow(self, request: StreamTurnRequest | WatchTurnRequest) -> None:
        """Shows a turn to its end, or why there is none."""
        events = turn_events(self._client, request, patience=self._patience)
        try:
            with self._terminal.working() as preview:
                async with aclosing(events):
                    async for event in events:
                        await self._show(event, preview)
        except ParleyError as fault:
            await self._explain(fault)
        except grpc.aio.AioRpcError as error:
            await self._explain(error_of(error))

    async def _show(self, event: TurnEvent, preview: ReplyPreview) -> None:
        if event.sequence:
            preview.drop()  # what is stored comes whole (spec turns 6.5)
        kind = event.WhichOneof("event")
        if event.sequence and kind not in _BEFORE_BLOCKS:
            self._replies.release()
        match kind:
            case "started":
                self._conversation_id = event.started.conversation_id
                self._failed_turn_id = ""
                self._replies.withdraw()
            case "ask_resolved":
                self._sheet = None
            case "text_preview":
                preview.add(event.text_preview.delta)
            case "preview_discarded":
                preview.drop()
            case "resumed":
                self._terminal.say("The agent was interrupted and goes on.")
            case "text":
                self._replies.show(event.text.text)
            case "text_replaced":
                self._replies.show(event.text_replaced.text)
            case "tool_call":
                # It may still have to be approved.
                self._terminal.say(f"The agent calls {event.tool_call.tool_name}.")
            case "file":
                self._terminal.say(told_file(event.file))
            case "tool_result":
                if outcome := told_outcome(event.tool_result):
                    self._terminal.say(outcome)
            case "ask":
                self._wait_on(question_of(event.ask))
            case "error":
                self._terminal.show_fault(event.error.message)
            case "done":
                await self._finish(event)
            case "blocks":
                await self._replies.judge(event.blocks, self._conversation_id, event.turn_id)
            case "blocks_preview":
                preview.show(event.blocks_preview.document)
            case None:
                pass

    async def _finish(self, event: TurnEvent) -> None:
        done = event.done
        self._failed_turn_id = event.turn_id if done.retryable else ""
        if done.title and done.title != self._title:
            self._title = done.title
            self._terminal.say(f"— {done.title} —")
        seen = self._sheet.question.tool_call_id if self._sheet else ""
        if done.pending_tool_call_id != seen:
            await self._reload()  # another turn asked or answered meanwhile (spec turns 6.2)

    async def _explain(self, fault: ParleyError) -> None:
        """Shows a refusal, and where the conversation stands now."""
        self._replies.release()
        elsewhere = _ELSEWHERE.get(fault.reason)
        if elsewhere:
            self._terminal.say(elsewhere)
        elif fault.reason == "INVALID_ANSWER" and fault.fields and self._sheet:
            names = self._sheet.names
            self._terminal.show_fault(
                "The service does not take this answer.", told(fault.fields, names)
            )
            self._sheet.refuse(fault.fields)
        else:
            self._terminal.show_fault(explain(fault), fixes_of(fault))
        if not self._conversation_id:
            return
        try:
            await (self._catch_up() if elsewhere else self._reload())
        except grpc.aio.AioRpcError as error:
            again = explain(error_of(error))
            if again != explain(fault):
                self._terminal.show_fault(again)

    async def _reload(self) -> str:
        """Reads what the conversation waits on from the service, which alone knows.

        Returns the turn that runs, or nothing.
        """
        response = await self._client.conversations.GetConversation(
            GetConversationRequest(conversation_id=self._conversation_id)
        )
        conversation = response.conversation
        self._title = conversation.title
        self._failed_turn_id = conversation.retryable_turn_id
        if conversation.HasField("pending_ask"):
            self._wait_on(question_of(conversation.pending_ask))
        else:
            self._sheet = None
        return conversation.running_turn_id

    def _wait_on(self, question: OpenQuestion) -> None:
        """Makes an empty sheet, unless the person is at one for this very question."""
        if self._sheet is None or self._sheet.question.tool_call_id != question.tool_call_id:
            self._sheet = sheet_of(question, self._client)

"""A conversation in the terminal: what the person does goes out, what happens comes back."""

from collections import deque
from collections.abc import AsyncIterator

import grpc

from parley import Client, ParleyError, error_of
from parley.v1.conversations_pb2 import GetConversationRequest, ListMessagesRequest, Message
from parley.v1.turns_pb2 import (
    AnswerInput,
    ButtonInput,
    ListPendingAsksRequest,
    PromptInput,
    StreamTurnRequest,
    TurnDone,
    TurnEvent,
)
from parleyd.app.chat.answering import read_answer
from parleyd.app.chat.menus import PersonInput, Sheet
from parleyd.app.chat.questions import OpenQuestion, told
from parleyd.app.chat.sheets import sheet_of
from parleyd.app.chat.terminal import Terminal

LINES_SHOWN_AGAIN = 6


def explain(fault: ParleyError) -> str:
    """Returns why a call failed, for the person at the terminal."""
    if fault.reason:
        return fault.message
    if fault.code == grpc.StatusCode.UNAVAILABLE:
        return "The service can't be reached."
    return f"The call failed: {fault.message or fault.code.name}"


class Chat:
    """One person's conversation with the agent, held in a terminal.

    The service keeps the conversation: who leaves with a question open finds it again, here or on
    another device.
    """

    def __init__(self, client: Client, terminal: Terminal) -> None:
        self._client = client
        self._terminal = terminal
        self._conversation_id = ""
        self._title = ""
        self._sheet: Sheet | None = None

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
        """Shows the latest lines of the conversation and what it waits on."""
        await self._reload()
        latest = deque(
            [message async for message in self._messages() if message.text], LINES_SHOWN_AGAIN
        )
        for message in latest:
            match message.type:
                case Message.TYPE_USER:
                    self._terminal.say(f"› {message.text}")
                case Message.TYPE_ASSISTANT:
                    self._terminal.show_reply(message.text)
                case _:
                    pass

    async def _next_input(self) -> PersonInput | None:
        if self._sheet:
            return await read_answer(self._terminal, self._sheet)
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
        try:
            with self._terminal.working():
                async for response in self._client.turns.StreamTurn(request):
                    await self._show(response.event)
        except grpc.aio.AioRpcError as error:
            await self._explain(error)

    async def _show(self, event: TurnEvent) -> None:
        match event.WhichOneof("event"):
            case "started":
                self._conversation_id = event.started.conversation_id
            case "ask_resolved":
                self._sheet = None
            case "text":
                self._terminal.show_reply(event.text.text)
            case "tool_call":
                self._terminal.say(f"The agent uses {event.tool_call.tool_name}.")
            case "ask":
                ask = event.ask
                self._wait_on(OpenQuestion(ask.tool_call_id, ask.input, ask.simple))
            case "error":
                self._terminal.show_fault(event.error.message)
            case "done":
                await self._finish(event.done)
            case "tool_result" | None:
                pass

    async def _finish(self, done: TurnDone) -> None:
        if done.title and done.title != self._title:
            self._title = done.title
            self._terminal.say(f"— {done.title} —")
        seen = self._sheet.question.tool_call_id if self._sheet else ""
        if done.pending_tool_call_id != seen:
            await self._reload()  # another turn asked or answered meanwhile (spec turns 6.2)

    async def _explain(self, error: grpc.aio.AioRpcError) -> None:
        """Shows a refusal, and where the conversation stands now."""
        fault = error_of(error)
        elsewhere = fault.reason == "ASK_NOT_PENDING"
        if elsewhere:
            self._terminal.say("This question was answered or dropped elsewhere.")
        elif fault.reason == "INVALID_ANSWER" and fault.fields and self._sheet:
            names = self._sheet.names
            self._terminal.show_fault(
                "The service does not take this answer.",
                [told(field, names) for field in fault.fields],
            )
            self._sheet.refuse(fault.fields)
        else:
            self._terminal.show_fault(explain(fault), [field.fix for field in fault.fields])
        if not self._conversation_id:
            return
        try:
            await (self._catch_up() if elsewhere else self._reload())
        except grpc.aio.AioRpcError as again:
            self._terminal.show_fault(explain(error_of(again)))

    async def _reload(self) -> None:
        """Reads what the conversation waits on from the service, which alone knows."""
        response = await self._client.conversations.GetConversation(
            GetConversationRequest(conversation_id=self._conversation_id)
        )
        conversation = response.conversation
        self._title = conversation.title
        if conversation.HasField("pending_ask"):
            ask = conversation.pending_ask
            self._wait_on(OpenQuestion(ask.tool_call_id, ask.input, ask.simple))
        else:
            self._sheet = None

    def _wait_on(self, question: OpenQuestion) -> None:
        """Makes an empty sheet, unless the person is at one for this very question."""
        if self._sheet is None or self._sheet.question.tool_call_id != question.tool_call_id:
            self._sheet = sheet_of(question)

    async def _messages(self) -> AsyncIterator[Message]:
        request = ListMessagesRequest(conversation_id=self._conversation_id)
        while True:
            response = await self._client.conversations.ListMessages(request)
            for message in response.messages:
                yield message
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token

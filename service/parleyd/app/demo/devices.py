"""The two clients of the demo."""

import grpc

from parley import Client, ParleyError, error_of, upload_file
from parley.v1.asks_pb2 import AskAnswer
from parley.v1.cards_pb2 import SimpleCardButton
from parley.v1.conversations_pb2 import GetConversationRequest, ListMessagesRequest, Message
from parley.v1.files_pb2 import File
from parley.v1.turns_pb2 import (
    SURFACE_COMPACT,
    SURFACE_FULL,
    AnswerInput,
    AskAsked,
    ButtonInput,
    ListPendingAsksRequest,
    PendingAsk,
    PromptInput,
    StreamTurnRequest,
    TurnEvent,
    TurnRequest,
    TurnResult,
)


class Phone:
    """A device that shows everything and streams."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def say(self, text: str, conversation_id: str) -> list[TurnEvent]:
        """Returns the stored events of a turn. Without a conversation the turn makes one.

        Raises:
            grpc.aio.AioRpcError: The call failed.
        """
        request = StreamTurnRequest(
            conversation_id=conversation_id, prompt=PromptInput(text=text), surface=SURFACE_FULL
        )
        return [
            response.event
            async for response in self._client.turns.StreamTurn(request)
            if response.event.sequence  # neither a preview nor a sign of life
        ]

    async def upload(self, filename: str, mime_type: str, data: bytes) -> File:
        """Uploads a file and returns what is known of it.

        Raises:
            ParleyError: It is refused.
        """
        return await upload_file(self._client, data, filename=filename, mime_type=mime_type)

    async def answer(self, ask: AskAsked, answer: AskAnswer) -> TurnResult:
        """Answers a question and waits for the outcome.

        Raises:
            grpc.aio.AioRpcError: The call failed.
        """
        request = TurnRequest(
            conversation_id=ask.conversation_id,
            answer=AnswerInput(tool_call_id=ask.tool_call_id, answer=answer),
            surface=SURFACE_FULL,
        )
        return (await self._client.turns.Turn(request)).result

    async def messages(self, conversation_id: str) -> list[Message]:
        """Returns the stored lines of a conversation.

        Raises:
            grpc.aio.AioRpcError: The call failed.
        """
        request = ListMessagesRequest(conversation_id=conversation_id)
        return [*(await self._client.conversations.ListMessages(request)).messages]

    async def sees_question(self, conversation_id: str) -> bool:
        """Tells whether a conversation waits on a question.

        Raises:
            grpc.aio.AioRpcError: The call failed.
        """
        request = GetConversationRequest(conversation_id=conversation_id)
        response = await self._client.conversations.GetConversation(request)
        return response.conversation.HasField("pending_ask")


class Watch:
    """A device that knows nothing but cards and their buttons."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def questions(self) -> list[PendingAsk]:
        """Returns the questions that wait for the person, in whatever conversation.

        Raises:
            grpc.aio.AioRpcError: The call failed.
        """
        response = await self._client.turns.ListPendingAsks(ListPendingAsksRequest())
        return [*response.pending_asks]

    async def press(self, question: PendingAsk, button: SimpleCardButton) -> TurnResult:
        """Answers with a button and waits for the outcome.

        Raises:
            grpc.aio.AioRpcError: The call failed.
        """
        request = TurnRequest(
            conversation_id=question.conversation_id,
            button=ButtonInput(tool_call_id=question.tool_call_id, button_id=button.id),
            surface=SURFACE_COMPACT,
        )
        return (await self._client.turns.Turn(request)).result

    async def press_in_vain(
        self, question: PendingAsk, button: SimpleCardButton
    ) -> ParleyError | None:
        """Returns why a button does nothing any more, or nothing where it does."""
        try:
            await self.press(question, button)
        except grpc.aio.AioRpcError as error:
            return error_of(error)
        return None

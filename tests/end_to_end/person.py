"""A person at a device: what the tests do and see, through the generated client alone."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.field_mask_pb2 import FieldMask

from parley import Client
from parley.v1 import asks_pb2, conversations_pb2, files_pb2, turns_pb2

FULL = turns_pb2.SURFACE_FULL
COMPACT = turns_pb2.SURFACE_COMPACT
CHUNK = 64 * 1024

File = files_pb2.File


@dataclass
class Played:
    """The events of one turn, in the order they came."""

    events: list[turns_pb2.TurnEvent] = field(default_factory=list[turns_pb2.TurnEvent])

    @property
    def names(self) -> list[str]:
        """Names the events, as the acceptance statements do."""
        return [event.WhichOneof("event") or "" for event in self.events]

    @property
    def conversation_id(self) -> str:
        return self.events[0].started.conversation_id

    @property
    def turn_id(self) -> str:
        return self.events[0].turn_id

    @property
    def ask(self) -> turns_pb2.AskAsked:
        return next(event.ask for event in self.events if event.HasField("ask"))

    @property
    def text(self) -> str:
        return next(event.text.text for event in self.events if event.HasField("text"))

    @property
    def resolved(self) -> turns_pb2.AskResolved:
        return next(event.ask_resolved for event in self.events if event.HasField("ask_resolved"))

    @property
    def error(self) -> turns_pb2.TurnError:
        return next(event.error for event in self.events if event.HasField("error"))

    @property
    def results(self) -> list[turns_pb2.ToolResult]:
        return [event.tool_result for event in self.events if event.HasField("tool_result")]

    @property
    def done(self) -> turns_pb2.TurnDone:
        assert self.names[-1] == "done"
        return self.events[-1].done


def accept(*selected: str, **content: Any) -> asks_pb2.AskAnswer:
    """Returns an accepted answer: picks, or `confirmed=`."""
    if "confirmed" in content:
        confirm = asks_pb2.ConfirmAnswer(confirmed=content["confirmed"])
        return asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer(confirm=confirm))
    choice = asks_pb2.ChoiceAnswer(selected=selected)
    return asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer(choice=choice))


def decline() -> asks_pb2.AskAnswer:
    return asks_pb2.AskAnswer(decline=asks_pb2.DeclineAnswer())


def cancel(reason: str | None = None) -> asks_pb2.AskAnswer:
    return asks_pb2.AskAnswer(cancel=asks_pb2.CancelAnswer(reason=reason))


class Person:
    """Somebody with a token. Several devices are several persons with one subject."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def stream(
        self, request: turns_pb2.StreamTurnRequest
    ) -> AsyncIterator[turns_pb2.TurnEvent]:
        """Yields the stored events of a turn as they come, without previews."""
        async for event in self.stream_all(request):
            if event.sequence:
                yield event

    async def stream_all(
        self, request: turns_pb2.StreamTurnRequest
    ) -> AsyncIterator[turns_pb2.TurnEvent]:
        """Yields the events of a turn as they come, previews too."""
        async for response in self.client.turns.StreamTurn(request):
            if response.HasField("event"):
                yield response.event

    async def watch_all(
        self, conversation_id: str, turn_id: str, after: int = 0
    ) -> AsyncIterator[turns_pb2.TurnEvent]:
        """Yields the events of a turn after a place, previews too."""
        request = turns_pb2.WatchTurnRequest(
            conversation_id=conversation_id, turn_id=turn_id, after_sequence=after
        )
        async for response in self.client.turns.WatchTurn(request):
            if response.HasField("event"):
                yield response.event

    async def watch(self, conversation_id: str, turn_id: str, after: int = 0) -> Played:
        """Watches a turn to its end, without previews."""
        events = self.watch_all(conversation_id, turn_id, after)
        return Played([event async for event in events if event.sequence])

    async def turn(self, conversation_id: str, turn_id: str) -> turns_pb2.Turn:
        request = turns_pb2.GetTurnRequest(conversation_id=conversation_id, turn_id=turn_id)
        return (await self.client.turns.GetTurn(request)).turn

    async def retry(
        self,
        conversation_id: str,
        turn_id: str,
        surface: turns_pb2.Surface.ValueType = turns_pb2.SURFACE_UNSPECIFIED,
    ) -> Played:
        """Retries a failed turn, by default on the surface that it had."""
        return await self.play(
            turns_pb2.StreamTurnRequest(
                conversation_id=conversation_id,
                retry=turns_pb2.RetryInput(turn_id=turn_id),
                surface=surface,
            )
        )

    async def play(self, request: turns_pb2.StreamTurnRequest) -> Played:
        """Runs a turn to its end."""
        return Played([event async for event in self.stream(request)])

    async def prompt(
        self, text: str, conversation_id: str = "", surface: turns_pb2.Surface.ValueType = FULL
    ) -> Played:
        return await self.play(
            turns_pb2.StreamTurnRequest(
                conversation_id=conversation_id,
                prompt=turns_pb2.PromptInput(text=text),
                surface=surface,
            )
        )

    async def answer(
        self,
        conversation_id: str,
        tool_call_id: str,
        answer: asks_pb2.AskAnswer,
        surface: turns_pb2.Surface.ValueType = FULL,
    ) -> Played:
        return await self.play(
            turns_pb2.StreamTurnRequest(
                conversation_id=conversation_id,
                answer=turns_pb2.AnswerInput(tool_call_id=tool_call_id, answer=answer),
                surface=surface,
            )
        )

    async def run(self, request: turns_pb2.TurnRequest) -> turns_pb2.TurnResult:
        """Runs a turn to its end by one call without a stream."""
        return (await self.client.turns.Turn(request)).result

    async def press(
        self, conversation_id: str, tool_call_id: str, button_id: str
    ) -> turns_pb2.TurnResult:
        """Presses a button of a card, as a watch does."""
        response = await self.client.turns.Turn(
            turns_pb2.TurnRequest(
                conversation_id=conversation_id,
                button=turns_pb2.ButtonInput(tool_call_id=tool_call_id, button_id=button_id),
                surface=COMPACT,
            )
        )
        return response.result

    async def upload(self, filename: str, mime_type: str, data: bytes, **facts: Any) -> File:
        """Uploads a file in small chunks; `facts` are more of its header."""
        requests = upload_requests(filename, mime_type, data, **facts)
        return (await self.client.files.UploadFile(iter(requests))).file

    async def download(self, file_id: str) -> tuple[File, bytes]:
        """Reads a file: what is known of it, and its bytes."""
        request = files_pb2.DownloadFileRequest(file_id=file_id)
        first, *others = [part async for part in self.client.files.DownloadFile(request)]
        return first.file, b"".join(each.chunk for each in others)

    async def delete_file(self, file_id: str) -> None:
        await self.client.files.DeleteFile(files_pb2.DeleteFileRequest(file_id=file_id))

    async def conversation(self, conversation_id: str) -> conversations_pb2.Conversation:
        response = await self.client.conversations.GetConversation(
            conversations_pb2.GetConversationRequest(conversation_id=conversation_id)
        )
        return response.conversation

    async def conversations(self) -> list[conversations_pb2.Conversation]:
        response = await self.client.conversations.ListConversations(
            conversations_pb2.ListConversationsRequest()
        )
        return list(response.conversations)

    async def messages(self, conversation_id: str) -> list[conversations_pb2.Message]:
        response = await self.client.conversations.ListMessages(
            conversations_pb2.ListMessagesRequest(conversation_id=conversation_id)
        )
        return list(response.messages)

    async def rename(self, conversation_id: str, title: str) -> None:
        conversation = conversations_pb2.Conversation(conversation_id=conversation_id, title=title)
        await self.client.conversations.UpdateConversation(
            conversations_pb2.UpdateConversationRequest(
                conversation=conversation, update_mask=FieldMask(paths=["title"])
            )
        )

    async def rate(
        self, conversation_id: str, message_id: str, rating: conversations_pb2.Rating.ValueType
    ) -> None:
        await self.client.conversations.RateMessage(
            conversations_pb2.RateMessageRequest(
                conversation_id=conversation_id, message_id=message_id, rating=rating
            )
        )

    async def delete(self, conversation_id: str) -> None:
        await self.client.conversations.DeleteConversation(
            conversations_pb2.DeleteConversationRequest(conversation_id=conversation_id)
        )

    async def pending(self) -> list[turns_pb2.PendingAsk]:
        response = await self.client.turns.ListPendingAsks(turns_pb2.ListPendingAsksRequest())
        return list(response.pending_asks)


def upload_requests(
    filename: str, mime_type: str, data: bytes, **facts: Any
) -> list[files_pb2.UploadFileRequest]:
    """Returns an upload in small chunks; `facts` are more of its header."""
    header = files_pb2.FileHeader(filename=filename, mime_type=mime_type, **facts)
    pieces = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
    return [
        files_pb2.UploadFileRequest(header=header),
        *(files_pb2.UploadFileRequest(chunk=piece) for piece in pieces),
    ]


async def refused(call: Any) -> grpc.aio.AioRpcError:
    """Awaits a call that must fail and returns its error."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error
    raise AssertionError("the call went through")

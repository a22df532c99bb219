"""Streams over HTTP: server-sent events, or one JSON a line (spec turns 6.4).

A stream begins with its first message, so that what fails before has its own HTTP status. What
fails later is told by the last event.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Final, Protocol

from google.protobuf.message import Message
from grpc import aio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Send

from parley.v1 import turns_pb2
from parleyd.contract.errors import InvalidRequest
from parleyd.contract.field_errors import Code, quoted
from parleyd.contract.json import compact
from parleyd.rpc import fields
from parleyd.rpc.threads import work_on
from parleyd.rpc.web.bindings import Binding
from parleyd.rpc.web.event_shapes import shape_of
from parleyd.rpc.web.forwarding import metadata_of, timeout_of, while_here
from parleyd.rpc.web.json_replies import HEADERS, json_of
from parleyd.rpc.web.json_requests import read_request
from parleyd.rpc.web.problems import Problem, problem_of, status_of_call

LAST_EVENT_ID: Final = "last-event-id"
"""The header with which a browser that connects again says what it has."""

AFTER: Final = "after_sequence"
"""The field of a request that says the same."""

_EVENT: Final = "event"
"""The field of a response that holds an event of a turn."""

_SEQUENCE: Final = re.compile(r"[0-9]{1,10}")
_SEQUENCE_MOST: Final = 2**31 - 1
_WEIGHT: Final = re.compile(r"q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)")

_HEADERS: Final[Mapping[str, str]] = {**HEADERS, "x-accel-buffering": "no"}


class Written(Protocol):
    """A way to write a stream."""

    media_type: str

    def message(self, message: Message) -> str:
        """Returns a message of the stream, its end of line included."""
        ...

    def failure(self, problem: Problem) -> str:
        """Returns what is said last when the stream breaks."""
        ...


class ServerSentEvents:
    """One `data:` line for each event, in the shapes of spec turns 6.1, with its sequence as id."""

    media_type = "text/event-stream; charset=utf-8"

    def __init__(self, after: int) -> None:
        self._sequence = after

    def message(self, message: Message) -> str:
        """Returns an event; a comment for a message that only keeps the stream open."""
        if not message.ListFields():
            return ": still here\n\n"
        event = getattr(message, _EVENT, None)
        if not isinstance(event, turns_pb2.TurnEvent):
            return f"data: {json_of(message)}\n\n"
        if not event.sequence:
            return f"data: {shape_of(event)}\n\n"
        self._sequence = event.sequence
        return f"id: {event.sequence}\ndata: {shape_of(event)}\n\n"

    def failure(self, problem: Problem) -> str:
        """Returns the error, and the sequence after which the turn may be watched elsewhere."""
        told = compact(
            {
                "error": problem.message,
                "reason": problem.reason,
                "afterSequence": self._sequence,
            }
        )
        return f"data: {told}\n\n"


class JsonLines:
    """The proto3 JSON of each message on a line of its own."""

    media_type = "application/x-ndjson"

    def message(self, message: Message) -> str:
        """Returns a message, and an empty object for one that only keeps the stream open."""
        return f"{json_of(message)}\n"

    def failure(self, problem: Problem) -> str:
        """Returns the body that the error would have as an answer of its own."""
        return f"{compact({'error': dict(problem.body)})}\n"


class EventStream:
    """A method that streams its replies, behind `channel`, called over HTTP."""

    def __init__(self, binding: Binding, channel: aio.Channel) -> None:
        self._binding = binding
        self._call: aio.UnaryStreamMultiCallable[Message, Message] = channel.unary_stream(
            binding.method_path,
            request_serializer=binding.request.SerializeToString,
            response_deserializer=binding.response.FromString,
        )

    async def __call__(self, request: Request, send: Send) -> None:
        """Streams to a client until the end; one that leaves ends the call within a moment.

        Raises:
            Malformed, HttpProblem: The request can't be read.
            AioRpcError: The server refuses before it has said anything.
            ClientDisconnect: The client left.
        """
        is_events = _wants_events(request.headers.getlist("accept"))
        message = await read_request(self._binding, request)
        after = _begin_after(message, request.headers.getlist(LAST_EVENT_ID))
        written = ServerSentEvents(after) if is_events else JsonLines()
        call = self._call(message, metadata=metadata_of(request), timeout=timeout_of(request))
        del message  # it may hold megabytes of files, and the stream may last for long
        await while_here(request.receive, partial(_stream, call, written, request, send))


async def _stream(
    call: "aio.UnaryStreamCall[Message, Message]", written: Written, request: Request, send: Send
) -> None:
    try:
        message = await _next(call)
        if message is None and isinstance(written, ServerSentEvents):
            # Nothing is left, and nothing will come: this keeps a browser from connecting again.
            nothing = Response(status_code=HTTPStatus.NO_CONTENT)
            await nothing(request.scope, request.receive, send)
            return
        await send(_start(written))
        try:
            while message is not None:
                await send(_piece(await work_on(message, written.message)))
                message = await _next(call)
        except aio.AioRpcError as error:
            await send(_piece(written.failure(problem_of(status_of_call(error)))))
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        call.cancel()


async def _next(call: "aio.UnaryStreamCall[Message, Message]") -> Message | None:
    """Returns the next message of a stream, None at its end.

    Raises:
        AioRpcError: It broke.
    """
    message = await call.read()
    return message if isinstance(message, Message) else None


def _start(written: Written) -> dict[str, object]:
    headers = {"content-type": written.media_type, **_HEADERS}
    return {
        "type": "http.response.start",
        "status": HTTPStatus.OK,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }


def _piece(text: str) -> dict[str, object]:
    return {"type": "http.response.body", "body": text.encode(), "more_body": True}


def _wants_events(accept: Sequence[str]) -> bool:
    """Tells whether a client wants server-sent events, as it does without a word, or JSON lines.

    Raises:
        InvalidRequest: It wants neither.
    """
    ranges = [each for header in accept for each in header.split(",") if each.strip()]
    if not ranges:
        return True
    for media in sorted(ranges, key=_weight, reverse=True):
        if not _weight(media):
            break
        match media.partition(";")[0].strip().lower():
            case "text/event-stream" | "text/*" | "*/*":
                return True
            case "application/x-ndjson" | "application/json" | "application/*":
                return False
            case _:
                continue
    raise fields.malformed(
        InvalidRequest,
        "Accept",
        Code.INVALID_FORMAT,
        f"A stream can't be sent as {quoted(', '.join(accept))}.",
        "Accept text/event-stream or application/x-ndjson.",
    )


def _weight(media: str) -> float:
    for parameter in media.split(";")[1:]:
        if found := _WEIGHT.fullmatch(parameter.strip().lower()):
            return float(found[1])
    return 1


def _begin_after(message: Message, last_event_id: Sequence[str]) -> int:
    """Returns the sequence after which a stream begins: what the header says counts.

    A stream that always begins anew takes no notice of the header.

    Raises:
        InvalidRequest: The header names no event.
    """
    if AFTER not in message.DESCRIPTOR.fields_by_name:
        return 0
    match [text for text in last_event_id if text]:
        case []:
            return int(getattr(message, AFTER))
        case [text] if _SEQUENCE.fullmatch(text) and int(text) <= _SEQUENCE_MOST:
            setattr(message, AFTER, int(text))
            return int(text)
        case texts:
            raise fields.malformed(
                InvalidRequest,
                "Last-Event-ID",
                Code.INVALID_FORMAT,
                f"Last-Event-ID is {quoted(', '.join(texts))}, which is no sequence.",
                "Send the id of the last event received, or leave it out.",
            )

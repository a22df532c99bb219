"""A server that speaks Gemini's streaming format over real HTTP, for the real SDK."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.client import parse_headers
from io import BytesIO
from typing import Any, Literal, TypeAlias

from tests.listening import stop_listening

Frame: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Streamed:
    """An answer in frames. It may break off after them, or stay open until the client leaves."""

    frames: Sequence[Frame]
    then: Literal["end", "cut", "hang"] = "end"


@dataclass(frozen=True)
class Refused:
    """An answer with an error status."""

    status: int
    body: str
    headers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Silence:
    """No answer at all."""


Answer: TypeAlias = Streamed | Refused | Silence


@dataclass
class Received:
    """A request as it came in. `client_left` is set when the client closes its connection."""

    path: str
    headers: Message
    text: str
    client_left: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.text)

    @property
    def contents(self) -> list[dict[str, Any]]:
        return self.body["contents"]

    @property
    def prompt(self) -> str:
        return self.contents[0]["parts"][0]["text"]


class FakeGemini:
    """Gives its answers one after the other and keeps the requests."""

    def __init__(self) -> None:
        self.url = ""
        self.received: list[Received] = []
        self._answers: deque[Answer] = deque()
        self._by_prompt: defaultdict[str, deque[Answer]] = defaultdict(deque)
        self._connections: set[asyncio.Task[None]] = set()

    def answer(self, *frames: Frame, then: Literal["end", "cut", "hang"] = "end") -> None:
        """Adds an answer in frames."""
        self._answers.append(Streamed(frames, then))

    def answer_prompt(
        self, prompt: str, *frames: Frame, then: Literal["end", "cut", "hang"] = "end"
    ) -> None:
        """Adds an answer to requests that begin with this prompt."""
        self._by_prompt[prompt].append(Streamed(frames, then))

    def refuse(self, status: int, body: str, *headers: str) -> None:
        """Adds an answer with an error status. Headers are lines, `name: value`."""
        self._answers.append(Refused(status, body, headers))

    def stay_silent(self) -> None:
        """Adds a request that gets no answer."""
        self._answers.append(Silence())

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        """Listens on a free port of this machine."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield
        finally:
            await stop_listening(server)
            for connection in self._connections:
                connection.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)
            await server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(connection)

        def end(task: asyncio.Task[None]) -> None:
            # Here, since a task that is cancelled before its first step runs none of its own.
            writer.close()
            self._connections.discard(task)

        connection.add_done_callback(end)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                received = await _receive(reader)
                self.received.append(received)
                if not await self._respond(received, reader, writer):
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass

    async def _respond(
        self, received: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answers, and tells whether the connection stays good for another request."""
        answers = self._by_prompt.get(received.prompt) or self._answers
        match answers.popleft():
            case Silence():
                await _until_left(received, reader)
                return False
            case Refused(status=status, body=body, headers=headers):
                data = body.encode()
                writer.write(
                    f"HTTP/1.1 {status} Refused\r\ncontent-type: application/json\r\n"
                    f"content-length: {len(data)}\r\n".encode()
                    + "".join(f"{line}\r\n" for line in headers).encode()
                    + b"\r\n"
                    + data
                )
            case Streamed(frames=frames, then=then):
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                    b"transfer-encoding: chunked\r\n\r\n"
                )
                for frame in frames:
                    data = f"data: {json.dumps(frame)}\r\n\r\n".encode()
                    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                    await writer.drain()
                if then == "cut":
                    return False
                if then == "hang":
                    await _until_left(received, reader)
                    return False
                writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


def frame(*parts: dict[str, Any], finish: str | None = None) -> Frame:
    """Returns a frame with the parts of one candidate."""
    candidate: dict[str, Any] = {"index": 0}
    if parts:
        candidate["content"] = {"role": "model", "parts": list(parts)}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": {"totalTokenCount": 7}}


def error_frame(code: int, status: str, message: str, *details: dict[str, Any]) -> Frame:
    """Returns the frame that stands for a failure in mid-stream, or the body of a refusal."""
    error = {"code": code, "status": status, "message": message}
    return {"error": {**error, "details": list(details)} if details else error}


async def _receive(reader: asyncio.StreamReader) -> Received:
    request = (await reader.readuntil(b"\r\n")).decode()
    headers = parse_headers(BytesIO(await reader.readuntil(b"\r\n\r\n")))
    body = await reader.readexactly(int(headers["content-length"]))
    return Received(request.split(" ")[1], headers, body.decode())


async def _until_left(received: Received, reader: asyncio.StreamReader) -> None:
    try:
        await reader.read()
    finally:
        received.client_left.set()

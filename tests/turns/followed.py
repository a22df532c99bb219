"""A turn, and those who follow it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import UUID

from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.errors import ParleyError, Unavailable
from parleyd.contract.events import Done, EventBody, Started, ToolCalled, TurnEvent
from parleyd.contract.previews import BlocksPreview, PreviewDiscarded, TextPreview
from parleyd.contract.turns import TurnResult
from parleyd.turns.followers import Followers, Sent
from parleyd.turns.live import LiveTurn
from tests.turns.ports_in_memory import MemoryReader
from tests.turns.waiting import in_time, until

TURN, OTHER, CONVERSATION = UUID(int=2), UUID(int=3), UUID(int=1)
STARTED = Started(conversation_id=CONVERSATION, conversation_created=True)
CALLED = ToolCalled(tool_call_id="call_1", tool_name="lookup", args={})
DONE = Done(
    conversation_id=CONVERSATION,
    title=None,
    pending_tool_call_id=None,
    state="completed",
    retryable=False,
)
RESULT = TurnResult(conversation_id=CONVERSATION, turn_id=TURN, state="completed")
GONE = Unavailable("This server is stopping.")


class Scene:
    """A turn that runs here, stored as it goes on, and those who follow it."""

    def __init__(self, after: int = 0, blocks: BlockOptions | None = None) -> None:
        self.reader = MemoryReader()
        self.followers = Followers(self.reader)
        self.live = LiveTurn(TURN, CONVERSATION, after, self.followers.wake, blocks)
        self.followers.add(self.live)

    def store(self, *bodies: EventBody, turn_id: UUID = TURN) -> list[TurnEvent]:
        """Commits events, of which nobody here is told yet."""
        events = self.reader.events[turn_id]
        first = len(events) + 1
        new = [
            TurnEvent(turn_id=turn_id, sequence=first + index, body=body)
            for index, body in enumerate(bodies)
        ]
        events += new
        if any(isinstance(body, Done) for body in bodies):
            self.reader.closed.add(turn_id)
        return new

    def commit(self, *bodies: EventBody) -> None:
        """Commits events of the turn that runs here."""
        self.live.append(self.store(*bodies))

    def end(self) -> None:
        """Ends the turn that runs here, as its runner does."""
        self.commit(DONE)
        self.live.end(RESULT)
        self.followers.remove(self.live)

    def follow(self, after: int = 0, turn_id: UUID = TURN) -> AsyncGenerator[Sent, None]:
        return self.followers.follow("ada", turn_id, after)


def told(sent: list[Sent]) -> list[str]:
    """Returns what was sent, in short."""
    return [_short(one) for one in sent]


def _short(sent: Sent) -> str:
    match sent:
        case TurnEvent():
            return f"{sent.sequence} {sent.body.kind}"
        case TextPreview():
            return f"+{sent.delta}"
        case BlocksPreview():
            blocks = sent.document["blocks"]
            assert isinstance(blocks, list)
            return f"{len(blocks)} blocks{' …' if sent.pending else ''}"
        case PreviewDiscarded():
            return "discarded"
        case None:
            return "quiet"


class Follower:
    """Takes what a stream sends, in a task of its own."""

    def __init__(self, stream: AsyncGenerator[Sent, None]) -> None:
        self.sent: list[Sent] = []
        self.error: ParleyError | None = None
        self.task = asyncio.get_running_loop().create_task(self._run(stream))

    @property
    def told(self) -> list[str]:
        return told(self.sent)

    async def has(self, *sent: str) -> None:
        """Waits until just this was sent."""
        await until(lambda: len(self.sent) >= len(sent))
        assert self.told == list(sent)

    async def _run(self, stream: AsyncGenerator[Sent, None]) -> None:
        async with aclosing(stream):
            try:
                async for sent in stream:
                    self.sent.append(sent)
            except ParleyError as error:
                self.error = error

    async def end(self) -> list[str]:
        """Returns all that was sent, once the stream has ended."""
        await in_time(self.task)
        return self.told

    async def leave(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

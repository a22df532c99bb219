"""A turn that runs in this process, as those who follow it here see it."""

import asyncio
from collections.abc import Callable, Sequence
from uuid import UUID

from parleyd.contract import limits
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.errors import ParleyError
from parleyd.contract.events import TurnEvent
from parleyd.contract.text import storable
from parleyd.contract.turns import TurnResult
from parleyd.turns.block_previews import GrowingDocument


class StepText:
    """The text of a step while it streams: sent as previews, never stored (spec turns 6.5).

    `after` is the last event committed before the step. A step that calls a tool is `dropped`: its
    text is no reply. With a `document` its finished blocks are shown instead.
    """

    def __init__(self, after: int, document: GrowingDocument | None = None) -> None:
        self.after = after
        self.pieces: list[str] = []
        self.dropped = False
        self.document = document

    @property
    def text(self) -> str:
        """Returns all the text so far."""
        return "".join(self.pieces)

    def read(self) -> None:
        """Looks for blocks that have been finished."""
        if self.document:
            self.document.read(self.text)


class LiveTurn:
    """Committed events of a turn, from the first that this process stored, and the running step.

    Followers keep a place and nothing else: they may leave at any time, and a slow one holds nobody
    up. `changed` is called after every change. With `blocks` the text of steps is a document.
    """

    def __init__(
        self,
        turn_id: UUID,
        conversation_id: UUID,
        after: int,
        changed: Callable[[UUID], None],
        blocks: BlockOptions | None = None,
    ) -> None:
        self.turn_id = turn_id
        self.conversation_id = conversation_id
        self.step: StepText | None = None
        self.result: TurnResult | None = None
        self.error: ParleyError | None = None
        self.elsewhere = False
        """Set once those who follow have to read the events from storage."""
        self._blocks = blocks
        self._after = after
        self._events: list[TurnEvent] = []
        self._changed = changed
        self._ended = asyncio.Event()
        self._told = float("-inf")
        self._telling: asyncio.TimerHandle | None = None

    @property
    def last_event(self) -> int:
        """Returns the number of the last event that is known here."""
        return self._after + len(self._events)

    def reaches(self, place: int) -> bool:
        """Tells whether every event after `place` is known here."""
        return not self.elsewhere and place >= self._after

    def since(self, place: int) -> Sequence[TurnEvent]:
        """Returns the events after `place`."""
        return self._events[place - self._after :]

    @property
    def step_text(self) -> str:
        """Returns what the running step has said, empty once it has called a tool."""
        return self.step.text if self.step and not self.step.dropped else ""

    def append(self, events: Sequence[TurnEvent]) -> None:
        """Adds events whose transaction has committed.

        Where some before them are not known here, because a write that was given up had gone
        through, storage alone has them all.
        """
        if events:
            if events[0].sequence != self.last_event + 1:
                self.elsewhere = True
            self._events.extend(events)
            self._changed(self.turn_id)

    def begin_step(self) -> StepText:
        """Begins the text of a step."""
        document = GrowingDocument(self._blocks) if self._blocks else None
        self.step = StepText(self.last_event, document)
        return self.step

    def say(self, text: str) -> None:
        """Adds text to the running step, as it may be sent.

        Those who follow are woken at most every 50 ms for it.
        """
        if not self.step or not text:
            return
        self.step.pieces.append(storable(text))
        if self._telling is None:
            loop = asyncio.get_running_loop()
            due = self._told + limits.PREVIEW_SECONDS
            if loop.time() >= due:
                self._tell()
            else:
                self._telling = loop.call_at(due, self._tell)

    def drop(self) -> None:
        """Withdraws the text of the running step."""
        if self.step and not self.step.dropped:
            self.step.dropped = True
            self._changed(self.turn_id)

    def end(self, result: TurnResult) -> None:
        """Notes how the turn ended; its `done` event is appended."""
        self.result = result
        self._end()

    def give_up(self, error: ParleyError) -> None:
        """Notes that this process can't go on with the turn, which is not closed."""
        self.error = error
        self._end()

    def move(self) -> None:
        """Notes that another process goes on with the turn: storage alone has its events."""
        self.elsewhere = True
        self.step = None
        self._end()

    async def wait(self) -> TurnResult | None:
        """Waits for the turn's end and returns how it ended; None where it goes on elsewhere.

        Raises:
            ParleyError: This process can't go on with it, and it is not closed.
        """
        await self._ended.wait()
        if self.error:
            raise self.error
        return self.result

    def _end(self) -> None:
        self._ended.set()
        self._changed(self.turn_id)

    def _tell(self) -> None:
        self._telling = None
        if self.step and not self.step.dropped:
            self.step.read()
        self._told = asyncio.get_running_loop().time()
        self._changed(self.turn_id)

"""What turns need from outside: storage and ids. The language model has a file of its own.

One call of a storage port is one transaction. The owner is an argument of every call that a person
starts, and a condition of every query behind it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.asks.ask import Ask, AskKind
from parleyd.contract.conversations import Conversation, PendingAsk
from parleyd.contract.events import EventBody, TurnEvent
from parleyd.contract.messages import Message, MessageDraft
from parleyd.contract.pages import Page, PageRequest
from parleyd.contract.steps import Step, StepCall
from parleyd.contract.surfaces import Surface
from parleyd.contract.turns import TurnError, TurnResult

# ---------------------------------------------------------------- ids


class Ids(Protocol):
    """Makes ids that nobody can guess."""

    def uuid(self) -> UUID:
        """Returns a random id of a row."""
        ...

    def call_id(self) -> str:
        """Returns a fresh public id of a tool call, `call_<ulid>`."""
        ...


# ---------------------------------------------------------------- storage: turns


@dataclass(frozen=True)
class Lease:
    """The right of one process to write a turn. Every write names it; another epoch is fenced."""

    turn_id: UUID
    conversation_id: UUID
    holder: str
    epoch: int = 1


@dataclass(frozen=True)
class PromptOpening:
    """Opens a turn with a message. Cancels the pending ask."""

    text: str


@dataclass(frozen=True)
class AnswerOpening:
    """Opens a turn with an answer that fits the stored ask. `envelope` is in storable form."""

    kind: Literal["answer", "button"]
    tool_call_id: str
    envelope: dict[str, JsonValue]


@dataclass(frozen=True)
class Opening:
    """What TX1 stores (spec turns 3.5). `new_conversation_id` names the one it may have to make."""

    turn_id: UUID
    owner: str
    conversation_id: UUID | None
    new_conversation_id: UUID
    input: PromptOpening | AnswerOpening
    surface: Surface
    model: str
    holder: str
    project: str | None = None
    system_instruction: str | None = None


@dataclass(frozen=True)
class OpenedTurn:
    """A turn as TX1 left it: its place, its chain, and its first events."""

    lease: Lease
    owner: str
    turn_no: int
    chain_id: UUID
    context_max_seq: int
    project: str | None
    surface: Surface
    events: tuple[TurnEvent, ...]


@dataclass(frozen=True)
class ChainContext:
    """All that the model is sent of a chain (spec turns 5.3).

    `history` holds the rows up to the chain's starting point in their order, each with its ask;
    `asks` holds the asks of the chain's steps.
    """

    history: tuple[Message, ...]
    steps: tuple[Step, ...]
    asks: tuple[Ask, ...]


@dataclass(frozen=True)
class CollectedAsk:
    """A valid ask of a step that is about to pause, in call order.

    `spare_call_id` becomes its public id where `call.tool_call_id` is already that of another ask
    of the conversation.
    """

    call: StepCall
    ask_id: UUID
    kind: AskKind
    input: dict[str, JsonValue]
    spare_call_id: str


@dataclass(frozen=True)
class Ending:
    """What TX2 stores at the end of a turn's work.

    With `asks` the turn pauses, if the slot is free; `step` then holds the step they came from, and
    `events` what that step has to tell before the ask. `rows` are the rows of calls that were no
    asks, in event order. `text` is the reply, cleaned, or empty. With `title_due` false, or where
    the conversation has a title, the turn is closed at once.
    """

    rows: tuple[MessageDraft, ...] = ()
    text: str = ""
    step: Step | None = None
    events: tuple[EventBody, ...] = ()
    asks: tuple[CollectedAsk, ...] = ()
    title_due: bool = False


@dataclass(frozen=True)
class EndedTurn:
    """A turn after TX2, TX4 or TX2f. Without `result` it is not closed: a title is to come."""

    events: tuple[TurnEvent, ...]
    result: TurnResult | None


@dataclass(frozen=True)
class AnswerableAsk:
    """The ask that a conversation waits on, and the one that a client named."""

    pending: Ask | None
    named: Ask | None


class TurnStore(Protocol):
    """Keeps turns. After `open_turn` every write is fenced: it raises `Fenced` without the lease.

    Every call raises `Unavailable` when the database can't be reached; nothing of that call is
    stored then.
    """

    async def read_asks(
        self, owner: str, conversation_id: UUID, tool_call_id: str | None
    ) -> AnswerableAsk:
        """Reads the conversation's pending ask and the ask with `tool_call_id`, without a lock.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
        """
        ...

    async def open_turn(self, opening: Opening) -> OpenedTurn:
        """Stores a new turn, its message or answer, and resolves the pending ask for good (TX1).

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
            AskNotPending: The answer's ask is not what the conversation waits on.
        """
        ...

    async def read_chain(self, turn: OpenedTurn) -> ChainContext:
        """Reads what the model is to be sent."""
        ...

    async def journal_step(
        self, turn: OpenedTurn, step: Step, events: Sequence[EventBody]
    ) -> tuple[TurnEvent, ...]:
        """Stores a finished step before its results go to the model (TX-J)."""
        ...

    async def end_turn(self, turn: OpenedTurn, ending: Ending) -> EndedTurn:
        """Stores the rows of the turn and pauses or finishes it (TX2).

        Of several asks the first in call order gets the conversation's single slot; the others, and
        the first too where the slot is taken or the conversation is deleted, are stored cancelled.
        """
        ...

    async def close_turn(self, turn: OpenedTurn, title: str | None) -> EndedTurn:
        """Closes a turn whose rows are stored; sets the title if there is none yet (TX4)."""
        ...

    async def fail_turn(
        self, turn: OpenedTurn, error: TurnError, rows: Sequence[MessageDraft], partial_text: str
    ) -> EndedTurn:
        """Stores what there is of a failed turn and closes it (TX2f)."""
        ...


class Fenced(Exception):
    """Another process owns the turn now. The runner stops and writes nothing."""


# ---------------------------------------------------------------- storage: conversations


class ConversationStore(Protocol):
    """Keeps conversations. Every call raises `Unavailable` when the database can't be reached."""

    async def create_conversation(
        self, owner: str, conversation_id: UUID, title: str | None, project: str | None
    ) -> Conversation:
        """Stores an empty conversation."""
        ...

    async def read_conversation(self, owner: str, conversation_id: UUID) -> Conversation:
        """Reads one conversation.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
        """
        ...

    async def list_conversations(
        self, owner: str, project: str | None, page: PageRequest
    ) -> Page[Conversation]:
        """Lists the owner's conversations, the last changed first.

        Raises:
            InvalidRequest: The page's place is none of this list.
        """
        ...

    async def update_conversation(
        self, owner: str, conversation_id: UUID, changes: "ConversationChanges"
    ) -> Conversation:
        """Changes title and project in their own columns.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
        """
        ...

    async def delete_conversation(self, owner: str, conversation_id: UUID) -> None:
        """Hides a conversation for good and cancels its pending ask (spec turns 7.3).

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
        """
        ...

    async def list_messages(
        self, owner: str, conversation_id: UUID, page: PageRequest
    ) -> Page[Message]:
        """Lists the rows of a conversation by `turn_no`, then `position`.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
            InvalidRequest: The page's place is none of this list.
        """
        ...

    async def list_pending_asks(self, owner: str, page: PageRequest) -> Page[PendingAsk]:
        """Lists the owner's pending asks over all conversations that are not deleted, newest first.

        Raises:
            InvalidRequest: The page's place is none of this list.
        """
        ...


@dataclass(frozen=True)
class ConversationChanges:
    """What to change of a conversation; a field that is not named in `fields` stays as it is."""

    fields: frozenset[Literal["title", "project"]]
    title: str | None = None
    project: str | None = None

"""What turns need from outside: storage and ids. The language model has a file of its own.

One call of a storage port is one transaction. The owner is an argument of every call that a person
starts, and a condition of every query behind it. Every call raises `Unavailable` when the database
can't be reached; nothing of that call is stored then.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.asks.ask import Ask, AskKind, AskOrigin
from parleyd.contract.events import BlocksChecked, EventBody, FileReturned, TurnEvent
from parleyd.contract.executions import Execution, ToolStart
from parleyd.contract.messages import Content, Message, MessageDraft
from parleyd.contract.steps import Step, StepCall
from parleyd.contract.surfaces import Surface
from parleyd.contract.turns import InputKind, TurnError, TurnResult
from parleyd.turns.requests import RequestKey
from parleyd.turns.situations import RepeatedRequest, Situation, Wanted
from parleyd.turns.state import Outlook

# ---------------------------------------------------------------- ids


class Ids(Protocol):
    """Makes ids that nobody can guess."""

    def uuid(self) -> UUID:
        """Returns a random id of a row."""
        ...

    def ulid(self) -> str:
        """Returns a fresh ULID, for keys of the file store."""
        ...

    def call_id(self) -> str:
        """Returns a fresh public id of a tool call, `call_<ulid>`."""
        ...

    def approval_id(self) -> str:
        """Returns a fresh public id of an approval, `apr_<ulid>`: never that of a call."""
        ...

    def secret(self) -> str:
        """Returns a fresh secret of 256 random bits, which a URL could spell."""
        ...


# ---------------------------------------------------------------- opening


@dataclass(frozen=True)
class Lease:
    """The right of one process to write a turn. Every write names it; another epoch is fenced."""

    turn_id: UUID
    conversation_id: UUID
    holder: str
    epoch: int = 1


@dataclass(frozen=True)
class PromptOpening:
    """Opens a turn with a message. Cancels the pending ask.

    `content` is set where it came with attachments: the text first, then each of them.
    """

    text: str
    content: tuple[Content, ...] | None = None


@dataclass(frozen=True)
class TokenPress:
    """The press of a button by an action token, which presses none other from then on."""

    token_hash: bytes = field(repr=False)
    button_id: str


@dataclass(frozen=True)
class AnswerOpening:
    """Opens a turn with an answer that fits the stored ask.

    `envelope` is in storable form: of files it says what they are and where they are kept.
    """

    kind: Literal["answer", "button", "action_token"]
    tool_call_id: str
    envelope: dict[str, JsonValue]
    token: TokenPress | None = None


@dataclass(frozen=True)
class RetryOpening:
    """Opens a turn that goes on where a failed one stopped."""

    turn_id: UUID


@dataclass(frozen=True)
class Opening:
    """What TX1 stores (spec turns 3.5). `new_conversation_id` names the one it may have to make.

    `seen` is what `read_situation` found for this request: where it still holds, one statement
    opens the turn; where it does not, or without it, everything is read again under a lock.
    `caller_key` notes that the caller brought a provider's key, which is not stored: such a turn
    can't be taken over. A new conversation is made only while fewer than `owner_turns` turns of its
    owner run.
    """

    turn_id: UUID
    owner: str
    conversation_id: UUID | None
    new_conversation_id: UUID
    input: PromptOpening | AnswerOpening | RetryOpening
    surface: Surface
    model: str | None
    holder: str
    project: str | None = None
    system_instruction: str | None = None
    request: RequestKey | None = None
    caller_key: bool = False
    owner_turns: int | None = None
    seen: Situation | None = None


@dataclass(frozen=True)
class OpenedTurn:
    """A turn that a process may write, as TX1 or a takeover left it.

    `events` are those that opening or taking it over stored, `earlier` those stored before, in
    order. `steps_made` counts the steps that this turn itself has journaled and `age_seconds` its
    wall time so far, by the database's clock. `said` is what the person brought, for the request
    log: the text, or the stored envelope as compact JSON. `resolved` is the ask that the turn
    resolved. `outlook` lets one statement end the turn where it holds; after a takeover there is
    none. With `result` the turn is closed already.
    """

    lease: Lease
    owner: str
    turn_no: int
    chain_id: UUID
    context_max_seq: int
    project: str | None
    surface: Surface
    events: tuple[TurnEvent, ...]
    input_kind: InputKind = "prompt"
    model: str | None = None
    system_instruction: str | None = None
    retry_of: UUID | None = None
    said: str = ""
    resolved: Ask | None = None
    earlier: tuple[TurnEvent, ...] = ()
    steps_made: int = 0
    attempts: int = 1
    age_seconds: float = 0.0
    outlook: Outlook | None = None
    result: TurnResult | None = None


class RequestSeen(Exception):
    """Another request with the same id was first; `turn` is the one it made."""

    def __init__(self, turn: RepeatedRequest) -> None:
        super().__init__(turn.turn_id)
        self.turn = turn


# ---------------------------------------------------------------- running


@dataclass(frozen=True)
class ChainAsk:
    """An ask of a chain: as much of it as the model needs. `answer` is None while it is pending."""

    id: UUID
    tool_call_id: str
    answer: JsonValue


@dataclass(frozen=True)
class ChainContext:
    """All that the model is sent of a chain (spec turns 5.3).

    `history` holds the rows up to the chain's starting point in their order, each with its ask;
    `asks` holds the asks of the chain's steps and `executions` what became of their host calls.
    """

    history: tuple[Message, ...]
    steps: tuple[Step, ...]
    asks: tuple[ChainAsk, ...]
    executions: tuple[Execution, ...] = ()


@dataclass(frozen=True)
class CallPlace:
    """Where a host call stands in its chain, and how its result is shown."""

    step_no: int
    call_index: int
    tool_call_id: str
    tool_name: str


@dataclass(frozen=True)
class CollectedAsk:
    """A valid ask of a step that is about to pause, in call order.

    Its public id is `tool_call_id`, or `spare_call_id` where that is already the id of another ask
    of the conversation. `call` made it: an ask of the model's, or a call that needs an approval.
    With `seconds` it is over so long after it was made.
    """

    call: StepCall
    ask_id: UUID
    kind: AskKind
    input: dict[str, JsonValue]
    tool_call_id: str
    spare_call_id: str
    origin: AskOrigin = "model"
    seconds: float | None = None


@dataclass(frozen=True)
class Ending:
    """What TX2 stores at the end of a turn's work.

    With `asks` the turn pauses, if the slot is free; `step` then holds the step they came from,
    unless it is journaled already, and `events` what that step has to tell before the ask. `rows`
    are the rows of calls that were no asks, in event order. `text` is the reply, cleaned, or empty;
    `note` is added to its row alone. `sent` is what was sent of it already, by `send_text`, and
    `blocks` what its check as a document came to.
    With `title_due` false, or where the conversation has a title, the turn is closed at once.
    """

    rows: tuple[MessageDraft, ...] = ()
    text: str = ""
    note: str = ""
    sent: str | None = None
    blocks: BlocksChecked | None = None
    step: Step | None = None
    events: tuple[EventBody, ...] = ()
    asks: tuple[CollectedAsk, ...] = ()
    title_due: bool = False


@dataclass(frozen=True)
class EndedTurn:
    """A turn after TX2, TX4 or TX2f.

    Without `result` it is not closed: a title is to come. `committed` is then what is known of its
    result, for `close_turn`.
    """

    events: tuple[TurnEvent, ...]
    result: TurnResult | None
    committed: TurnResult | None = None


class TurnStore(Protocol):
    """Keeps turns. After `open_turn` every write is fenced: without the lease `Fenced`.

    A write that is repeated, because nobody told what came of it, returns what the first one did.
    """

    async def read_situation(self, owner: str, wanted: Wanted) -> Situation:
        """Reads what a request meets, without a lock.

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
            TurnNotFound: The conversation has no such turn to retry.
            TurnNotRetryable: It is not the one that may be retried.
            RequestSeen: The request id has made a turn already.
            RateLimited: Too many turns of the owner run for a new conversation.
        """
        ...

    async def read_chain(self, turn: OpenedTurn, after_step: int = 0) -> ChainContext:
        """Reads what the model is to be sent; after a step that is known already, only the rest."""
        ...

    async def journal_step(
        self,
        turn: OpenedTurn,
        step: Step,
        events: Sequence[EventBody],
        starts: Sequence[ToolStart],
    ) -> tuple[TurnEvent, ...]:
        """Stores a finished step and the start of its tools, before any of them runs (TX-J)."""
        ...

    async def start_tool(
        self, turn: OpenedTurn, start: ToolStart, *, again: bool, repeated: bool = False
    ) -> bool:
        """Claims a host call that `journal_step` did not start (TX-T).

        `again` claims the unfinished execution of a replay-safe tool once more. Returns whether the
        claim is ours; only then may the tool run. `repeated` says that whoever holds the lease has
        tried before and was not told what came of it: a claim that this turn has then counts.
        """
        ...

    async def store_result(
        self,
        turn: OpenedTurn,
        call: CallPlace,
        result: JsonValue,
        *,
        failed: bool,
        file: FileReturned | None = None,
    ) -> tuple[TurnEvent, ...]:
        """Stores what a tool returned, the moment it does (TX-R). A failure is `{"error": …}`.

        With `file` the result is what is kept of a file.
        """
        ...

    async def lose_tool(self, turn: OpenedTurn, call: CallPlace) -> tuple[TurnEvent, ...]:
        """Stores that nobody knows what a call came to that this turn had started."""
        ...

    async def send_text(self, turn: OpenedTurn, text: str) -> tuple[TurnEvent, ...]:
        """Stores the reply as an event alone, before the turn's rows are (TX-E)."""
        ...

    async def keep_partial_text(self, turn: OpenedTurn, partial_text: str) -> None:
        """Stores what the running step has said so far, for those who read the turn elsewhere."""
        ...

    async def end_turn(self, turn: OpenedTurn, ending: Ending) -> EndedTurn:
        """Stores the rows of the turn and pauses or finishes it (TX2).

        Of several asks the first in call order gets the conversation's single slot; the others, and
        the first too where the slot is taken or the conversation is deleted, are stored cancelled.
        """
        ...

    async def close_turn(
        self, turn: OpenedTurn, title: str | None, committed: TurnResult | None = None
    ) -> EndedTurn:
        """Closes a turn whose rows are stored; sets the title if there is none yet (TX4).

        `committed` is what `end_turn` returned; without it the result is read.
        """
        ...

    async def fail_turn(
        self, turn: OpenedTurn, error: TurnError, rows: Sequence[MessageDraft], partial_text: str
    ) -> EndedTurn:
        """Stores what there is of a failed turn and closes it (TX2f).

        Tools that were started and have no result become unknown, each with its event and row.
        """
        ...


class Fenced(Exception):
    """Another process owns the turn now. The runner stops and writes nothing."""

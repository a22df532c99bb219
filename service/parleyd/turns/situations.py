"""What a request meets, read before a turn is opened and again under its lock (spec turns 3.2)."""

from dataclasses import dataclass
from uuid import UUID

from parleyd.contract.asks.ask import Ask
from parleyd.contract.steps import StepCall
from parleyd.contract.surfaces import Surface
from parleyd.turns.requests import RequestKey
from parleyd.turns.state import SeenConversation


@dataclass(frozen=True)
class NamedAsks:
    """The pending ask with the starting point of its chain, and the ask an answer names.

    `guarded` are the calls of the pending ask's step that need an approval, in call order. `lapsed`
    says that the slot is held by an ask whose time is over, which nobody has written yet.
    """

    pending: Ask | None = None
    chain_start: int = 0
    guarded: tuple[StepCall, ...] = ()
    named: Ask | None = None
    lapsed: bool = False

    @property
    def may_lapse(self) -> bool:
        """Tells whether the ask in the slot is over at some moment, if it is not already."""
        return self.lapsed or (self.pending is not None and self.pending.expire_time is not None)


@dataclass(frozen=True)
class FailedTurn:
    """The turn that a retry names, as it stands; `retryable` says it is the one that may be."""

    turn_id: UUID
    state: str
    retryable: bool
    chain_id: UUID
    context_max_seq: int
    surface: Surface
    model: str | None
    system_instruction: str | None
    retried_by: UUID | None


@dataclass(frozen=True)
class Wanted:
    """What a request is about, for `read_situation`: what to look up beside the conversation."""

    conversation_id: UUID | None
    tool_call_id: str | None = None
    retry_turn_id: UUID | None = None
    request: RequestKey | None = None


@dataclass(frozen=True)
class RepeatedRequest:
    """The turn that a request id made before."""

    turn_id: UUID
    conversation_id: UUID
    digest: bytes


@dataclass(frozen=True)
class Situation:
    """What a request meets, read without a lock (checks 5 to 11 of spec turns 3.2).

    With `repeated` the rest is not filled. `conversation` is the one that the request names.
    `failed` is the turn that a retry names, if the conversation has it. The counts are of running
    turns.
    """

    repeated: RepeatedRequest | None = None
    conversation: SeenConversation | None = None
    asks: NamedAsks = NamedAsks()
    failed: FailedTurn | None = None
    running_of_owner: int = 0
    running_of_conversation: int = 0

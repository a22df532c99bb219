"""What this process still knows of chains that wait: an answer then costs the same, however late.

Steps and answers never change once they are stored, so what a chain had said before its last step
can be kept as it was built. It is never needed: what is not known here is read.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from parleyd.contract.executions import Execution
from parleyd.contract.steps import Step
from parleyd.turns.model import ProviderMessage

MOST_BYTES: Final = 64 * 1024 * 1024
"""How much of all chains is kept, by the size of their messages as they are stored."""
CHAIN_BYTES: Final = 4096
"""What a chain takes beside that, about."""


@dataclass(frozen=True)
class WaitingStep:
    """The step on whose one ask a chain waits, as it was stored, with its tools' results."""

    ask_id: UUID
    step: Step
    executions: tuple[Execution, ...] = ()


@dataclass(frozen=True)
class KnownChain:
    """The beginning of a chain, up to a step whose calls all have their results.

    `messages` are the history and those steps as the model is sent them; `history_size` and `size`
    are about their bytes. `waiting` is the step after them, if the chain waits on it. `may_fade`
    says that they show files of messages, which may be deleted any time.
    """

    step_no: int
    messages: tuple[ProviderMessage, ...]
    call_ids: frozenset[str]
    user_text: str
    size: int
    history_size: int = 0
    waiting: WaitingStep | None = None
    may_fade: bool = False

    @property
    def bytes_kept(self) -> int:
        """Returns about what it takes to keep it."""
        step = len(self.waiting.step.messages) if self.waiting else 0
        return CHAIN_BYTES + self.history_size + self.size + step


class ChainMemory:
    """Keeps the beginnings of the chains that were used last, each for one provider."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._known: OrderedDict[tuple[UUID, str], KnownChain] = OrderedDict()
        self._bytes = 0

    def recall(self, chain_id: UUID, provider: str) -> KnownChain | None:
        """Returns what is known of a chain."""
        return self._known.get((chain_id, provider))

    def remember(self, chain_id: UUID, provider: str, known: KnownChain) -> None:
        """Keeps the beginning of a chain; what was used longest ago is forgotten for it.

        One that is too large alone is not kept, and nothing is forgotten for it.
        """
        self.forget(chain_id, provider)
        if known.bytes_kept > self._most_bytes:
            return
        self._known[chain_id, provider] = known
        self._bytes += known.bytes_kept
        while self._bytes > self._most_bytes:
            _, oldest = self._known.popitem(last=False)
            self._bytes -= oldest.bytes_kept

    def forget(self, chain_id: UUID, provider: str) -> None:
        """Drops a chain, which is over or known better now."""
        known = self._known.pop((chain_id, provider), None)
        if known:
            self._bytes -= known.bytes_kept

"""A chain as the model is sent it, while one of its turns runs (spec turns 5.3)."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.executions import Execution
from parleyd.contract.json import compact
from parleyd.contract.steps import Step
from parleyd.turns.chain_memory import KnownChain, WaitingStep
from parleyd.turns.history import ShownByCall, step_messages
from parleyd.turns.model import Model, ProviderMessage

OPEN: Final = frozenset({"started", "unknown"})
"""What a retry may change: a call that has no result, and may be made once more."""


class ChainSoFar:
    """Grows by the steps of the turn. `size` is about how many bytes they are for the model."""

    def __init__(self, known: KnownChain) -> None:
        self.step_no = known.step_no
        self.messages: list[ProviderMessage] = list(known.messages)
        self.size = known.size
        self.user_text = known.user_text
        self._history_size = known.history_size
        self._settled = True
        self._shows_files = known.may_fade

    def add(
        self,
        step: Step,
        answers: Mapping[UUID, JsonValue],
        done: Mapping[int, Execution],
        model: Model,
        shown: ShownByCall,
    ) -> None:
        """Adds a step with the results of its calls, and the files that belong to them.

        Of files the model is sent no more than what they are, once the chain has moved on (11.5).
        """
        self.messages += step_messages(step, answers, done, model, shown)
        self._shows_files = self._shows_files or bool(shown)
        self.size += len(step.messages)
        self.size += sum(len(compact(one.result)) for one in done.values())
        self.step_no = step.step_no
        self._settled = not any(one.state in OPEN for one in done.values())

    def known(self, call_ids: frozenset[str], waiting: WaitingStep | None) -> KnownChain | None:
        """Returns what can't change any more; None where there is nothing such."""
        if self._shows_files or not self._settled or not (self.step_no or waiting):
            return None
        return KnownChain(
            step_no=self.step_no,
            messages=tuple(self.messages),
            call_ids=call_ids,
            user_text=self.user_text,
            size=self.size,
            history_size=self._history_size,
            waiting=waiting,
        )


def waiting_step(
    step: Step, done: Mapping[int, Execution], ask_id: UUID, asks: int
) -> WaitingStep | None:
    """Returns a step that waits on its one ask; None where more of it is still to be known."""
    if asks > 1 or any(one.state in OPEN for one in done.values()):
        return None
    return WaitingStep(ask_id, step, tuple(done.values()))

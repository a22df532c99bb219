"""A scripted model that refuses what vendors refuse: the oracle of the tests (spec turns 14).

A vendor takes a conversation back only whole: each call with its result, and the steps of the
current turn with the bytes that it signed them with (spec turns 5.4, 5.5).
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from itertools import zip_longest
from pathlib import Path

from pydantic import JsonValue

from parleyd.contract.text import storable
from parleyd.models.call_records import CallRecords
from parleyd.models.played import Pick
from parleyd.models.script import (
    Call,
    ScriptedMessage,
    ScriptedStep,
    Text,
    after_prompt,
    as_call,
    as_message,
)
from parleyd.models.scripted import TITLE, ScriptedModel
from parleyd.models.signatures import Signatures, rebuilt
from parleyd.turns.model import (
    ModelCall,
    ModelFailed,
    ProviderMessage,
    RebuiltCall,
    StreamPart,
    ToolOutcome,
)


class StrictModel(ScriptedModel):
    """Plays a script as `ScriptedModel` does, signs it, and refuses what a vendor would.

    The first call of each step is signed, unless the script has opaque bytes for it. A refused call
    fails as `other`, and `refusals` says why, so that a test can claim that there were none. With a
    `record_file` every call is also a line of that file, see `CallRecords`.
    """

    def __init__(
        self,
        pick: Pick,
        *,
        provider: str = "scripted",
        model_id: str = "scripted-1",
        title: ScriptedStep = TITLE,
        record_file: Path | None = None,
    ) -> None:
        super().__init__(pick, provider=provider, model_id=model_id, title=title)
        self.refusals: list[str] = []
        self._signatures = Signatures()
        self._records = CallRecords(record_file) if record_file else None

    def stream(self, call: ModelCall) -> AsyncGenerator[StreamPart, None]:
        """Records and checks the call, then plays its step.

        Raises:
            ModelFailed: A vendor would refuse the call, the step says so, or it holds no part.
            Unforeseen: The step says so.
            ScriptEnded: There is no step for this call.
        """
        fault = next(self._faults(call), None)
        self.calls.append(call)
        if self._records:
            self._records.add_stream(call, fault)
        if fault:
            self.refusals.append(fault)
        return self._refuse_or_play(call, fault)

    def rebuilt_message(self, calls: Sequence[RebuiltCall]) -> ProviderMessage:
        """Returns the message of a step whose own is gone; its first call bears the bypass."""
        first, *others = map(as_call, calls)
        return ScriptedMessage("model", (rebuilt(first), *others))

    async def generate_text(self, system: str, prompt: str, temperature: float) -> str:
        """Records the call, then returns the text of the title step.

        Raises:
            ModelFailed: That step says so.
            Unforeseen: That step says so.
        """
        if self._records:
            self._records.add_text(system, prompt)
        return await super().generate_text(system, prompt, temperature)

    async def generate_json(
        self, system: str, prompt: str, schema: dict[str, JsonValue], temperature: float
    ) -> str:
        """Records the call, then returns the text of its step.

        Raises:
            ModelFailed: The step says so, or holds no part at all.
            Unforeseen: The step says so.
            ScriptEnded: There is no step for this call.
        """
        if self._records:
            self._records.add_json(system, prompt)
        return await super().generate_json(system, prompt, schema, temperature)

    async def _refuse_or_play(
        self, call: ModelCall, fault: str | None
    ) -> AsyncGenerator[StreamPart, None]:
        if fault:
            raise ModelFailed("other", f"Refused: {fault}.")
        async with aclosing(self.play(self._signatures.sign(self._pick(call)))) as parts:
            async for part in parts:
                yield part

    def _faults(self, call: ModelCall) -> Iterator[str]:
        messages = [as_message(message) for message in call.messages]
        yield from _faults_of_pairs(messages)
        for message in after_prompt(messages):
            if _calls_of(message) and (fault := self._signatures.fault_of(message)):
                yield fault


def _faults_of_pairs(messages: Sequence[ScriptedMessage]) -> Iterator[str]:
    """Yields where a call has no result, a result no call, or a message nothing to say.

    Calls are an answer, to a person or to results: Gemini refuses them after a reply.
    """
    before: ScriptedMessage | None = None
    for message in messages:
        if before and _calls_of(before) and message.role != "tool":
            yield f"the calls {_names(before)} are followed by no results"
        elif _calls_of(message) and (before is None or before.role == "model"):
            after = "a message of the model" if before else "nothing"
            yield f"the calls {_names(message)} follow {after}"
        if message.role == "tool":
            calls = _calls_of(before) if before else []
            outcomes = [part for part in message.parts if isinstance(part, ToolOutcome)]
            for call, outcome in zip_longest(calls, outcomes):
                yield from _faults_of_pair(call, outcome)
            if not outcomes:
                yield "a message of results holds none"
        elif message.role == "model" and not any(map(_says_something, message.parts)):
            yield "a message of the model says nothing"
        before = message
    if before and _calls_of(before):
        yield f"the calls {_names(before)} are followed by nothing"


def _faults_of_pair(call: Call | None, outcome: ToolOutcome | None) -> Iterator[str]:
    match call, outcome:
        case Call(), None:
            yield f"the call {call.name} has no result"
        case None, ToolOutcome():
            yield f"the result of {outcome.name} has no call"
        case Call(), ToolOutcome():
            # A result bears the name in its storable form, as the client and the store know it.
            if storable(call.name) != outcome.name:
                yield f"the call {call.name} has the result of {outcome.name}"
            if call.call_id != outcome.call_id:
                yield f"the call {call.call_id} has the result of {outcome.call_id}"
        case _:
            pass


def _says_something(part: object) -> bool:
    return isinstance(part, Call) or (isinstance(part, Text) and bool(part.text))


def _calls_of(message: ScriptedMessage) -> list[Call]:
    return [part for part in message.parts if isinstance(part, Call)]


def _names(message: ScriptedMessage) -> str:
    return ", ".join(call.name for call in _calls_of(message))

"""A question that a conversation waits on, and what the service will say to an answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from parley import FieldFault
from parley.v1.asks_pb2 import (
    ASK_ORIGIN_APPROVAL,
    AcceptAnswer,
    AskAnswer,
    AskInput,
    DeclineAnswer,
)
from parley.v1.cards_pb2 import SimpleCard
from parley.v1.conversations_pb2 import PendingAskView
from parley.v1.turns_pb2 import AnswerInput, AskAsked
from parleyd.app.chat.guarded_calls import GuardedCall
from parleyd.contract.answers import accepted, check_answer
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import check_ask, kind_named
from parleyd.contract.field_errors import FieldError
from parleyd.contract.json import JsonObject, storable_json
from parleyd.rpc.answers import answer_from_proto, answer_to_proto
from parleyd.rpc.ask_inputs import ask_input_from_proto


@dataclass(frozen=True)
class OpenQuestion:
    """A question that a conversation waits on. `call` is what an approval lets run."""

    tool_call_id: str
    input: AskInput
    card: SimpleCard
    call: GuardedCall | None = None

    @property
    def kind(self) -> AskKind | None:
        """Names its kind; None where a later version asks what this one does not understand."""
        named = self.input.WhichOneof("kind")
        if named is None:
            return None
        kind, ask_input = ask_input_from_proto(self.input)
        return None if check_ask(kind, ask_input) else kind

    @property
    def may_skip(self) -> bool:
        """Tells whether the person may skip it. What is not understood has a button for that."""
        if self.kind is None:
            return False
        kind, ask_input = ask_input_from_proto(self.input)
        return kind_named(kind).may_decline(ask_input)

    def answer(self, answer: AskAnswer) -> AnswerInput:
        """Returns `answer` as it is sent."""
        return AnswerInput(tool_call_id=self.tool_call_id, answer=answer)

    def accept(self, content: AcceptAnswer) -> AnswerInput:
        """Returns an answer as it is sent."""
        return self.answer(AskAnswer(accept=content))

    def accept_json(self, content: JsonObject) -> AnswerInput:
        """Returns an answer as it is sent, from its content as JSON."""
        kind, _ = ask_input_from_proto(self.input)
        return self.answer(answer_to_proto(kind, accepted(content)))

    def skip(self) -> AnswerInput:
        """Returns what skips the question."""
        return self.answer(AskAnswer(decline=DeclineAnswer()))

    def faults_of(self, said: AnswerInput) -> list[FieldFault]:
        """Returns what is wrong with an answer, by the rules of the service itself.

        The bytes of files are looked at elsewhere.
        """
        kind, ask_input = ask_input_from_proto(self.input)
        envelope = storable_json(answer_from_proto(said.answer))
        return [fault_of(error) for error in check_answer(kind, ask_input, envelope)]


def question_of(ask: AskAsked | PendingAskView) -> OpenQuestion:
    """Returns a question as it was asked just now, or as it still stands."""
    is_approval = ask.origin == ASK_ORIGIN_APPROVAL
    call = GuardedCall(ask.tool_name, ask.tool_args_json) if is_approval else None
    return OpenQuestion(ask.tool_call_id, ask.input, ask.simple, call)


def told(faults: Iterable[FieldFault], names: Mapping[str, str]) -> list[str]:
    """Returns what is wrong and how to mend it, in terms of what the person sees.

    `names` says what a path of the contract stands for on the screen.
    """
    return [_told(fault, names) for fault in faults]


def fault_of(error: FieldError) -> FieldFault:
    """Returns a fault that was found here as one of the service's."""
    return FieldFault(error.path, error.code, error.message, error.fix)


def _told(fault: FieldFault, names: Mapping[str, str]) -> str:
    text = f"{fault.message} {fault.fix}".strip()
    for path, name in names.items():
        text = text.replace(f"`{path}`", name)
    return text[:1].upper() + text[1:]

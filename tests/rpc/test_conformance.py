"""The conformance cases by way of the wire (spec asks 17), as far as protobuf carries them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

import pytest
from google.protobuf.message import Message
from pydantic import JsonValue

from parley.v1.ask_contract_pb2 import (
    DeriveCardRequest,
    DeriveCardResponse,
    ValidateAnswerRequest,
    ValidateAnswerResponse,
    ValidateAskRequest,
    ValidateAskResponse,
)
from parley.v1.asks_pb2 import AcceptAnswer, AskAnswer, AskInput
from parley.v1.turns_pb2 import SURFACE_COMPACT, SURFACE_FULL
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS
from parleyd.rpc.answers import answer_from_proto, answer_to_proto
from parleyd.rpc.ask_inputs import ask_input_from_proto, ask_input_to_proto
from tests.conformance import CASES, needs_cases
from tests.rpc.json_values import card_of, exact
from tests.rpc.requests import Request, send
from tests.rpc.wire import Wire

Sent = TypeVar("Sent", bound=Message)

SURFACES = {"full": SURFACE_FULL, "compact": SURFACE_COMPACT}

UNKNOWN_KEY: Final = "A message has no field for a key that the contract does not have."
WRONG_TYPE: Final = "A field has one type, and no value of another."
NULL: Final = "A field is set or not, and never null."
NO_OBJECT: Final = "A message is an object, and nothing else."
REQUIRED: Final = "A text or a list that an ask or answer must have is there, if only empty."
ENUMERATED: Final = "An enum has numbers, but no words of its own."
FRACTION: Final = "A field of whole numbers has no fractions."
ONE_REFERENCE: Final = "A `oneof` holds one of the references to a file."
NO_ACTION: Final = "What holds the content of an answer is the action itself."

NOT_CARRIED: Final = {
    "choice-answer-other-null": NULL,
    "choice-answer-selected-missing": REQUIRED,
    "choice-answer-selected-wrong-types": WRONG_TYPE,
    "choice-answer-unknown-key-hides-semantic-errors": UNKNOWN_KEY,
    "choice-ask-many-bounds-not-whole": FRACTION,
    "choice-ask-null-title": NULL,
    "choice-ask-option-fields-missing": REQUIRED,
    "choice-ask-option-not-objects": NO_OBJECT,
    "choice-ask-prompt-missing": REQUIRED,
    "choice-ask-root-is-a-list": NO_OBJECT,
    "choice-ask-select-unknown-hides-semantic-errors": ENUMERATED,
    "choice-ask-snake-case-key": UNKNOWN_KEY,
    "choice-ask-unknown-key-does-not-block": UNKNOWN_KEY,
    "choice-ask-unknown-key-with-dot": UNKNOWN_KEY,
    "choice-ask-unknown-keys": UNKNOWN_KEY,
    "choice-ask-wrong-types": WRONG_TYPE,
    "confirm-answer-not-boolean": WRONG_TYPE,
    "confirm-ask-wrong-types": WRONG_TYPE,
    "envelope-accept-content-list": NO_OBJECT,
    "envelope-accept-extra-key-hides-content": UNKNOWN_KEY,
    "envelope-action-missing": NO_ACTION,
    "envelope-action-not-a-string": ENUMERATED,
    "envelope-action-unknown": ENUMERATED,
    "envelope-cancel-extra-key": UNKNOWN_KEY,
    "envelope-content-null": NULL,
    "envelope-decline-with-content": UNKNOWN_KEY,
    "envelope-not-an-object": NO_OBJECT,
    "files-answer-bad-fields": UNKNOWN_KEY,
    "files-answer-both-references": ONE_REFERENCE,
    "files-answer-not-a-list": WRONG_TYPE,
    "files-ask-accept-missing": REQUIRED,
    "files-ask-counts-wrong-type": WRONG_TYPE,
    "form-answer-values-list": NO_OBJECT,
    "form-answer-values-missing": REQUIRED,
    "form-ask-default-wrong-json-type": WRONG_TYPE,
    "form-ask-field-type-unknown-or-missing": ENUMERATED,
    "form-ask-keys-of-another-type": UNKNOWN_KEY,
    "form-ask-multiselect-default-item-not-a-string": WRONG_TYPE,
    "form-ask-unknown-type-hides-semantic-errors": ENUMERATED,
    "markdown-answer-missing-fields": UNKNOWN_KEY,
    "markdown-ask-type-error-hides-range-error": WRONG_TYPE,
}
"""Why a case can't be sent."""


def input_of(case: dict[str, Any]) -> AskInput | None:
    """Returns the message that is read as the input of a case, if there is one."""
    kind: AskKind = case["kind"]
    return _carrier(case["input"], [lambda value: ask_input_to_proto(kind, value)], _read_input)


def answer_of(case: dict[str, Any]) -> AskAnswer | None:
    """Returns the message that is read as the answer of a case, whatever kind of answer it is."""
    writers = [_written_as(kind) for kind in ASK_KINDS]
    empty: list[Callable[[Any], AskAnswer]] = [
        lambda _: AskAnswer(),
        lambda _: AskAnswer(accept=AcceptAnswer()),
    ]
    return _carrier(case["response"], [*writers, *empty], answer_from_proto)


def _written_as(kind: AskKind) -> Callable[[Any], AskAnswer]:
    return lambda value: answer_to_proto(kind, value)


def _read_input(message: AskInput) -> JsonValue:
    _, ask_input = ask_input_from_proto(message)
    return ask_input


def _carrier(
    value: JsonValue,
    writers: Sequence[Callable[[dict[str, JsonValue]], Sent]],
    read: Callable[[Sent], JsonValue],
) -> Sent | None:
    """Returns what one of the writers makes of a value, if the same comes out of it again."""
    for message in _written(value, writers) if isinstance(value, dict) else ():
        sent = type(message).FromString(message.SerializeToString())
        if exact(read(sent)) == exact(value):
            return sent
    return None


def _written(
    value: dict[str, JsonValue], writers: Sequence[Callable[[dict[str, JsonValue]], Sent]]
) -> Iterator[Sent]:
    for write in writers:
        with suppress(ValueError):  # a value out of the range of its field, or no envelope
            yield write(value)


def request_of(case: dict[str, Any]) -> Request | None:
    """Returns the request that sends a case, if protobuf carries it."""
    ask_input = input_of(case)
    if ask_input is None:
        return None
    match case["op"]:
        case "ask":
            surface = SURFACES[case.get("surface", "full")]
            return ValidateAskRequest(input=ask_input, surface=surface)
        case "answer":
            answer = answer_of(case)
            return answer and ValidateAnswerRequest(input=ask_input, answer=answer)
        case "card":
            return DeriveCardRequest(input=ask_input, tool_call_id="call_case")
        case op:
            raise ValueError(op)


def expected_of(response: object) -> dict[str, JsonValue]:
    """Returns a response in the form of what a case expects."""
    match response:
        case ValidateAskResponse() | ValidateAnswerResponse():
            errors = response.errors
            return {"errors": [{"path": error.path, "code": error.code} for error in errors]}
        case DeriveCardResponse():
            return {"card": card_of(response.simple)}
        case _:
            raise TypeError(type(response))


CARRIED = [case for case in CASES if case["name"] not in NOT_CARRIED]


@needs_cases
@pytest.mark.parametrize("case", CARRIED, ids=lambda case: case["name"])
async def test_a_conformance_case_passes_over_the_wire(wire: Wire, case: dict[str, Any]) -> None:
    request = request_of(case)
    assert request is not None, "list it above, and why protobuf does not carry it"
    async with wire.client() as client:
        response = await send(client, request)
    assert exact(expected_of(response)) == exact(case["expect"])


@needs_cases
def test_the_list_of_cases_that_are_not_carried_is_exact() -> None:
    assert {case["name"] for case in CASES if request_of(case) is None} == NOT_CARRIED.keys()


@needs_cases
def test_every_operation_on_every_kind_is_carried() -> None:
    carried = {(case["kind"], case["op"]) for case in CARRIED}
    assert carried == {(kind, op) for kind in ASK_KINDS for op in ("ask", "answer", "card")}

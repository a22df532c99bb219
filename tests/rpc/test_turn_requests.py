from typing import get_args
from uuid import UUID

import pytest
from pydantic import SecretStr

from parley.v1 import turns_pb2 as pb
from parley.v1.asks_pb2 import AskAnswer, DeclineAnswer
from parleyd.contract.surfaces import Surface
from parleyd.contract.turns import (
    AnswerInput,
    ButtonInput,
    PromptInput,
    RetryInput,
    TurnInput,
    TurnRequest,
)
from parleyd.rpc.turn_requests import stream_request_from_proto, turn_request_from_proto

CONVERSATION, TURN, REQUEST = UUID(int=1), UUID(int=2), UUID(int=3)
KEY = SecretStr("a key")

INPUTS: dict[str, tuple[pb.StreamTurnRequest, TurnInput]] = {
    "prompt": (
        pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello")),
        PromptInput(text="Hello"),
    ),
    "answer": (
        pb.StreamTurnRequest(
            answer=pb.AnswerInput(tool_call_id="call_1", answer=AskAnswer(decline=DeclineAnswer()))
        ),
        AnswerInput(tool_call_id="call_1", answer={"action": "decline"}),
    ),
    "button": (
        pb.StreamTurnRequest(button=pb.ButtonInput(tool_call_id="call_1", button_id="skip")),
        ButtonInput(tool_call_id="call_1", button_id="skip"),
    ),
    "retry": (
        pb.StreamTurnRequest(retry=pb.RetryInput(turn_id=str(TURN))),
        RetryInput(turn_id=TURN),
    ),
}

SURFACES: dict[Surface | None, pb.Surface.ValueType] = {
    None: pb.SURFACE_UNSPECIFIED,
    "full": pb.SURFACE_FULL,
    "compact": pb.SURFACE_COMPACT,
}


def unary(request: pb.StreamTurnRequest) -> pb.TurnRequest:
    """Returns the unary twin of a request."""
    own = pb.TurnRequest(
        conversation_id=request.conversation_id,
        surface=request.surface,
        request_id=request.request_id,
    )
    match request.WhichOneof("input"):
        case "prompt":
            own.prompt.CopyFrom(request.prompt)
        case "answer":
            own.answer.CopyFrom(request.answer)
        case "button":
            own.button.CopyFrom(request.button)
        case "retry":
            own.retry.CopyFrom(request.retry)
        case None:
            pass
    return own


def both(request: pb.StreamTurnRequest) -> list[TurnRequest]:
    """Returns what a stream and a unary call make of the same request."""
    return [
        stream_request_from_proto("ada", KEY, request),
        turn_request_from_proto("ada", KEY, unary(request)),
    ]


@pytest.mark.parametrize(("request_", "expected"), INPUTS.values(), ids=INPUTS.keys())
def test_an_input_arrives_whole_on_both_ways(
    request_: pb.StreamTurnRequest, expected: TurnInput
) -> None:
    request_.conversation_id, request_.request_id = str(CONVERSATION), str(REQUEST)
    for wish in both(request_):
        assert wish == TurnRequest(
            owner="ada",
            conversation_id=CONVERSATION,
            input=expected,
            request_id=REQUEST,
            caller_key=KEY,
        )


def test_every_input_there_is_arrives_in_these_tests() -> None:
    assert {type(expected) for _, expected in INPUTS.values()} == set(get_args(TurnInput))
    for request in (pb.StreamTurnRequest, pb.TurnRequest):
        oneof = request.DESCRIPTOR.oneofs_by_name["input"]
        assert {field.name for field in oneof.fields} == set(INPUTS)


def test_a_surface_that_is_not_named_is_left_to_the_turn() -> None:
    assert SURFACES.keys() == {None, *get_args(Surface)}
    assert {*SURFACES.values()} == {*pb.Surface.values()}
    for surface, number in SURFACES.items():
        request = pb.StreamTurnRequest(
            conversation_id=str(CONVERSATION), prompt=pb.PromptInput(text="Hello"), surface=number
        )
        assert [wish.surface for wish in both(request)] == [surface, surface]


def test_a_request_id_counts_in_any_case_and_none_is_none() -> None:
    for text, expected in ((str(REQUEST).upper(), REQUEST), ("", None)):
        request = pb.StreamTurnRequest(
            conversation_id=str(CONVERSATION), prompt=pb.PromptInput(text="Hello"), request_id=text
        )
        assert [wish.request_id for wish in both(request)] == [expected, expected]


def test_only_a_new_conversation_is_filed_under_a_project() -> None:
    prompt = pb.PromptInput(text="Hello")
    new = pb.StreamTurnRequest(prompt=prompt, project="home")
    old = pb.StreamTurnRequest(prompt=prompt, project="home", conversation_id=str(CONVERSATION))
    wishes = [stream_request_from_proto("ada", None, each) for each in (new, old)]
    assert [(wish.conversation_id, wish.project) for wish in wishes] == [
        (None, "home"),
        (CONVERSATION, None),
    ]


def test_a_key_does_not_show_in_a_wish() -> None:
    request = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello"))
    wish = stream_request_from_proto("ada", KEY, request)
    assert "a key" not in f"{wish!r} {wish} {wish.model_dump()} {wish.model_dump_json()}"

"""Requests that may be sent again: what makes two of them the same (spec turns 16.2)."""

from itertools import combinations
from uuid import UUID

import pytest
from pydantic import JsonValue, SecretStr

from parleyd.contract.turns import (
    AnswerInput,
    ButtonInput,
    PromptInput,
    RetryInput,
    TurnInput,
    TurnRequest,
)
from parleyd.turns.requests import RequestKey, conversation_request_key, turn_request_key

KEY = UUID(int=10)


def asked(turn_input: TurnInput | None = None, **more: object) -> TurnRequest:
    return TurnRequest.model_validate(
        {
            "owner": "ada",
            "conversation_id": UUID(int=1),
            "input": turn_input or PromptInput(text="Hello"),
            "request_id": KEY,
            **more,
        }
    )


def answered(value: JsonValue, tool_call_id: str = "call_plan") -> TurnRequest:
    return asked(AnswerInput(tool_call_id=tool_call_id, answer=value))


def values(**more: JsonValue) -> JsonValue:
    return {"action": "accept", "content": {"values": {"name": "Noor", "seats": 3, **more}}}


def digest(request: TurnRequest) -> bytes:
    key = turn_request_key(request)
    assert key
    return key.digest


DIFFERENT: dict[str, TurnRequest] = {
    "a prompt": asked(),
    "another text": asked(PromptInput(text="Hello ")),
    "no text": asked(PromptInput(text="")),
    "another conversation": asked(conversation_id=UUID(int=2)),
    "no conversation": asked(conversation_id=None),
    "a surface": asked(surface="full"),
    "another surface": asked(surface="compact"),
    "a model": asked(model="gemini"),
    "an instruction": asked(system_instruction="gemini"),
    "a project": asked(project="gemini"),
    "an answer": answered(values()),
    "the answer to another ask": answered(values(), "call_other"),
    "another nested value": answered(values(name="Nora")),
    "another nested number": answered(values(seats=4)),
    "a number as a text": answered(values(seats="3")),
    "a number as a flag": answered(values(seats=True)),
    "one more nested value": answered(values(color=None)),
    "another order of a list": answered(values(name=["a", "b"])),
    "a list": answered(values(name=["b", "a"])),
    "a text of two": answered(values(name="a,b")),
    "a decline": answered({"action": "decline"}),
    "a cancel": answered({"action": "cancel"}),
    "the answer as a text": asked(PromptInput(text='{"action":"cancel"}')),
    "a button": asked(ButtonInput(tool_call_id="call_plan", button_id="option:team")),
    "another button": asked(ButtonInput(tool_call_id="call_plan", button_id="option:solo")),
    "a button of another ask": asked(ButtonInput(tool_call_id="call", button_id="option:team")),
    "a retry": asked(RetryInput(turn_id=UUID(int=3))),
    "a retry of another turn": asked(RetryInput(turn_id=UUID(int=4))),
}


def test_requests_that_differ_in_one_part_have_different_digests() -> None:
    digests = {name: digest(request) for name, request in DIFFERENT.items()}
    assert [pair for pair in combinations(digests, 2) if digests[pair[0]] == digests[pair[1]]] == []
    assert {len(one) for one in digests.values()} == {32}


@pytest.mark.parametrize("request_", DIFFERENT.values(), ids=DIFFERENT)
def test_equal_requests_have_equal_keys(request_: TurnRequest) -> None:
    again = TurnRequest.model_validate_json(request_.model_dump_json())
    assert turn_request_key(again) == turn_request_key(request_)


def test_what_does_not_make_a_turn_another_one_is_left_out() -> None:
    with_key = asked(caller_key=SecretStr("key"))
    assert turn_request_key(with_key) == turn_request_key(asked())
    other = turn_request_key(asked(request_id=UUID(int=11)))
    assert other == RequestKey(UUID(int=11), digest(asked()))


def test_the_keys_of_an_object_may_come_in_any_order() -> None:
    forwards = answered({"action": "accept", "content": {"a": {"x": 1, "y": 2}, "b": 3}})
    backwards = answered({"content": {"b": 3, "a": {"y": 2, "x": 1}}, "action": "accept"})
    assert digest(forwards) == digest(backwards)


ODD: list[JsonValue] = [float("nan"), float("inf"), "\ud83d", "a\x00b", {"\ud83d": 1}, 10**400]


@pytest.mark.parametrize("value", ODD, ids=ascii)
def test_odd_values_have_a_digest_too(value: JsonValue) -> None:
    assert digest(answered(value)) == digest(answered(value))
    assert digest(answered(value)) != digest(answered("other"))


def test_a_request_without_an_id_has_no_key() -> None:
    assert turn_request_key(asked(request_id=None)) is None
    assert conversation_request_key(None, "Plans", None) is None


def test_the_key_of_an_empty_conversation_is_of_its_title_and_project() -> None:
    cases = [("Plans", None), (None, "Plans"), (None, None), ("Plans", "Plans"), ("", None)]
    keys = [conversation_request_key(KEY, title, project) for title, project in cases]
    digests = {key.digest for key in keys if key}
    assert len(digests) == len(cases)
    assert conversation_request_key(KEY, "Plans", None) == keys[0]

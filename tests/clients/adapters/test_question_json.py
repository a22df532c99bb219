"""Questions and answers are JSON for agents, and messages for the service."""

import pytest
from pydantic import JsonValue

from parley.adapters.answer_json import answer_from_json, answer_to_json
from parley.adapters.ask_tools import ask_tools
from parley.adapters.question_json import (
    ASK_KINDS,
    Malformed,
    question_from_json,
    question_to_json,
)
from parley.v1 import asks_pb2
from parleyd.contract.asks import kinds
from parleyd.contract.asks.kind import AskKind
from parleyd.rpc.answers import answer_from_proto, answer_to_proto
from parleyd.rpc.ask_inputs import ask_input_from_proto, ask_input_to_proto
from tests.rpc.every_kind import CONTENTS, INPUTS
from tools.ask_tools import FILE
from tools.ask_tools import ask_tools as tools_of_the_service


@pytest.mark.parametrize("name", INPUTS)
def test_a_question_of_any_kind_is_what_the_service_makes_of_the_same_json(name: str) -> None:
    kind, ask_input = INPUTS[name]
    question = question_from_json({"kind": kind, **ask_input})
    assert question == ask_input_to_proto(kind, ask_input)
    assert question_to_json(question) == {"kind": kind, **ask_input_from_proto(question)[1]}
    assert question_from_json(question_to_json(question)) == question


@pytest.mark.parametrize("name", sorted(CONTENTS.keys() - {"files_inline"}))
def test_an_answer_of_any_kind_is_the_json_that_the_service_keeps(name: str) -> None:
    kind, content = CONTENTS[name]
    answer = answer_to_proto(kind, {"action": "accept", "content": content})
    told = answer_to_json(answer)
    assert told == answer_from_proto(answer)
    assert answer_from_json(kind, told) == answer


def test_the_bytes_of_a_file_are_not_told() -> None:
    file = asks_pb2.FileRef(filename="a.csv", mime_type="text/csv", size=1, data=b"a")
    accept = asks_pb2.AcceptAnswer(files=asks_pb2.FilesAnswer(files=[file]))
    told = answer_to_json(asks_pb2.AskAnswer(accept=accept))
    assert told["content"] == {"files": [{"filename": "a.csv", "mimeType": "text/csv", "size": 1}]}


def test_what_is_no_accept_is_told_with_its_reason() -> None:
    declined = asks_pb2.AskAnswer(decline=asks_pb2.DeclineAnswer())
    dropped = asks_pb2.AskAnswer(cancel=asks_pb2.CancelAnswer())
    expired = asks_pb2.AskAnswer(cancel=asks_pb2.CancelAnswer(reason="expired"))
    told = [answer_to_json(answer) for answer in (declined, dropped, expired)]
    assert told == [
        {"action": "decline"},
        {"action": "cancel"},
        {"action": "cancel", "reason": "expired"},
    ]
    assert [answer_from_json("choice", each) for each in told] == [declined, dropped, expired]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("Sure?", "a JSON object"),
        ({"prompt": "Sure?"}, "`kind` is missing"),
        ({"kind": "slider", "prompt": "Sure?"}, "none of choice, confirm"),
        ({"kind": ["choice"], "prompt": "Sure?"}, "none of choice, confirm"),
        ({"kind": "confirm", "prompt": "Sure?", "options": []}, "no key 'options'"),
        ({"kind": "confirm", "prompt": "Sure?", "confirm": {}}, "no key 'confirm'"),
        ({"kind": "confirm", "prompt": 1}, "The confirm is malformed: .*prompt"),
        ({"kind": "choice", "prompt": "?", "select": "three"}, "select"),
        ({"kind": "choice", "prompt": "?", "options": "ab"}, "options"),
        ({"kind": "form", "prompt": "?", "fields": [{"id": "a"}]}, "`type` of a field"),
        ({"kind": "form", "prompt": "?", "fields": ["a"]}, "fields"),
        (
            {"kind": "form", "prompt": "?", "fields": [{"type": "date", "id": "a", "min": 1}]},
            "min",
        ),
    ],
)
def test_what_is_no_question_is_refused_with_what_is_wrong(value: JsonValue, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        question_from_json(value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "yes",
        {},
        {"action": "shrug"},
        {"action": "accept"},
        {"action": "accept", "content": {"picked": ["a"]}},
        {"action": "cancel", "reason": 1},
    ],
)
def test_what_is_no_answer_is_refused(value: JsonValue) -> None:
    with pytest.raises(Malformed):
        answer_from_json("choice", value)


def test_what_is_newer_than_the_client_is_told_so() -> None:
    for newer in (asks_pb2.AskAnswer(), asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer())):
        with pytest.raises(Malformed, match="newer than this client"):
            answer_to_json(newer)
    with pytest.raises(Malformed, match="no kind"):
        question_to_json(asks_pb2.AskInput(prompt="Sure?"))


def test_the_tools_are_those_of_the_services_own_model() -> None:
    assert FILE.read_text("utf-8") == tools_of_the_service(), "run: python -m tools.ask_tools"
    assert ASK_KINDS == kinds.ASK_KINDS
    for tool, kind in zip(ask_tools(), ASK_KINDS, strict=True):
        offer = kinds.offer_of(_kind(kind), "full")
        assert (tool.kind, tool.name) == (kind, kinds.tool_name(_kind(kind)))
        assert tool.schema == offer.shape.schema()
        assert (tool.description == offer.tool) == (kind != "files")


def _kind(name: str) -> AskKind:
    return next(kind for kind in kinds.ASK_KINDS if kind == name)

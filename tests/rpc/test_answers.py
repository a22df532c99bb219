import json
from base64 import b64decode
from typing import get_args

import pytest
from google.protobuf.struct_pb2 import NULL_VALUE, ListValue, Struct, Value
from pydantic import JsonValue

from parley.v1.asks_pb2 import (
    AcceptAnswer,
    AskAnswer,
    CancelAnswer,
    ChoiceAnswer,
    ConfirmAnswer,
    DeclineAnswer,
    FileRef,
    FilesAnswer,
    FormAnswer,
    MarkdownAnswer,
)
from parleyd.contract.answers import check_answer
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.json import compact
from parleyd.rpc.answers import answer_from_proto, answer_to_proto
from tests.rpc.every_kind import CONTENTS
from tests.rpc.json_values import types_of


def form(**values: Value) -> AskAnswer:
    return AskAnswer(accept=AcceptAnswer(form=FormAnswer(values=values)))


def files(*refs: FileRef) -> AskAnswer:
    return AskAnswer(accept=AcceptAnswer(files=FilesAnswer(files=refs)))


def accepted(content: JsonValue) -> JsonValue:
    return {"action": "accept", "content": content}


READ: dict[str, tuple[AskAnswer, JsonValue]] = {
    "no_action": (AskAnswer(), {}),
    "decline": (AskAnswer(decline=DeclineAnswer()), {"action": "decline"}),
    "cancel": (AskAnswer(cancel=CancelAnswer()), {"action": "cancel"}),
    "cancel_with_a_reason": (
        AskAnswer(cancel=CancelAnswer(reason="busy")),
        {"action": "cancel", "reason": "busy"},
    ),
    "cancel_with_an_empty_reason": (
        AskAnswer(cancel=CancelAnswer(reason="")),
        {"action": "cancel", "reason": ""},
    ),
    "no_content": (AskAnswer(accept=AcceptAnswer()), {"action": "accept"}),
    "choice": (
        AskAnswer(accept=AcceptAnswer(choice=ChoiceAnswer(selected=["b", "a"]))),
        accepted({"selected": ["b", "a"]}),
    ),
    "choice_of_nothing": (
        AskAnswer(accept=AcceptAnswer(choice=ChoiceAnswer())),
        accepted({"selected": []}),
    ),
    "choice_with_another_answer": (
        AskAnswer(accept=AcceptAnswer(choice=ChoiceAnswer(other=""))),
        accepted({"selected": [], "other": ""}),
    ),
    "confirm": (
        AskAnswer(accept=AcceptAnswer(confirm=ConfirmAnswer(confirmed=True))),
        accepted({"confirmed": True}),
    ),
    "confirm_denied": (
        AskAnswer(accept=AcceptAnswer(confirm=ConfirmAnswer(confirmed=False))),
        accepted({"confirmed": False}),
    ),
    "confirm_without_its_key": (
        AskAnswer(accept=AcceptAnswer(confirm=ConfirmAnswer())),
        accepted({}),
    ),
    "markdown": (
        AskAnswer(accept=AcceptAnswer(markdown=MarkdownAnswer(markdown="", changed=False))),
        accepted({"markdown": "", "changed": False}),
    ),
    "markdown_without_its_keys": (
        AskAnswer(accept=AcceptAnswer(markdown=MarkdownAnswer())),
        accepted({}),
    ),
    "form_without_values": (form(), accepted({"values": {}})),
    "form_keys_are_data": (
        form(**{"a_b-C": Value(string_value="x"), "": Value(bool_value=False)}),
        accepted({"values": {"a_b-C": "x", "": False}}),
    ),
    "form_whole_numbers_are_whole": (
        form(
            n=Value(number_value=3.0), z=Value(number_value=-0.0), big=Value(number_value=2.0**60)
        ),
        accepted({"values": {"n": 3, "z": 0, "big": 2**60}}),
    ),
    "form_other_numbers_stay": (
        form(n=Value(number_value=2.5)),
        accepted({"values": {"n": 2.5}}),
    ),
    "form_what_is_no_number_is_null": (
        form(
            nan=Value(number_value=float("nan")),
            inf=Value(number_value=float("inf")),
            less=Value(number_value=float("-inf")),
            null=Value(null_value=NULL_VALUE),
            none=Value(),
        ),
        accepted({"values": {"nan": None, "inf": None, "less": None, "null": None, "none": None}}),
    ),
    "form_lists_and_objects": (
        form(
            list=Value(list_value=ListValue(values=[Value(number_value=1), Value()])),
            object=Value(struct_value=Struct(fields={"Key": Value(string_value="v")})),
        ),
        accepted({"values": {"list": [1, None], "object": {"Key": "v"}}}),
    ),
    "files_none": (files(), accepted({"files": []})),
    "file_uploaded": (
        files(FileRef(filename="a.png", mime_type="image/png", size=2**40, file_id="f1")),
        accepted(
            {
                "files": [
                    {
                        "filename": "a.png",
                        "mimeType": "image/png",
                        "size": 2**40,
                        "fileId": "f1",
                    }
                ]
            }
        ),
    ),
    "file_with_a_url": (
        files(FileRef(url="https://example.com")),
        accepted({"files": [{"url": "https://example.com"}]}),
    ),
    "file_with_empty_fields": (
        files(FileRef(filename="", mime_type="", size=0, file_id="")),
        accepted({"files": [{"filename": "", "mimeType": "", "size": 0, "fileId": ""}]}),
    ),
    "file_without_anything": (files(FileRef()), accepted({"files": [{}]})),
    "file_with_its_bytes": (
        files(FileRef(mime_type="text/plain", data=b"\x00hi?>")),
        accepted({"files": [{"mimeType": "text/plain", "url": "data:text/plain;base64,AGhpPz4="}]}),
    ),
    "file_of_no_bytes": (
        files(FileRef(mime_type="text/plain", data=b"")),
        accepted({"files": [{"mimeType": "text/plain", "url": "data:text/plain;base64,"}]}),
    ),
    "file_of_no_type": (
        files(FileRef(data=b"hi")),
        accepted({"files": [{"url": "data:;base64,aGk="}]}),
    ),
}


@pytest.mark.parametrize(("answer", "envelope"), READ.values(), ids=READ.keys())
def test_an_answer_is_read_as_it_was_meant(answer: AskAnswer, envelope: JsonValue) -> None:
    sent = AskAnswer.FromString(answer.SerializeToString())
    read = answer_from_proto(sent)
    assert read == envelope
    assert json.loads(compact(read)) == envelope
    assert types_of(read) == types_of(envelope), "whole numbers are no floats, true is no number"


def test_the_bytes_of_a_file_come_through() -> None:
    data = bytes(range(256))
    content = answer_from_proto(files(FileRef(mime_type="image/png", data=data)))["content"]
    match content:
        case {"files": [{"url": str(url)}]}:
            head, _, payload = url.partition(",")
        case _:
            pytest.fail(f"no file: {content}")
    assert head == "data:image/png;base64"
    assert b64decode(payload, validate=True) == data


CHOICE: dict[str, JsonValue] = {
    "prompt": "Which?",
    "select": "one",
    "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}],
}
FAULTS: dict[str, tuple[AskAnswer, list[tuple[str, str]]]] = {
    "no_action": (AskAnswer(), [("action", "MISSING_REQUIRED")]),
    "no_content": (AskAnswer(accept=AcceptAnswer()), [("content", "MISSING_REQUIRED")]),
    "another_kind": (
        AskAnswer(accept=AcceptAnswer(confirm=ConfirmAnswer(confirmed=True))),
        [("content.confirmed", "UNKNOWN_KEY"), ("content.selected", "MISSING_REQUIRED")],
    ),
    "another_kind_unset": (
        AskAnswer(accept=AcceptAnswer(confirm=ConfirmAnswer())),
        [("content.selected", "MISSING_REQUIRED")],
    ),
    "nothing_picked": (
        AskAnswer(accept=AcceptAnswer(choice=ChoiceAnswer())),
        [("content.selected", "SELECTION_COUNT")],
    ),
}


@pytest.mark.parametrize(("answer", "faults"), FAULTS.values(), ids=FAULTS.keys())
def test_the_faults_of_an_answer_reach_the_check(
    answer: AskAnswer, faults: list[tuple[str, str]]
) -> None:
    errors = check_answer("choice", CHOICE, answer_from_proto(answer))
    assert [(error.path, error.code) for error in errors] == faults


@pytest.mark.parametrize(("kind", "content"), CONTENTS.values(), ids=CONTENTS.keys())
def test_a_stored_answer_comes_back_the_same(kind: AskKind, content: dict[str, JsonValue]) -> None:
    envelope: dict[str, JsonValue] = {"action": "accept", "content": content}
    answer = AskAnswer.FromString(answer_to_proto(kind, envelope).SerializeToString())
    assert answer.accept.WhichOneof("content") == kind
    assert answer_from_proto(answer) == envelope
    assert types_of(answer_from_proto(answer)) == types_of(envelope)


def test_every_kind_of_answer_is_stored_and_read_in_these_tests() -> None:
    assert {kind for kind, _ in CONTENTS.values()} == set(get_args(AskKind))
    assert {
        answer.accept.WhichOneof("content")
        for answer, _ in READ.values()
        if answer.WhichOneof("action") == "accept"
    } == {*get_args(AskKind), None}


WITHOUT_CONTENT: list[dict[str, JsonValue]] = [
    {"action": "decline"},
    {"action": "cancel"},
    {"action": "cancel", "reason": "user_sent_message"},
]


@pytest.mark.parametrize("kind", get_args(AskKind))
@pytest.mark.parametrize("envelope", WITHOUT_CONTENT, ids=compact)
def test_an_answer_without_content_comes_back_the_same_for_every_kind(
    kind: AskKind, envelope: dict[str, JsonValue]
) -> None:
    assert answer_from_proto(answer_to_proto(kind, envelope)) == envelope


@pytest.mark.parametrize("value", [{}, {"action": "accept"}, {"action": "approve"}], ids=compact)
def test_what_is_no_envelope_is_refused(value: dict[str, JsonValue]) -> None:
    with pytest.raises(ValueError, match="an envelope has an action"):
        answer_to_proto("choice", value)

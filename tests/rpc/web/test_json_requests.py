import asyncio
import json
from typing import Any, cast
from urllib.parse import quote

import pytest
from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from starlette.requests import Request

from parley.v1 import turns_pb2 as pb
from parleyd.contract.errors import Malformed
from parleyd.rpc.server import SERVICES
from parleyd.rpc.web.bindings import WHOLE, Binding, bindings_of
from parleyd.rpc.web.json_requests import read_request
from parleyd.rpc.web.problems import HttpProblem
from tests.rpc.any_message import messages

BINDINGS = list(bindings_of(SERVICES))
WITH_BODY = [binding for binding in BINDINGS if binding.body]
STREAM = next(each for each in BINDINGS if each.template.text == "/v1/turns:stream")

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["", "1", "SURFACE_FULL", "AAAA", "2026-01-01T00:00:00Z", "a.b"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4) | st.sampled_from(["prompt", "answer"]), inner)
    ),
    max_leaves=12,
)


SPELLINGS = {"always": st.booleans(), "snake": st.booleans()}


def read(binding: Binding, data: bytes, query: str = "", values: Any = None) -> Message:
    """Reads a request as the front does."""
    given_values = ["x"] * len(binding.variables) if values is None else values

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": data, "more_body": False}

    scope: dict[str, Any] = {
        "type": "http",
        "method": binding.verb,
        "path": "/",
        "query_string": query.encode(),
        "headers": [],
        "path_params": {"values": given_values},
    }
    return asyncio.run(read_request(binding, Request(scope, receive)))


def read_or_refuse(binding: Binding, data: bytes, query: str = "") -> None:
    """Checks that a request is read, or refused with a reason. Nothing else may happen."""
    try:
        message = read(binding, data, query)
    except HttpProblem:
        return
    except Malformed as refusal:
        told = refusal.fields
        assert told, "it says where"
        assert all(fault.message and fault.fix for fault in told)
        return
    assert isinstance(message, binding.request)
    message.SerializeToString()


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(WITH_BODY), JSON)
def test_any_json_is_read_or_refused(binding: Binding, value: Any) -> None:
    read_or_refuse(binding, json.dumps(value).encode())


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(WITH_BODY), st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(binding: Binding, data: bytes) -> None:
    read_or_refuse(binding, data)


def _paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at] if at else []
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = [*cast("dict[str, Any]", value).items()]
    elif isinstance(value, list):
        items = [*enumerate(cast("list[Any]", value))]
    for key, item in items:
        found += _paths(item, (*at, key))
    return found


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_request_with_one_value_replaced_is_read_or_refused(data: st.DataObject) -> None:
    message = data.draw(messages(pb.StreamTurnRequest))
    content = json.loads(MessageToJson(message))
    paths = _paths(content)
    assume(paths)
    *before, last = data.draw(st.sampled_from(paths))
    holder = content
    for key in before:
        holder = holder[key]
    holder[last] = data.draw(JSON)
    read_or_refuse(STREAM, json.dumps(content).encode())


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(BINDINGS), st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5))))
def test_any_query_is_read_or_refused(binding: Binding, parameters: list[tuple[str, str]]) -> None:
    names = [field.json_name for field in binding.method.input_type.fields]
    query = "&".join(
        f"{quote(names[len(name) % len(names)] if name and names else name)}={quote(value)}"
        for name, value in parameters
    )
    read_or_refuse(binding, b"", query)


@pytest.mark.parametrize("request_type", [pb.StreamTurnRequest, pb.TurnRequest])
@settings(max_examples=150, deadline=None)
@given(data=st.data(), spelling=st.fixed_dictionaries(SPELLINGS))
def test_the_json_of_a_request_is_read_as_that_request(
    request_type: type[Message], data: st.DataObject, spelling: dict[str, bool]
) -> None:
    binding = next(each for each in WITH_BODY if each.request is request_type)
    message: Any = data.draw(messages(request_type))
    message.conversation_id = "x" if binding.variables else message.conversation_id
    text = MessageToJson(
        message,
        ensure_ascii=False,
        always_print_fields_with_no_presence=spelling["always"],
        preserving_proto_field_name=spelling["snake"],
    )
    assert read(binding, text.encode()) == message


def test_a_query_sets_nested_and_repeated_fields_and_masks() -> None:
    update = next(each for each in BINDINGS if each.method.name == "UpdateConversation")
    listed = next(each for each in BINDINGS if each.method.name == "ListConversations")
    told: Any = read(update, b'{"title": "T"}', "update_mask=title,project", ["c%2F1"])
    assert [*told.update_mask.paths] == ["title", "project"]
    assert (told.conversation.conversation_id, told.conversation.title) == ("c%2F1", "T")
    page: Any = read(listed, b"", "pageSize=7&page_token=a%20b&project=")
    assert (page.page_size, page.page_token, page.project) == (7, "a b", "")


def test_a_null_is_a_field_that_is_not_there() -> None:
    told: Any = read(STREAM, b'{"prompt": {"text": "a"}, "answer": null, "surface": null}')
    assert told == pb.StreamTurnRequest(prompt=pb.PromptInput(text="a"))


def test_a_body_of_a_field_is_that_field_even_if_it_is_empty() -> None:
    made = next(each for each in BINDINGS if each.method.name == "CreateConversation")
    assert made.body not in {"", WHOLE}
    told: Any = read(made, b"{}", "requestId=r")
    assert told.HasField("conversation")
    assert told.request_id == "r"

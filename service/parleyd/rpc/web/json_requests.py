"""The request of a call, put together from the path, the query and the body of an HTTP request."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final
from urllib.parse import parse_qsl

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from pydantic import JsonValue
from starlette.requests import Request

from parleyd.contract import limits
from parleyd.contract.errors import InvalidRequest
from parleyd.contract.field_errors import Code, Fault, in_order, quoted
from parleyd.rpc import fields
from parleyd.rpc.threads import beside_if_large
from parleyd.rpc.web.bindings import WHOLE, Binding
from parleyd.rpc.web.json_bodies import json_object
from parleyd.rpc.web.json_checks import read_json, unknown_key
from parleyd.rpc.web.json_names import FieldPath, dotted_name, field_path, has_own_json
from parleyd.rpc.web.json_replies import JSON
from parleyd.rpc.web.problems import too_large

_MASKS: Final = {"FieldMask", "Timestamp", "Duration"}
"""Messages whose JSON is a text, so that a query can hold them."""
_BOOLEANS: Final = {"true": True, "false": False}


async def read_request(binding: Binding, request: Request) -> Message:
    """Returns what an HTTP request asks for.

    Raises:
        Malformed: Something in it is not known, is there twice or has the wrong type.
        HttpProblem: It is larger than the server takes.
        ClientDisconnect: The client left.
    """
    data = await body_of(request)
    query = parse_qsl(request.url.query, keep_blank_values=True)
    values: Sequence[str] = request.path_params["values"]
    work = partial(_message, binding, request.headers, data, query, values)
    return await beside_if_large(len(data), work)


async def body_of(request: Request) -> bytes:
    """Returns the whole body.

    Raises:
        HttpProblem: It has more than `limits.RECEIVE_BYTES`.
        ClientDisconnect: The client left.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > limits.RECEIVE_BYTES:
        raise too_large()
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > limits.RECEIVE_BYTES:
            raise too_large()
    return bytes(data)


def _message(
    binding: Binding,
    headers: Mapping[str, str],
    data: bytes,
    query: Sequence[tuple[str, str]],
    values: Sequence[str],
) -> Message:
    message = binding.request()
    _read_body(binding, message, headers, data)
    _read_query(binding, message, query)
    for variable, value in zip(binding.variables, values, strict=True):
        _set_from_path(message, variable, value)
    if message.ByteSize() > limits.RECEIVE_BYTES:
        raise too_large()
    return message


def _read_body(binding: Binding, message: Message, headers: Mapping[str, str], data: bytes) -> None:
    if not data:
        return
    if not binding.body:
        raise _refused("", Code.TOO_MANY, "This method takes no body.", "Send none.")
    _check_headers(headers)
    content = json_object(data)
    if binding.body == WHOLE:
        read_json(message, content)
        return
    # It is a message: `bindings` lets no other body pass.
    target: Message = getattr(message, binding.body)
    target.SetInParent()
    read_json(target, content)


def _check_headers(headers: Mapping[str, str]) -> None:
    """Raises InvalidRequest unless a body is plain JSON; one that does not say what it is, is."""
    kind = headers.get("content-type", JSON)
    if kind.partition(";")[0].strip().lower() != JSON:
        raise _refused(
            "Content-Type",
            Code.INVALID_FORMAT,
            f"The body is {quoted(kind)}, which is not read here.",
            f"Send JSON, and say `Content-Type: {JSON}`.",
        )
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise _refused(
            "Content-Encoding",
            Code.INVALID_FORMAT,
            "The body is compressed, which is not read here.",
            "Send it as it is.",
        )


def _read_query(binding: Binding, message: Message, query: Sequence[tuple[str, str]]) -> None:
    """Sets what the query says; nothing is left to it where the body is the whole request."""
    faults: list[Fault] = []
    told: dict[FieldPath, list[str]] = {}
    for name, text in query:
        path = field_path(binding.method.input_type, name.split("."))
        if path is None or not _is_free(binding, path):
            faults.append(_unknown_parameter(binding, name))
        else:
            told.setdefault(path, []).append(text)
    for path, texts in told.items():
        faults += _parameter_faults(path, texts)
    if faults:
        found = in_order(faults)
        raise InvalidRequest(f"{found[0].message} {found[0].fix}", found)
    for path, texts in told.items():
        leaf = path[-1]
        values: list[JsonValue] = [_json_of(leaf, text) for text in texts]
        content: dict[str, JsonValue] = {leaf.json_name: values if leaf.is_repeated else values[0]}
        for field in reversed(path[:-1]):
            content = {field.json_name: content}
        read_json(message, content)


def _is_free(binding: Binding, path: FieldPath) -> bool:
    """Tells whether a query may set a field: neither the path nor the body does."""
    leaf = path[-1]
    single = leaf.message_type is None or (has_own_json(leaf) and leaf.message_type.name in _MASKS)
    return single and binding.body not in {WHOLE, path[0].name} and path not in binding.variables


def _unknown_parameter(binding: Binding, name: str) -> Fault:
    if binding.body == WHOLE:
        return Fault(
            (name,),
            Code.UNKNOWN_KEY,
            f"The query has {quoted(name)}, but this method takes no query.",
            "Put everything into the body.",
        )
    fault = unknown_key(binding.method.input_type, (name,))
    return fault._replace(message=f"The query has {quoted(name)}, which is not known there.")


def _parameter_faults(path: FieldPath, texts: Sequence[str]) -> Iterator[Fault]:
    name, leaf = dotted_name(path), path[-1]
    if len(texts) > 1 and not leaf.is_repeated:
        yield Fault((name,), Code.TOO_MANY, f"The query has {name} twice.", "Send it once.")
    if leaf.cpp_type == FieldDescriptor.CPPTYPE_BOOL and not _BOOLEANS.keys() >= set(texts):
        yield Fault((name,), Code.INVALID_TYPE, f"{name} is no boolean.", "Send true or false.")


def _json_of(field: FieldDescriptor, text: str) -> JsonValue:
    return _BOOLEANS[text] if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL else text


def _set_from_path(message: Message, variable: FieldPath, value: str) -> None:
    """Sets what the path says. What the body says of the same field has to be the same."""
    holder = message
    for field in variable[:-1]:
        holder = getattr(holder, field.name)
    leaf = variable[-1]
    given = type(holder)()
    read_json(given, {leaf.json_name: _json_of_path(leaf, value)})
    before, new = getattr(holder, leaf.name), getattr(given, leaf.name)
    if before not in (leaf.default_value, new):
        name = dotted_name(variable)
        raise _refused(
            name,
            Code.TOO_MANY,
            f"The path and the body name {name} differently.",
            "Leave it out of the body.",
        )
    setattr(holder, leaf.name, new)


def _json_of_path(field: FieldDescriptor, text: str) -> JsonValue:
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return _BOOLEANS.get(text, text)
    return text


def _refused(path: str, code: Code, message: str, fix: str) -> InvalidRequest:
    return fields.malformed(InvalidRequest, path, code, message, fix)

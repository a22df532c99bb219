"""The paths of the JSON surface, as the HTTP annotations give them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from google.api import annotations_pb2  # pyright: ignore[reportMissingTypeStubs] - it has none
from google.protobuf.descriptor_pb2 import (
    FieldDescriptorProto,
    FileDescriptorProto,
    MethodDescriptorProto,
)
from openapi_comments import Comments, first_sentence
from openapi_files import DOWNLOAD, UPLOAD
from openapi_schemas import PACKAGE, Schema, Schemas
from pydantic import JsonValue

if TYPE_CHECKING:
    from google.api.http_pb2 import HttpRule

_VERBS: Final = ("get", "put", "post", "delete", "patch")
_PARAMETER: Final = re.compile(r"\{([a-z_.]+)\}")
_PROBLEM: Final = "Problem"
_OPEN: Final = frozenset({"RedeemActionToken"})
"""The methods that need no bearer token."""

_ABOUT: Final = (
    "Lets an LLM agent stop in the middle of its turn, ask the person a typed question, and go on "
    "with the validated answer. Times are RFC 3339, bytes are base64, whole numbers of 64 bits are "
    "strings. Unknown keys are refused."
)


@dataclass(frozen=True)
class _Binding:
    """One way to call a method over HTTP. `number` tells those of one method apart."""

    verb: str
    path: str
    body: str
    number: int


def document_of(
    files: Sequence[FileDescriptorProto],
    known: Iterable[FileDescriptorProto],
    comments: Comments,
) -> dict[str, JsonValue]:
    """Returns the OpenAPI document of the services in `files`; `known` holds all that they use."""
    schemas = Schemas(known, comments)
    paths: dict[str, dict[str, JsonValue]] = {}
    tags: list[JsonValue] = []
    for file in files:
        for service in file.service:
            name = f"{file.package}.{service.name}"
            tags.append({"name": service.name, "description": comments.of(name)})
            for method in service.method:
                for binding in _bindings(method):
                    operation = _operation(schemas, comments, name, method, binding)
                    path = _PARAMETER.sub(lambda named: f"{{{_last(named[1])}}}", binding.path)
                    paths.setdefault(path, {})[binding.verb] = operation
    paths["/v1/files:upload"] = {
        "post": {
            **UPLOAD,
            "responses": _responses(
                {"application/json": {"schema": schemas.reference(f"{PACKAGE}UploadFileResponse")}}
            ),
        }
    }
    paths["/v1/files/{file_id}:download"] = {
        "get": {
            **DOWNLOAD,
            "responses": _responses(
                {
                    "*/*": {
                        "schema": {"type": "string", "contentMediaType": "application/octet-stream"}
                    }
                }
            ),
        }
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Parley", "version": "v1", "description": _ABOUT},
        "servers": [{"url": "http://127.0.0.1:8080", "description": "The gateway on one machine."}],
        "security": [{"bearer": []}],
        "tags": tags,
        "paths": {path: paths[path] for path in sorted(paths)},
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            },
            "schemas": {**dict(sorted(schemas.written.items())), _PROBLEM: _problem()},
        },
    }


def _bindings(method: MethodDescriptorProto) -> Iterator[_Binding]:
    rule = method.options.Extensions[annotations_pb2.http]
    rules: list[HttpRule] = [rule, *rule.additional_bindings]
    for number, each in enumerate(rules):
        verb = each.WhichOneof("pattern")
        if verb in _VERBS:
            yield _Binding(verb, getattr(each, verb), each.body, number)


def _operation(
    schemas: Schemas,
    comments: Comments,
    service: str,
    method: MethodDescriptorProto,
    binding: _Binding,
) -> dict[str, JsonValue]:
    comment = comments.of(f"{service}.{method.name}")
    operation: dict[str, JsonValue] = {
        "tags": [service.rpartition(".")[2]],
        "operationId": method.name + (f"_{binding.number}" if binding.number else ""),
        "summary": first_sentence(comment),
        "description": comment,
    }
    if method.name in _OPEN:
        operation["security"] = []
    in_path = _PARAMETER.findall(binding.path)
    parameters: list[JsonValue] = [
        _parameter("path", _last(path), _field_at(schemas, method.input_type, path))
        for path in in_path
    ]
    if binding.body != "*":
        parameters += _query(schemas, method.input_type, {*in_path, binding.body})
    if parameters:
        operation["parameters"] = parameters
    if binding.body:
        operation["requestBody"] = {
            "required": binding.body == "*",
            "content": {"application/json": {"schema": _body(schemas, method, binding, in_path)}},
        }
    reply = schemas.reference(method.output_type)
    media: dict[str, JsonValue] = {"application/json": {"schema": reply}}
    if method.server_streaming:
        media = {
            "text/event-stream": {"schema": {"type": "string"}},
            "application/x-ndjson": {"schema": reply},
        }
        if binding.verb == "get":
            operation["parameters"] = [*parameters, _LAST_EVENT]
    operation["responses"] = _responses(media)
    return operation


_LAST_EVENT: Final[dict[str, JsonValue]] = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "Is the id of the last event received: what came after it is sent. It counts "
    "before `afterSequence`.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,10}$"},
}


def _body(
    schemas: Schemas, method: MethodDescriptorProto, binding: _Binding, in_path: Sequence[str]
) -> Schema:
    if binding.body == "*":
        if not in_path:
            return schemas.reference(method.input_type)
        return schemas.object_of(method.input_type, without=frozenset(in_path))
    field = _named(schemas, method.input_type, binding.body)
    inside = [path.partition(".")[2] for path in in_path if path.startswith(f"{binding.body}.")]
    if inside:
        return schemas.object_of(field.type_name, without=frozenset(inside))
    return schemas.reference(field.type_name)


def _query(schemas: Schemas, type_name: str, elsewhere: set[str]) -> Iterator[JsonValue]:
    for field in schemas.message(type_name).field:
        if field.name not in elsewhere:
            yield _parameter("query", field.json_name, schemas.field(type_name, field))


def _parameter(where: str, name: str, schema: Schema) -> dict[str, JsonValue]:
    parameter: dict[str, JsonValue] = {"name": name, "in": where}
    if where == "path":
        parameter["required"] = True
        schema.pop("readOnly", None)
    if description := schema.pop("description", None):
        parameter["description"] = description
    return {**parameter, "schema": schema}


def _field_at(schemas: Schemas, type_name: str, path: str) -> Schema:
    first, _, rest = path.partition(".")
    field = _named(schemas, type_name, first)
    return _field_at(schemas, field.type_name, rest) if rest else schemas.field(type_name, field)


def _last(path: str) -> str:
    """Returns what a field is called in a path: two names for one place would be two paths."""
    return path.rpartition(".")[2]


def _named(schemas: Schemas, type_name: str, name: str) -> FieldDescriptorProto:
    return next(field for field in schemas.message(type_name).field if field.name == name)


def _responses(media: dict[str, JsonValue]) -> JsonValue:
    problem: JsonValue = {"schema": {"$ref": f"#/components/schemas/{_PROBLEM}"}}
    return {
        "200": {"description": "It is done.", "content": media},
        "default": {
            "description": "It is refused, or it failed.",
            "content": {"application/json": problem},
        },
    }


def _problem() -> Schema:
    """Returns the schema of an error's body (spec turns 8.2)."""
    texts: list[JsonValue] = ["path", "code", "message", "fix"]
    return {
        "type": "object",
        "description": "Why a call failed. The reason stands in the detail `ErrorInfo`.",
        "properties": {
            "code": {"type": "integer", "description": "Is the number of the gRPC status."},
            "status": {"type": "string", "description": "Is the name of the gRPC status."},
            "message": {"type": "string", "description": "Is a sentence for the developer."},
            "title": {"type": "string", "description": "Is the fault in a few words."},
            "fields": {
                "type": "array",
                "description": "Lists the faults of single fields, by path, then code.",
                "items": {
                    "type": "object",
                    "properties": {str(text): {"type": "string"} for text in texts},
                    "required": texts,
                },
            },
            "details": {
                "type": "array",
                "description": "Holds messages, each with its type under `@type`.",
                "items": {
                    "type": "object",
                    "properties": {"@type": {"type": "string"}},
                    "required": ["@type"],
                },
            },
        },
        "required": ["code", "status", "message", "details"],
    }

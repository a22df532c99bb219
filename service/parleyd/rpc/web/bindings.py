"""How our methods are called over HTTP: the `google.api.http` annotations of the protos.

A path is literal words and variables, each a whole segment, as in
`/v1/conversations/{conversation_id}/turns/{turn_id}:watch`. The colon belongs to the path alone: in
a value it is written `%3A`, so that a verb is never taken for a part of an id.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from google.api.annotations_pb2 import http
from google.api.http_pb2 import HttpRule
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from parleyd.rpc.web.json_names import FieldPath, field_path

WHOLE: Final = "*"
"""The body of a binding whose body is the whole request."""

_VARIABLE: Final = re.compile(r"\{([A-Za-z0-9_.]+)\}")
_LITERAL: Final = re.compile(r"[A-Za-z0-9_.~:/-]*")


class Template:
    """A path with variables.

    Raises:
        ValueError: It is written in a way that is not known here.
    """

    def __init__(self, text: str) -> None:
        literals = _VARIABLE.split(text)
        self.text = text
        self.shape = "{}".join(literals[::2])
        """Is the same for all paths that take the same requests."""
        self.variables = tuple(literals[1::2])
        if not all(_LITERAL.fullmatch(literal) for literal in literals[::2]):
            raise ValueError(f"the path {text!r} has more than words and {{variables}}")
        self._pattern = re.compile("([^/:]+)".join(map(re.escape, literals[::2])))

    def values(self, path: str) -> tuple[str, ...] | None:
        """Returns the variables' values in a path as it was sent, decoded; None for another path.

        Bytes that are no UTF-8 become U+FFFD.
        """
        found = self._pattern.fullmatch(path)
        return tuple(map(unquote, found.groups())) if found else None


@dataclass(frozen=True)
class Binding:
    """One way in which a method is called over HTTP.

    `body` is `*`, the name of the field that the body holds, or empty. `variables` are the fields
    that the path's variables set, in their order.
    """

    verb: str
    template: Template
    body: str
    method: MethodDescriptor
    request: type[Message]
    response: type[Message]
    variables: tuple[FieldPath, ...]

    @property
    def method_path(self) -> str:
        """Returns the path under which gRPC knows the method."""
        return f"/{self.method.containing_service.full_name}/{self.method.name}"


def bindings_of(services: Iterable[str]) -> Iterator[Binding]:
    """Yields the bindings of all annotated methods of the services with these full names.

    Raises:
        ValueError: An annotation that can't be served.
    """
    for name in services:
        service = descriptor_pool.Default().FindServiceByName(name)
        for method in service.methods:
            options = method.GetOptions()
            if options.HasExtension(http):
                rule = options.Extensions[http]
                for each in (rule, *rule.additional_bindings):
                    yield _binding(method, each)


def _binding(method: MethodDescriptor, rule: HttpRule) -> Binding:
    if method.client_streaming:
        raise ValueError(f"{method.full_name} takes a stream, which no HTTP request is")
    if rule.response_body:
        raise ValueError(f"{method.full_name} has a response_body, which is not served")
    verb, text = _verb_and_path(method, rule)
    template = Template(text)
    return Binding(
        verb=verb,
        template=template,
        body=_known_body(method.input_type, rule.body),
        method=method,
        request=GetMessageClass(method.input_type),
        response=GetMessageClass(method.output_type),
        variables=tuple(_variable(method.input_type, name) for name in template.variables),
    )


def _verb_and_path(method: MethodDescriptor, rule: HttpRule) -> tuple[str, str]:
    match rule.WhichOneof("pattern"):
        case None:
            raise ValueError(f"{method.full_name} is annotated without a path")
        case "custom":
            raise ValueError(f"{method.full_name} has a verb of its own, which is not served")
        case verb:
            return verb.upper(), getattr(rule, verb)


def _known_body(request: Descriptor, body: str) -> str:
    if body and body != WHOLE:
        field = request.fields_by_name.get(body)
        if field is None or field.message_type is None or field.is_repeated:
            raise ValueError(f"{request.full_name} has no message {body!r} to be a body")
    return body


def _variable(request: Descriptor, name: str) -> FieldPath:
    found = field_path(request, name.split("."))
    if found is None or found[-1].message_type or any(field.is_repeated for field in found):
        raise ValueError(f"{request.full_name} has no single value at {name!r}")
    return found

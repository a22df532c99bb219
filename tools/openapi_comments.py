"""The comments of protos, by the full names of what they stand above."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
)

_Path: TypeAlias = tuple[int, ...]
# The numbers of the fields of descriptor.proto, of which the paths of comments are made.
_MESSAGES, _ENUMS, _SERVICES = 4, 5, 6
_FIELDS, _NESTED, _NESTED_ENUMS, _ONEOFS = 2, 3, 4, 8
_VALUES, _METHODS = 2, 2


class Comments:
    """Finds comments, each as one text whose paragraphs have an empty line between them."""

    def __init__(self, files: Iterable[FileDescriptorProto]) -> None:
        self._texts: dict[str, str] = {}
        for file in files:
            found = {
                tuple(place.path): _text(place.leading_comments)
                for place in file.source_code_info.location
                if place.leading_comments
            }
            for path, name in _named(file):
                if path in found:
                    self._texts[name] = found[path]

    def of(self, full_name: str) -> str:
        """Returns the comment above an element; empty where there is none."""
        return self._texts.get(full_name, "")


def _text(comment: str) -> str:
    paragraphs = comment.strip().split("\n\n")
    return "\n\n".join(" ".join(line.strip() for line in one.splitlines()) for one in paragraphs)


def _named(file: FileDescriptorProto) -> Iterator[tuple[_Path, str]]:
    for at, message in enumerate(file.message_type):
        yield from _in_message(message, (_MESSAGES, at), file.package)
    for at, enum in enumerate(file.enum_type):
        yield from _in_enum(enum, (_ENUMS, at), file.package)
    for at, service in enumerate(file.service):
        yield from _in_service(service, (_SERVICES, at), file.package)


def _in_message(message: DescriptorProto, path: _Path, scope: str) -> Iterator[tuple[_Path, str]]:
    name = f"{scope}.{message.name}"
    yield path, name
    for at, field in enumerate(message.field):
        yield (*path, _FIELDS, at), f"{name}.{field.name}"
    for at, oneof in enumerate(message.oneof_decl):
        yield (*path, _ONEOFS, at), f"{name}.{oneof.name}"
    for at, nested in enumerate(message.nested_type):
        yield from _in_message(nested, (*path, _NESTED, at), name)
    for at, enum in enumerate(message.enum_type):
        yield from _in_enum(enum, (*path, _NESTED_ENUMS, at), name)


def _in_enum(enum: EnumDescriptorProto, path: _Path, scope: str) -> Iterator[tuple[_Path, str]]:
    name = f"{scope}.{enum.name}"
    yield path, name
    for at, value in enumerate(enum.value):
        yield (*path, _VALUES, at), f"{name}.{value.name}"


def _in_service(
    service: ServiceDescriptorProto, path: _Path, scope: str
) -> Iterator[tuple[_Path, str]]:
    name = f"{scope}.{service.name}"
    yield path, name
    for at, method in enumerate(service.method):
        yield (*path, _METHODS, at), f"{name}.{method.name}"


def first_sentence(text: str) -> str:
    """Returns the first sentence of a comment, without its full stop."""
    words: Sequence[str] = text.split()
    for at, word in enumerate(words):
        if word.endswith(".") and not word.endswith(("e.g.", "i.e.")):
            return " ".join(words[: at + 1]).rstrip(".")
    return text

"""What can be said of the Swift client without a compiler: its names are those of the protos."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.descriptor_pool import Default
from google.rpc.error_details_pb2 import ErrorInfo

from parleyd.rpc.server import SERVICES

REPOSITORY = Path(__file__).parents[2]
SOURCES = REPOSITORY / "clients" / "swift" / "Sources" / "Parley"
PAGE = REPOSITORY / "docs" / "how-to" / "call-from-swift.md"

CODE = "\n".join(
    [
        *(source.read_text(encoding="utf-8") for source in SOURCES.glob("*.swift")),
        *re.findall(r"```swift\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL),
    ]
)
WORDS = {"Id": "ID", "Url": "URL", "Http": "HTTP", "Https": "HTTPS"}


def swift_name(name: str) -> str:
    """Returns the name of a field in Swift, as its generator makes it."""
    first, *others = name.split("_")
    words = [WORDS.get(word.capitalize(), word.capitalize()) for word in others]
    return "".join([first, *words])


def messages(types: Sequence[Descriptor | EnumDescriptor]) -> Iterator[Descriptor]:
    for each in types:
        if isinstance(each, Descriptor):
            yield each
            yield from messages(each.nested_types)


def known_messages() -> list[Descriptor]:
    files = {Default().FindServiceByName(service).file for service in SERVICES}
    for file in list(files):
        files.update(each for each in file.dependencies if each.package == "parley.v1")
    files.add(ErrorInfo.DESCRIPTOR.file)
    return [
        found for file in files for found in messages(list(file.message_types_by_name.values()))
    ]


def test_every_type_is_a_message_or_a_service() -> None:
    known = {
        "_".join(word.capitalize() for word in each.file.package.split(".")) + f"_{each.name}"
        for each in known_messages()
    }
    known |= {f"Parley_V1_{service.rpartition('.')[2]}Client" for service in SERVICES}
    used = set(re.findall(r"\b(?:Parley_V1|Google_Rpc)_\w+", CODE))
    assert len(used) > 15
    assert used - known == set()


def test_every_service_has_a_client() -> None:
    for service in SERVICES:
        assert f"Parley_V1_{service.rpartition('.')[2]}Client(client: calls)" in CODE


def test_every_call_is_a_method() -> None:
    methods = {
        method.name[0].lower() + method.name[1:]
        for service in SERVICES
        for method in Default().FindServiceByName(service).methods
    }
    used = set(re.findall(r"\b(?:turns|streams)\.(\w+)\(", CODE))
    assert used == {"turn", "streamTurn", "watchTurn", "listPendingAsks"}
    assert used <= methods


def test_every_field_is_one_of_its_message() -> None:
    fields = {swift_name(field.name) for message in known_messages() for field in message.fields}
    of_messages = (
        r"\b(?:ask|event|started|request|input|response|watch\??|button|preview|said)\.(\w+)"
    )
    used = set(re.findall(of_messages, CODE))
    others = {
        "event",  # the oneof of an event
        "hasEvent",  # whether the message is set
        "headers",  # of an HTTP request, as the others
        "url",
        "message",
        "method",
        "trailers",
        "idempotencyLevel",
        "isEmpty",
    }
    assert len(used) > 15
    assert used - fields - others == set()

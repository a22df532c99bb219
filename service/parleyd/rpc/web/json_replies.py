"""Messages as JSON, and the answers that hold it."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from starlette.responses import Response

JSON: Final = "application/json"
"""The content type of all that is no stream and no file."""

HEADERS: Final[Mapping[str, str]] = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
}
"""What all answers with somebody's data say: nobody keeps them, or guesses what they are."""


def json_of(message: Message) -> str:
    """Returns a message as proto3 JSON on one line.

    Fields that can't be unset are there with their defaults, so that an empty list is one.
    """
    return MessageToJson(
        message, indent=None, ensure_ascii=False, always_print_fields_with_no_presence=True
    )


def json_response(
    text: str,
    status: int = HTTPStatus.OK,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Response:
    """Returns the answer that holds this JSON."""
    return Response(text.encode(), status, {**HEADERS, **headers}, JSON)

"""What the gateway says where no service was asked: errors of the shape that ours have.

A call of gRPC or gRPC-Web gets the words as its message; Envoy itself makes the status of it. A
Connect client gets Connect's shape, everybody else that of spec turns 8.2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from google.rpc.code_pb2 import Code
from pydantic import JsonValue

from parleyd.rpc.web.problems import NOTHING_HERE, TOO_LARGE, phrase_of


@dataclass(frozen=True)
class OwnReply:
    """An HTTP status that Envoy itself gives, the code that it stands for, and the words."""

    status: int
    code: "Code.ValueType"
    message: str


OWN_REPLIES: Final = (
    OwnReply(
        400,
        Code.INVALID_ARGUMENT,
        "The request can't be read: its line, its path or a header is malformed.",
    ),
    OwnReply(404, Code.NOT_FOUND, NOTHING_HERE),
    OwnReply(408, Code.DEADLINE_EXCEEDED, "The request took too long to come in; send it again."),
    OwnReply(413, Code.RESOURCE_EXHAUSTED, TOO_LARGE),
    OwnReply(426, Code.INVALID_ARGUMENT, "This HTTP is not spoken here; use HTTP/1.1 or HTTP/2."),
    OwnReply(431, Code.INVALID_ARGUMENT, "The headers of the request are too large."),
    OwnReply(502, Code.UNAVAILABLE, "The service gave no answer that can be read; try again."),
    OwnReply(503, Code.UNAVAILABLE, "The service can't be reached; try again."),
    OwnReply(504, Code.DEADLINE_EXCEEDED, "The service did not answer in time."),
)
"""What Envoy says on its own, by its HTTP status."""

_OTHER_FAULTS: Final = OwnReply(
    500, Code.INTERNAL, "Something went wrong between the gateway and the service."
)
_OTHER_REFUSALS: Final = OwnReply(
    400, Code.INVALID_ARGUMENT, "The request can't be served in this form."
)


def mappers(connect_prefix: str) -> list[JsonValue]:
    """Returns Envoy's rules for its own replies; of those that fit one the first counts.

    The paths that Connect clients call begin with `connect_prefix`.
    """
    return [
        *_rules(_as_message, _begins("content-type", "application/grpc")),
        *_rules(_as_connect, _begins(":path", connect_prefix)),
        *_rules(_as_json),
    ]


def _rules(spelled: Callable[[OwnReply], JsonValue], *filters: JsonValue) -> list[JsonValue]:
    return [
        *(_rule("EQ", reply, spelled, filters) for reply in OWN_REPLIES),
        _rule("GE", _OTHER_FAULTS, spelled, filters),
        _rule("GE", _OTHER_REFUSALS, spelled, filters),
    ]


def _rule(
    comparison: str,
    reply: OwnReply,
    spelled: Callable[[OwnReply], JsonValue],
    filters: tuple[JsonValue, ...],
) -> JsonValue:
    status: JsonValue = {
        "status_code_filter": {
            "comparison": {
                "op": comparison,
                # Envoy wants the name of a variable that could change the number; there is none.
                "value": {"default_value": reply.status, "runtime_key": "none"},
            }
        }
    }
    if filters:
        status = {"and_filter": {"filters": [status, *filters]}}
    return {"filter": status, "body_format_override": spelled(reply)}


def _begins(header: str, prefix: str) -> JsonValue:
    return {
        "header_filter": {"header": {"name": header, "string_match": {"prefix": prefix}}},
    }


def _as_message(reply: OwnReply) -> JsonValue:
    return {"text_format_source": {"inline_string": reply.message}}


def _as_connect(reply: OwnReply) -> JsonValue:
    return {"json_format": {"code": Code.Name(reply.code).lower(), "message": reply.message}}


def _as_json(reply: OwnReply) -> JsonValue:
    return {
        "json_format": {
            "code": reply.code,
            "status": Code.Name(reply.code),
            "message": reply.message,
            "details": [],
            "title": phrase_of(reply.status),
            "fields": [],
        }
    }

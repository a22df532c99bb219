"""The kinds of ask on the wire."""

from typing import assert_never

from parley.v1 import asks_pb2
from parleyd.contract.asks.kind import AskKind


def kind_to_proto(kind: AskKind) -> asks_pb2.AskKind.ValueType:
    """Returns the enum value of a kind."""
    match kind:
        case "choice":
            return asks_pb2.ASK_KIND_CHOICE
        case "confirm":
            return asks_pb2.ASK_KIND_CONFIRM
        case "markdown":
            return asks_pb2.ASK_KIND_MARKDOWN
        case "form":
            return asks_pb2.ASK_KIND_FORM
        case "files":
            return asks_pb2.ASK_KIND_FILES
        case _:
            assert_never(kind)

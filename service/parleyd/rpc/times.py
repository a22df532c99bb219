"""Moments and spans of time on the wire."""

from datetime import datetime

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from parleyd.contract.errors import InvalidRequest
from parleyd.contract.field_errors import Code
from parleyd.rpc import fields


def time_to_proto(moment: datetime) -> Timestamp:
    """Returns an aware moment as a timestamp."""
    timestamp = Timestamp()
    timestamp.FromDatetime(moment)
    return timestamp


def moment_to_proto(moment: datetime | None) -> Timestamp | None:
    """Returns a moment that may be none."""
    return time_to_proto(moment) if moment else None


def seconds_from_proto(path: str, sent: Duration, *, least: float, most: float) -> float:
    """Returns a span of time of a request in seconds.

    Raises:
        InvalidRequest: It is none, or not within the bounds.
    """
    seconds = sent.seconds + sent.nanos / 1e9
    valid = -1_000_000_000 < sent.nanos < 1_000_000_000 and sent.seconds * sent.nanos >= 0
    if valid and least <= seconds <= most:
        return seconds
    raise fields.malformed(
        InvalidRequest,
        path,
        Code.OUT_OF_RANGE,
        f"{path} is {seconds:g} s, which is not from {least:g} to {most:g} s.",
        "Send a time within these bounds, or leave it out.",
    )

"""Moments on the wire."""

from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp


def time_to_proto(moment: datetime) -> Timestamp:
    """Returns an aware moment as a timestamp."""
    timestamp = Timestamp()
    timestamp.FromDatetime(moment)
    return timestamp

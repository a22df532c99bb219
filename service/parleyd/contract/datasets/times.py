"""Dates of ISO 8601 as moments, and the beginnings of the times they are in (spec blocks 21.4)."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from parleyd.contract.datasets.dataset import Grain

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_MONTH: Final = re.compile("[0-9]{4}-[0-9]{2}")
_FORM: Final = re.compile(
    "(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}|[0-9]{4}-W[0-9]{2}(?:-[0-9])?|[0-9]{4}W[0-9]{2}[0-9]?)"
    "(?:T[0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2}(?:[.,][0-9]+)?)?)?"
    "(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
"""What Python reads and ISO 8601 has: Python alone takes a space for the T, and more."""


def is_time(text: str) -> bool:
    """Tells whether a text is a date, or a date and time, of ISO 8601."""
    return moment(text) is not None


def moment(text: str) -> datetime | None:
    """Returns the moment that a text of ISO 8601 names, in UTC; None where it names none.

    A date is its beginning, a month its first day; without a zone a time is of UTC. What is finer
    than microseconds is cut off.
    """
    if _MONTH.fullmatch(text):
        text = f"{text}-01"
    elif not _FORM.fullmatch(text):
        return None
    try:
        read = datetime.fromisoformat(text)
        return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def milliseconds(at: datetime) -> int:
    """Returns how many whole milliseconds a moment is after the beginning of 1970."""
    return (at - _EPOCH) // _MILLISECOND


def beginning(at: datetime, grain: Grain) -> datetime:
    """Returns when the hour, day, week or month of a moment begins, in UTC; weeks on Monday."""
    hour = at.replace(minute=0, second=0, microsecond=0)
    match grain:
        case "hour":
            return hour
        case "day":
            return hour.replace(hour=0)
        case "week":
            return hour.replace(hour=0) - timedelta(days=at.weekday())
        case "month":
            return hour.replace(hour=0, day=1)


def written(at: datetime) -> str:
    """Returns a moment in UTC as a key of a bucket."""
    return at.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"

"""Places in lists: what a page token names, read back with care."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, TypeVar
from uuid import UUID

from parleyd.contract import limits
from parleyd.contract.pages import Page, PageRequest, bad_page_token, page_token

Item = TypeVar("Item")

_NUMBER: Final = re.compile(r"[0-9]{1,10}", re.ASCII)
_INTEGER_MAX: Final = 2**31 - 1


def page_of(
    found: Sequence[Item],
    page: PageRequest,
    place: Callable[[Item], tuple[str, ...]],
    weight: Callable[[Item], int] | None = None,
) -> Page[Item]:
    """Returns a page of `found`, which holds one item more than the page where another follows.

    With `weight`, about the bytes of an item, the page ends before it is too large to be received:
    clients take 4 MiB unless they ask for more.
    """
    items = tuple(found[: page.size])
    if weight:
        items = items[: _count_within(items, weight)]
    more = len(found) > len(items)
    return Page(items=items, next_token=page_token(place(items[-1])) if more else "")


def _count_within(items: Sequence[Item], weight: Callable[[Item], int]) -> int:
    """Returns how many items make a page: one at least, however large it is."""
    total = 0
    for count, item in enumerate(items):
        total += weight(item)
        if count and total > limits.PAGE_BYTES:
            return count
    return len(items)


def place_in_time(time: datetime, key: UUID) -> tuple[str, str]:
    """Returns the place of a row in a list that is ordered by time and id."""
    return time.isoformat(), str(key)


def read_place_in_time(place: tuple[str, ...]) -> tuple[datetime, UUID]:
    """Returns what `place_in_time` named.

    Raises:
        InvalidRequest: It named nothing such.
    """
    try:
        text, key = place
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            raise bad_page_token()
        return time.astimezone(UTC), UUID(key)
    except (ValueError, OverflowError) as error:
        raise bad_page_token() from error


def read_numbers(place: tuple[str, ...]) -> tuple[int, int]:
    """Returns a place that is named by two numbers.

    Raises:
        InvalidRequest: They are no numbers of a row.
    """
    if len(place) != 2 or not all(_NUMBER.fullmatch(part) for part in place):
        raise bad_page_token()
    first, second = int(place[0]), int(place[1])
    if max(first, second) > _INTEGER_MAX:
        raise bad_page_token()
    return first, second

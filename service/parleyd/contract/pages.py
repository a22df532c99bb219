"""Pages of long lists: how large, and where the next one starts."""

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Generic, TypeVar

from parleyd.contract.errors import InvalidRequest
from parleyd.contract.field_errors import Code, FieldError
from parleyd.contract.value import Value

Item = TypeVar("Item")


class Page(Value, Generic[Item]):
    """One page of a list; `next_token` is empty at the end."""

    items: tuple[Item, ...]
    next_token: str = ""


class PageRequest(Value):
    """A page to read: `size` items after the place that `after` names (none: from the start)."""

    size: int
    after: tuple[str, ...] | None = None


def page_request(size: int, token: str, *, default: int, most: int, parts: int) -> PageRequest:
    """Returns the page that a client asks for: 0 means the default size, `most` is the largest.

    `parts` is how many strings name a place in this list.

    Raises:
        InvalidRequest: A negative size, or a token that this list did not give.
    """
    if size < 0:
        raise InvalidRequest(
            f"The page size {size} is negative.",
            [
                FieldError(
                    path="pageSize",
                    code=Code.RANGE_INVALID,
                    message=f"pageSize is {size}.",
                    fix="Send a page size of 0 (the default) or more.",
                )
            ],
        )
    return PageRequest(
        size=min(size, most) or default, after=_read_token(token, parts) if token else None
    )


def page_token(place: Sequence[str]) -> str:
    """Returns the opaque token of a place in a list."""
    return base64.urlsafe_b64encode(json.dumps(list(place)).encode()).decode().rstrip("=")


def _read_token(token: str, parts: int) -> tuple[str, ...]:
    try:
        text = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        place = json.loads(text)
    except (binascii.Error, ValueError) as error:
        raise bad_page_token() from error
    match place:
        case [*pieces] if len(pieces) == parts and all(isinstance(piece, str) for piece in pieces):
            return tuple(pieces)
        case _:
            raise bad_page_token()


def bad_page_token() -> InvalidRequest:
    """Returns the fault of a page token that this list did not give."""
    return InvalidRequest(
        "The page token is none that this list gave.",
        [
            FieldError(
                path="pageToken",
                code=Code.INVALID_FORMAT,
                message="pageToken is none that this list gave.",
                fix="Send next_page_token of the page before, or nothing for the first page.",
            )
        ],
    )

"""Base64 data URLs: the bytes of a file as text (spec asks FI4). Nothing else of RFC 2397.

A data URL may hold many megabytes, so its payload is read in one pass and copied only to decode it.
"""

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Final

from parleyd.contract.text import trim

_SCHEME: Final = "data:"
_ENCODING: Final = "base64"
_NONE: Final = "This is no base64 data URL."
_PAYLOAD = re.compile("[A-Za-z0-9+/]*+={0,2}+")
"""Takes what it can and gives nothing back: a long payload with a fault at its end is quick too."""


@dataclass(frozen=True)
class DataUrl:
    """What a base64 data URL says of its bytes before they are decoded.

    `media_type` is in lower case, without parameters; `size` counts the decoded bytes.
    """

    media_type: str
    size: int


def is_data_url(url: str) -> bool:
    """Tells whether `url` is a base64 data URL in every detail of FI4."""
    header = _header(url)
    if header is None:
        return False
    _, start = header
    return (len(url) - start) % 4 == 0 and _PAYLOAD.fullmatch(url, start) is not None


def read_data_url(url: str) -> DataUrl:
    """Returns what a base64 data URL says; it doesn't look at the payload again.

    Raises:
        ValueError: The beginning of `url` is that of no base64 data URL.
    """
    media_type, start = _required_header(url)
    signs = url.count("=", max(start, len(url) - 2))
    return DataUrl(media_type, (len(url) - start) // 4 * 3 - signs)


def data_url_bytes(url: str) -> bytes:
    """Returns the decoded bytes of a base64 data URL.

    Raises:
        ValueError: `url` is no base64 data URL.
    """
    if not is_data_url(url):
        raise ValueError(_NONE)
    return checked_url_bytes(url)


def checked_url_bytes(url: str) -> bytes:
    """Returns the decoded bytes of what `is_data_url` has taken, without another look at it.

    Raises:
        ValueError: The beginning of `url` is that of no base64 data URL.
    """
    _, start = _required_header(url)
    return binascii.a2b_base64(url[start:])


def to_data_url(media_type: str, data: bytes) -> str:
    """Returns the data URL that holds `data`, which is how bytes of the wire are checked (W3)."""
    return f"{_SCHEME}{media_type};{_ENCODING},{base64.b64encode(data).decode('ascii')}"


def _required_header(url: str) -> tuple[str, int]:
    header = _header(url)
    if header is None:
        raise ValueError(_NONE)
    return header


def _header(url: str) -> tuple[str, int] | None:
    """Returns the media type, and where the payload starts.

    The pieces between the media type and the encoding may be any, and many: nobody splits them.
    """
    comma = url.find(",")
    if not url.startswith(_SCHEME) or comma < 0:
        return None
    first = url.find(";", 0, comma)
    last = url.rfind(";", 0, comma)
    if first < 0 or comma - last - 1 != len(_ENCODING):
        return None
    media_type = trim(url[len(_SCHEME) : first]).lower()
    if not media_type or url[last + 1 : comma].lower() != _ENCODING:
        return None
    return media_type, comma + 1

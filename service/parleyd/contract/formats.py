"""Forms that a string can have: dates, times, addresses (spec asks FO6).

Each is matched as a whole, against ASCII digits and letters alone, and in time that grows with the
string's length and no faster.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from parleyd.contract import limits
from parleyd.contract.text import WHITESPACE, trim

_DATE_PATTERN = "([0-9]{4})-([0-9]{2})-([0-9]{2})"
_TIME_PATTERN = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"

_DATE = re.compile(_DATE_PATTERN)
_TIME = re.compile(_TIME_PATTERN)
_DATETIME = re.compile(
    rf"{_DATE_PATTERN}T{_TIME_PATTERN}(?::[0-5][0-9](?:\.[0-9]++)?)?(?:Z|[+-]{_TIME_PATTERN})"
)

_ATOM = re.compile("[A-Za-z0-9_'+-]++")
_LABEL = re.compile("[A-Za-z0-9][A-Za-z0-9-]*+")
_LAST_LABEL = re.compile("[A-Za-z]{2,}+")

_SCHEME = re.compile("https?://", re.ASCII | re.IGNORECASE)
_AUTHORITY_END = re.compile(r"[/?#\\]")
_DIGITS = re.compile("[0-9]*+")
_DIGITS_AND_DOTS = re.compile("[0-9.]++")
_NOT_IN_HOST = re.compile(rf"[\x00-\x1f\x7f-\x9f<>^|%\[\]{WHITESPACE}]")
_PORT_MAX = 65_535

_PHONE = re.compile("[+]?[0-9 ().-]*+")
_DIGIT = re.compile("[0-9]")


def is_date(text: str) -> bool:
    """Tells whether `text` is a day of the Gregorian calendar, 0001-01-01 to 9999-12-31."""
    written = _DATE.fullmatch(text)
    return written is not None and _is_day(written)


def is_time(text: str) -> bool:
    """Tells whether `text` is a time of day from 00:00 to 23:59, without seconds and zone."""
    return _TIME.fullmatch(text) is not None


def is_datetime(text: str) -> bool:
    """Tells whether `text` is a date and a time with `Z` or an offset, maybe with seconds.

    The offset has hours from 00 to 23; `-00:00` is one.
    """
    written = _DATETIME.fullmatch(text)
    return written is not None and _is_day(written)


def is_email(text: str) -> bool:
    """Tells whether `text` is an email address without display name, quotes or comments.

    The domain has two labels at least.
    """
    local, _, domain = text.partition("@")
    *labels, last = domain.split(".")
    return (
        all(_ATOM.fullmatch(atom) for atom in local.split("."))
        and not local.endswith("'")
        and bool(labels)
        and all(_LABEL.fullmatch(label) for label in labels)
        and _LAST_LABEL.fullmatch(last) is not None
    )


def is_url(text: str) -> bool:
    r"""Tells whether `text` is a web address, white space around it aside.

    What stands before the host is up to the last `@` before the first `/`, `?`, `#` or `\`; what
    comes after that may be anything. As in RFC 3986 3.2.3 a colon may stand without a port.
    """
    url = trim(text)
    scheme = _SCHEME.match(url)
    if scheme is None:
        return False
    end = _AUTHORITY_END.search(url, scheme.end())
    authority = url[scheme.end() : end.start() if end else len(url)]
    place = authority.rpartition("@")[2]
    if place.startswith("["):
        address, bracket, rest = place[1:].partition("]")
        return bool(bracket) and _is_ipv6(address) and (not rest or _is_port(rest))
    host, colon, _ = place.partition(":")
    return _is_host(host) and (not colon or _is_port(place[len(host) :]))


def is_phone(text: str) -> bool:
    """Tells whether `text` is a phone number: digits within limits, `+` only at the very start."""
    digits = len(_DIGIT.findall(text))
    return (
        limits.PHONE_DIGITS_MIN <= digits <= limits.PHONE_DIGITS_MAX
        and _PHONE.fullmatch(text) is not None
    )


def _is_day(written: re.Match[str]) -> bool:
    year, month, day = written.groups()
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def _is_host(host: str) -> bool:
    if _DIGITS_AND_DOTS.fullmatch(host):
        try:
            IPv4Address(host)
        except AddressValueError:
            return False
        return True
    return bool(host) and not _NOT_IN_HOST.search(host)


def _is_ipv6(address: str) -> bool:
    """Tells whether `address` is one of IP version 6, without a zone (what stands after `%`)."""
    try:
        return IPv6Address(address).scope_id is None
    except AddressValueError:
        return False


def _is_port(text: str) -> bool:
    """Tells whether `text` is a colon and a port, leading zeros allowed."""
    digits = text[1:].lstrip("0")
    return (
        text.startswith(":")
        and _DIGITS.fullmatch(digits) is not None
        and len(digits) <= len(str(_PORT_MAX))
        and int(digits or "0") <= _PORT_MAX
    )


@dataclass(frozen=True)
class Format:
    """A form that a string can have.

    `noun` says what such a string is, as an error's text puts it after "as"; `example` is one.
    """

    noun: str
    example: str
    fits: Callable[[str], bool]


EMAIL: Final = Format("an email address", "ines@example.org", is_email)
URL: Final = Format("an http or https address", "https://example.org/menu", is_url)
PHONE: Final = Format(
    f"a phone number of {limits.PHONE_DIGITS_MIN} to {limits.PHONE_DIGITS_MAX} digits",
    "+351 21 555 0100",
    is_phone,
)
DATE: Final = Format("a real day written YYYY-MM-DD", "2027-06-30", is_date)
TIME: Final = Format("a time of day written HH:mm", "18:30", is_time)
DATETIME: Final = Format(
    "a real day and time with Z or an offset", "2027-06-30T18:30+01:00", is_datetime
)

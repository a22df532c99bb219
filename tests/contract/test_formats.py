"""Forms that a string can have (spec asks FO6)."""

from collections.abc import Callable

import pytest

from parleyd.contract.formats import (
    DATE,
    DATETIME,
    EMAIL,
    PHONE,
    TIME,
    URL,
    Format,
    is_date,
    is_datetime,
    is_email,
    is_phone,
    is_time,
    is_url,
)
from parleyd.contract.text import WHITESPACE

Fits = Callable[[str], bool]


@pytest.mark.parametrize("due", [DATE, TIME, DATETIME, EMAIL, URL, PHONE], ids=lambda d: d.noun)
def test_an_example_fits_its_format(due: Format) -> None:
    assert due.fits(due.example)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2027-06-30", id="a day"),
        pytest.param("2000-02-29", id="a leap year by 400"),
        pytest.param("2024-02-29", id="a leap year by 4"),
        pytest.param("0001-01-01", id="the first day"),
        pytest.param("9999-12-31", id="the last day"),
        pytest.param("1582-10-10", id="before the calendar was in use"),
    ],
)
def test_a_date(text: str) -> None:
    assert is_date(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2026-02-30", id="no such day"),
        pytest.param("2026-02-29", id="no leap year"),
        pytest.param("1900-02-29", id="no leap year by 100"),
        pytest.param("2027-04-31", id="a month of thirty days"),
        pytest.param("0000-01-01", id="no such year"),
        pytest.param("2027-00-10", id="month zero"),
        pytest.param("2027-13-10", id="month thirteen"),
        pytest.param("2027-01-00", id="day zero"),
        pytest.param("2027-6-30", id="one digit of a month"),
        pytest.param("2027-06-3", id="one digit of a day"),
        pytest.param("27-06-30", id="two digits of a year"),
        pytest.param("12027-06-30", id="five digits of a year"),
        pytest.param("20270630", id="no dashes"),
        pytest.param("2027-W26-3", id="a week"),
        pytest.param("2027-181", id="a day of the year"),
        pytest.param("2027/06/30", id="slashes"),
        pytest.param("30-06-2027", id="the other way round"),
        pytest.param("2027-06-30T10:00Z", id="a time too"),
        pytest.param("2027-06-30\n", id="a newline at the end"),
        pytest.param(" 2027-06-30", id="a space before"),
        pytest.param("2027-06-30 ", id="a space behind"),
        pytest.param("２０２７-06-30", id="full-width digits"),
        pytest.param("2027-06-3٠", id="an Arabic digit"),
        pytest.param("-2027-06-30", id="a sign"),
        pytest.param("2027‐06‐30", id="typographic hyphens"),
        pytest.param("", id="nothing"),
    ],
)
def test_no_date(text: str) -> None:
    assert not is_date(text)


@pytest.mark.parametrize("text", ["00:00", "09:05", "19:59", "20:00", "23:59"])
def test_a_time(text: str) -> None:
    assert is_time(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("24:00", id="the end of the day"),
        pytest.param("25:00", id="no such hour"),
        pytest.param("30:00", id="no such tens of hours"),
        pytest.param("12:60", id="no such minute"),
        pytest.param("9:05", id="one digit of an hour"),
        pytest.param("09:5", id="one digit of a minute"),
        pytest.param("09:05:00", id="seconds"),
        pytest.param("09:05Z", id="a zone"),
        pytest.param("09.05", id="a dot"),
        pytest.param("0905", id="no colon"),
        pytest.param("09:05\n", id="a newline at the end"),
        pytest.param(" 09:05", id="a space before"),
        pytest.param("０9:05", id="a full-width digit"),
        pytest.param("9:05 PM", id="half a day"),
        pytest.param("", id="nothing"),
    ],
)
def test_no_time(text: str) -> None:
    assert not is_time(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2027-06-30T10:00Z", id="no seconds"),
        pytest.param("2027-06-30T10:00:59Z", id="seconds"),
        pytest.param("2027-06-30T10:00:00.5Z", id="a fraction"),
        pytest.param(f"2027-06-30T10:00:00.{'7' * 100}Z", id="a long fraction"),
        pytest.param("2027-06-30T00:00+00:00", id="an offset of nothing"),
        pytest.param("2027-06-30T10:00-00:00", id="an offset of less than nothing"),
        pytest.param("2027-06-30T10:00+23:59", id="the greatest offset"),
        pytest.param("2027-06-30T10:00:00.123-11:30", id="everything"),
        pytest.param("2024-02-29T23:59Z", id="a leap day"),
    ],
)
def test_a_datetime(text: str) -> None:
    assert is_datetime(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2027-06-30T10:00", id="no offset"),
        pytest.param("2027-06-30T10:00:00", id="no offset after seconds"),
        pytest.param("2027-06-30", id="no time"),
        pytest.param("2027-06-30t10:00Z", id="a small t"),
        pytest.param("2027-06-30T10:00z", id="a small z"),
        pytest.param("2027-06-30 10:00Z", id="a space for the T"),
        pytest.param("2027-06-30T24:00Z", id="the end of the day"),
        pytest.param("2027-06-30T10:60Z", id="no such minute"),
        pytest.param("2027-06-30T10:00:60Z", id="a leap second"),
        pytest.param("2027-06-30T10Z", id="no minutes"),
        pytest.param("2027-06-30T10:00.5Z", id="a fraction of a minute"),
        pytest.param("2027-06-30T10:00:00.Z", id="a fraction without digits"),
        pytest.param("2027-06-30T10:00:00,5Z", id="a comma"),
        pytest.param("2027-06-30T10:00+24:00", id="an offset of a day"),
        pytest.param("2027-06-30T10:00+01:60", id="an offset of sixty minutes"),
        pytest.param("2027-06-30T10:00+0100", id="an offset without colon"),
        pytest.param("2027-06-30T10:00+01", id="an offset of hours"),
        pytest.param("2027-06-30T10:00−01:00", id="a typographic minus"),
        pytest.param("2027-06-30T10:00+01:00Z", id="an offset and Z"),
        pytest.param("2026-02-30T10:00Z", id="no such day"),
        pytest.param("0000-01-01T10:00Z", id="no such year"),
        pytest.param("2027-06-30T10:00Z\n", id="a newline at the end"),
        pytest.param(" 2027-06-30T10:00Z", id="a space before"),
        pytest.param("2027-06-30T1０:00Z", id="a full-width digit"),
        pytest.param("2027-06-30T10:00:00.５Z", id="a full-width digit of a fraction"),
        pytest.param("", id="nothing"),
    ],
)
def test_no_datetime(text: str) -> None:
    assert not is_datetime(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ines@example.org", id="an address"),
        pytest.param("i@a.bc", id="a short one"),
        pytest.param("ines.b+w@mail.example.org", id="dots and a plus"),
        pytest.param("_o'hara-9@example.org", id="an apostrophe within"),
        pytest.param("'ines@example.org", id="an apostrophe at the start"),
        pytest.param("o'.b@example.org", id="an apostrophe before a dot"),
        pytest.param("-+_@example.org", id="signs alone"),
        pytest.param("Ines@EXAMPLE.Org", id="capitals"),
        pytest.param("ines@1-2-.a--b.org", id="hyphens at the end of a label and in a row"),
        pytest.param("ines@1.2.3.org", id="labels of digits"),
    ],
)
def test_an_email_address(text: str) -> None:
    assert is_email(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ines", id="no at"),
        pytest.param("@example.org", id="nothing before the at"),
        pytest.param("ines@", id="nothing behind the at"),
        pytest.param("ines@@example.org", id="two ats"),
        pytest.param("a@b@example.org", id="an at too many"),
        pytest.param("ines@localhost", id="one label"),
        pytest.param(".ines@example.org", id="a dot at the start"),
        pytest.param("ines.@example.org", id="a dot before the at"),
        pytest.param("in..es@example.org", id="two dots in a row"),
        pytest.param("ines'@example.org", id="an apostrophe before the at"),
        pytest.param("'@example.org", id="an apostrophe alone"),
        pytest.param("ines@.example.org", id="a domain that starts with a dot"),
        pytest.param("ines@example..org", id="two dots in a domain"),
        pytest.param("ines@example.org.", id="a dot at the end"),
        pytest.param("ines@-example.org", id="a label that starts with a hyphen"),
        pytest.param("ines@exam_ple.org", id="an underscore in a label"),
        pytest.param("ines@example.o", id="a last label of one letter"),
        pytest.param("ines@example.o9", id="a digit in the last label"),
        pytest.param("ines@127.0.0.1", id="an IP address"),
        pytest.param("ines@[127.0.0.1]", id="an IP address in brackets"),
        pytest.param("ines@exämple.org", id="a letter beyond ASCII"),
        pytest.param("inês@example.org", id="one before the at"),
        pytest.param("in es@example.org", id="a space"),
        pytest.param(" ines@example.org", id="a space before"),
        pytest.param("ines@example.org\n", id="a newline at the end"),
        pytest.param('"ines"@example.org', id="quotes"),
        pytest.param("Ines <ines@example.org>", id="a display name"),
        pytest.param("ines@example.org, ana@example.org", id="two addresses"),
        pytest.param("i!nes@example.org", id="another sign"),
        pytest.param("ines＠example.org", id="a full-width at"),
        pytest.param("", id="nothing"),
    ],
)
def test_no_email_address(text: str) -> None:
    assert not is_email(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("https://example.org", id="an address"),
        pytest.param("http://example.org/", id="without encryption"),
        pytest.param("HtTpS://EXAMPLE.org", id="capitals"),
        pytest.param("http://localhost:8080/x?y=1#z", id="one label and a port"),
        pytest.param("https://a", id="one letter"),
        pytest.param("https://example.org?q", id="a query at once"),
        pytest.param("https://example.org#f", id="a fragment at once"),
        pytest.param("https://example.org\\@[", id="a backslash ends the authority"),
        pytest.param("https://example.org/a b\tc\n<>^|%[]", id="anything in the rest"),
        pytest.param("https://ines@example.org", id="a user"),
        pytest.param("https://ines:pass word@@example.org", id="user info up to the last at"),
        pytest.param("https://a/b@c:99999", id="an at behind the authority"),
        pytest.param("https://[::1]", id="an IPv6 address"),
        pytest.param("https://ines@[2001:db8::7]:443/x", id="one with everything"),
        pytest.param("https://[::ffff:192.0.2.1]", id="one that ends as IPv4"),
        pytest.param("https://192.0.2.1", id="an IPv4 address"),
        pytest.param("https://192.0.2.1:80/", id="an IPv4 address with a port"),
        pytest.param("https://256.example", id="digits and letters"),
        pytest.param("https://example.org:0", id="the least port"),
        pytest.param("https://example.org:65535", id="the greatest port"),
        pytest.param(f"https://example.org:{'0' * 5000}80", id="a port with leading zeros"),
        pytest.param("https://example.org:/x", id="a colon without a port"),
        pytest.param("https://bücher.example", id="letters beyond ASCII"),
        pytest.param("https://ex'am\"ple{}", id="other signs"),
        pytest.param("\ufeff https://example.org \n", id="white space around it"),
    ],
)
def test_a_web_address(text: str) -> None:
    assert is_url(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("example.org", id="no scheme"),
        pytest.param("//example.org", id="slashes alone"),
        pytest.param("ftp://example.org", id="another scheme"),
        pytest.param("mailto:ines@example.org", id="a mail address"),
        pytest.param("javascript:alert(1)//http://a", id="a script"),
        pytest.param("http:/example.org", id="one slash"),
        pytest.param("http:\\\\example.org", id="backslashes"),
        pytest.param("httpſ://example.org", id="a long s in the scheme"),
        pytest.param("https://", id="no host"),
        pytest.param("https:///example.org", id="a path at once"),
        pytest.param("https://?q", id="a query at once"),
        pytest.param("https://:80", id="a port alone"),
        pytest.param("https://ines@", id="a user alone"),
        pytest.param("https://ines@/x", id="a user and a path"),
        pytest.param("https://example.org:65536", id="too great a port"),
        pytest.param("https://example.org:999999", id="far too great a port"),
        pytest.param(f"https://example.org:{'9' * 5000}", id="a port beyond all measure"),
        pytest.param("https://example.org:8a", id="a letter in the port"),
        pytest.param("https://example.org:-1", id="a port below zero"),
        pytest.param("https://example.org:８0", id="a full-width digit in the port"),
        pytest.param("https://example.org:80:80", id="two ports"),
        pytest.param("https://2001:db8::7", id="an IPv6 address without brackets"),
        pytest.param("https://[2001:db8::7", id="a bracket that is not closed"),
        pytest.param("https://[]", id="empty brackets"),
        pytest.param("https://[:::1]", id="no IPv6 address"),
        pytest.param("https://[fe80::1%eth0]", id="a zone"),
        pytest.param("https://[192.0.2.1]", id="an IPv4 address in brackets"),
        pytest.param("https://[::1]x", id="letters behind the brackets"),
        pytest.param("https://[::1]443", id="a port without colon"),
        pytest.param("https://a[::1]", id="letters before the brackets"),
        pytest.param("https://256.0.0.1", id="a number beyond a byte"),
        pytest.param("https://1.2.3", id="three numbers"),
        pytest.param("https://1.2.3.4.5", id="five numbers"),
        pytest.param("https://3221225985", id="one number"),
        pytest.param("https://1.2.3.4.", id="a dot at the end"),
        pytest.param("https://...", id="dots alone"),
        pytest.param("https://exam ple.org", id="a space in the host"),
        pytest.param("https://exam\u3000ple.org", id="a wide space in the host"),
        pytest.param("https://exam\x00ple.org", id="a null in the host"),
        pytest.param("https://exam\x7fple.org", id="a control character in the host"),
        pytest.param("https://exam\x85ple.org", id="a control character beyond ASCII"),
        pytest.param("https://example.org\n.evil.org", id="a newline in the host"),
        pytest.param("x https://example.org", id="words before"),
        pytest.param("\x85https://example.org", id="U+0085 before"),
        pytest.param("", id="nothing"),
    ],
)
def test_no_web_address(text: str) -> None:
    assert not is_url(text)


@pytest.mark.parametrize("character", [*"<>^|%[]", *WHITESPACE])
def test_what_a_host_can_not_contain(character: str) -> None:
    assert not is_url(f"https://exam{character}ple.org")
    assert is_url(f"https://example.org/{character}.")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("5550100", id="the fewest digits"),
        pytest.param("123456789012345", id="the most digits"),
        pytest.param("+123456789012345", id="the most digits and a plus"),
        pytest.param("+351 21 555 0100", id="spaces"),
        pytest.param("(021) 555.0100", id="signs"),
        pytest.param("555-0100 ", id="a space at the end"),
        pytest.param("  555-0100", id="spaces at the start"),
        pytest.param("+ 351 555 0100", id="a space after the plus"),
        pytest.param("))).(((-5550100", id="signs in any order"),
    ],
)
def test_a_phone_number(text: str) -> None:
    assert is_phone(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("555010", id="too few digits"),
        pytest.param("1234567890123456", id="too many digits"),
        pytest.param("++3515550100", id="two pluses"),
        pytest.param("351+5550100", id="a plus within"),
        pytest.param(" +3515550100", id="a space before the plus"),
        pytest.param("(+351)5550100", id="a bracket before the plus"),
        pytest.param("5550100+", id="a plus at the end"),
        pytest.param("555-0100 ext 4", id="letters"),
        pytest.param("555\u00a00100", id="a no-break space"),
        pytest.param("555\t0100", id="a tab"),
        pytest.param("5550100\n", id="a newline at the end"),
        pytest.param("555/0100", id="a slash"),
        pytest.param("５５５0100", id="full-width digits"),
        pytest.param("555-010٠", id="an Arabic digit"),
        pytest.param("+", id="a plus alone"),
        pytest.param("", id="nothing"),
    ],
)
def test_no_phone_number(text: str) -> None:
    assert not is_phone(text)


LONG = 300_000
HOSTILE = [
    "a" * LONG,
    "a." * LONG,
    "a@" * LONG,
    "a@" + "a." * LONG,
    "a@" + "a-" * LONG,
    "a@" + "-" * LONG,
    "." * LONG + "@",
    "1" * LONG,
    "1.1." * LONG,
    " " * LONG + "x",
    "+" + " " * LONG,
    "555-0100" + " " * LONG + "x",
    "http://" + "@" * LONG,
    "http://" + "[" * LONG,
    "http://[" + ":" * LONG + "]",
    "http://[" + "1:" * LONG + "]",
    "http://" + "1." * LONG,
    "http://a:" + "0" * LONG + "x",
    "http://a:" + "9" * LONG,
    "http://" + " " * LONG,
    "2027-06-30T10:00:00." + "1" * LONG,
    "2027-06-30T10:00:00." + "1" * LONG + "z",
    "2027-06-30" * LONG,
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "fits",
    [is_date, is_time, is_datetime, is_email, is_url, is_phone],
    ids=lambda fits: fits.__name__,
)
def test_a_hostile_string_is_refused_in_time_that_grows_with_its_length(fits: Fits) -> None:
    # Squared, the length is so much that the test would not end.
    assert not any(fits(text) for text in HOSTILE)

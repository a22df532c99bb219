"""The types of files, and what their bytes are (spec asks FI2, FI6)."""

from collections.abc import Iterator
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parleyd.contract import limits
from parleyd.contract.file_types import (
    FILE_TYPES,
    TEXT_TYPES,
    TYPES_BY_ACCEPT,
    AcceptValue,
    check_file_bytes,
    is_of_type,
    pieces_are_of_type,
)
from tests.contract.reported import reported

PNG = bytes.fromhex("89504e470d0a1a0a")
MISMATCH = [("content.files[3].mimeType", "MIME_MISMATCH")]
TOO_LARGE = [("content.files[3].size", "FILE_TOO_LARGE")]


def faults(data: bytes, mime_type: str, cap: int = limits.FILE_BYTES) -> list[tuple[str, str]]:
    return reported(check_file_bytes(data, 3, mime_type, cap))


def test_every_value_of_accept_lets_its_types_in() -> None:
    assert [*TYPES_BY_ACCEPT] == [*get_args(AcceptValue)]
    assert len(TYPES_BY_ACCEPT) == limits.ACCEPT_MAX
    assert FILE_TYPES == (
        "image/jpeg",
        "image/png",
        "image/gif",
        "image/webp",
        "application/pdf",
        "text/plain",
        "text/csv",
        "application/json",
    )
    assert {*TYPES_BY_ACCEPT["image"]} == {name for name in FILE_TYPES if "image" in name}
    assert {*FILE_TYPES} > TEXT_TYPES


@pytest.mark.parametrize(
    ("start", "mime_type"),
    [
        ("ffd8ff", "image/jpeg"),
        ("89504e470d0a1a0a", "image/png"),
        ("474946383761", "image/gif"),
        ("474946383961", "image/gif"),
        ("52494646" + "01020304" + "57454250", "image/webp"),
        ("52494646" + "ffffffff" + "57454250", "image/webp"),
        ("255044462d", "application/pdf"),
    ],
)
def test_the_first_bytes_say_the_type_whatever_follows(start: str, mime_type: str) -> None:
    for more in (b"", b"\0", b"<script>alert(1)</script>", b"\xff" * 40):
        data = bytes.fromhex(start) + more
        assert [name for name in FILE_TYPES if not faults(data, name)] == [mime_type]
    assert faults(bytes.fromhex(start)[:-1], mime_type) == MISMATCH
    assert faults(b"\n" + bytes.fromhex(start), mime_type) == MISMATCH


@pytest.mark.parametrize(
    ("data", "mime_type", "fits"),
    [
        ("89504e470d0a1a", "image/png", False),
        ("474946383861", "image/gif", False),
        ("474946383861", "text/plain", True),
        ("524946460000000057415645", "image/webp", False),
        ("0a255044462d", "application/pdf", False),
        ("255044462d", "text/plain", False),
        ("", "text/plain", True),
        ("", "text/csv", True),
        ("", "application/json", False),
        ("", "image/png", False),
        ("efbbbf7b7d", "application/json", True),
        ("4e614e", "application/json", False),
        ("6100", "text/plain", False),
        ("c328", "text/plain", False),
        ("eda080", "text/plain", False),
        ("fffe6100", "text/plain", False),
    ],
)
def test_the_table_of_the_spec_holds(data: str, mime_type: str, *, fits: bool) -> None:
    assert faults(bytes.fromhex(data), mime_type) == ([] if fits else MISMATCH)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param("é\U0001f6a2\U0010ffff\uffff".encode(), id="characters of every length"),
        pytest.param(b"\xef\xbb\xbf", id="a byte order mark alone"),
        pytest.param(b"\xef\xbb\xbf%PDF-", id="a byte order mark before a sign"),
        pytest.param(b"\x01\x08\x1b\x7f", id="control characters"),
        pytest.param(b"GIF87", id="most of a sign"),
        pytest.param(b"RIFFabcWEBP", id="a sign out of place"),
        pytest.param(b"<svg onload='alert(1)'/>", id="markup is text, never an image"),
    ],
)
def test_strict_utf_8_without_nul_is_text(data: bytes) -> None:
    assert [name for name in FILE_TYPES if not faults(data, name)] == ["text/plain", "text/csv"]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"a\0", id="NUL"),
        pytest.param(b"\0" * 8, id="only NUL"),
        pytest.param(b"\xff", id="a byte of no character"),
        pytest.param(b"caf\xe9", id="Latin-1"),
        pytest.param(b"\xc0\x80", id="NUL in two bytes"),
        pytest.param(b"\xe0\x80\xaf", id="a character longer than due"),
        pytest.param(b"\xf0\x9f\x9a", id="a character cut off"),
        pytest.param(b"\xed\xa0\xbd\xed\xba\xa2", id="a pair of surrogates"),
        pytest.param(b"\xf4\x90\x80\x80", id="beyond the last character"),
        pytest.param(b"\xff\xd8", id="most of a sign"),
        pytest.param("text".encode("utf-16"), id="UTF-16"),
        pytest.param(b"PK\x03\x04\x00", id="an archive"),
    ],
)
def test_other_bytes_are_of_no_type(data: bytes) -> None:
    assert [name for name in FILE_TYPES if not faults(data, name)] == []


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("{}", True),
        (" [1, 2.5e3, null]\n", True),
        ('"x"', True),
        ("0", True),
        ('\ufeff{"a": 1}', True),
        ("9" * 5000, True),
        ("[" * 200 + "]" * 200, True),
        (r'"\ud83d"', True),
        ('{"Größe": ["🙂", "\u2028", "\x85"]}', True),
        ("", False),
        ("\ufeff", False),
        ("\ufeff\ufeff{}", False),
        ("NaN", False),
        ("[Infinity]", False),
        ("-Infinity", False),
        ("{'a': 1}", False),
        ("[1,]", False),
        ("1 2", False),
        ("{} // x", False),
        ('"\t"', False),
        ("[\u00a0]", False),
        ("[１]", False),
        ("\u2028{}", False),
        ("{}é", False),
    ],
)
def test_json_is_text_that_is_strictly_json(text: str, *, fits: bool) -> None:
    assert faults(text.encode(), "application/json") == ([] if fits else MISMATCH)
    assert faults(text.encode(), "text/csv") == []


@pytest.mark.parametrize("mime_type", ["", "image/*", "IMAGE/PNG", "image/svg+xml", "text/html"])
def test_other_types_fit_no_bytes(mime_type: str) -> None:
    for data in (PNG, b"text", b""):
        assert not is_of_type(data, mime_type)


def test_bytes_above_the_cap_have_that_error_alone() -> None:
    assert faults(PNG, "image/png", cap=8) == []
    assert faults(PNG, "image/png", cap=7) == TOO_LARGE
    assert faults(PNG, "text/plain", cap=7) == TOO_LARGE
    assert faults(PNG, "text/plain", cap=8) == MISMATCH
    (error,) = check_file_bytes(PNG, 3, "image/png", 7)
    assert error.message == "The file of `content.files[3].size` has 8 bytes, too many."
    assert error.fix == "Send as `content.files[3]` a file of at most 7 bytes."


@given(st.binary(max_size=20), st.sampled_from(FILE_TYPES))
def test_bytes_have_at_most_one_error_and_one_type_unless_they_are_text(
    data: bytes, mime_type: str
) -> None:
    assert len(check_file_bytes(data, 0, mime_type, limits.FILE_BYTES)) <= 1
    fitting = {name for name in FILE_TYPES if is_of_type(data, name)}
    assert len(fitting) <= 1 or fitting in (TEXT_TYPES, TEXT_TYPES - {"application/json"})


@given(
    st.one_of(
        st.sampled_from([PNG, b"GIF89a", b"RIFF....WEBP", b"%PDF-", "é€🚢".encode(), b"[1, 2]"]),
        st.binary(max_size=20),
        st.text(max_size=8).map(lambda text: text.encode("utf-8", "surrogatepass")),
    ),
    st.lists(st.integers(1, 5)),
    st.sampled_from(FILE_TYPES),
)
def test_bytes_are_the_same_in_pieces(data: bytes, lengths: list[int], mime_type: str) -> None:
    pieces: list[bytes] = []
    left = data
    for length in lengths:
        pieces.append(left[:length])
        left = left[length:]
    assert pieces_are_of_type([*pieces, left], mime_type) is is_of_type(data, mime_type)


def test_of_an_image_no_more_is_read_than_its_sign() -> None:
    read: list[bytes] = []

    def pieces() -> Iterator[bytes]:
        for piece in (PNG[:4], PNG[4:], b"abcd", b"more", b"more"):
            read.append(piece)
            yield piece

    assert pieces_are_of_type(pieces(), "image/png")
    assert read == [PNG[:4], PNG[4:], b"abcd"]

"""What is kept and shown of the files of an answer (spec asks FI7)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract.answered_files import KeptFile, shown_text, stored_answer
from parleyd.contract.answers import accepted
from parleyd.contract.data_urls import to_data_url
from parleyd.contract.limits import SHOWN_FILE_BYTES

SCAN: dict[str, JsonValue] = {
    "fileId": "f1",
    "filename": "scan.png",
    "mimeType": "image/png",
    "size": 1,
}
NOTE: dict[str, JsonValue] = {
    "filename": "note.txt",
    "mimeType": "text/plain",
    "size": 0,
    "url": to_data_url("text/plain", b"hello"),
}


def test_the_stored_form_has_the_measured_sizes_and_no_bytes() -> None:
    response = accepted({"files": [SCAN, NOTE]})
    assert stored_answer(response, [KeptFile(2048, "f1"), KeptFile(5)]) == {
        "action": "accept",
        "content": {
            "files": [
                {**SCAN, "size": 2048},
                {"filename": "note.txt", "mimeType": "text/plain", "size": 5},
            ]
        },
    }
    assert response == accepted({"files": [SCAN, NOTE]})


def test_inline_bytes_that_are_kept_get_an_id() -> None:
    stored = stored_answer(accepted({"files": [NOTE]}), [KeptFile(5, "f9")])
    expected: JsonValue = {
        "fileId": "f9",
        "filename": "note.txt",
        "mimeType": "text/plain",
        "size": 5,
    }
    assert stored == accepted({"files": [expected]})


@pytest.mark.parametrize("kept", [[], [KeptFile(1)] * 3], ids=["too few", "too many"])
def test_every_file_is_measured(kept: list[KeptFile]) -> None:
    with pytest.raises(ValueError, match="argument 2"):
        stored_answer(accepted({"files": [SCAN, NOTE]}), kept)


@pytest.mark.parametrize("text", ["", "a;b\n1;2", "\ufeff{}", "x" * SHOWN_FILE_BYTES])
def test_a_short_text_is_shown_whole(text: str) -> None:
    assert shown_text(text.encode()) == text


@pytest.mark.parametrize(
    ("character", "shift", "kept"),
    [
        pytest.param("xy", 1, SHOWN_FILE_BYTES, id="one byte"),
        pytest.param("é", 0, SHOWN_FILE_BYTES, id="two bytes, at the boundary"),
        pytest.param("é", 1, SHOWN_FILE_BYTES - 1, id="two bytes, across it"),
        pytest.param("中", 2, SHOWN_FILE_BYTES - 2, id="three bytes, across it"),
        pytest.param("\U0001f6a2", 0, SHOWN_FILE_BYTES, id="four bytes, at the boundary"),
        pytest.param("\U0001f6a2", 1, SHOWN_FILE_BYTES - 3, id="four bytes, across it"),
        pytest.param("\U0001f6a2", 3, SHOWN_FILE_BYTES - 1, id="four bytes, all but one within"),
    ],
)
def test_a_long_text_is_cut_at_the_start_of_a_character(
    character: str, shift: int, kept: int
) -> None:
    data = ("-" * shift + character * SHOWN_FILE_BYTES).encode()
    text, note = shown_text(data).rsplit("\n", 1)
    assert text.encode() == data[:kept]
    assert note == f"[The file is cut to its first {kept} of {len(data)} bytes.]"


def test_one_byte_too_many_is_cut() -> None:
    shown = shown_text(b"x" * (SHOWN_FILE_BYTES + 1))
    assert shown.endswith(f"x\n[The file is cut to its first {SHOWN_FILE_BYTES} of 100001 bytes.]")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), st.integers(0, 3))
def test_a_cut_splits_no_character(text: str, shift: int) -> None:
    data = "x" * (SHOWN_FILE_BYTES - shift) + text
    shown = shown_text(data.encode())
    if len(data.encode()) > SHOWN_FILE_BYTES:
        shown = shown.rsplit("\n[", 1)[0]
        assert SHOWN_FILE_BYTES - 3 <= len(shown.encode()) <= SHOWN_FILE_BYTES
        assert data.startswith(shown)
    else:
        assert shown == data

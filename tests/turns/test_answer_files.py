"""The files of an answer are looked at and not kept."""

import pytest
from pydantic import JsonValue

from parleyd.contract.data_urls import to_data_url
from parleyd.contract.errors import InvalidAnswer
from parleyd.turns.answer_files import without_bytes

PNG = b"\x89PNG\r\n\x1a\nrest"


def file(data: bytes = PNG, mime_type: str = "image/png", **more: JsonValue) -> JsonValue:
    return {
        "filename": "scan",
        "mimeType": mime_type,
        "size": 1,
        "url": to_data_url(mime_type, data),
        **more,
    }


def answer(*files: JsonValue) -> dict[str, JsonValue]:
    return {"action": "accept", "content": {"files": list(files)}}


def test_what_is_stored_has_the_real_size_and_no_bytes() -> None:
    stored = without_bytes(answer(file(), file(b"", "text/plain")))
    assert stored == answer(
        {"filename": "scan", "mimeType": "image/png", "size": len(PNG)},
        {"filename": "scan", "mimeType": "text/plain", "size": 0},
    )


def test_the_faults_of_all_files_are_told_together_in_order() -> None:
    upload: JsonValue = {
        "filename": "scan",
        "mimeType": "image/png",
        "size": 1,
        "fileId": "65f0",
    }
    good = [file()] * 9
    with pytest.raises(InvalidAnswer) as raised:
        without_bytes(answer(file(b"<html>"), upload, *good, file(b"a\0b", "text/csv")))
    assert [(each.path, each.code) for each in raised.value.fields] == [
        ("content.files[0].mimeType", "MIME_MISMATCH"),
        ("content.files[1].fileId", "FILE_NOT_OWNED"),
        ("content.files[11].mimeType", "MIME_MISMATCH"),
    ]

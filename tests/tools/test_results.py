"""What a tool returns is JSON that can be stored, or an error that says why not."""

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, JsonValue, field_serializer

from parleyd.contract import limits
from parleyd.contract.file_types import FILE_TYPES
from parleyd.tools import ToolFailed, ToolFile, tool
from tests.tools.shop import CONTEXT, Line, Size


@dataclass
class Stock:
    goods: str
    left: int


async def result_of(make: Callable[[], object]) -> JsonValue | ToolFile:
    return await tool(make, name="make", description="Makes.").run({}, CONTEXT)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, None),
        ("tea", "tea"),
        ([1, 2.5, True], [1, 2.5, True]),
        (Line(goods="tea", count=1), {"goods": "tea", "count": 1}),
        ([Stock("tea", 3)], [{"goods": "tea", "left": 3}]),
        ({"at": datetime(2027, 3, 1, tzinfo=UTC)}, {"at": "2027-03-01T00:00:00Z"}),
        (timedelta(hours=1), "PT1H"),
        (Decimal("9.50"), "9.50"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Size.LARGE, "large"),
        ((1, 2), [1, 2]),
        ({3}, [3]),
        ({1: "a"}, {"1": "a"}),
        (b"tea", "tea"),
        ("a\0\ud800b", "a\ufffd\ufffdb"),
        ({"k\0": ["\udfff"]}, {"k\ufffd": ["\ufffd"]}),
        (10**400, 10**400),
    ],
    ids=repr,
)
async def test_what_pydantic_writes_as_json_will_do(value: object, told: JsonValue) -> None:
    assert await result_of(lambda: value) == told


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def circle() -> object:
    items: list[object] = []
    items.append(items)
    return items


class Broken(BaseModel):
    name: str

    @field_serializer("name")
    def _write(self, name: str) -> str:
        raise KeyError(name)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: [object()], "a object can't be written as JSON"),
        (lambda: {"a": [Exception("x")]}, "a Exception can't be written as JSON"),
        (lambda: float("nan"), "it can't be written as JSON"),
        (lambda: {"a": float("inf")}, "it can't be written as JSON"),
        (lambda: b"\xff", "it can't be written as JSON"),
        (lambda: 10**5000, "it can't be written as JSON"),
        (circle, "it can't be written as JSON"),
        (lambda: deep(limits.CALL_LEVELS + 1), "it has more than 64 levels"),
        (lambda: deep(300), "it can't be written as JSON"),
        (lambda: Broken(name="secret"), "it can't be written as JSON"),
    ],
)
async def test_what_is_no_json_is_told_as_a_result_that_nobody_can_use(
    make: Callable[[], object], told: str
) -> None:
    with pytest.raises(ToolFailed) as raised:
        await result_of(make)
    assert str(raised.value) == (
        f"The tool ran, but its result can't be used: {told}. Calling it again will not help."
    )


async def test_what_a_broken_result_says_is_not_logged(
    logged: list[MutableMapping[str, Any]],
) -> None:
    with pytest.raises(ToolFailed):
        await result_of(lambda: Broken(name="secret"))
    assert logged == [
        {
            "event": "tool_result_unusable",
            "log_level": "warning",
            "tool": "make",
            "exc_info": True,
        }
    ]


async def test_a_result_may_be_as_deep_as_arguments() -> None:
    assert await result_of(lambda: deep(limits.CALL_LEVELS)) == deep(limits.CALL_LEVELS)


async def test_a_result_may_have_a_mebibyte_of_json() -> None:
    most = limits.TOOL_RESULT_BYTES - len('""')
    assert await result_of(lambda: "x" * most) == "x" * most
    with pytest.raises(ToolFailed) as raised:
        await result_of(lambda: "x" * (most + 1))
    assert str(raised.value) == (
        "The tool ran, but its result can't be used: it has 1048577 bytes of JSON, and 1048576 "
        "are the most. Ask for less, where the arguments allow that."
    )


async def test_a_result_is_measured_in_bytes() -> None:
    with pytest.raises(ToolFailed, match="bytes of JSON"):
        await result_of(lambda: "é" * (limits.TOOL_RESULT_BYTES // 2))


PNG = b"\x89PNG\r\n\x1a\n"
NO_BYTES: Any = "text"
NO_TEXT: Any = 3


@pytest.mark.parametrize(
    "file",
    [
        ToolFile(PNG, "image/png", "chart.png", "A chart."),
        ToolFile(b"%PDF-1.7", "application/pdf"),
        ToolFile("ü;1\n".encode(), "text/csv"),
        ToolFile(b'{"a": 1}', "application/json"),
        ToolFile(b"\0\xff"),
        ToolFile(b"PK", "application/vnd.oasis.opendocument.text", "x" * limits.FILENAME, ""),
        ToolFile(b"x" * limits.FILE_BYTES, text="x" * limits.TOOL_RESULT_BYTES),
    ],
    ids=lambda file: file.mime_type,
)
async def test_a_file_is_a_result_as_it_is(file: ToolFile) -> None:
    assert await result_of(lambda: file) == file


async def test_the_texts_of_a_file_can_be_stored() -> None:
    returned = await result_of(lambda: ToolFile(PNG, "image/png", "a\0b", "c\ud800"))
    assert returned == ToolFile(PNG, "image/png", "a\ufffdb", "c\ufffd")


TYPE_FAULT = "the type of its file, {}, is none like `text/csv`"
NAME_FAULT = "the name of its file has to have 1 to 255 characters"
DATA_FAULT = "its data has to be bytes, all else of it text"


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (ToolFile(NO_BYTES), DATA_FAULT),
        (ToolFile(PNG, filename=NO_TEXT), DATA_FAULT),
        (ToolFile(PNG, text=NO_TEXT), DATA_FAULT),
        (ToolFile(b""), "its file is empty"),
        (ToolFile(PNG, "png"), TYPE_FAULT.format('"png"')),
        (ToolFile(PNG, "image/"), TYPE_FAULT.format('"image/"')),
        (ToolFile(PNG, "Image/PNG"), TYPE_FAULT.format('"Image/PNG"')),
        (ToolFile(b"a", "text/csv; charset=utf-8"), TYPE_FAULT.format('"text/csv; charset=utf-8"')),
        (ToolFile(PNG, "image/png\n"), TYPE_FAULT.format('"image/png\\n"')),
        (ToolFile(PNG, "a/" + "b" * limits.MIME_TYPE), "the type of its file, "),
        (ToolFile(PNG, filename=" "), NAME_FAULT),
        (ToolFile(PNG, filename="x" * (limits.FILENAME + 1)), NAME_FAULT),
        (ToolFile(PNG, filename="\U0001f600" * 128), NAME_FAULT),
        (ToolFile(b"\xff", "text/plain"), 'said to be "text/plain", but its bytes are not'),
        (ToolFile(PNG, "application/json"), 'said to be "application/json", but its bytes are'),
        (ToolFile(b"GIF89a", "image/png"), 'said to be "image/png", but its bytes are not'),
    ],
)
async def test_a_file_that_can_not_be_kept_is_told(file: ToolFile, told: str) -> None:
    with pytest.raises(ToolFailed) as raised:
        await result_of(lambda: file)
    assert str(raised.value).startswith("The tool ran, but its result can't be used: ")
    assert told in str(raised.value)
    assert str(raised.value).endswith(". Calling it again will not help.")


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (ToolFile(b"x" * (limits.FILE_BYTES + 1)), "its file has 10485761 bytes"),
        (ToolFile(PNG, text="x" * (limits.TOOL_RESULT_BYTES + 1)), "its text has 1048577 bytes"),
    ],
    ids=["its bytes", "its text"],
)
async def test_a_file_has_a_size_at_most(file: ToolFile, told: str) -> None:
    with pytest.raises(ToolFailed, match=told) as raised:
        await result_of(lambda: file)
    assert str(raised.value).endswith("Ask for less, where the arguments allow that.")


@pytest.mark.parametrize("mime_type", FILE_TYPES)
async def test_what_a_type_says_of_bytes_is_held_to(mime_type: str) -> None:
    with pytest.raises(ToolFailed, match="but its bytes are not"):
        await result_of(lambda: ToolFile(b"\0", mime_type))


@pytest.mark.parametrize("holder", [list, tuple, set])
async def test_a_file_is_no_part_of_a_result(holder: Callable[[list[object]], object]) -> None:
    with pytest.raises(ToolFailed, match="a file has to be the whole result, not a part of it"):
        await result_of(lambda: holder([ToolFile(b"secret")]))
    with pytest.raises(ToolFailed, match="a file has to be the whole result, not a part of it"):
        await result_of(lambda: {"file": ToolFile(b"secret")})

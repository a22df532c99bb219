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
from parleyd.tools import ToolFailed, tool
from tests.tools.shop import CONTEXT, Line, Size


@dataclass
class Stock:
    goods: str
    left: int


async def result_of(make: Callable[[], object]) -> JsonValue:
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

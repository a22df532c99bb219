import json
from collections.abc import Callable

import pytest
from google.protobuf.struct_pb2 import NULL_VALUE, ListValue, Value
from pydantic import JsonValue

from parley.v1.asks_pb2 import AcceptAnswer, AskAnswer, ChoiceInput, FormAnswer, Option
from parleyd.contract import limits
from parleyd.contract.json import compact
from parleyd.rpc.answers import answer_from_proto
from parleyd.rpc.options import options_from_proto
from parleyd.rpc.values import (
    ITEMS_READ,
    items_from_proto,
    number_from_proto,
    value_from_proto,
    value_to_proto,
)

NUMBERS: dict[str, tuple[float, str]] = {
    "zero": (0.0, "0"),
    "negative_zero": (-0.0, "0"),
    "whole": (3.0, "3"),
    "negative": (-12.0, "-12"),
    "fraction": (0.1, "0.1"),
    "the_last_that_counts_by_ones": (2.0**53, "9007199254740992"),
    "whole_and_large": (1e21, "1000000000000000000000"),
    "small": (5e-324, "5e-324"),
    "nan": (float("nan"), "null"),
    "infinity": (float("inf"), "null"),
    "less_than_all": (float("-inf"), "null"),
}


@pytest.mark.parametrize(("number", "text"), NUMBERS.values(), ids=NUMBERS.keys())
def test_a_double_is_written_as_what_it_is(number: float, text: str) -> None:
    assert compact(number_from_proto(number)) == text


def test_the_largest_double_is_whole_and_still_a_number() -> None:
    largest = 1.7976931348623157e308
    number = number_from_proto(largest)
    assert isinstance(number, int)
    assert number == largest
    assert value_to_proto(number) == Value(number_value=largest)


SENT: list[JsonValue] = [
    None,
    True,
    0,
    -2.5,
    "",
    "é\x00😀",
    [],
    {},
    [1, [True, {"a_b": [None]}]],
    {"": {"aB": 1}},
]


@pytest.mark.parametrize("value", SENT, ids=json.dumps)
def test_a_value_comes_back_the_same(value: JsonValue) -> None:
    sent = Value.FromString(value_to_proto(value).SerializeToString())
    assert compact(value_from_proto(sent)) == compact(value)


def test_a_value_without_a_kind_is_null() -> None:
    assert value_from_proto(Value()) is None
    assert value_from_proto(Value(null_value=NULL_VALUE)) is None


def test_a_value_as_deep_as_the_wire_takes_is_read() -> None:
    deep = Value(bool_value=True)
    for _ in range(47):
        deep = Value(list_value=ListValue(values=[deep]))
    answer = AskAnswer(accept=AcceptAnswer(form=FormAnswer(values={"f": deep})))
    read = answer_from_proto(AskAnswer.FromString(answer.SerializeToString()))
    assert compact(read).endswith("[" * 47 + "true" + "]" * 47 + "}}}")


def counted(read: list[int]) -> Callable[[int], JsonValue]:
    def note(item: int) -> JsonValue:
        read.append(item)
        return item

    return note


def test_of_a_long_list_the_beginning_is_read_and_the_length_kept() -> None:
    read: list[int] = []
    items = items_from_proto(range(1_000_000), counted(read))
    assert read == [*range(ITEMS_READ)]
    assert items[:ITEMS_READ] == read
    assert len(items) == 1_000_000
    assert items.count(None) == 1_000_000 - ITEMS_READ


@pytest.mark.parametrize("length", [0, 1, ITEMS_READ - 1, ITEMS_READ])
def test_a_list_that_is_not_long_is_read_whole(length: int) -> None:
    read: list[int] = []
    assert items_from_proto(range(length), counted(read)) == read == [*range(length)]


def test_more_is_read_than_any_list_may_have() -> None:
    assert max(limits.OPTIONS_MAX, limits.FIELDS_MAX) < ITEMS_READ


def test_a_hostile_list_of_options_costs_no_more_than_its_length() -> None:
    sent = ChoiceInput(options=[Option()] * 1_000_000).SerializeToString()
    options = options_from_proto(ChoiceInput.FromString(sent).options)
    assert len(options) == 1_000_000
    assert options.count(None) == 1_000_000 - ITEMS_READ

"""Reading and storing JSON values (spec asks G6, spec turns 4.2)."""

import json
from math import inf, nan

import pytest
from pydantic import JsonValue

from parleyd.contract.json import (
    compact,
    finite_number,
    flag_at,
    number_at,
    object_at,
    objects_at,
    storable_json,
    storable_object,
    string_at,
    strings_at,
    whole_at,
    whole_number,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(3, 3, id="whole"),
        pytest.param(3.0, 3, id="whole with a point"),
        pytest.param(-0.0, 0, id="minus zero"),
        pytest.param(2**53 + 1, 2**53 + 1, id="beyond a double's digits"),
        pytest.param(1e300, int(1e300), id="large with an exponent"),
        pytest.param(3.5, None, id="a fraction"),
        pytest.param(True, None, id="a boolean"),
        pytest.param("3", None, id="a string"),
        pytest.param(None, None, id="null"),
        pytest.param(10**309, None, id="beyond a double"),
        pytest.param(-(10**309), None, id="beyond a double, negative"),
        pytest.param(nan, None, id="NaN"),
        pytest.param(inf, None, id="infinity"),
    ],
)
def test_a_whole_number_may_be_written_with_a_point(value: JsonValue, expected: int | None) -> None:
    assert whole_number(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(-3, -3, id="whole"),
        pytest.param(0.1, 0.1, id="a fraction"),
        pytest.param(10**308, 10**308, id="large"),
        pytest.param(10**309, None, id="beyond a double"),
        pytest.param(-inf, None, id="infinity"),
        pytest.param(nan, None, id="NaN"),
        pytest.param(False, None, id="a boolean"),
        pytest.param("0.1", None, id="a string"),
        pytest.param(None, None, id="null"),
    ],
)
def test_a_number_is_finite(value: JsonValue, expected: float | None) -> None:
    assert finite_number(value) == expected


def test_values_are_read_only_where_the_type_is_right() -> None:
    record: dict[str, JsonValue] = {
        "text": "a",
        "flag": False,
        "whole": 2.0,
        "list": ["a", 1, {"b": 2}],
    }
    assert (string_at(record, "text"), string_at(record, "flag"), string_at(record, "x")) == (
        "a",
        None,
        None,
    )
    assert (flag_at(record, "flag"), flag_at(record, "whole")) == (False, None)
    assert (whole_at(record, "whole"), whole_at(record, "flag")) == (2, None)
    assert (number_at(record, "whole"), number_at(record, "text")) == (2.0, None)
    assert (object_at({"a": record}, "a"), object_at(record, "list")) == (record, {})
    assert (strings_at(record, "list"), strings_at(record, "text")) == (("a",), ())
    assert (objects_at(record, "list"), objects_at(record, "text")) == (({"b": 2},), ())


def test_storable_json_reaches_every_string_and_key_and_leaves_the_original() -> None:
    value: JsonValue = {"a\x00": ["\ud800", {"b": "c\x00", "d": 1}], "e": None, "f": 1.5}
    before = json.dumps(value)
    assert storable_json(value) == {
        "a\ufffd": ["\ufffd", {"b": "c\ufffd", "d": 1}],
        "e": None,
        "f": 1.5,
    }
    assert json.dumps(value) == before
    assert storable_object({"\x00": ["\x00"]}) == {"\ufffd": ["\ufffd"]}
    assert storable_json("\x00") == "\ufffd"


def test_storable_json_takes_any_depth() -> None:
    value: JsonValue = "\x00"
    for _ in range(20_000):
        value = [value]
    stored = storable_json(value)
    while isinstance(stored, list):
        (stored,) = stored
    assert stored == "\ufffd"


def test_compact_json_has_no_spaces_and_no_escapes() -> None:
    assert compact({"a": ["é", 1, True, None]}) == '{"a":["é",1,true,null]}'


def test_what_json_has_no_word_for_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        compact({"a": nan})

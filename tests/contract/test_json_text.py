"""Whether a text is JSON (spec asks FI6)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parleyd.contract.json_text import is_json


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "-0.50e+07",
        "1E9",
        "1e-9",
        "1e999999",
        '""',
        '"é\U0001f6a2\x7f\u2028"',
        r'"\"\\\/\b\f\n\r\t\u00e9\uD83D"',
        r'"\\\\\""',
        r'"\\u"',
        "[]",
        "{}",
        " \t\n\r[ \t1 ,\n2\r] ",
        '{ "a" : { } , "" : [ ] , "a" : [ [ ] , { "b" : -1 } ] }',
        '[{"a":[1,{"b":[2,"x"]},3]},[[[[4]]]],"]}"]',
        '["[", "{", ",", ":"]',
    ],
)
def test_json_is_json(text: str) -> None:
    assert is_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "NaN",
        "[NaN]",
        "Infinity",
        "-Infinity",
        "nul",
        "nullx",
        "True",
        "01",
        "-01",
        "+1",
        "1.",
        ".5",
        "-",
        "1e",
        "1e+",
        "0x1",
        "1_0",
        "\u0661",
        "1 2",
        "1,2",
        "'a'",
        '"',
        '"a',
        '"a" "b"',
        '"\n"',
        '"\t"',
        '"\0"',
        '"\x1f"',
        r'"\x41"',
        r'"\u12"',
        r'"\u12G4"',
        r'"\u"',
        '"\\',
        '"\\"',
        r"\n",
        r"1\n5",
        r"1\u0035",
        r"[1\t]",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1}",
        "[]]",
        "{",
        "}",
        "{]",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        '{"a":1 "b":2}',
        '{"a":1,2}',
        "{a:1}",
        "{1:1}",
        '{"a":[1}',
        '[{"a":1],2}',
        '{"a"::1}',
        "[1]//x",
        "\ufeff1",
        "\u00a01",
        "1\f",
    ],
)
def test_what_is_not_json_is_none(text: str) -> None:
    assert not is_json(text)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_what_nests_deeper_than_the_parser_goes_is_none(opening: str, closing: str) -> None:
    assert is_json(opening * 200 + "1" + closing * 200)
    assert not is_json(opening * 50_000 + "1" + closing * 50_000)


def test_a_number_may_be_of_any_length() -> None:
    assert is_json("9" * 10_000)
    assert is_json("0." + "9" * 10_000)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=20,
).filter(lambda value: "Infinity" not in json.dumps(value))


@given(VALUES)
def test_what_python_writes_is_json(value: object) -> None:
    assert is_json(json.dumps(value))
    assert is_json(json.dumps(value, indent=1, ensure_ascii=False))

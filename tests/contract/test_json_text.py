"""Whether a text is JSON (spec asks FI6)."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parleyd.contract.json_text import LEVELS, is_json


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
def test_what_nests_too_deep_is_none(opening: str, closing: str) -> None:
    assert is_json(opening * 200 + "1" + closing * 200)
    assert is_json(opening * LEVELS + "1" + closing * LEVELS)
    for levels in (LEVELS + 2, 2 * LEVELS + 2, 50_000):
        assert not is_json(opening * levels + "1" + closing * levels)


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


LONG: dict[str, tuple[str, str]] = {
    "string": ('"' + r"\n" * 20_000, '"'),
    "key": ('{"' + r"\u00e9" * 20_000, '":1}'),
    "flat array": ("[" + "1, " * 5000, "1]"),
    "flat object": ("{" + '"a" : [] , ' * 5000, '"b":{"c":{}}}'),
    "closed together": ("[" * 30 + '{"a":' * 30 + "[1" + "]" + "}" * 30 + " ]" * 29, "\n]"),
    "array in an array": ("[[" + "0," * 500, "0 ], [ [] ]]"),
    "object in an array": ("[{" + '"a":0,' * 500, '"b":0}]'),
}
"""Texts that are longer than what is looked at in one step; each with its end."""


@pytest.mark.parametrize(("text", "end"), LONG.values(), ids=LONG)
def test_what_is_long_is_looked_at_to_its_end(text: str, end: str) -> None:
    assert is_json(text + end)
    for wrong in (text, text + end[:-1], text + end + end[-1], text + ";" + end[1:]):
        assert not is_json(wrong)


@pytest.mark.parametrize("item", ["[]", "[[[]]]", '{"a":{"b":[]}}', '"aa"', "10"])
def test_nothing_is_built_of_what_is_looked_at(item: str) -> None:
    text = f"[{','.join([item] * 20_000)}]"
    tracemalloc.start()
    try:
        assert is_json(text)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < len(text) / 2

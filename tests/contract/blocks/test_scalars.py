"""What unquoted YAML means (spec blocks 2.3)."""

from math import inf, isnan

import pytest
from pydantic import JsonValue

from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.scalars import DIGITS

VALUES: list[tuple[str, JsonValue]] = [
    ("", None),
    ("~", None),
    ("null", None),
    ("Null", None),
    ("NULL", None),
    ("nULL", "nULL"),
    ("true", True),
    ("True", True),
    ("TRUE", True),
    ("tRUE", "tRUE"),
    ("false", False),
    ("False", False),
    ("FALSE", False),
    ("0", 0),
    ("-0", 0),
    ("12", 12),
    ("+12", 12),
    ("-12", -12),
    ("012", 12),
    ("0o14", 12),
    ("0o18", "0o18"),
    ("-0o14", "-0o14"),
    ("0x1F", 31),
    ("0xg", "0xg"),
    ("1.5", 1.5),
    ("1.", 1.0),
    (".5", 0.5),
    ("-.5", -0.5),
    ("1e3", 1000.0),
    ("1E-3", 0.001),
    ("1.5e+3", 1500.0),
    (".", "."),
    ("+", "+"),
    ("12e", "12e"),
    ("e3", "e3"),
    (".inf", inf),
    ("+.Inf", inf),
    ("-.INF", -inf),
    (".iNF", ".iNF"),
    ("inf", "inf"),
    ("NaN", "NaN"),
    ("yes", "yes"),
    ("no", "no"),
    ("on", "on"),
    ("off", "off"),
    ("y", "y"),
    ("n", "n"),
    ("2026-02-01", "2026-02-01"),
    ("2026-02-01T10:00:00Z", "2026-02-01T10:00:00Z"),
    ("1:30", "1:30"),
    ("12:30:45", "12:30:45"),
    ("1_000", "1_000"),
    ("0b11", "0b11"),
    ("1.2.3", "1.2.3"),
    ("<<", "<<"),
    ("=", "="),
    ("\u0661", "\u0661"),
    ('"12"', "12"),
    ("'true'", "true"),
    ("'it''s'", "it's"),
    ('"a\\u00e9\\/\\x41\\n"', "aé/A\n"),
    ('"\\uD83D\\uDCDA"', "📚"),
    ("|\n  12", "12\n"),
    ("|-\n  12", "12"),
    (">-\n  a\n  b", "a b"),
    ("a *b* &c !d # e", "a *b* &c !d"),
    ("a#b", "a#b"),
    ("https://a.example/b?c=d", "https://a.example/b?c=d"),
    ("a\u2028b", "a\u2028b"),
    ('"a\u0085b\ufeff\x7f"', "a\u0085b\ufeff\x7f"),
]


def _parsed(text: str) -> dict[str, JsonValue]:
    document = parse(text)
    assert not isinstance(document, BlockIssue), document
    return document


@pytest.mark.parametrize(
    ("written", "meant"), VALUES, ids=[ascii(written) for written, _ in VALUES]
)
def test_a_scalar_means_what_the_core_schema_says(written: str, meant: JsonValue) -> None:
    value = _parsed(f"v: 1\nx: {written}")["x"]
    assert value == meant
    assert type(value) is type(meant)


@pytest.mark.parametrize("written", [".nan", ".NaN", ".NAN"])
def test_not_a_number_is_a_number(written: str) -> None:
    value = _parsed(f"v: {written}")["v"]
    assert isinstance(value, float)
    assert isnan(value)


@pytest.mark.parametrize("opening", ["", "{"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_whole_number_is_exact_up_to_the_digits_python_writes(opening: str, sign: str) -> None:
    for digits in (19, 400, DIGITS):
        text = f"{sign}{'7' * digits}"
        document = _parsed(f'{{"v": {text}}}' if opening else f"v: {text}")
        assert document["v"] == int(text)
    text = f"{sign}{'7' * (DIGITS + 1)}"
    document = _parsed(f'{{"v": {text}}}' if opening else f"v: {text}")
    assert document["v"] == (-inf if sign else inf)


@pytest.mark.parametrize(
    "written", ["9" * 2_000_000, f"0x{'f' * 2_000_000}", f"0o{'7' * 2_000_000}", "1e999999"]
)
def test_an_endless_number_is_infinite(written: str) -> None:
    assert _parsed(f"v: {written}")["v"] == inf


def test_leading_zeros_are_no_digits() -> None:
    assert _parsed(f"v: {'0' * 1_000_000}1")["v"] == 1


def test_bc_127_what_yaml_1_1_reads_as_something_else_keeps_its_type() -> None:
    text = (
        "v: 1\nbadge: no\noption: on\ncountry: NO\ntime: 12:30\nversion: 1.10\n"
        "number: 1_000\noctal: 0o14\nletter: y\n"
    )
    assert _parsed(text) == {
        "v": 1,
        "badge": "no",
        "option": "on",
        "country": "NO",
        "time": "12:30",
        "version": 1.1,
        "number": "1_000",
        "octal": 12,
        "letter": "y",
    }


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("1", "1"),
        ("012", "12"),
        ("0x10", "16"),
        ("1.0", "1"),
        ("1.5", "1.5"),
        ("true", "true"),
        ("False", "false"),
        ("~", ""),
        (".inf", "Infinity"),
        (".nan", "NaN"),
        ("no", "no"),
        ('"1"', "1"),
        ("? [a, {b: 1}]\n", "[ a, { b: 1 } ]"),
        ("<<", "<<"),
        ("__proto__", "__proto__"),
    ],
)
def test_a_key_is_a_string(written: str, key: str) -> None:
    assert [*_parsed(f"v: 1\n{written}: x")] == ["v", key]


def test_keys_keep_their_order() -> None:
    assert [*_parsed("z: 1\nv: 1\n2: 1\n1: 1\na: 1")] == ["z", "v", "2", "1", "a"]
    assert [*_parsed('{"z": 1, "v": 1, "2": 1, "1": 1}')] == ["z", "v", "2", "1"]

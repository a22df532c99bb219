"""Lengths, white space and cutting (spec asks G2, G3, SC2)."""

import pytest

from parleyd.contract.text import clip, cut, is_blank, storable, trim, units, without_surrogates

SHIP = "\U0001f6a2"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    ("text", "length"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("plain", 5, id="ascii"),
        pytest.param("é", 1, id="one code point, two bytes"),
        pytest.param("e\u0301", 2, id="a combining accent counts"),
        pytest.param("\uffff", 1, id="the last of the basic plane"),
        pytest.param("\U00010000", 2, id="the first above it"),
        pytest.param(SHIP, 2, id="an emoji"),
        pytest.param(FAMILY, 8, id="a joined emoji"),
        pytest.param("\U00020000", 2, id="a rare ideograph"),
        pytest.param("\ud83d", 1, id="an unpaired surrogate"),
    ],
)
def test_length_is_the_number_of_utf_16_units(text: str, length: int) -> None:
    assert units(text) == length


WHITE = [
    *range(0x09, 0x0E),
    0x20,
    0xA0,
    0x1680,
    *range(0x2000, 0x200B),
    0x2028,
    0x2029,
    0x202F,
    0x205F,
    0x3000,
    0xFEFF,
]
NOT_WHITE = [0x85, *range(0x1C, 0x20), 0x180E, 0x200B, 0x200C, 0x200D, 0x2060]


def test_white_space_is_the_listed_set_and_nothing_else() -> None:
    assert [code for code in range(0x11000) if is_blank(chr(code))] == sorted(WHITE)


@pytest.mark.parametrize("code", NOT_WHITE, ids=hex)
def test_what_python_or_the_eye_takes_for_white_space_stays(code: int) -> None:
    assert trim(f" {chr(code)} ") == chr(code)


@pytest.mark.parametrize(
    ("text", "trimmed"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("\ufeff a b\u3000\n", "a b", id="both ends, not the middle"),
        pytest.param("\x85a\x1c", "\x85a\x1c", id="what str.strip would take"),
    ],
)
def test_trimming_takes_white_space_from_both_ends(text: str, trimmed: str) -> None:
    assert trim(text) == trimmed


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        pytest.param("a" * 20, 20, "a" * 20, id="what fits is unchanged"),
        pytest.param(" " * 20, 20, " " * 20, id="also if it is blank"),
        pytest.param("a" * 21, 20, "a" * 19 + "…", id="one long word is cut anywhere"),
        pytest.param(
            "Waterfalls photographs",
            20,
            "Waterfalls…",
            id="a space at half the limit is a boundary",
        ),
        pytest.param(
            "Waterfall photographers", 20, "Waterfall photograp…", id="a space before half is not"
        ),
        pytest.param(
            "a" * 19 + " bcd",
            20,
            "a" * 19 + "…",
            id="white space was dropped: a whole word is kept",
        ),
        pytest.param(
            "aaaa bbbb cccc dddd\neeee", 20, "aaaa bbbb cccc dddd…", id="any white space will do"
        ),
        pytest.param(
            "a" * 12 + "\x85" + "b" * 12, 20, "a" * 12 + "\x85bbbbbb…", id="U+0085 will not"
        ),
        pytest.param("a" * 12 + "\ufeff" + "b" * 12, 20, "a" * 12 + "…", id="U+FEFF will"),
        pytest.param("a" * 10 + "   " + "b" * 10, 20, "a" * 10 + "…", id="the end is stripped"),
        pytest.param(" " * 30, 20, "…", id="only white space was kept"),
        pytest.param(SHIP * 11, 20, SHIP * 9 + "…", id="no half emoji"),
        pytest.param("a" + SHIP * 10, 20, "a" + SHIP * 9 + "…", id="an emoji that just fits"),
        pytest.param(
            "Garden bed " + SHIP * 6, 20, "Garden bed…", id="units, not characters, find half"
        ),
        pytest.param(
            "a" * 18 + "\ud83d" + "bbb", 20, "a" * 18 + "…", id="an unpaired high surrogate"
        ),
        pytest.param(
            "a" * 18 + "\udc00" + "bbb", 20, "a" * 18 + "\udc00…", id="an unpaired low one"
        ),
        pytest.param("ab", 1, "…", id="no room for anything"),
        pytest.param(
            FAMILY * 4, 20, FAMILY * 2 + "\U0001f468\u200d…", id="joined emoji may be split"
        ),
    ],
)
def test_cutting_keeps_whole_words_where_that_keeps_half(
    text: str, limit: int, expected: str
) -> None:
    assert cut(text, limit) == expected


@pytest.mark.parametrize("limit", [140, 40, 20, 14])
def test_a_cut_text_fits_its_limit_to_the_unit(limit: int) -> None:
    assert units(cut("x" * 1000, limit)) == limit
    assert units(cut(SHIP * 1000, limit)) in (limit, limit - 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a" * 40, "a" * 40, id="fits"),
        pytest.param("a b" * 20, ("a b" * 20)[:39] + "…", id="between any two characters"),
        pytest.param(SHIP * 21, SHIP * 19 + "…", id="not within a pair"),
    ],
)
def test_clipping_does_not_care_for_words(text: str, expected: str) -> None:
    assert clip(text, 40) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\x00b", "a\ufffdb", id="NUL"),
        pytest.param("a\ud83db", "a\ufffdb", id="an unpaired high surrogate"),
        pytest.param("a\udea2b", "a\ufffdb", id="an unpaired low surrogate"),
        pytest.param(f"a\\u0000{SHIP}\x85", f"a\\u0000{SHIP}\x85", id="all else stays"),
    ],
)
def test_what_cannot_be_stored_is_replaced(text: str, expected: str) -> None:
    assert storable(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("\ud83d", "\ufffd", id="the first half of a pair"),
        pytest.param("a\udea2\ud83d", "a\ufffd\ufffd", id="halves that make no pair"),
        pytest.param(f"\x00{SHIP}\uffff", f"\x00{SHIP}\uffff", id="all else stays, U+0000 too"),
    ],
)
def test_halves_of_pairs_are_replaced_before_a_check(text: str, expected: str) -> None:
    assert without_surrogates(text) == expected

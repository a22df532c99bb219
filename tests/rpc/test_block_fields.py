from math import inf, nan

import pytest
from pydantic import JsonValue

from parley.v1 import blocks_pb2 as pb
from parleyd.rpc.block_fields import Words, exact_number, exact_text, fields_from_proto
from tests.rpc.every_block import NUMBERS
from tests.rpc.json_values import types_of

TEXTS: dict[str, tuple[int | float, str]] = {
    "whole": (5, ""),
    "whole_with_a_fraction": (5.0, "5.0"),
    "fraction": (0.1, ""),
    "zero": (0, ""),
    "zero_with_a_sign": (-0.0, "-0.0"),
    "the_last_that_counts_by_ones": (2**53, ""),
    "the_first_that_no_double_is": (2**53 + 1, "9007199254740993"),
    "negative": (-(2**53) - 1, "-9007199254740993"),
    "large_and_a_double": (10**22, ""),
    "large_and_no_double": (10**22 + 1, "10000000000000000000001"),
    "written_with_an_exponent": (1e22, "1e+22"),
}


@pytest.mark.parametrize(("number", "text"), TEXTS.values(), ids=TEXTS.keys())
def test_a_number_has_a_text_where_its_double_does_not_tell_it(number: float, text: str) -> None:
    assert exact_text(number) == text


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_a_number_is_itself_again(number: float) -> None:
    came = exact_number(float(number), exact_text(number))
    assert repr(came) == repr(number)
    assert types_of(came) == types_of(number)


SENT: dict[str, tuple[float, str, JsonValue]] = {
    "a_double": (2.5, "", 2.5),
    "a_whole_double": (3.0, "", 3),
    "no_number": (nan, "", None),
    "infinity": (inf, "", None),
    "the_text_counts": (1.0, "7", 7),
    "even_beside_no_number": (nan, "7.5", 7.5),
    "a_text_that_is_no_number": (1.0, "seven", None),
    "another_notation": (1.0, "0x7", None),
    "white_space": (1.0, " 7", None),
    "a_line_break": (1.0, "7\n", None),
    "digits_of_another_script": (1.0, "\u0667", None),
    "leading_zeros": (1.0, "007", None),
    "a_word": (1.0, "NaN", None),
    "a_text_beyond_all_doubles": (1.0, "1e999", None),
    "a_whole_number_beyond_all_doubles": (1.0, "9" * 309, None),
    "more_digits_than_are_read": (1.0, "9" * 100_000, None),
}


@pytest.mark.parametrize(("double", "text", "number"), SENT.values(), ids=SENT.keys())
def test_a_number_that_is_sent_is_read_or_is_none(
    double: float, text: str, number: JsonValue
) -> None:
    came = exact_number(double, text)
    assert (came, type(came)) == (number, type(number))


SIZES = Words(pb.HeadingBlock.Size)


def test_a_word_is_the_end_of_a_name() -> None:
    assert SIZES.at({"size": "2xl"}, "size") == pb.HeadingBlock.SIZE_2XL
    message = pb.HeadingBlock(size=pb.HeadingBlock.SIZE_2XL)
    assert fields_from_proto(message) == {"size": "2xl"}


@pytest.mark.parametrize("word", ["", "2XL", "SM", "unspecified", "size_sm", "huge", None, 1, []])
def test_another_word_is_none(word: JsonValue) -> None:
    assert SIZES.at({"size": word}, "size") == pb.HeadingBlock.SIZE_UNSPECIFIED
    assert fields_from_proto(pb.HeadingBlock()) == {}

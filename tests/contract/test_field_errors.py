"""Paths, their order, and the words around them (spec asks V1, V2, V4)."""

import random

import pytest

from parleyd.contract import limits
from parleyd.contract.field_errors import (
    Code,
    Fault,
    FieldError,
    Path,
    as_tool_error,
    dotted,
    in_order,
    listed,
    named,
    quoted,
)
from tests.contract.reported import reported


def fault(at: Path, code: Code = Code.UNKNOWN_KEY, message: str = "") -> Fault:
    return Fault(at, code, message, "")


@pytest.mark.parametrize(
    ("at", "path"),
    [
        pytest.param((), "", id="the value itself"),
        pytest.param(("options", 2, "id"), "options[2].id", id="keys and positions"),
        pytest.param(("content", "values", "seats"), "content.values.seats", id="keys"),
        pytest.param(("",), "", id="an empty key at the root"),
        pytest.param(("content", ""), "content.", id="an empty key deeper"),
        pytest.param(("a.b", 0), "a.b[0]", id="a key with a dot is raw"),
        pytest.param((3, "a"), "[3].a", id="a position first"),
    ],
)
def test_paths_are_written_raw(at: Path, path: str) -> None:
    assert dotted(at) == path


IN_ORDER: list[Path] = [
    (),
    ("",),
    ("Zeta",),
    ("alpha",),
    ("options",),
    ("options", 0),
    ("options", 0, "id"),
    ("options", 0, "label"),
    ("options", 2),
    ("options", 10),
    ("options", "a key"),
    ("optionsX",),
    ("z", "\U00010000"),
    ("z", "\uffff"),
]
"""An astral key stands before U+FFFF, for its first unit is a surrogate."""


def test_paths_sort_piece_by_piece() -> None:
    shuffled = [fault(at) for at in IN_ORDER]
    random.Random(7).shuffle(shuffled)
    # The path of the empty key reads like that of the value itself, so it is not told twice.
    assert [error.path for error in in_order(shuffled)] == [
        dotted(at) for at in IN_ORDER if at != ("",)
    ]


def test_one_path_sorts_by_code() -> None:
    faults = [fault(("a",), Code.TOO_SHORT), fault(("a",), Code.TOO_LONG)]
    assert reported(in_order(faults)) == [("a", "TOO_LONG"), ("a", "TOO_SHORT")]


def test_equal_path_and_code_are_reported_once_in_the_words_that_came_first() -> None:
    faults = [fault(("b",), message="first"), fault(("a",)), fault(("b",), message="second")]
    assert [(e.path, e.message) for e in in_order(faults)] == [("a", ""), ("b", "first")]


def test_paths_that_read_alike_are_equal_though_their_pieces_differ() -> None:
    faults = [fault(("a", "b")), fault(("a.b",)), fault(("a", 0)), fault(("a[0]",))]
    assert [error.path for error in in_order(faults)] == ["a[0]", "a.b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("mint", '"mint"', id="short"),
        pytest.param("m" * 41, '"' + "m" * 39 + '…"', id="cut to the limit"),
        pytest.param('a\n"b"', '"a\\n\\"b\\""', id="on one line"),
        pytest.param("\ud83d", '"\ufffd"', id="fit to be sent"),
    ],
)
def test_values_are_quoted_short_and_on_one_line(text: str, expected: str) -> None:
    assert quoted(text) == expected


def test_a_list_of_ids_is_short_and_names_each_once() -> None:
    assert listed(["a", "b", "a"]) == '"a", "b"'
    assert listed([f"id{i}" for i in range(10)]).endswith('"id8", "id9"')
    assert listed([f"id{i}" for i in range(11)]).endswith('"id9", …')


@pytest.mark.parametrize(
    ("at", "name"),
    [
        pytest.param((), "the value itself", id="the value itself"),
        pytest.param(("",), '`""`', id="an empty key"),
        pytest.param(("options", 1, "icon"), "`options[1].icon`", id="a path"),
        pytest.param(("k" * 41,), "`" + "k" * 39 + "…`", id="a long key is cut"),
    ],
)
def test_a_path_is_named_short(at: Path, name: str) -> None:
    assert named(at) == name


def test_the_model_reads_every_error_with_path_code_message_and_fix() -> None:
    errors = [
        FieldError(path="", code=Code.INVALID_TYPE, message="It is a list.", fix="Send an object."),
        FieldError(path="a\ud83d", code=Code.UNKNOWN_KEY, message="No key.", fix="Remove it."),
    ]
    heading, *lines = as_tool_error(errors).split("\n")
    assert heading.endswith("Follow every fix and call the tool again.")
    assert lines == [
        "- (the arguments): INVALID_TYPE. It is a list. Send an object.",
        "- a\ufffd: UNKNOWN_KEY. No key. Remove it.",
    ]


def test_the_model_reads_the_first_of_very_many_errors_and_how_many_there_are() -> None:
    error = FieldError(path="a", code=Code.UNKNOWN_KEY, message="No key.", fix="Remove it.")
    _, *lines = as_tool_error([error] * (limits.FAULTS_TOLD + 7)).split("\n")
    assert len(lines) == limits.FAULTS_TOLD + 1
    assert lines[-1] == "- There are 7 more."


def test_there_are_28_codes() -> None:
    assert len(Code) == 28
    assert all(code.name == code.value for code in Code)

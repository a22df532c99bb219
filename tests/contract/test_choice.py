"""The rules of a choice and of its answer (spec asks 5, 11)."""

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import accepted, check_answer
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.limits import OPTIONS_MAX
from tests.contract.reported import reported
from tests.contract.valid_asks import SEEDS, TRIP, options

Faults = list[tuple[str, str]]
FIFTY = options(*(f"o{index}" for index in range(OPTIONS_MAX)))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="as it is"),
        pytest.param({"minSelected": 1.0, "maxSelected": 1}, id="bounds of one"),
        pytest.param({"default": []}, id="an empty default is none"),
        pytest.param({"allowOther": False}, id="no Other, said aloud"),
        pytest.param({"options": FIFTY}, id="fifty options"),
        pytest.param({"prompt": "\x85"}, id="U+0085 is visible"),
    ],
)
def test_a_valid_choice_of_one_has_no_errors(changes: dict[str, JsonValue]) -> None:
    assert check_ask("choice", {**TRIP, **changes}) == ()


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        pytest.param(
            {"options": options("a", "a", "b", "a")},
            [("options[1].id", "DUPLICATE_ID"), ("options[3].id", "DUPLICATE_ID")],
            id="every repeated id",
        ),
        pytest.param(
            {"options": options("A", "A", "")},
            [
                ("options[0].id", "INVALID_FORMAT"),
                ("options[1].id", "DUPLICATE_ID"),
                ("options[1].id", "INVALID_FORMAT"),
                ("options[2].id", "INVALID_FORMAT"),
            ],
            id="ids of a bad form repeat too",
        ),
        pytest.param(
            {"options": options("a")},
            [("options", "TOO_FEW")],
            id="one option",
        ),
        pytest.param(
            {"minSelected": 2, "maxSelected": -1},
            [("maxSelected", "RANGE_INVALID"), ("minSelected", "RANGE_INVALID")],
            id="bounds of another number, a fault told once",
        ),
        pytest.param(
            {"default": ["bus", "bus"]}, [("default", "SELECTION_COUNT")], id="repeats have no code"
        ),
        pytest.param(
            {"default": ["Bus"]},
            [("default[0]", "DEFAULT_NOT_IN_OPTIONS")],
            id="ids match exactly",
        ),
        pytest.param(
            {"allowOther": True, "otherLabel": "By bike"},
            [("allowOther", "OTHER_NOT_ALLOWED")],
            id="Other is for many",
        ),
        pytest.param(
            {"otherLabel": " ", "allowOther": False},
            [("otherLabel", "OTHER_NOT_ALLOWED"), ("otherLabel", "TOO_SHORT")],
            id="a label of no Other, blank too",
        ),
        pytest.param(
            {"select": "some", "default": ["plane"], "allowOther": True},
            [("select", "INVALID_ENUM")],
            id="an unknown select stops the rules",
        ),
        pytest.param(
            {"default": ["plane"], "options": [*options("a", "b"), {"id": "c"}]},
            [("options[2].label", "MISSING_REQUIRED")],
            id="a missing key in one option stops them",
        ),
        pytest.param(
            {"default": ["plane"] * 51, "otherLabel": "x"},
            [("default", "TOO_MANY")],
            id="an oversized list stops them",
        ),
        pytest.param(
            {"default": ["plane"], "title": None},
            [("title", "INVALID_TYPE")],
            id="a null stops them",
        ),
        pytest.param(
            {"default": ["plane"], "title": " " * 81, "x": 1},
            [
                ("default[0]", "DEFAULT_NOT_IN_OPTIONS"),
                ("title", "TOO_LONG"),
                ("title", "TOO_SHORT"),
                ("x", "UNKNOWN_KEY"),
            ],
            id="length and unknown keys do not",
        ),
        pytest.param({"options": [*FIFTY, {}]}, [("options", "TOO_MANY")], id="fifty-one options"),
    ],
)
def test_a_choice_of_one_reports(changes: dict[str, JsonValue], errors: Faults) -> None:
    assert reported(check_ask("choice", {**TRIP, **changes})) == errors


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="as it is"),
        pytest.param({"minSelected": 0}, id="nothing may be picked"),
        pytest.param({"minSelected": 4, "maxSelected": 4.0}, id="all must be picked"),
        pytest.param({"allowOther": True, "maxSelected": 5}, id="Other is one more choice"),
        pytest.param({"allowOther": True, "minSelected": 5}, id="also for the minimum"),
        pytest.param({"minSelected": 3, "default": ["kale"]}, id="a short default"),
        pytest.param({"allowOther": True, "otherLabel": "x" * 120}, id="a name for Other"),
    ],
)
def test_a_valid_choice_of_many_has_no_errors(changes: dict[str, JsonValue]) -> None:
    assert check_ask("choice", {**SEEDS, **changes}) == ()


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        pytest.param({"maxSelected": 5}, [("maxSelected", "RANGE_INVALID")], id="most above all"),
        pytest.param(
            {"maxSelected": 6, "allowOther": True},
            [("maxSelected", "RANGE_INVALID")],
            id="most above all with Other",
        ),
        pytest.param({"minSelected": 5}, [("minSelected", "RANGE_INVALID")], id="least above all"),
        pytest.param(
            {"minSelected": 5, "maxSelected": 9},
            [("maxSelected", "RANGE_INVALID"), ("minSelected", "RANGE_INVALID")],
            id="both above all",
        ),
        pytest.param(
            {"minSelected": 3, "maxSelected": 2},
            [("minSelected", "RANGE_INVALID")],
            id="least above most",
        ),
        pytest.param(
            {"maxSelected": 0},
            [("maxSelected", "RANGE_INVALID"), ("minSelected", "RANGE_INVALID")],
            id="the implied least is too much for a most of zero",
        ),
        pytest.param(
            {"options": []},
            [("minSelected", "RANGE_INVALID"), ("options", "TOO_FEW")],
            id="and for no options",
        ),
        pytest.param(
            {"minSelected": 10**300},
            [("minSelected", "RANGE_INVALID")],
            id="a huge whole number is a number",
        ),
        pytest.param(
            {"minSelected": 10**309}, [("minSelected", "INVALID_TYPE")], id="beyond a double is not"
        ),
        pytest.param(
            {"default": ["kale", "mint", "kale", "mint"], "maxSelected": 3},
            [
                ("default", "SELECTION_COUNT"),
                ("default[1]", "DEFAULT_NOT_IN_OPTIONS"),
                ("default[2]", "DUPLICATE_ID"),
                ("default[3]", "DEFAULT_NOT_IN_OPTIONS"),
                ("default[3]", "DUPLICATE_ID"),
            ],
            id="a repeated unknown default has two codes",
        ),
        pytest.param(
            {"default": ["kale", 3]}, [("default[1]", "INVALID_TYPE")], id="a default is of strings"
        ),
        pytest.param(
            {"default": [""] * 10 + ["a" * 1000]},
            [("default", "SELECTION_COUNT")]
            + [
                fault
                for index in range(11)
                for fault in [
                    (f"default[{index}]", "DEFAULT_NOT_IN_OPTIONS"),
                    (f"default[{index}]", "DUPLICATE_ID"),
                ]
                if fault not in [("default[0]", "DUPLICATE_ID"), ("default[10]", "DUPLICATE_ID")]
            ],
            id="default entries have no limits of their own, and sort by number",
        ),
        pytest.param(
            {"otherLabel": "x", "allowOther": False},
            [("otherLabel", "OTHER_NOT_ALLOWED")],
            id="a name for no Other",
        ),
    ],
)
def test_a_choice_of_many_reports(changes: dict[str, JsonValue], errors: Faults) -> None:
    assert reported(check_ask("choice", {**SEEDS, **changes})) == errors


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        pytest.param({}, [], id="as it is"),
        pytest.param(
            {"description": "x", "minSelected": 9, "otherLabel": "x"},
            [
                ("description", "UNKNOWN_KEY"),
                ("minSelected", "UNKNOWN_KEY"),
                ("otherLabel", "UNKNOWN_KEY"),
            ],
            id="what does not exist is looked at by no rule",
        ),
        pytest.param({"select": "many"}, [("select", "INVALID_ENUM")], id="one pick only"),
        pytest.param(
            {"default": ["a", "c", "c"]},
            [
                ("default", "SELECTION_COUNT"),
                ("default[1]", "DEFAULT_NOT_IN_OPTIONS"),
                ("default[2]", "DEFAULT_NOT_IN_OPTIONS"),
            ],
            id="a default as in any choice of one",
        ),
        pytest.param({"default": ["a"] * 4}, [("default", "TOO_MANY")], id="a long default"),
        pytest.param(
            {
                "options": [
                    {"id": "a", "label": "Fly\ufeff"},
                    {"id": "a", "label": "Fly\x85"},
                    {"id": "c", "label": "\u3000Fly", "description": "x" * 280},
                ]
            },
            [("options[1].id", "DUPLICATE_ID"), ("options[2].label", "DUPLICATE_LABEL")],
            id="labels differ after trimming",
        ),
        pytest.param(
            {"options": [{"id": "a", "label": "\U0001f6a2" * 11}, {"id": "b", "label": "fly"}]},
            [("options[0].label", "TOO_LONG")],
            id="labels are short",
        ),
    ],
)
def test_a_compact_choice_is_narrow(changes: dict[str, JsonValue], errors: Faults) -> None:
    ask: dict[str, JsonValue] = {**TRIP, "options": options("a", "b"), **changes}
    assert reported(check_ask("choice", ask, "compact")) == errors


ONE_OR_OTHER: dict[str, JsonValue] = {**SEEDS, "allowOther": True, "maxSelected": 1}
TWO_OR_THREE: dict[str, JsonValue] = {**SEEDS, "minSelected": 2, "maxSelected": 3}


@pytest.mark.parametrize(
    ("ask", "content", "errors"),
    [
        pytest.param(TRIP, {"selected": ["bus"]}, [], id="one"),
        pytest.param(
            TRIP, {"selected": []}, [("content.selected", "SELECTION_COUNT")], id="none of one"
        ),
        pytest.param(
            TRIP,
            {"selected": ["bus", "Bus", "bus"]},
            [
                ("content.selected", "SELECTION_COUNT"),
                ("content.selected[1]", "OPTION_NOT_OFFERED"),
                ("content.selected[2]", "DUPLICATE_ID"),
            ],
            id="count, offer and repeats together",
        ),
        pytest.param(SEEDS, {"selected": ["okra", "kale"]}, [], id="in any order"),
        pytest.param(
            TWO_OR_THREE,
            {"selected": ["kale", "kale"]},
            [("content.selected[1]", "DUPLICATE_ID")],
            id="repeats count",
        ),
        pytest.param(
            TWO_OR_THREE,
            {"selected": ["kale"]},
            [("content.selected", "SELECTION_COUNT")],
            id="too few",
        ),
        pytest.param(ONE_OR_OTHER, {"selected": [], "other": "Thyme"}, [], id="Other alone"),
        pytest.param(
            ONE_OR_OTHER,
            {"selected": ["kale"], "other": "Thyme"},
            [("content.selected", "SELECTION_COUNT")],
            id="Other counts",
        ),
        pytest.param(
            SEEDS,
            {"selected": [], "other": "Thyme"},
            [("content.other", "OTHER_NOT_ALLOWED"), ("content.selected", "SELECTION_COUNT")],
            id="an Other that is not offered does not count",
        ),
        pytest.param(
            SEEDS,
            {"selected": ["plane"], "other": " " * 501, "x": 1},
            [
                ("content.other", "TOO_LONG"),
                ("content.other", "TOO_SHORT"),
                ("content.x", "UNKNOWN_KEY"),
            ],
            id="faults of shape stop the rules",
        ),
        pytest.param(
            SEEDS,
            {"selected": ["kale"] * 51},
            [("content.selected", "TOO_MANY")],
            id="an oversized list is not looked at",
        ),
        pytest.param(
            SEEDS,
            {"selected": "kale", "other": None},
            [("content.other", "INVALID_TYPE"), ("content.selected", "INVALID_TYPE")],
            id="wrong types",
        ),
        pytest.param(
            SEEDS, {}, [("content.selected", "MISSING_REQUIRED")], id="selected is required"
        ),
        pytest.param(
            {**SEEDS, "options": FIFTY, "allowOther": True, "minSelected": 51},
            {"selected": [f"o{index}" for index in range(50)], "other": "\x85"},
            [],
            id="everything, and Other",
        ),
    ],
)
def test_an_answer_to_a_choice(
    ask: dict[str, JsonValue], content: dict[str, JsonValue], errors: Faults
) -> None:
    assert check_ask("choice", ask) == ()
    assert reported(check_answer("choice", ask, accepted(content))) == errors


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        pytest.param(
            {"maxSelected": -1},
            "minSelected",
            "`minSelected`, which is 1 when absent, is more than the most picks an answer can "
            "have. Set `minSelected` to 0 or less, or allow more picks.",
            id="an implied minimum is named",
        ),
        pytest.param(
            {"minSelected": 5},
            "minSelected",
            "`minSelected` is more than the most picks an answer can have. "
            "Set `minSelected` to 4 or less, or allow more picks.",
            id="one that was sent is not explained",
        ),
        pytest.param(
            {"maxSelected": -1, "default": ["kale"]},
            "default",
            "The picks in `default` are 1, more than an answer may have. "
            "Shorten `default` to at most 0.",
            id="nobody is told to pick less than nothing",
        ),
    ],
)
def test_the_words_of_an_error_say_how_to_mend_the_ask(
    changes: dict[str, JsonValue], path: str, words: str
) -> None:
    errors = check_ask("choice", {**SEEDS, **changes})
    assert [f"{e.message} {e.fix}" for e in errors if e.path == path] == [words]


@pytest.mark.parametrize(
    ("ask", "fix"),
    [
        pytest.param(TRIP, "Make the number of picks in `content.selected` exactly 1.", id="one"),
        pytest.param(
            TWO_OR_THREE, "Make the number of picks in `content.selected` 2 to 3.", id="a range"
        ),
        pytest.param(
            {**ONE_OR_OTHER, "maxSelected": 2},
            "Make the number of picks in `content.selected` 1 to 2, "
            "counting `content.other` as one.",
            id="with Other",
        ),
    ],
)
def test_the_words_of_an_error_say_how_many_picks_there_may_be(
    ask: dict[str, JsonValue], fix: str
) -> None:
    (error,) = check_answer("choice", ask, accepted({"selected": []}))
    assert error.fix == fix

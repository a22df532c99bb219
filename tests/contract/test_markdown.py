"""The rules of a markdown ask and of its answer (spec asks 7)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract.answers import accepted, check_answer
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.limits import MARKDOWN, PLACEHOLDER, PROMPT
from parleyd.contract.text import trim, units
from tests.contract.reported import reported
from tests.contract.valid_drafts import drafts, edits

SHIP = "\U0001f6a2"
NOTES: dict[str, JsonValue] = {"prompt": "Tidy up the minutes.", "initial": "# Minutes\n\n- roof\n"}
MIN_RANGE = ("minLength", "RANGE_INVALID")
MAX_RANGE = ("maxLength", "RANGE_INVALID")

Faults = list[tuple[str, str]]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="a prompt and a draft"),
        pytest.param({"initial": ""}, id="an empty draft"),
        pytest.param({"initial": " \n\ufeff"}, id="a blank draft"),
        pytest.param({"initial": "x" * MARKDOWN}, id="the longest draft"),
        pytest.param({"initial": SHIP * (MARKDOWN // 2)}, id="the longest draft, of emoji"),
        pytest.param({"minLength": 0, "maxLength": 1}, id="the least bounds"),
        pytest.param({"minLength": MARKDOWN, "maxLength": MARKDOWN}, id="the largest bounds"),
        pytest.param({"minLength": float(MARKDOWN)}, id="a minimum like the implied maximum"),
        pytest.param({"minLength": 7.0, "maxLength": 7}, id="equal bounds, one with a point"),
        pytest.param({"initial": "abc", "minLength": 4}, id="a draft that is too short"),
        pytest.param({"initial": "abc", "maxLength": 2}, id="a draft that is too long"),
        pytest.param({"placeholder": SHIP * (PLACEHOLDER // 2)}, id="the longest placeholder"),
        pytest.param(
            {"title": "Minutes", "submitLabel": "Send", "allowDecline": False}, id="shared keys"
        ),
    ],
)
def test_a_valid_markdown_ask_has_no_errors(changes: dict[str, JsonValue]) -> None:
    assert check_ask("markdown", {**NOTES, **changes}) == ()


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        pytest.param({"initial": "x" * (MARKDOWN + 1)}, [("initial", "TOO_LONG")], id="long draft"),
        pytest.param(
            {"initial": SHIP * (MARKDOWN // 2) + "x"},
            [("initial", "TOO_LONG")],
            id="emoji count twice",
        ),
        pytest.param({"initial": None}, [("initial", "INVALID_TYPE")], id="a null is no draft"),
        pytest.param({"placeholder": " "}, [("placeholder", "TOO_SHORT")], id="blank placeholder"),
        pytest.param(
            {"placeholder": "x" * (PLACEHOLDER + 1)},
            [("placeholder", "TOO_LONG")],
            id="long placeholder",
        ),
        pytest.param({"minLength": -1}, [MIN_RANGE], id="a minimum below zero"),
        pytest.param({"maxLength": 0}, [MAX_RANGE], id="a maximum of zero"),
        pytest.param(
            {"minLength": MARKDOWN + 1}, [MIN_RANGE], id="a minimum above all: one error, not two"
        ),
        pytest.param(
            {"minLength": MARKDOWN + 1, "maxLength": MARKDOWN + 1},
            [MAX_RANGE, MIN_RANGE],
            id="both above all: one each",
        ),
        pytest.param({"minLength": 3, "maxLength": 2}, [MIN_RANGE], id="bounds that contradict"),
        pytest.param(
            {"minLength": 0, "maxLength": -1},
            [MAX_RANGE, MIN_RANGE],
            id="bounds out of range take part in the rule",
        ),
        pytest.param({"maxLength": 10**300}, [MAX_RANGE], id="a maximum beyond all measure"),
        pytest.param(
            {"minLength": 2.5, "maxLength": "9"},
            [("maxLength", "INVALID_TYPE"), ("minLength", "INVALID_TYPE")],
            id="what is not whole",
        ),
        pytest.param(
            {"minLength": 9, "maxLength": 3, "initial": 1},
            [("initial", "INVALID_TYPE")],
            id="a wrong type stops the rule",
        ),
        pytest.param(
            {"minLength": 9, "maxLength": 3, "min_length": 9, "prompt": "x" * (PROMPT + 1)},
            [MIN_RANGE, ("min_length", "UNKNOWN_KEY"), ("prompt", "TOO_LONG")],
            id="other faults of shape do not",
        ),
    ],
)
def test_what_is_wrong_with_a_markdown_ask_is_reported(
    changes: dict[str, JsonValue], errors: Faults
) -> None:
    assert reported(check_ask("markdown", {**NOTES, **changes})) == errors


def test_markdown_is_not_offered_on_the_compact_surface() -> None:
    with pytest.raises(ValueError, match="does not offer markdown"):
        check_ask("markdown", NOTES, "compact")


LONG = ("content.markdown", "TOO_LONG")
SHORT = ("content.markdown", "TOO_SHORT")
CLAIM = ("content.changed", "CHANGED_MISMATCH")


@pytest.mark.parametrize(
    ("ask", "text", "changed", "errors"),
    [
        pytest.param({}, "", False, [], id="no draft, nothing written"),
        pytest.param({}, "", True, [CLAIM], id="no draft is the empty one"),
        pytest.param({}, " ", True, [], id="a space is a change"),
        pytest.param({"initial": "é"}, "é", False, [], id="untouched"),
        pytest.param({"initial": "é"}, "e\u0301", True, [], id="another Unicode form is a change"),
        pytest.param({"initial": "é"}, "e\u0301", False, [CLAIM], id="and no claim hides it"),
        pytest.param({"initial": "a"}, "A", False, [CLAIM], id="so is case"),
        pytest.param({"maxLength": 4}, SHIP * 2, True, [], id="emoji at the maximum"),
        pytest.param({"maxLength": 4}, SHIP * 2 + "x", True, [LONG], id="emoji above it"),
        pytest.param({"maxLength": 4}, "ab   ", True, [LONG], id="the maximum counts spaces"),
        pytest.param({"minLength": 4}, SHIP * 2, True, [], id="emoji at the minimum"),
        pytest.param({"minLength": 4}, "\ufeffabc\u3000", True, [SHORT], id="the minimum does not"),
        pytest.param({"minLength": 4}, "\x85abc", True, [], id="U+0085 is no white space"),
        pytest.param({"minLength": 4}, "\u200babc", True, [], id="nor is a zero-width space"),
        pytest.param({"minLength": 1}, " \n", True, [SHORT], id="blank is too short"),
        pytest.param(
            {"minLength": 2, "maxLength": 3}, "    ", True, [LONG, SHORT], id="both at once"
        ),
        pytest.param(
            {"minLength": 2, "maxLength": 3},
            "    ",
            False,
            [CLAIM, LONG, SHORT],
            id="and a wrong claim",
        ),
        pytest.param(
            {"initial": "abc", "minLength": 4}, "abc", False, [SHORT], id="draft too short"
        ),
        pytest.param({}, "x" * MARKDOWN, True, [], id="the longest text"),
        pytest.param(
            {"minLength": MARKDOWN}, " " + "x" * MARKDOWN, False, [LONG], id="above it no rule runs"
        ),
        pytest.param(
            {"maxLength": 9}, "x" * MARKDOWN, False, [CLAIM, LONG], id="just below they do"
        ),
    ],
)
def test_an_answer_fits_the_bounds_and_claims_the_truth(
    ask: dict[str, JsonValue], text: str, errors: Faults, *, changed: bool
) -> None:
    ask = {"prompt": "Write.", **ask}
    assert check_ask("markdown", ask) == ()
    response = accepted({"markdown": text, "changed": changed})
    assert reported(check_answer("markdown", ask, response)) == errors


@pytest.mark.parametrize(
    ("content", "errors"),
    [
        pytest.param(
            {},
            [("content.changed", "MISSING_REQUIRED"), ("content.markdown", "MISSING_REQUIRED")],
            id="nothing",
        ),
        pytest.param(
            {"markdown": None, "changed": None},
            [("content.changed", "INVALID_TYPE"), ("content.markdown", "INVALID_TYPE")],
            id="nulls",
        ),
        pytest.param(
            {"markdown": "x", "changed": "true"},
            [("content.changed", "INVALID_TYPE")],
            id="a claim in a string",
        ),
        pytest.param(
            {"markdown": "x", "changed": False, "html": "x"},
            [("content.html", "UNKNOWN_KEY")],
            id="an unknown key hides a wrong claim",
        ),
    ],
)
def test_an_answer_keeps_its_shape(content: dict[str, JsonValue], errors: Faults) -> None:
    assert reported(check_answer("markdown", NOTES, accepted(content))) == errors


@pytest.mark.parametrize(
    ("bounds", "length", "named"),
    [
        pytest.param({}, MARKDOWN + 1, MARKDOWN, id="without a maximum of its own"),
        pytest.param({"maxLength": 40}, MARKDOWN + 1, 40, id="far above its own maximum"),
        pytest.param({"maxLength": 40}, 41, 40, id="just above it"),
    ],
)
def test_a_text_that_is_too_long_is_told_the_asks_own_maximum(
    bounds: dict[str, JsonValue], length: int, named: int
) -> None:
    response = accepted({"markdown": "x" * length, "changed": True})
    (error,) = check_answer("markdown", {**NOTES, **bounds}, response)
    assert error.fix.startswith(f"Shorten `content.markdown` to {named} units;")


@pytest.mark.parametrize(("text", "truth"), [("# Minutes", "true"), (NOTES["initial"], "false")])
def test_a_wrong_claim_is_told_the_truth(text: str, truth: str) -> None:
    response = accepted({"markdown": text, "changed": truth == "false"})
    (error,) = check_answer("markdown", NOTES, response)
    assert error.fix == f"Set `content.changed` to {truth}."


@given(drafts(), st.data())
def test_any_text_of_a_fitting_length_answers_and_no_other(
    ask: dict[str, JsonValue], data: st.DataObject
) -> None:
    content = data.draw(edits(ask))
    text, least, most = content["markdown"], ask.get("minLength", 0), ask.get("maxLength", MARKDOWN)
    assert isinstance(text, str)
    assert isinstance(least, int)
    assert isinstance(most, int | float)
    expected = [LONG] * (units(text) > most) + [SHORT] * (units(trim(text)) < least)
    assert reported(check_answer("markdown", ask, accepted(content))) == expected
    lie = accepted({**content, "changed": not content["changed"]})
    assert reported(check_answer("markdown", ask, lie)) == [CLAIM, *expected]

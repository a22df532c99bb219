"""Several picks, made in a terminal."""

import pytest

from tests.app.desk import Desk, Keys, answer, asked
from tests.app.keyboard import CTRL_C, DOWN, ENTER, SPACE, UP

PIZZA = """choice { select: SELECT_MANY
  options { id: "olives" label: "Olives" }
  options { id: "capers" label: "Capers" }
  options { id: "rocket" label: "Rocket" }
  default: "rocket" default: "olives"
  max_selected: 2 allow_other: true other_label: "My own" }"""

PICKS = [
    Keys(
        "what is picked beforehand",
        ENTER * 2,
        'accept { choice { selected: "olives" selected: "rocket" } }',
    ),
    Keys(
        "other boxes",
        ENTER + SPACE + DOWN + SPACE + ENTER,
        'accept { choice { selected: "capers" selected: "rocket" } }',
    ),
    Keys(
        "one of one's own",
        ENTER + SPACE + DOWN * 3 + SPACE + ENTER + "Pineapple" + ENTER,
        'accept { choice { selected: "rocket" other: "Pineapple" } }',
    ),
    Keys(
        "nothing but one of one's own",
        ENTER + SPACE + DOWN * 2 + SPACE + DOWN + SPACE + ENTER + "Pineapple" + ENTER,
        'accept { choice { other: "Pineapple" } }',
    ),
    Keys(
        "one of one's own, blank at first",
        ENTER + SPACE + DOWN * 3 + SPACE + ENTER + "  " + ENTER + "P" + ENTER,
        'accept { choice { selected: "rocket" other: "  P" } }',
        ("✗ That does not fit. “My own” has no visible character. Write a text",),
    ),
    Keys(
        "one of one's own, dropped again",
        ENTER + DOWN * 3 + SPACE + ENTER + CTRL_C + UP + SPACE + ENTER,
        'accept { choice { selected: "olives" selected: "rocket" } }',
    ),
    Keys(
        "too many at first",
        ENTER + DOWN + SPACE + ENTER + DOWN * 2 + SPACE + ENTER,
        'accept { choice { selected: "olives" selected: "capers" } }',
        ("✗ That does not fit.", "picks in the list 1 to 2, counting “My own” as one."),
    ),
    Keys(
        "too few at first",
        ENTER + SPACE + DOWN * 2 + SPACE + ENTER + SPACE + ENTER,
        'accept { choice { selected: "olives" } }',
        ("The number of picks in the list is 0",),
    ),
    Keys("back from the list, and skipped", ENTER + CTRL_C + DOWN + ENTER, "decline {}"),
]


@pytest.mark.parametrize("case", PICKS, ids=lambda case: case.name)
async def test_several_picks_are_boxes_to_check(desk: Desk, case: Keys) -> None:
    assert await desk.answer(asked(PIZZA), case.typed) == answer(case.said)
    assert [text for text in case.shown if text not in desk.shown] == []

"""Asks what to do at the weekend: up to three picks, one of them of one's own."""

import re
from typing import Final

from parleyd.contract.json import JsonObject, string_at, strings_at
from parleyd.models.demo.question import Question
from parleyd.models.demo.words import in_a_row, quoted

_NAMES: Final = {
    "market": "the farmers' market",
    "museum": "a museum",
    "hike": "a hike",
    "cinema": "the cinema",
    "nothing": "doing nothing at all",
}


def _picked(content: JsonObject) -> str:
    picks = [_NAMES.get(picked, picked) for picked in strings_at(content, "selected")]
    if (other := string_at(content, "other")) is not None:
        picks.append(quoted(other))
    return f"Your weekend is planned: {in_a_row(picks)}. Enjoy it!"


WEEKEND: Final = Question(
    kind="choice",
    asked_for=re.compile(
        r"\bplan\b.*\bweekend\b|\bweekend('s)? (plans?|ideas?)\b|\bwhat\b.*\bdo\b.*\bweekend\b",
        re.IGNORECASE,
    ),
    input={
        "title": "Weekend",
        "prompt": "What shall be on your plan for the weekend? Pick up to three.",
        "select": "many",
        "options": [
            {"id": "market", "label": "Farmers' market", "description": "Saturday, until noon"},
            {"id": "museum", "label": "Museum", "description": "Free on Sundays"},
            {"id": "hike", "label": "Hike", "description": "Four hours, if it stays dry"},
            {"id": "cinema", "label": "Cinema"},
            {"id": "nothing", "label": "Nothing at all"},
        ],
        "default": ["market"],
        "maxSelected": 3,
        "allowOther": True,
        "otherLabel": "Something else",
        "submitLabel": "Plan it",
    },
    in_words=(
        "For the weekend I'd suggest the farmers' market, a museum, a hike or the cinema. "
        "Tell me what you feel like."
    ),
    accepted=_picked,
    declined="Then I leave your weekend unplanned.",
    cancelled="I planned nothing. Ask me again before the weekend.",
)

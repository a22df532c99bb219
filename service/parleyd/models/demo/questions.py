"""All that the demo agent asks, the first that fits a prompt first."""

from typing import Final

from parleyd.models.demo.documents import DOCUMENTS
from parleyd.models.demo.invitation import INVITATION
from parleyd.models.demo.plan import PLAN
from parleyd.models.demo.question import Question
from parleyd.models.demo.table import TABLE
from parleyd.models.demo.todos import DELETION
from parleyd.models.demo.weekend import WEEKEND

_LOOKED_AT: Final = 1000
"""A wish stands in so many characters; searching a long text takes long."""

QUESTIONS: Final = (WEEKEND, PLAN, DELETION, INVITATION, TABLE, DOCUMENTS)


def question_for(prompt: str) -> Question | None:
    """Returns what the beginning of `prompt` calls for, or None where that is no such wish."""
    folded = prompt[:_LOOKED_AT].casefold()
    return next((each for each in QUESTIONS if each.asked_for.search(folded)), None)

"""Asks before it deletes what is done: an approval of what can't be undone."""

import re
from typing import Final

from parleyd.contract.json import JsonObject, flag_at
from parleyd.models.demo.question import Question


def _confirmed(content: JsonObject) -> str:
    if flag_at(content, "confirmed"):
        return "Done: your completed todos are deleted. The open ones are untouched."
    return "All right, I deleted nothing. Your completed todos are still there."


DELETION: Final = Question(
    kind="confirm",
    asked_for=re.compile(
        r"\b(delete|remove|clear|clean ?up|purge|drop)\b.*\b(to-?dos?|tasks?|completed)\b"
    ),
    input={
        "title": "Delete completed todos",
        "prompt": "Delete all of your completed todos? This can't be undone.",
        "confirmLabel": "Delete them",
        "denyLabel": "Keep them",
        "destructive": True,
    },
    in_words=(
        "Deleting your completed todos can't be undone, and here I can't let you confirm it. "
        "So I leave them where they are."
    ),
    accepted=_confirmed,
    declined="I take that as a no: your completed todos are still there.",
    cancelled="I deleted nothing. Your completed todos are still there.",
)

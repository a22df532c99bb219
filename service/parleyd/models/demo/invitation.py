"""Hands over a draft to edit: an invitation by email."""

import re
from typing import Final

from parleyd.contract.json import JsonObject, flag_at, string_at
from parleyd.models.demo.question import Question
from parleyd.models.demo.words import quoted

_DRAFT: Final = """\
# Dinner on Saturday

Hi all,

I'm cooking on Saturday and would love to have you over.

- **When:** from seven
- **Where:** my place
- **Bring:** an appetite

Tell me by Thursday if you can make it!
"""


def _returned(content: JsonObject) -> str:
    text = string_at(content, "markdown") or ""
    if flag_at(content, "changed"):
        words = len(text.split())
        return f"I take your version, all {words} words of it. It begins {quoted(text)}."
    return f"You left my draft as it is, so it goes out like that: {quoted(text)}."


INVITATION: Final = Question(
    kind="markdown",
    asked_for=re.compile(
        r"\b(write|draft|compose|prepare)\b.*\b(invitations?|invites?|e-?mails?|letters?)\b",
        re.IGNORECASE,
    ),
    input={
        "title": "Draft",
        "prompt": "Here is a draft of your invitation. Change what you like, then send it back.",
        "initial": _DRAFT,
        "placeholder": "Dear all, …",
        "minLength": 20,
        "maxLength": 2000,
        "submitLabel": "Take this text",
    },
    in_words=(
        "I'd write: “I'm cooking on Saturday and would love to have you over.” "
        "Where there is room for an editor I can hand you the whole draft."
    ),
    accepted=_returned,
    declined="Then there is no invitation for now. I threw my draft away.",
    cancelled="I put the draft aside. Ask me again when you want to write it.",
)

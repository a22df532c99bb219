"""Asks which plan a workspace shall have: one pick."""

import re
from typing import Final

from parleyd.contract.json import JsonObject, strings_at
from parleyd.models.demo.question import Question

_NAMES: Final = {"starter": "Starter", "team": "Team", "enterprise": "Enterprise"}


def _chosen(content: JsonObject) -> str:
    picked = "".join(strings_at(content, "selected"))
    return (
        f"Your workspace is on the {_NAMES.get(picked, picked)} plan now. "
        "You can switch to another one whenever you like."
    )


PLAN: Final = Question(
    kind="choice",
    asked_for=re.compile(
        r"\b(set ?up|choose|pick|change|switch|upgrade|downgrade|select)\b.*\bplans?\b"
        r"|\bwhich plan\b",
        re.IGNORECASE,
    ),
    input={
        "title": "Workspace plan",
        "prompt": "Which plan should your workspace have?",
        "select": "one",
        "options": [
            {"id": "starter", "label": "Starter", "description": "Free, for up to 3 people"},
            {"id": "team", "label": "Team", "description": "For up to 50 people"},
            {"id": "enterprise", "label": "Enterprise", "description": "As many as you are"},
        ],
        "default": ["team"],
    },
    in_words=(
        "There are three plans: Starter, Team and Enterprise. "
        "Team suits most workspaces; tell me which one you want."
    ),
    accepted=_chosen,
    declined="No plan for now, then. Your workspace stays as it is.",
    cancelled="I left your plan as it is. Ask me again when you want to set it up.",
)

"""The asks of spec turns 14, which the acceptance statements speak of."""

from pydantic import JsonValue

from parleyd.models.script import Call

PLAN_ID = "call_plan"
PLAN: dict[str, JsonValue] = {
    "prompt": "Which plan do you want?",
    "select": "one",
    "options": [
        {"id": "starter", "label": "Starter"},
        {"id": "team", "label": "Team"},
        {"id": "enterprise", "label": "Enterprise"},
    ],
    "default": ["team"],
}

REGION_ID = "call_region"
REGION: dict[str, JsonValue] = {
    "prompt": "Where should your data live?",
    "select": "one",
    "options": [{"id": "us", "label": "United States"}, {"id": "eu", "label": "Europe"}],
}


def ask_plan(opaque: bytes | None = None) -> Call:
    """Returns the call that asks PLAN."""
    return Call("ask_choice", PLAN, PLAN_ID, opaque)


def ask_region(opaque: bytes | None = None) -> Call:
    """Returns the call that asks REGION."""
    return Call("ask_choice", REGION, REGION_ID, opaque)

"""Approvals: confirms that the server makes, each to guard one call of a host tool (9.3, 9.5)."""

from typing import Final

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.answers import ONE_ASK_AT_A_TIME, action_of
from parleyd.contract.guards import hides_something
from parleyd.contract.json import JsonObject, flag_at, object_at, string_at
from parleyd.contract.text import cut, storable

CONFIRM_LABEL: Final = "Allow"
DENY_LABEL: Final = "Deny"
USER_DENIED: Final = "user_denied"
USER_DECLINED: Final = "user_declined"
USER_CANCELLED: Final = "user_cancelled"

__all__ = [
    "CONFIRM_LABEL",
    "DENY_LABEL",
    "ONE_ASK_AT_A_TIME",
    "USER_CANCELLED",
    "USER_DECLINED",
    "USER_DENIED",
    "default_wording",
    "denial_reason",
    "denied_result",
]


def default_wording(tool_name: str, description: str) -> dict[str, JsonValue]:
    """Returns the confirm that asks for a call of a tool, where the deployment has no words for it.

    It always fits its card whole. A description that hides something is left out. The tool's name
    is one that a tool may have.
    """
    prompt = f"Allow {tool_name}?"
    plain = " ".join(storable(description).split())
    if plain and not hides_something(plain):
        prompt = f"{prompt} {plain}"
    return {
        "prompt": cut(prompt, limits.CARD_TEXT),
        "confirmLabel": CONFIRM_LABEL,
        "denyLabel": DENY_LABEL,
    }


def denial_reason(envelope: JsonObject) -> str | None:
    """Returns why the answer of an approval denies its call; None where it approves."""
    match action_of(envelope):
        case "accept":
            confirmed = flag_at(object_at(envelope, "content"), "confirmed")
            return None if confirmed else USER_DENIED
        case "decline":
            return USER_DECLINED
        case "cancel":
            return string_at(envelope, "reason") or USER_CANCELLED


def denied_result(reason: str) -> dict[str, JsonValue]:
    """Returns what a call came to that was not approved."""
    return {"approved": False, "reason": reason}

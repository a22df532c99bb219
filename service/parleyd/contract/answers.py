"""The answer envelope: what a person, or the server, says to an ask (spec asks 9, V10)."""

from collections.abc import Iterator
from itertools import chain
from typing import Final, Literal, TypeAlias

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.asks.kind import AskKind, Kind
from parleyd.contract.asks.kinds import kind_named
from parleyd.contract.field_errors import Code, Fault, FieldError, found, in_order
from parleyd.contract.json import JsonObject
from parleyd.contract.records import Key, ObjectShape
from parleyd.contract.shapes import Shape, TextShape
from parleyd.contract.variants import Variant, VariantShape

AskAction: TypeAlias = Literal["accept", "decline", "cancel"]
"""`accept`: answered. `decline`: skipped. `cancel`: dropped."""

USER_SENT_MESSAGE: Final = "user_sent_message"
"""The person typed a message instead of answering."""
ONE_ASK_AT_A_TIME: Final = "one_ask_at_a_time"
"""The ask lost the conversation's single slot."""
CONVERSATION_DELETED: Final = "conversation_deleted"
"""The conversation was deleted (spec turns 7.3)."""
EXPIRED: Final = "expired"
"""The ask's time was over (spec turns 16.5)."""
SERVICE_CANCELLED: Final = "service_cancelled"
"""The service that asked has withdrawn it, and did not say why (spec turns 16.4)."""


def envelope_shape(content: Shape) -> VariantShape:
    """Returns what an envelope looks like whose content looks like `content` (EN1 to EN4)."""
    return VariantShape(
        tag="action",
        says="What is done with the question.",
        variants=(
            Variant(("accept",), (Key("content", content, "The answer.", required=True),)),
            Variant(("decline",), ()),
            Variant(("cancel",), (Key("reason", TextShape(limits.CANCEL_REASON), "Why."),)),
        ),
    )


_ENVELOPE: Final = envelope_shape(ObjectShape())
"""An envelope as the first stage sees it (V10)."""


def accepted(content: JsonObject) -> dict[str, JsonValue]:
    """Returns the envelope that answers with `content`."""
    return {"action": "accept", "content": dict(content)}


def declined() -> dict[str, JsonValue]:
    """Returns the envelope that skips."""
    return {"action": "decline"}


def cancelled(reason: str) -> dict[str, JsonValue]:
    """Returns the envelope that drops the ask; the server's reasons are the constants above."""
    return {"action": "cancel", "reason": reason}


def action_of(envelope: JsonObject) -> AskAction:
    """Returns what a valid envelope does.

    Raises:
        ValueError: It is no valid envelope.
    """
    match envelope.get("action"):
        case "accept":
            return "accept"
        case "decline":
            return "decline"
        case "cancel":
            return "cancel"
        case _:
            raise ValueError("An envelope without one of the three actions is not valid.")


def check_answer(
    kind: AskKind,
    ask_input: JsonObject,
    response: JsonValue,
    max_file_bytes: int = limits.FILE_BYTES,
) -> tuple[FieldError, ...]:
    """Returns what is wrong with an answer to a stored ask, in order; nothing if it is valid.

    `ask_input` is a valid input of the kind, `response` any JSON value; neither is changed. Three
    stages (envelope, shape of the content, rules of the content) follow each other, and one with
    faults ends the check (V10). The surface plays no part (CS5). A file of the answer has at most
    `max_file_bytes` (FI5).

    Raises:
        ValueError: There is no such kind (V11).
    """
    asked = kind_named(kind)
    if envelope_faults := [*_check_envelope(asked, ask_input, response)]:
        return in_order(envelope_faults)
    content = response.get("content") if isinstance(response, dict) else None
    if not isinstance(content, dict):
        return ()
    shape = asked.worded(ask_input) if asked.worded else asked.content
    if shape_faults := found(shape.check(content, ("content",))):
        return in_order(shape_faults)
    sizes = asked.size_rules(content, max_file_bytes) if asked.size_rules else ()
    return in_order(chain(asked.content_rules(ask_input, content), sizes))


def _check_envelope(kind: Kind, ask_input: JsonObject, response: JsonValue) -> Iterator[Fault]:
    """Yields what breaks EN1 to EN4."""
    faults = [*_ENVELOPE.check(response, ())]
    yield from faults
    skips = isinstance(response, dict) and response.get("action") == "decline"
    if skips and not faults and not kind.may_decline(ask_input):
        yield Fault(
            ("action",),
            Code.DECLINE_NOT_ALLOWED,
            '`action` is "decline", but this question can\'t be skipped.',
            'Answer it with the `action` "accept".',
        )

"""`confirm`: approve or deny one action (spec asks 6)."""

from collections.abc import Iterator
from typing import Final

from parleyd.contract import limits
from parleyd.contract.asks.kind import PROMPT, TITLE, AnswerButton, Face, Kind, Offer
from parleyd.contract.field_errors import Code, Fault, quoted
from parleyd.contract.json import JsonObject, flag_at, string_at
from parleyd.contract.records import Key, RecordShape
from parleyd.contract.shapes import BooleanShape, TextShape
from parleyd.contract.text import cut, trim

CONFIRM_LABEL: Final = "Confirm"
DENY_LABEL: Final = "Cancel"
"""What the two buttons say when the ask does not."""

_SHAPE = RecordShape(
    (
        TITLE,
        PROMPT,
        Key(
            "confirmLabel",
            TextShape(limits.CONFIRM_LABEL),
            f"What the button says that approves; {CONFIRM_LABEL} when absent.",
        ),
        Key(
            "denyLabel",
            TextShape(limits.CONFIRM_LABEL),
            f"What the button says that denies; {DENY_LABEL} when absent.",
        ),
        Key(
            "destructive",
            BooleanShape(),
            "Whether data is deleted or the action can't be undone; false when absent.",
        ),
        Key(
            "allowDecline",
            BooleanShape(),
            "Whether the person may skip the question besides denying; false when absent.",
        ),
    )
)

_CONTENT = RecordShape(
    (Key("confirmed", BooleanShape(), "Whether the person approved.", required=True),)
)


def _labels(ask_input: JsonObject) -> tuple[str, str]:
    """Returns what the two buttons say, without outer white space."""
    confirm = string_at(ask_input, "confirmLabel")
    deny = string_at(ask_input, "denyLabel")
    return (
        CONFIRM_LABEL if confirm is None else trim(confirm),
        DENY_LABEL if deny is None else trim(deny),
    )


def _rules(ask_input: JsonObject) -> Iterator[Fault]:
    """Yields what breaks CF3."""
    confirm, deny = _labels(ask_input)
    if confirm == deny:
        key, other = ("denyLabel", "confirmLabel")
        if key not in ask_input:
            key, other = other, key
        yield Fault(
            (key,),
            Code.DUPLICATE_LABEL,
            f"`{key}` reads {quoted(confirm)}, like the other button.",
            f"Give `{key}` words that differ from `{other}`.",
        )


def _content_rules(_ask_input: JsonObject, _content: JsonObject) -> tuple[Fault, ...]:
    """Returns nothing: either answer fits every confirm (CF4)."""
    return ()


def _face(ask_input: JsonObject) -> Face:
    """Returns the buttons of SC8."""
    confirm, deny = _labels(ask_input)
    destructive = flag_at(ask_input, "destructive") is True
    return Face(
        (
            AnswerButton(
                id="approve",
                label=cut(confirm, limits.CARD_LABEL),
                style="destructive" if destructive else "primary",
                content={"confirmed": True},
            ),
            AnswerButton(
                id="deny",
                label=cut(deny, limits.CARD_LABEL),
                style="cancel",
                content={"confirmed": False},
            ),
        ),
        handoff=False,
    )


_WHEN = (
    "Call it before you delete something, send something in the person's name, spend their "
    "money, or do anything else that can't be undone."
)

_BLOCK = f"""\
### ask_confirm
The person approves or denies one action, which `prompt` describes.
- `confirmLabel`, `denyLabel`: what the two buttons say, at most {limits.CONFIRM_LABEL} \
characters each, an emoji counting as two or more; they must differ. They say {CONFIRM_LABEL} and \
{DENY_LABEL} when absent; better name the action.
- `destructive`: set it to true when data is deleted or the action can't be undone; false when \
absent.
- `allowDecline`: whether the person may skip; false when absent, because denying is the no.
- Before a tool call that deletes something, sends something in the person's name, costs money or \
can't be undone, call ask_confirm and spell out the effect. Act only once `confirmed` is true. \
False means: leave it.
- An answer: {{"action": "accept", "content": {{"confirmed": true}}}}."""

CONFIRM: Final = Kind(
    name="confirm",
    offers={
        "full": Offer(
            shape=_SHAPE,
            rules=_rules,
            tool=(
                "Asks the person to approve or deny one action. The person sees your question "
                "with one button for each; you get back whether they confirmed. Use it instead "
                f"of asking in prose. {_WHEN}"
            ),
            block=_BLOCK,
        ),
        "compact": Offer(
            shape=_SHAPE,
            rules=_rules,
            tool=(
                "Asks the person to approve or deny one action. The person sees your question "
                "with two short buttons; you get back whether they confirmed. Use it instead of "
                f"asking in prose. {_WHEN} A destructive question must fit on the small screen: "
                f"a `prompt` of at most {limits.CARD_TEXT} characters and a `title` of at most "
                f"{limits.CARD_TITLE}."
            ),
            block=_BLOCK,
        ),
    },
    content=_CONTENT,
    content_rules=_content_rules,
    skippable=False,
    face=_face,
    standing=None,
)

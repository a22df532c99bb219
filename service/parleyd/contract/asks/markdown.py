"""`markdown`: edit a draft and send it back (spec asks 7)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from parleyd.contract import limits
from parleyd.contract.asks.kind import (
    ALLOW_DECLINE,
    ALLOW_DECLINE_LINE,
    CANCEL,
    PROMPT,
    SUBMIT_LABEL,
    SUBMIT_LABEL_LINE,
    TITLE,
    AnswerButton,
    Face,
    Kind,
    Offer,
)
from parleyd.contract.field_errors import Code, Fault
from parleyd.contract.json import JsonObject, flag_at, string_at, whole_at
from parleyd.contract.records import Key, RecordShape
from parleyd.contract.shapes import BooleanShape, StringShape, TextShape, WholeShape, too_long
from parleyd.contract.text import trim, units

_SHAPE = RecordShape(
    (
        TITLE,
        PROMPT,
        Key("initial", StringShape(most=limits.MARKDOWN), "The whole draft, which may be empty."),
        Key("placeholder", TextShape(limits.PLACEHOLDER), "What an empty editor shows."),
        Key(
            "minLength", WholeShape(0, limits.MARKDOWN), "The fewest characters, outer spaces off."
        ),
        Key("maxLength", WholeShape(1, limits.MARKDOWN), "The most characters."),
        SUBMIT_LABEL,
        ALLOW_DECLINE,
    )
)


@dataclass(frozen=True)
class _Draft:
    """A draft and the bounds of what comes back, values as sent."""

    initial: str
    least: int
    most: int

    @staticmethod
    def read(ask_input: JsonObject) -> "_Draft":
        least = whole_at(ask_input, "minLength")
        most = whole_at(ask_input, "maxLength")
        return _Draft(
            initial=string_at(ask_input, "initial") or "",
            least=0 if least is None else least,
            most=limits.MARKDOWN if most is None else most,
        )


def _rules(ask_input: JsonObject) -> Iterator[Fault]:
    """Yields what breaks MD2; the draft itself may be out of bounds (MD3)."""
    draft = _Draft.read(ask_input)
    if draft.least > draft.most:
        absent = "" if "maxLength" in ask_input else f", which is {limits.MARKDOWN} when absent"
        yield Fault(
            ("minLength",),
            Code.RANGE_INVALID,
            f"`minLength` is more than `maxLength`{absent}.",
            "Set `minLength` to at most `maxLength`, or leave it out.",
        )


def _content(advised: int | None) -> RecordShape:
    return RecordShape(
        (
            Key(
                "markdown",
                StringShape(most=limits.MARKDOWN, advised=advised),
                "The text as the person leaves it.",
                required=True,
            ),
            Key(
                "changed",
                BooleanShape(),
                "Whether the text differs from the draft; an absent draft is an empty one.",
                required=True,
            ),
        )
    )


def _worded(ask_input: JsonObject) -> RecordShape:
    """Returns the content whose `TOO_LONG` names the ask's own maximum (MD4)."""
    return _content(_Draft.read(ask_input).most)


def _content_rules(ask_input: JsonObject, content: JsonObject) -> Iterator[Fault]:
    """Yields what breaks MD4 and MD5."""
    draft = _Draft.read(ask_input)
    text = string_at(content, "markdown") or ""
    if units(text) > draft.most:
        yield too_long(text, ("content", "markdown"), draft.most)
    visible = trim(text)
    # A character has one unit at least, so most texts need not be measured.
    if len(visible) < draft.least and (length := units(visible)) < draft.least:
        yield Fault(
            ("content", "markdown"),
            Code.TOO_SHORT,
            f"`content.markdown` has {length} UTF-16 units without outer white space, too few.",
            f"Lengthen `content.markdown` to at least {draft.least} units.",
        )
    changed = text != draft.initial
    if flag_at(content, "changed") is not changed:
        differs = "differs from" if changed else "is the same as"
        yield Fault(
            ("content", "changed"),
            Code.CHANGED_MISMATCH,
            f"`content.changed` is wrong: `content.markdown` {differs} the draft it began as.",
            f"Set `content.changed` to {str(changed).lower()}.",
        )


def _face(ask_input: JsonObject) -> Face:
    """Returns the button of SC9."""
    content: JsonObject = {"markdown": _Draft.read(ask_input).initial, "changed": False}
    fits = not any(_content_rules(ask_input, content))
    approve = AnswerButton("approve", "Approve draft", "primary", content)
    return Face((approve,) if fits else (), handoff=True)


_BLOCK: Final = f"""\
### ask_markdown
The person edits a draft in markdown and returns it.
- `initial`: the whole draft, at most {limits.MARKDOWN} characters. It goes here, not into \
`prompt`; leave it out for an empty one.
- `minLength`, `maxLength`: how long the returned text may be, whole numbers; zero and \
{limits.MARKDOWN} when absent, at most {limits.MARKDOWN}. `minLength` is not above `maxLength`.
- `placeholder`: what an empty editor shows, at most {limits.PLACEHOLDER} characters.
{SUBMIT_LABEL_LINE}
{ALLOW_DECLINE_LINE}
- An answer: {{"action": "accept", "content": {{"markdown": "Dear all, …", "changed": true}}}}. \
With a false `changed` the draft came back untouched."""

MARKDOWN: Final = Kind(
    name="markdown",
    offers={
        "full": Offer(
            shape=_SHAPE,
            rules=_rules,
            tool=(
                "Asks the person to edit a draft. The person sees your question above an editor "
                "that holds your markdown; you get back the text as they left it, and whether "
                "they changed it. Use it instead of prose whenever they should review or rewrite "
                "a text: a letter, a post, a summary, a plan."
            ),
            block=_BLOCK,
        ),
    },
    content=_content(None),
    content_rules=_content_rules,
    skippable=True,
    face=_face,
    standing=CANCEL,
    worded=_worded,
)

"""From the text of a reply to a document: JSON, or YAML of the core schema (spec blocks 2)."""

from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from parleyd.contract.blocks.composing import TOO_DEEP, Composing, Flaw
from parleyd.contract.blocks.fences import unfenced
from parleyd.contract.blocks.issues import BlockCode, BlockIssue
from parleyd.contract.blocks.limits import TEXT_BYTES
from parleyd.contract.blocks.strict_json import NotRead, read_json
from parleyd.contract.blocks.yaml_events import MalformedError, holds_two_documents, read_events
from parleyd.contract.blocks.yaml_texts import YamlText, yaml_text
from parleyd.contract.text import is_blank, trim

_BREAK: Final = "\n"
_REREAD: Final = 4 * TEXT_BYTES
"""How many characters are read in all, again after each mending; the bound is against hostility."""
_SETTLED: Final = 8
"""How many characters after the line of a fault libyaml has surely not looked at."""


def parse(text: str) -> dict[str, JsonValue] | BlockIssue:
    """Returns the document that a reply is, or why it is none. Never raises.

    A document is a mapping with a key `v`, in YAML or JSON, alone or in one fence. Of its form
    nothing else is checked; that is up to `validate`. 2 MB of YAML take half a second.
    """
    document = read(unfenced(text))
    return document.issue if isinstance(document, Refusal) else document


@dataclass(frozen=True)
class Refusal:
    """Why a text is no document.

    `lasting` tells that no text that begins with this one is a document either; where it is false,
    that is not known.
    """

    issue: BlockIssue
    lasting: bool = False


def read(text: str) -> dict[str, JsonValue] | Refusal:
    """Returns the document that a text without a fence is. Never raises."""
    if is_blank(text):
        return _refusal("The reply is blank.", "Write a document with `v: 1` and `blocks`.")
    if too_large(text):
        return _refusal(
            f"The reply has more than {TEXT_BYTES} bytes.", "Write a far shorter document."
        )
    try:
        return _read(text)
    except RecursionError:
        return _flawed(Flaw(TOO_DEEP), text)


def _read(text: str) -> dict[str, JsonValue] | Refusal:
    trimmed = trim(text)
    if trimmed.startswith("{"):
        match read_json(trimmed):
            case dict() as value:
                return _document(value)
            case NotRead.UNFINISHED:
                return _flawed(Flaw("the JSON ends too early"), text)
            case NotRead.DUPLICATE_KEY:
                return _flawed(Flaw("an object has a key twice"), text)
            case NotRead.TOO_DEEP:
                return _flawed(Flaw(TOO_DEEP), text)
            case NotRead.NOT_JSON:
                pass
    # Trimming took the line break that a block scalar at the end keeps.
    source = yaml_text(f"{text}\n")
    left = _REREAD
    while True:
        left -= len(source.text)
        composing = Composing(source)
        try:
            for event in read_events(source.text):
                composing.take(event)
        except MalformedError as error:
            mended = source.mended(error.problem, error.at) if left > 0 else None
            if mended is None:
                return _malformed(error, composing, source)
            source = mended
        else:
            return _composed(composing, source)


def _composed(composing: Composing, source: YamlText) -> dict[str, JsonValue] | Refusal:
    """Returns what well-formed YAML holds, if it may: the checks come in the order of 2.2."""
    if composing.documents != 1:
        return _refusal(
            f"The reply holds {composing.documents} YAML documents.",
            "Write exactly one document, without `---` or `...` in it.",
        )
    if composing.feature:
        return _feature()
    if composing.flaw is not None:
        return _flawed(composing.flaw, source.text)
    return _document(composing.root)


def _malformed(error: MalformedError, composing: Composing, source: YamlText) -> Refusal:
    feature = error.feature or composing.feature
    if feature and composing.documents <= 1 and not holds_two_documents(source.text):
        return _feature()
    return _flawed(Flaw(error.problem, error.at), source.text)


def _document(root: JsonValue) -> dict[str, JsonValue] | Refusal:
    if isinstance(root, dict) and "v" in root:
        return root
    return _refusal(
        "The reply is no mapping with a key `v`.",
        "Let the whole reply be one document: `v: 1`, then perhaps `datasets`, then `blocks`.",
    )


def _feature() -> Refusal:
    issue = BlockIssue(
        path="",
        code=BlockCode.YAML_FEATURE_DISALLOWED,
        message="The document uses a YAML anchor, alias or tag.",
        fix="Write values out, and put a text that begins with `*`, `&` or `!` into quotes.",
    )
    return Refusal(issue, lasting=True)


def _flawed(flaw: Flaw, text: str) -> Refusal:
    """Returns the refusal of a text for a fault at a place.

    The fault lasts if the reader came to its end without a look at the end of the text, where more
    may be to come. A directive at the top is not yet one before its `---`.
    """
    where, lasting = "", False
    if flaw.at is not None:
        where = f"on line {text.count(_BREAK, 0, flaw.at) + 1}, "
        end = text.find(_BREAK, flaw.at)
        directive = text.startswith("%") or "\n%" in text
        lasting = 0 <= end < len(text) - _SETTLED and not directive
    return _refusal(
        f"The reply is neither YAML nor JSON: {where}{flaw.problem}.",
        "Correct the syntax, and put a text with `: `, `#`, quotes or brackets into quotes.",
        lasting=lasting,
    )


def _refusal(message: str, fix: str, *, lasting: bool = False) -> Refusal:
    issue = BlockIssue(path="", code=BlockCode.NOT_A_DOCUMENT, message=message, fix=fix)
    return Refusal(issue, lasting=lasting)


def too_large(text: str) -> bool:
    """Tells whether a text is larger than any document may be."""
    if len(text) > TEXT_BYTES:
        return True
    return 4 * len(text) > TEXT_BYTES and len(text.encode("utf-8", "replace")) > TEXT_BYTES

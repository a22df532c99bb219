"""The events of a YAML text, as libyaml reads them, and where it stops being YAML.

libyaml, through PyYAML, because it is fast, keeps its state on the heap, bounds nesting, and tells
of anchors, aliases, tags and places before anything is built. Its resolvers and constructors are
not used.
"""

import re
from collections.abc import Iterator
from typing import Final

from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import Event
from yaml.parser import ParserError
from yaml.tokens import AliasToken, AnchorToken, TagToken

try:
    from yaml.cyaml import CBaseLoader
except ImportError as missing:
    raise ImportError(
        "parleyd needs PyYAML with libyaml, and this one was built without it: "
        "install a wheel of pyyaml, or build it where libyaml's headers are."
    ) from missing

_FEATURE_CONTEXTS: Final = frozenset(
    {
        "while scanning an alias",
        "while scanning an anchor",
        "while scanning a tag",
        "while parsing a tag",
        "while parsing a node",  # a tag whose handle is not declared
    }
)
"""What libyaml is at when an anchor, alias or tag that has no legal name stops it (2.2)."""

_INDICATORS: Final = ("&", "*", "!")
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_BLANK_LINES: Final = r"(?:[ \t\r]*(?:#[^\n]*)?\n)*+"
_HEAD: Final = re.compile(r"(?:[ \t\r]*(?:#[^\n]*)?\n|%[^\n]*\n)*+(?:---(?=[ \t\r\n]|\Z))?")
_NEXT_DOCUMENT: Final = re.compile(
    rf"\n---(?=[ \t\r\n]|\Z)|\n\.\.\.(?=[ \t\r\n#]){_BLANK_LINES}[ \t]*+[^#\s]"
)


class MalformedError(Exception):
    """A text that is no YAML.

    Attributes:
        problem: What is wrong, in words of libyaml's that quote nothing of the text.
        at: The position where that showed; the end of the text if it only ended too early.
        feature: An anchor, alias or tag comes before the fault, or is it.
    """

    def __init__(self, problem: str, at: int, *, feature: bool) -> None:
        super().__init__(problem)
        self.problem = problem
        self.at = at
        self.feature = feature


def read_events(text: str) -> Iterator[Event]:
    """Yields the events of a text, of all its documents.

    Raises:
        MalformedError: The text is no YAML from there on.
    """
    if control := _CONTROL.search(text):
        at = control.start()
        feature = _uses_feature(text[:at])
        raise MalformedError("a control character is not allowed", at, feature=feature)
    try:
        loader = CBaseLoader(text)
        while (event := loader.get_event()) is not None:
            yield event
    except MarkedYAMLError as error:
        raise _malformed(text, error) from error
    except (YAMLError, UnicodeError) as error:
        raise MalformedError("a character is not allowed", len(text), feature=False) from error


def holds_two_documents(text: str) -> bool:
    """Tells whether a second document begins in a text that is not YAML throughout."""
    head = _HEAD.match(text)
    return _NEXT_DOCUMENT.search(text, head.end() if head else 0) is not None


def _malformed(text: str, error: MarkedYAMLError) -> MalformedError:
    """Returns what an error of libyaml's means.

    Its events lag behind its tokens, so that an anchor before the fault may not be told of yet.
    """
    mark = error.problem_mark or error.context_mark
    at = len(text) if mark is None else mark.index
    context = error.context_mark
    begun = at if context is None or isinstance(error, ParserError) else context.index
    feature = (
        error.context in _FEATURE_CONTEXTS
        or text.startswith(_INDICATORS, begun)
        or _uses_feature(text[:begun])
    )
    return MalformedError(error.problem or "this is no YAML", at, feature=feature)


def _uses_feature(beginning: str) -> bool:
    """Tells whether the beginning of a text holds an anchor, an alias or a tag."""
    if not any(indicator in beginning for indicator in _INDICATORS):
        return False
    try:
        loader = CBaseLoader(beginning)
        while (token := loader.get_token()) is not None:
            if isinstance(token, AliasToken | AnchorToken | TagToken):
                return True
    except MarkedYAMLError as error:
        return error.context in _FEATURE_CONTEXTS
    return False

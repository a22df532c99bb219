"""Where images, links, code and HTML stand in a Markdown text, as CommonMark and GitHub read it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any, Final

from markdown_it import MarkdownIt, helpers
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline, autolink, backtick, html_inline, image, link
from markdown_it.token import Token
from markdown_it.utils import EnvType
from typing_extensions import override

from parleyd.contract.markdown_words import Span, Words

_RULES: Final = ("text", "escape", "backticks", "link", "image", "autolink", "html_inline")
"""What may hold an image, or be one, or look like one and be none."""
_NESTING: Final = 20
"""What is nested deeper is read as text."""


@dataclass(frozen=True)
class Image:
    """An image: its place, that of its alternative text, and where it comes from.

    `definition` names what defines that, of an image by reference.
    """

    at: Span
    alt: Span
    source: str
    definition: str | None


@dataclass(frozen=True)
class Definition:
    """What a reference stands for, as often as the text says so: those lines, and those places."""

    lines: tuple[Span, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Tag:
    """HTML: where it is, and what is read there, without the marks of a block around it."""

    at: Span
    text: str


@dataclass
class Reading:
    """What a text holds.

    `tags` are HTML among words, `html` the words of blocks that are HTML alone. `code` and
    `addresses`, where links lead to, are not read for images. `linked` names the definitions that
    links use.
    """

    images: list[Image] = field(default_factory=list[Image])
    tags: list[Tag] = field(default_factory=list[Tag])
    html: list[Words] = field(default_factory=list[Words])
    code: list[Span] = field(default_factory=list[Span])
    addresses: list[Span] = field(default_factory=list[Span])
    linked: set[str] = field(default_factory=set[str])
    definitions: Mapping[str, Definition] = field(default_factory=dict[str, Definition])


def readings(text: str) -> tuple[Reading, ...]:
    """Returns a text as CommonMark reads it, and as one with tables where it may have some.

    Its line breaks are all U+000A. A table is cut into cells first: what was code before may be an
    image then. Code is what all readers take for it.

    Raises:
        UnreadableMarkdownError: Something is where it can't be found again.
        RecursionError: It is nested too deep.
    """
    return tuple(_read(reader, text) for reader in _readers()[: 2 if "|" in text else 1])


def _read(reader: MarkdownIt, text: str) -> Reading:
    found = Reading()
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    env: dict[str, Any] = {}
    cells: dict[int, int] = {}
    tokens = reader.parse(text, env)
    definitions = _definitions(env, starts)
    found.definitions = definitions
    # One with an image is a footnote to some.
    found.addresses += [
        span for its in definitions.values() for span in its.lines if "![" not in text[slice(*span)]
    ]
    for token in tokens:
        first, last = token.map or (0, 0)
        match token.type:
            case "html_block":
                found.html.append(Words(token.content, lines, starts, first, cells))
            case "fence" if _is_closed(token.markup, lines[last - 1]):
                found.code.append((starts[first], starts[last]))
            case "code_block" if _is_code_to_all(lines, first, footnotes="[^" in text):
                found.code.append((starts[first], starts[last]))
            case "inline" if definitions or "![" in token.content or "<" in token.content:
                content = Words(token.content, lines, starts, first, cells)
                _look_into(reader, content, env, found)
            case _:
                pass
    return found


def _is_closed(fence: str, line: str) -> bool:
    """Tells whether a fence is closed by its last line; some readers take none that is not."""
    bare = line.strip("> \t")
    return len(bare) >= len(fence) and not bare.strip(fence[0])


def _is_code_to_all(lines: Sequence[str], first: int, *, footnotes: bool) -> bool:
    """Tells whether what is indented from a line on is code to every reader.

    To some it goes on with a definition above it, with a footnote, or with its list.
    """
    indented = lines[first].startswith(("    ", "\t"))
    alone = first == 0 or not lines[first - 1].strip()
    return indented and alone and not footnotes


class _Seen:
    """What the rules of a reader find in one content, for `env` to hold."""

    KEY: Final = "seen"

    def __init__(self, content: Words, found: Reading) -> None:
        self.content = content
        self.found = found


def _look_into(reader: MarkdownIt, content: Words, env: dict[str, Any], found: Reading) -> None:
    state = StateInline(content.text, reader, {**env, _Seen.KEY: _Seen(content, found)}, [])
    reader.inline.tokenize(state)


def _seen(state: StateInline) -> _Seen | None:
    seen = state.env.get(_Seen.KEY)
    return seen if isinstance(seen, _Seen) else None


def _image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the reader's own form
    begin = state.pos
    is_one = image(state, silent)
    if is_one and not silent and (seen := _seen(state)):
        token, place = state.tokens[-1], seen.content.place
        opening = place(begin, begin + 2)[1]
        closing = place(helpers.parseLinkLabel(state, begin + 1), state.pos)
        seen.found.images.append(
            Image(
                at=(place(begin, begin + 1)[0], closing[1]),
                alt=(opening, closing[0]),
                source=str(token.attrs["src"]),
                definition=token.meta.get("label"),
            )
        )
    return is_one


def _link(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    begin, before = state.pos, len(state.tokens)
    is_one = link(state, silent)
    if is_one and not silent and (seen := _seen(state)):
        label_end = helpers.parseLinkLabel(state, begin, disableNested=True)
        seen.found.addresses.append(seen.content.place(label_end, state.pos))
        label = _first_link(state.tokens[before:]).meta.get("label")
        if label is not None:
            seen.found.linked.add(label)
    return is_one


def _first_link(tokens: Sequence[Token]) -> Token:
    return next(token for token in tokens if token.type == "link_open")


def _code(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    begin, before = state.pos, len(state.tokens)
    is_one = backtick(state, silent) and not silent and len(state.tokens) > before
    if is_one and (seen := _seen(state)) and not _ends_in_address(state.src, begin):
        seen.found.code.append(seen.content.place(begin, state.pos))
    return state.pos > begin


def _ends_in_address(text: str, end: int) -> bool:
    """Tells whether the word before a place is an address: to GitHub it goes on to a space."""
    begin = max(text.rfind(space, 0, end) for space in " \n\t") + 1
    word = text[begin:end].lower()
    return "://" in word or "www." in word


def _autolink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    begin = state.pos
    is_one = autolink(state, silent)
    if is_one and not silent and (seen := _seen(state)):
        seen.found.addresses.append(seen.content.place(begin, state.pos))
    return is_one


def _tag(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    begin = state.pos
    is_one = html_inline(state, silent)
    if is_one and not silent and (seen := _seen(state)):
        at = seen.content.place(begin, state.pos)
        seen.found.tags.append(Tag(at, state.src[begin : state.pos]))
    return is_one


class _Words(ParserInline):
    """Reads what it is given, but not what an image says in words: no image shows there."""

    @override
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        return tokens


class _Reader(MarkdownIt):
    """A reader to which every destination is one, as it is written."""

    @override
    def validateLink(self, url: str) -> bool:
        return True

    @override
    def normalizeLink(self, url: str) -> str:
        return url


@cache
def _readers() -> tuple[MarkdownIt, MarkdownIt]:
    return _reader(), _reader().enable("table")


def _reader() -> MarkdownIt:
    reader = _Reader("commonmark", {"html": True, "store_labels": True, "maxNesting": _NESTING})
    reader.core.ruler.enableOnly(["normalize", "block"])
    reader.inline = _Words()
    ruler = reader.inline.ruler
    ruler.enableOnly([*_RULES])
    ruler.at("image", _image)
    ruler.at("link", _link)
    ruler.at("backticks", _code)
    ruler.at("autolink", _autolink)
    ruler.at("html_inline", _tag)
    return reader


def _definitions(env: Mapping[str, Any], starts: Sequence[int]) -> dict[str, Definition]:
    """Returns what references stand for. Of those of one name some readers take the last."""
    lines: defaultdict[str, list[Span]] = defaultdict(list)
    sources: defaultdict[str, list[str]] = defaultdict(list)
    defined: list[tuple[str, Any]] = [
        *env.get("references", {}).items(),
        *((its["label"], its) for its in env.get("duplicate_refs", ())),
    ]
    for label, its in defined:
        first, last = map(int, its["map"])
        lines[label].append((starts[first], starts[last]))
        sources[label].append(its["href"])
    return {label: Definition(tuple(lines[label]), tuple(sources[label])) for label in lines}

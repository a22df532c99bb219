"""Where images, links, code and HTML stand in a Markdown text, as CommonMark and GitHub read it."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any, Final, TypeAlias

from markdown_it import MarkdownIt, helpers
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline, autolink, backtick, html_inline, image, link
from markdown_it.token import Token
from markdown_it.utils import EnvType
from typing_extensions import override

from parleyd.contract.markdown_words import Span, Words

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
    linked: set[str | None] = field(default_factory=set[str | None])
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
    found.definitions = _definitions(env, starts)
    # One with an image is a footnote to some.
    found.addresses += [
        span
        for its in found.definitions.values()
        for span in its.lines
        if "![" not in text[slice(*span)]
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
            case "inline":
                content = Words(token.content, lines, starts, first, cells)
                seen = {**env, _SEEN: _Seen(content, found)}
                reader.inline.tokenize(StateInline(content.text, reader, seen, []))
            case _:
                pass
    return found


def _is_closed(fence: str, line: str) -> bool:
    """Tells whether a fence is closed by its last line; some readers take none that is not."""
    bare = line.strip("> \t")
    return len(bare) >= len(fence) and not bare.strip(fence)


def _is_code_to_all(lines: Sequence[str], first: int, *, footnotes: bool) -> bool:
    """Tells whether what is indented from a line on is code to every reader.

    To some it goes on with a definition above it, with a footnote, or with its list.
    """
    indented = lines[first].startswith(("    ", "\t"))
    alone = first == 0 or not lines[first - 1].strip()
    return indented and alone and not footnotes


_SEEN: Final = "seen"
"""Where the rules of a reader find what they tell of."""


@dataclass(frozen=True)
class _Seen:
    """What is being read, and what has been found in its text."""

    content: Words
    found: Reading


_Rule: TypeAlias = Callable[[StateInline, bool], bool]
_Note: TypeAlias = Callable[[StateInline, int, Sequence[Token]], None]


def _noted(rule: _Rule, note: _Note) -> _Rule:
    """Returns a rule of a reader that takes note of what it finds: from where, and as what."""

    def noting(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the reader's own form
        begin, before = state.pos, len(state.tokens)
        found = rule(state, silent)
        if new := state.tokens[before:]:
            note(state, begin, new)
        return found

    return noting


def _seen(state: StateInline) -> _Seen:
    seen: _Seen = state.env[_SEEN]
    return seen


def _note_image(state: StateInline, begin: int, new: Sequence[Token]) -> None:
    token, place = new[-1], _seen(state).content.place
    opening = place(begin, begin + 2)
    closing = place(helpers.parseLinkLabel(state, begin + 1), state.pos)
    _seen(state).found.images.append(
        Image(
            at=(opening[0], closing[1]),
            alt=(opening[1], closing[0]),
            source=str(token.attrs["src"]),
            definition=token.meta.get("label"),
        )
    )


def _note_link(state: StateInline, begin: int, new: Sequence[Token]) -> None:
    seen = _seen(state)
    seen.found.addresses.append(seen.content.place(helpers.parseLinkLabel(state, begin), state.pos))
    opening = next(token for token in new if token.type == "link_open")
    seen.found.linked.add(opening.meta.get("label"))


def _note_code(state: StateInline, begin: int, new: Sequence[Token]) -> None:
    del new
    if not _ends_in_address(state.src, begin):
        _seen(state).found.code.append(_seen(state).content.place(begin, state.pos))


def _ends_in_address(text: str, end: int) -> bool:
    """Tells whether the word before a place is an address: to GitHub it goes on to a space."""
    begin = max(text.rfind(space, 0, end) for space in " \n\t") + 1
    word = text[begin:end].lower()
    return "://" in word or "www." in word


def _note_autolink(state: StateInline, begin: int, new: Sequence[Token]) -> None:
    del new
    _seen(state).found.addresses.append(_seen(state).content.place(begin, state.pos))


def _note_tag(state: StateInline, begin: int, new: Sequence[Token]) -> None:
    del new
    at = _seen(state).content.place(begin, state.pos)
    _seen(state).found.tags.append(Tag(at, state.src[begin : state.pos]))


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
    reader.inline = _Words()
    ruler = reader.inline.ruler
    ruler.at("image", _noted(image, _note_image))
    ruler.at("link", _noted(link, _note_link))
    ruler.at("backticks", _noted(backtick, _note_code))
    ruler.at("autolink", _noted(autolink, _note_autolink))
    ruler.at("html_inline", _noted(html_inline, _note_tag))
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

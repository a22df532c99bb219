"""Markdown without images of places that are not allowed: a reader would load them by itself.

Their address may hold whatever the model has read. Spec blocks 9.2 leaves images in Markdown out of
what is validated, so they are taken out instead, as HTML is cleaned (17).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from markdown_it.common.html_re import HTML_TAG_RE

from parleyd.contract.blocks.images import allowed_hosts, is_allowed
from parleyd.contract.markdown_reading import Image, Reading, Tag, readings
from parleyd.contract.markdown_words import UnreadableMarkdownError
from parleyd.contract.text import ELLIPSIS, is_blank, units

IMAGE: Final = "(image)"
"""Stands where a text that must not be blank was nothing but an image without words."""

_PASSES: Final = 8
"""More than any text needs that is not made to need them: each takes out a layer."""
_LONGEST: Final = 100_000
_TAGS: Final = 3000
_WORK: Final = 2_000_000
"""How much is read: what is longer, has more `<`, from each of which a tag is looked for, or more
brackets for as many marks, from each of which the other one is, is made plain at once. Texts are
cleaned where others wait meanwhile."""

_IMAGE: Final = "!["
_PLAIN_IMAGE: Final = "\uff01["
_PLAIN_TAG: Final = "\u2039"
"""What stands in for `![` and for the `<` of a tag: it looks alike, is as long, and means nothing
to any reader. A backslash would make a text longer than it may be, and be seen where it is plain.
"""
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_LOADING_TAG: Final = re.compile(r"<(?:style|script)", re.ASCII | re.IGNORECASE)
_PLACE: Final = re.compile(r":|\\|/[\t\n\r]*/|&(?!(?:amp|lt|gt|quot|nbsp);)")
"""What a script or a style has at least that names a place elsewhere. Some readers take entities in
them for what they stand for."""

_MARKS: Final = re.compile(r"[\n!#$%&*+\-:<=>@\[\\\]^_`{}~]")
"""What a reader stops at."""

_NAMES: Final = (
    "align|class|colspan|dir|height|id|lang|name|open|rowspan|start|title|type|valign|width"
)
_VALUE: Final = r"""(?:"[\w #%.,;-]*"|'[\w #%.,;-]*'|[\w#%.,;-]+)"""
_HARMLESS: Final = re.compile(
    rf"""<a\s+href\s*=\s*(?:"[^"<>\n]*"|'[^'<>\n]*')\s*>"""
    r"|</?(?!(?:style|script)\b)[a-z][a-z0-9-]*"
    rf"(?:\s+(?:(?:{_NAMES})\s*=\s*{_VALUE}|[a-z_:][a-z0-9:._-]*(?!\s*=)(?=[\s/>])))*\s*/?>",
    re.ASCII | re.IGNORECASE,
)
"""HTML that loads nothing: a link, or a tag with attributes that can't name a place."""
_ALT: Final = re.compile(
    r"""\salt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+))""", re.ASCII | re.IGNORECASE
)
_LOOSE: Final = re.compile(r"\\.|!\[|<(?=[A-Za-z][^\s<>/]*[\s/][^<>]*=)", re.DOTALL)
"""What one reader may take for an image or a tag though another does not."""


_WITH_ADDRESS: Final = re.compile(r"<[^<>]*//[^<>]*>")
_IMAGE_TAG: Final = re.compile(r"<(?:img|image)\b", re.ASCII | re.IGNORECASE)


class _Edit(NamedTuple):
    begin: int
    end: int
    instead: str


def without_remote_images(markdown: str, hosts: Iterable[str]) -> str:
    """Returns a Markdown text in which no image is left that a reader would load from elsewhere.

    Images of files, of data, and of `hosts` over https stay, as spec blocks 9.2 allows them. Of the
    others their words stay, not their addresses, and of HTML no tag with attributes that could name
    a place but links. Code stays as it is. A text that can't be read surely enough is made plain:
    it shows its marks, then.

    Never raises, and never returns more units than it was given. Cleaning again changes nothing. A
    text without `![` and `<` is returned as it is; another of 4,000 characters takes some
    milliseconds, the worst of 20,000 about a second.
    """
    if not may_show_images(markdown):
        return markdown
    if not _is_readable(markdown):
        return plain_markdown(markdown)
    allowed = allowed_hosts(hosts)
    text = markdown
    try:
        for _ in range(_PASSES):
            lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
            edits = [*_edits(lines, allowed)]
            if not edits:
                return text
            text = _edited(lines, edits)
    except (UnreadableMarkdownError, RecursionError):
        pass
    return plain_markdown(text)


def visible_without_remote_images(text: str, hosts: Iterable[str]) -> str:
    """Returns a text like `without_remote_images`, but never a blank one instead of a visible."""
    clean = without_remote_images(text, hosts)
    if not is_blank(clean) or is_blank(text):
        return clean
    return IMAGE if units(text) >= len(IMAGE) else ELLIPSIS


def may_show_images(markdown: str) -> bool:
    """Tells whether a text has the marks of an image or a tag; it may show none nevertheless."""
    if _IMAGE in markdown:
        return True
    if "=" in markdown:
        return _TAG.search(markdown) is not None
    return bool(_LOADING_TAG.search(markdown) and _PLACE.search(markdown))


def _is_readable(text: str) -> bool:
    """Tells whether a text is read in a moment."""
    if len(text) > _LONGEST or text.count("<") > _TAGS:
        return False
    return text.count("[") * len(_MARKS.findall(text)) <= _WORK


def plain_markdown(markdown: str) -> str:
    """Returns a text that no reader finds an image or a tag in, as long as before."""
    return _TAG.sub(_PLAIN_TAG, markdown.replace(_IMAGE, _PLAIN_IMAGE))


def _edits(text: str, hosts: frozenset[str]) -> Iterator[_Edit]:
    """Yields what is to be changed, in any order and perhaps twice."""
    read = readings(text)
    masks: list[bytearray] = []
    for reading in read:
        mask = bytearray(len(text))
        yield from _images(reading, text, hosts, mask)
        yield from _tags(reading, mask)
        for begin, end in (*reading.code, *reading.addresses):
            _cover(mask, begin, end)
        masks.append(mask)
    yield from _loose(text, masks)


def _images(reading: Reading, text: str, hosts: frozenset[str], mask: bytearray) -> Iterator[_Edit]:
    gone = set[str | None]()
    for image in reading.images:
        (begin, end), (alt, alt_end) = image.at, image.alt
        if _may_stay(image, reading, hosts):
            _cover(mask, begin, alt)
            _cover(mask, alt_end, end)
        else:
            yield _Edit(begin, end, text[alt:alt_end])
            gone.add(image.definition)
    for label, its in reading.definitions.items():
        if label in gone - reading.linked:
            yield from (_Edit(*span, "") for span in its.lines)


def _may_stay(image: Image, reading: Reading, hosts: frozenset[str]) -> bool:
    """Tells whether an image comes from an allowed place, whichever definition a reader takes."""
    sources = (
        [image.source]
        if image.definition is None
        else [source for its in reading.definitions.values() for source in its.sources]
    )
    return all(is_allowed(source, hosts) and not _is_file_path(source) for source in sources)


def _is_file_path(source: str) -> bool:
    """Tells whether a source names a file by its path, which may be on another machine."""
    return source.startswith(("file:/", "file:\\"))


def _tags(reading: Reading, mask: bytearray) -> Iterator[_Edit]:
    for tag in reading.tags:
        yield from _tag(tag, mask)
    for words in reading.html:
        for found in _TAG.finditer(words.text):
            if whole := HTML_TAG_RE.match(words.text, found.start()):
                yield from _tag(Tag(words.place(*whole.span()), whole[0]), mask)
            else:
                yield _Edit(*words.place(*found.span()), _PLAIN_TAG)


def _tag(tag: Tag, mask: bytearray) -> Iterator[_Edit]:
    if _HARMLESS.fullmatch(tag.text):
        _cover(mask, *tag.at)
    else:
        yield _Edit(*tag.at, _words(tag.text))


def _words(tag: str) -> str:
    """Returns what a tag that is taken out says in words."""
    words = _ALT.search(tag) if _IMAGE_TAG.match(tag) else None
    return next(filter(None, words.groups()), "") if words else ""


def _loose(text: str, masks: Sequence[bytearray]) -> Iterator[_Edit]:
    last = text.rfind("](")
    defines = "]:" in text
    for found in _LOOSE.finditer(text):
        at = found.start()
        if text[at] == "\\" or all(mask[at] for mask in masks):
            continue
        if text[at] == "<":
            tag = _WITH_ADDRESS.match(text, at)
            yield _Edit(*tag.span(), _words(tag[0])) if tag else _Edit(at, at + 1, _PLAIN_TAG)
        elif defines or at < last or text.startswith("![[", at):
            yield _Edit(at, at + 2, _PLAIN_IMAGE)


def _cover(mask: bytearray, begin: int, end: int) -> None:
    mask[begin:end] = b"\x01" * (end - begin)


def _edited(text: str, edits: Iterable[_Edit]) -> str:
    """Returns a text with the outermost changes made; what is within them is for the next time."""
    parts: list[str] = []
    done = 0
    for begin, end, instead in sorted(edits, key=lambda edit: (edit.begin, -edit.end)):
        if begin >= done:
            parts += [text[done:begin], instead]
            done = end
    return "".join([*parts, text[done:]])

"""The HTML of html blocks, cleaned: a closed list of what may stay (spec blocks 17)."""

from dataclasses import dataclass, replace
from typing import Final

import nh3
from pydantic import JsonValue

from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.nested import nested_blocks
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.validation import validate
from parleyd.contract.blocks.written import as_json_line
from parleyd.contract.text import without_surrogates

_KEPT_TAGS: Final = """
    address article aside footer header h1 h2 h3 h4 h5 h6 hgroup main nav section
    blockquote dd div dl dt figcaption figure hr li menu ol p pre ul
    a abbr b bdi bdo br cite code data dfn em i kbd mark q rb rp rt rtc ruby s samp small span
    strong sub sup time u var wbr
    caption col colgroup table tbody td tfoot th thead tr
    img
"""
_DROPPED_WITH_CONTENT: Final = """
    script style textarea option noscript iframe object embed template title svg math
"""
KEPT_TAGS: Final = frozenset(_KEPT_TAGS.split())
DROPPED_WITH_CONTENT: Final = frozenset(_DROPPED_WITH_CONTENT.split())
KEPT_ATTRIBUTES: Final = {
    "img": frozenset({"src", "alt"}),
    "a": frozenset({"name", "target"}),
    "*": frozenset[str](),  # without this one, the library keeps `lang` and `title`
}
_IMAGE_DATA: Final = "data:image/"
_PASSES: Final = 8
"""More than any fragment was seen to need."""

_STRICTEST: Final = BlockOptions()


def sanitize_html(fragment: str) -> str:
    """Returns a fragment of HTML without anything that runs, loads, submits or leads elsewhere.

    Tags, attributes and URLs that are not listed go; the text in them stays, but for that of
    scripts and the like. The only URL left is an image's that is data. Cleaning again changes
    nothing. 100 KB take some 20 ms; of tags nested by the ten thousand, some seconds.
    """
    clean = _cleaned(without_surrogates(fragment))
    for _ in range(_PASSES):
        before, clean = clean, _cleaned(clean)
        if clean == before:
            break
    return clean


def _cleaned(fragment: str) -> str:
    """Returns a fragment as it is after one reading.

    That is safe. But where a tag is gone, those around it and in it may not be nested like that,
    and another reading sorts them anew.
    """
    clean = nh3.clean(
        fragment,
        tags=KEPT_TAGS,
        clean_content_tags=DROPPED_WITH_CONTENT,
        attributes=KEPT_ATTRIBUTES,
        attribute_filter=_kept,
        url_schemes={"data"},
        link_rel=None,
        strip_comments=True,
    )
    # A reader drops the line break right after the tag, so one that is meant takes another.
    return clean.replace("<pre>\n", "<pre>\n\n")


def _kept(element: str, attribute: str, value: str) -> str | None:
    """Returns the value of an attribute that may stay; relative URLs get as far as here."""
    match element, attribute:
        case ("a", "name" | "target") | ("img", "alt"):
            return value
        case ("img", "src") if value[: len(_IMAGE_DATA)].lower() == _IMAGE_DATA:
            return value
        case _:
            return None


@dataclass(frozen=True)
class SanitizedDocument:
    """A document with clean HTML; `changed` tells whether it is another than before."""

    changed: bool
    text: str


def sanitize_document(text: str, options: BlockOptions = _STRICTEST) -> SanitizedDocument:
    """Returns a valid document with the HTML of every html block cleaned.

    A text that is no valid document stays as it is: it must not be shown as one. It is judged by
    `options`, but html blocks are allowed; give those it was validated with, or else a document
    with images of an allowed host is taken for invalid and keeps its HTML. Cleaning may empty a
    field or make it too long, so the result is to be validated again.
    """
    document = parse(text)
    if isinstance(document, BlockIssue):
        return SanitizedDocument(changed=False, text=text)
    if not validate(document, replace(options, html=True)).ok:
        return SanitizedDocument(changed=False, text=text)
    changed = clean_html(document)
    return SanitizedDocument(changed, as_json_line(document) if changed else text)


def clean_html(document: dict[str, JsonValue]) -> bool:
    """Cleans the HTML of every html block of a document in place; tells whether that changed it."""
    changed = False
    for block in nested_blocks(document):
        raw = block.get("html")
        if block.get("type") == "html" and isinstance(raw, str):
            block["html"] = sanitize_html(raw)
            changed = changed or block["html"] != raw
    return changed

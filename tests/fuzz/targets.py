"""What must hold for any bytes at all: one function for each part that reads what models write."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from parleyd.contract.blocks.autofill import fill_missing_action_ids
from parleyd.contract.blocks.html import sanitize_document, sanitize_html
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.partial import PartialParser, parse_partial
from parleyd.contract.blocks.safe_document import safe_document
from parleyd.contract.blocks.validation import check
from parleyd.contract.markdown_images import without_remote_images
from parleyd.contract.text import units
from parleyd.turns.block_previews import GrowingDocument
from tests.contract.blocks.pages import assert_harmless
from tests.contract.rendered import loaded, shown_texts

HOSTS: Final = ("img.books.example",)
STRICTEST: Final = BlockOptions()
LENIENT: Final = BlockOptions(html=True, image_hosts=HOSTS)
LARGEST: Final = 1024
"""How many bytes are tried at most: what is wrong is wrong in a short text too."""

Target = Callable[[bytes], None]


def validator(data: bytes) -> None:
    """Checks that any text is judged, that ids are filled in once, and what comes out is safe."""
    text = _text(data)
    filled = fill_missing_action_ids(text)
    assert filled is None or fill_missing_action_ids(filled) is None
    for options in (STRICTEST, LENIENT, replace(LENIENT, host_actions=())):
        verdict = check(text, options)
        safe = safe_document(text, options)
        if safe.document is None:
            assert not safe.verdict.ok
            continue
        assert verdict.ok
        assert safe_document(safe.text, options) == safe
        for shown in shown_texts(safe.document):
            assert loaded(shown, options.image_hosts) == []


def previews(data: bytes) -> None:
    """Checks that a text may be read while it grows, and that nothing shown is taken back."""
    text = _text(data)
    step = max(1, len(text) // 24)
    parser, growing = PartialParser(LENIENT), GrowingDocument(LENIENT)
    before: list[object] = []
    for end in [*range(0, len(text), step), len(text)]:
        assert parser.read(text[:end]) == parse_partial(text[:end], LENIENT)
        growing.read(text[:end])
        if growing.shown:
            blocks = growing.shown.document["blocks"]
            assert isinstance(blocks, list)
            assert blocks[: len(before)] == before
            before = [*blocks]


def html(data: bytes) -> None:
    """Checks that HTML is harmless once it is cleaned, and that cleaning again changes nothing."""
    text = _text(data)
    assert_harmless(sanitize_html(text))
    clean = sanitize_document(text, LENIENT)
    again = sanitize_document(clean.text, LENIENT)
    assert again.text == clean.text


def markdown(data: bytes) -> None:
    """Checks that Markdown loads nothing from elsewhere once it is cleaned, and stays so."""
    text = _text(data)
    clean = without_remote_images(text, HOSTS)
    assert loaded(clean, HOSTS) == []
    assert without_remote_images(clean, HOSTS) == clean
    assert units(clean) <= units(text)


def _text(data: bytes) -> str:
    """Returns a text for any bytes, unpaired surrogates among them."""
    return data.decode("utf-8", "surrogateescape")


TARGETS: Final[Mapping[str, Target]] = {
    target.__name__: target for target in (validator, previews, html, markdown)
}

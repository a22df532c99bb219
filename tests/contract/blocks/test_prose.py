"""How much a document may hold: texts in all, bytes of html (spec blocks 9.1, 9.3)."""

from typing import Any

import pytest

from parleyd.contract.blocks.options import BlockOptions
from tests.contract.blocks.documents import LENIENT, document, errors

SHIP = "\U0001f6a2"


def _text(length: int) -> Any:
    return {"type": "text", "markdown": "x" * length}


ONE_EACH: list[Any] = [
    {"type": "heading", "text": "x" * 200},
    {"type": "badge", "text": "x" * 80},
    {"type": "context", "text": "x" * 280},
    {"type": "callout", "text": "x" * 4000},
    {"type": "details", "title": "x" * 200, "text": "x" * 4000},
]
"""8,560 units that count, and a title that does not."""


def test_20000_units_are_allowed_and_one_more_is_not() -> None:
    card: Any = {"type": "card", "title": "x" * 120, "children": ONE_EACH}
    rest = [_text(4000), _text(4000), _text(3439)]
    assert errors(document(card, *rest, _text(1))) == []
    assert errors(document(card, *rest, _text(2))) == [("blocks", "TOO_LONG")]


def test_texts_that_are_no_prose_do_not_count() -> None:
    metric: Any = {"type": "metric", "label": "x" * 80, "value": "x" * 80, "helper": "x" * 120}
    assert errors(document(*[_text(4000)] * 5, *[metric] * 10)) == []


def test_a_ship_counts_twice() -> None:
    ships: Any = {"type": "text", "markdown": SHIP * 2000}
    assert errors(document(*[ships] * 5)) == []
    assert errors(document(*[ships] * 5, _text(1))) == [("blocks", "TOO_LONG")]


def _html(html: str) -> Any:
    return document({"type": "card", "children": [{"type": "html", "html": html}]})


P = "blocks[0].children[0]"


@pytest.mark.parametrize("html", ["x" * 100_000, "ü" * 50_000, SHIP * 25_000])
def test_100000_bytes_of_html_are_allowed(html: str) -> None:
    assert errors(_html(html), LENIENT) == []
    assert errors(_html(html + "x"), LENIENT) == [(f"{P}.html", "HTML_TOO_LARGE")]


def test_html_is_refused_unless_it_is_on_however_large_it_is() -> None:
    assert errors(_html("x"), BlockOptions()) == [(P, "HTML_DISABLED")]
    assert errors(_html("x" * 100_001), BlockOptions()) == [
        (P, "HTML_DISABLED"),
        (f"{P}.html", "HTML_TOO_LARGE"),
    ]


def test_half_a_pair_is_counted_and_nothing_breaks() -> None:
    assert errors(_html("\ud83d" * 33_334), LENIENT) == [(f"{P}.html", "HTML_TOO_LARGE")]

"""Documents as clients may show them."""

import json
from typing import Any, Final

import pytest
from hypothesis import given

from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.safe_document import safe_document
from parleyd.contract.blocks.validation import check
from tests.contract.blocks.cases import cases, needs_cases, options_of
from tests.contract.blocks.documents import LENIENT, document
from tests.contract.blocks.texts import MISWRITTEN, STREAMED
from tests.contract.rendered import loaded, shown_texts

LEAK: Final = "![a chart](https://leak.example/?said=everything)"


def test_bc_134_a_document_is_safe_to_show_and_says_so_in_one_line() -> None:
    text = f"v: 1\nblocks:\n  - type: text\n    markdown: '{LEAK}'\n  - {{type: divider}}\n"
    safe = safe_document(text, BlockOptions())
    assert safe.text == (
        '{"v":1,"blocks":[{"type":"text","markdown":"a chart"},{"type":"divider"}]}'
    )
    assert safe.document == json.loads(safe.text)
    assert safe.verdict.ok
    assert safe_document(safe.text, BlockOptions()) == safe


def test_html_and_images_are_cleaned_together() -> None:
    value = document(
        {"type": "html", "html": f"<p onclick=x()>{LEAK}</p><img src=//leak.example>"},
        {"type": "callout", "text": LEAK},
    )
    safe = safe_document(json.dumps(value), LENIENT)
    assert safe.document == document(
        {"type": "html", "html": f"<p>{LEAK}</p><img>"}, {"type": "callout", "text": "a chart"}
    )


def test_what_cleaning_leaves_invalid_is_no_document() -> None:
    value = document({"type": "html", "html": "<script>x()</script>"})
    safe = safe_document(json.dumps(value), LENIENT)
    assert (safe.document, [error.path for error in safe.verdict.errors]) == (
        None,
        ["blocks[0].html"],
    )
    assert "x()" not in safe.text


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"just prose with {LEAK}",
        f"v: 1\nblocks:\n  - type: text\n    markdown: '{LEAK}'\n    extra: 1",
        "v: 1\nblocks:\n  - type: text\n    markdown: '![a](https://img.books.example/1)'",
    ],
)
def test_what_needs_no_cleaning_or_is_no_valid_document_stays_as_it_is(text: str) -> None:
    safe = safe_document(text, LENIENT)
    assert (safe.text, safe.verdict) == (text, check(text, LENIENT))


@given(STREAMED | MISWRITTEN)
def test_making_it_safe_again_changes_nothing(text: str) -> None:
    safe = safe_document(text, LENIENT)
    assert safe.verdict.ok is (safe.document is not None)
    if safe.document is not None:
        assert safe_document(safe.text, LENIENT) == safe


@needs_cases
@pytest.mark.parametrize("case", cases("validate"), ids=lambda case: case["name"])
def test_the_cases_are_judged_as_before_and_load_nothing(case: dict[str, Any]) -> None:
    options = options_of(case)
    safe = safe_document(case["document"], options)
    if safe.text == case["document"]:
        assert safe.verdict == check(case["document"], options)
    for text in shown_texts(safe.document):
        assert loaded(text, options.image_hosts) == []

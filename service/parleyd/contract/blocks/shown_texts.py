"""What people read in a document, without images that a client would load from elsewhere.

Only `markdown` is Markdown by the catalog. But a client may show any text as such, so every text
that a person sees is cleaned the same way: whatever the catalog has as a `TextForm`, and cells.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from pydantic import JsonValue

from parleyd.contract.blocks.catalog import BLOCK, INLINE
from parleyd.contract.blocks.cells import RowsForm
from parleyd.contract.blocks.forms import Form, TextForm
from parleyd.contract.blocks.records import ChildrenForm, ListForm, RecordForm, TaggedForm
from parleyd.contract.markdown_images import (
    may_show_images,
    plain_markdown,
    visible_without_remote_images,
)

_READ: Final = 60_000
"""How many characters of a document are read as Markdown; further texts are made plain."""
_EACH: Final = 100
"""What a text costs beside its length, in characters."""

_Clean: TypeAlias = Callable[[str], str]


def document_without_remote_images(
    document: dict[str, JsonValue], hosts: Iterable[str]
) -> dict[str, JsonValue]:
    """Returns a document of which no text shows an image that is not of a file, data or `hosts`.

    It is the same object where nothing had to be changed, and never changed itself. Its blocks have
    the form of the catalog; whatever else it holds stays as it is. No text becomes blank or longer,
    so a valid document stays valid. Heavy ones are cleaned within a second or two.
    """
    clean = _Cleaning(hosts).clean
    after = dict(document)
    if "blocks" in document:
        after["blocks"] = _cleaned(document["blocks"], _BLOCKS, clean)
    datasets = document.get("datasets")
    if isinstance(datasets, dict):
        its = {name: _cleaned(dataset, INLINE, clean) for name, dataset in datasets.items()}
        after["datasets"] = _changed(datasets, its)
    return _changed(document, after)


class _Cleaning:
    """Cleans the texts of one document, as many as may be read."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self._hosts = tuple(hosts)
        self._left = _READ

    def clean(self, text: str) -> str:
        """Returns a text as it may be shown, not blank unless it was."""
        if not may_show_images(text):
            return text
        self._left -= len(text) + _EACH
        if self._left < 0:
            return plain_markdown(text)
        return visible_without_remote_images(text, self._hosts)


_BLOCKS: Final = ListForm(BLOCK)


def _cleaned(value: JsonValue, form: Form, clean: _Clean) -> JsonValue:
    """Returns a value of a form with its texts cleaned; itself where that changes nothing."""
    match form, value:
        case TextForm(), str():
            return clean(value)
        case TaggedForm(), dict():
            tag = value.get(form.tag)
            record = form.records.get(tag) if isinstance(tag, str) else None
            return value if record is None else _cleaned(value, record, clean)
        case RecordForm(), dict():
            return _changed(
                value,
                {
                    name: _cleaned(its, field.form, clean) if (field := form.field(name)) else its
                    for name, its in value.items()
                },
            )
        case ListForm(), list():
            return _list(value, [_cleaned(item, form.item, clean) for item in value])
        case ChildrenForm(), list():
            return _cleaned(value, _BLOCKS, clean)
        case RowsForm(), list():
            return _list(value, [_row(row, clean) for row in value])
        case _:
            return value


def _row(row: JsonValue, clean: _Clean) -> JsonValue:
    if not isinstance(row, list):
        return row
    return _list(row, [clean(cell) if isinstance(cell, str) else cell for cell in row])


def _list(before: list[JsonValue], after: list[JsonValue]) -> list[JsonValue]:
    same = all(one is other for one, other in zip(before, after, strict=True))
    return before if same else after


def _changed(before: dict[str, JsonValue], after: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return before if all(after[key] is its for key, its in before.items()) else dict(after)

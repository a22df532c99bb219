"""The page on asks says what the contract does."""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Final, get_args

import pytest

from parleyd.app.asks.cases import Case, Operation
from parleyd.contract import limits
from parleyd.contract.answers import envelope_shape
from parleyd.contract.asks.confirm import CONFIRM_LABEL, DENY_LABEL
from parleyd.contract.asks.fields.types import FIELD_SHAPE, FIELD_TYPES
from parleyd.contract.asks.files import FileShape
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS, kind_named, offer_of, offered_kinds
from parleyd.contract.field_errors import Code
from parleyd.contract.file_types import TYPES_BY_ACCEPT
from parleyd.contract.formats import DATE, DATETIME, EMAIL, PHONE, TIME, URL
from parleyd.contract.json_schemas import json_schemas
from parleyd.contract.records import Key, ObjectShape, RecordShape
from parleyd.contract.surfaces import Surface
from parleyd.contract.text import WHITESPACE
from tests.contract import beyond_schemas
from tests.docs.keys import item_of, listed, said, takes
from tests.docs.pages import REFERENCE, codes_in, read_page, table_of

PAGE: Final = read_page("asks.md")
TEXT: Final = (REFERENCE / "asks.md").read_text(encoding="utf-8")
SHARED: Final = ("title", "prompt", "submitLabel", "allowDecline")


# ---------------------------------------------------------------- keys


def own(shape: RecordShape) -> list[Key]:
    return [key for key in shape.keys if key.name not in SHARED]


@pytest.mark.parametrize("kind", ASK_KINDS)
def test_the_shared_keys_are_those_of_every_kind(kind: AskKind) -> None:
    rows = [
        row
        for row in table_of(PAGE, "Every kind", "key of the input").rows
        if row[3] == "every kind" or kind not in codes_in(row[3])
    ]
    shape = offer_of(kind, "full").shape
    assert sorted(listed(rows)) == sorted(said(k for k in shape.keys if k.name in SHARED))


@pytest.mark.parametrize("kind", ASK_KINDS)
def test_the_keys_of_an_input_are_those_of_the_shape(kind: AskKind) -> None:
    rows = table_of(PAGE, kind, "key of the input").rows
    assert listed(rows) == said(own(offer_of(kind, "full").shape))


@pytest.mark.parametrize("kind", ASK_KINDS)
def test_the_keys_of_a_content_are_those_of_the_shape(kind: AskKind) -> None:
    rows = table_of(PAGE, kind, "key of the content").rows
    assert listed(rows) == said(kind_named(kind).content.keys)


@pytest.mark.parametrize(
    ("heading", "surface"), [("choice", "full"), ("The compact surface", "compact")]
)
def test_the_keys_of_an_option_are_those_of_the_shape(heading: str, surface: Surface) -> None:
    option = item_of(offer_of("choice", surface).shape, "options")
    assert isinstance(option, RecordShape)
    assert listed(table_of(PAGE, heading, "key of an option").rows) == said(option.keys)


def test_the_keys_of_a_file_are_those_of_the_shape() -> None:
    file = item_of(kind_named("files").content, "files")
    assert isinstance(file, FileShape)
    assert listed(table_of(PAGE, "files", "key of a file").rows) == said(file.record.keys)


def test_the_compact_surface_has_the_kinds_and_keys_it_says() -> None:
    assert offered_kinds(ASK_KINDS, "compact") == ("choice", "confirm")
    assert offer_of("confirm", "compact").shape is offer_of("confirm", "full").shape
    shape = offer_of("choice", "compact").shape
    assert listed(table_of(PAGE, "The compact surface", "key of the input").rows) == said(
        own(shape)
    )
    assert {key.name for key in shape.keys} >= {*SHARED}


def test_the_labels_of_a_confirm_are_the_defaults() -> None:
    rows = {row[0].strip("`"): row for row in table_of(PAGE, "confirm", "key of the input").rows}
    assert rows["confirmLabel"][2] == f"`{CONFIRM_LABEL}`"
    assert rows["denyLabel"][2] == f"`{DENY_LABEL}`"


# ---------------------------------------------------------------- fields and files


def test_every_field_has_the_keys_it_says() -> None:
    table = listed(table_of(PAGE, "form", "key of a field").rows)
    names = [name for name, _, _ in table]
    records = FIELD_SHAPE.records
    common = [key for key in records[0].keys if all(key in r.keys for r in records)]
    assert names == ["type", *(key.name for key in common), "default"]
    for name, phrase, required in table[1:-1]:
        assert (name, phrase, required) in said(common)
    assert table[0][2]
    assert not table[-1][2]


def test_the_types_of_field_have_the_keys_they_say() -> None:
    rows = table_of(PAGE, "form", "`type`").rows
    assert [row[0].strip("`") for row in rows] == [*FIELD_TYPES]
    for row in rows:
        keys = FIELD_TYPES[row[0].strip("`")].keys
        phrases = [
            f"`{name}` {phrase}{', required' if required else ''}"
            for name, phrase, required in said(key for key in keys if key.name != "default")
        ]
        assert row[1] == ", ".join(phrases)
        (default,) = [takes(key.shape) for key in keys if key.name == "default"]
        assert row[2] == default


def test_the_examples_of_formats_are_those_that_errors_give() -> None:
    rows = {row[0].strip("`"): row[3] for row in table_of(PAGE, "form", "`type`").rows}
    formats = {
        "email": EMAIL,
        "url": URL,
        "phone": PHONE,
        "date": DATE,
        "time": TIME,
        "datetime": DATETIME,
    }
    for name, format_ in formats.items():
        assert codes_in(rows[name])[-1] == format_.example


def test_the_keys_of_a_fields_option_are_those_of_the_shape() -> None:
    for name in ("select", "multiselect"):
        keys = RecordShape(FIELD_TYPES[name].keys)
        option = item_of(keys, "options")
        assert isinstance(option, RecordShape)
        assert listed(table_of(PAGE, "form", "key of a field's option").rows) == said(option.keys)


def test_the_accepted_types_are_those_of_the_contract() -> None:
    rows = table_of(PAGE, "files", "`accept`").rows
    assert {row[0].strip("`"): (*codes_in(row[1]),) for row in rows} == TYPES_BY_ACCEPT


# ---------------------------------------------------------------- answers and errors


def test_the_envelope_has_the_keys_it_says() -> None:
    expected = [
        (variant.names[0], *said(variant.keys))
        for variant in envelope_shape(ObjectShape()).variants
    ]
    found = [
        (
            row[0].strip("`"),
            *[
                (key, row[2].removesuffix(", required"), row[2].endswith(", required"))
                for key in codes_in(row[1])
            ],
        )
        for row in table_of(PAGE, "Answers", "`action`").rows
    ]
    assert found == expected


OF_SHAPES: Final = {
    Code.INVALID_ENUM,
    Code.INVALID_FORMAT,
    Code.INVALID_TYPE,
    Code.MISSING_REQUIRED,
    Code.RANGE_INVALID,
    Code.TOO_LONG,
    Code.TOO_MANY,
    Code.TOO_SHORT,
    Code.UNKNOWN_KEY,
}
"""What the shapes of both asks and answers can give."""
ON_ASKS: Final = {*OF_SHAPES, Code.TOO_FEW, *beyond_schemas.ON_ASKS}
ON_ANSWERS: Final = {
    *OF_SHAPES,
    *beyond_schemas.ON_ANSWERS,
    Code.FILE_NOT_OWNED,
    Code.UNKNOWN_BUTTON,
}


def test_every_code_is_listed_with_what_gives_it() -> None:
    rows = table_of(PAGE, "Errors", "code").rows
    assert [row[0].strip("`") for row in rows] == [code.value for code in Code]
    assert {row[0].strip("`") for row in rows if row[2]} == ON_ASKS
    assert {row[0].strip("`") for row in rows if row[3]} == ON_ANSWERS
    assert {mark for row in rows for mark in row[2:]} == {"×", ""}


# ---------------------------------------------------------------- limits

LIMITS: Final[Mapping[str, tuple[str, ...]]] = {
    "options": ("OPTIONS_MIN", "OPTIONS_MAX"),
    "fields": ("FIELDS_MIN", "FIELDS_MAX"),
    "phone digits": ("PHONE_DIGITS_MIN", "PHONE_DIGITS_MAX"),
    "files": ("FILES_MIN", "FILES_MAX"),
    "accept": ("ACCEPT_MAX",),
    "compact options": ("OPTIONS_MIN", "COMPACT_OPTIONS_MAX"),
    "compact default": ("COMPACT_DEFAULT_MAX",),
    "quoted value": ("QUOTE",),
    "listed ids": ("LISTED",),
    "unknown keys told": ("UNKNOWN_KEYS_REPORTED",),
    "items looked at": ("ITEMS_LOOKED_AT",),
    "errors told": ("FAULTS_REPORTED",),
    "errors told to the agent": ("FAULTS_TOLD",),
}
"""Rows whose limits have other names in the code than theirs."""

OF_ASKS: Final = [
    name
    for name in vars(limits)
    if name.isupper() and [*vars(limits)].index(name) < [*vars(limits)].index("TURN_PROMPT")
]
"""Every limit of asks; those of turns come after them."""


def test_every_limit_is_listed_with_its_value() -> None:
    named: list[str] = []
    for limit, value, _ in table_of(PAGE, "Limits", "limit").rows:
        names = LIMITS.get(limit, (limit.upper().replace(" ", "_"),))
        named += names
        assert value == "–".join(str(getattr(limits, name)) for name in names), limit
    assert {*named} == {*OF_ASKS}


def test_the_page_quotes_no_other_number_than_limits() -> None:
    prose = re.sub(r"```.*?```|`[^`]*`|U\+[0-9A-F]{4}|\(schemas/[^)]*\)", "", TEXT, flags=re.DOTALL)
    for other in ("UTF-16", "64-bit", "draft 2020-12", "ECMA-262"):
        prose = prose.replace(other, "")
    quoted = {int(number) for number in re.findall(r"\d+", prose)}
    # No bytes, one pick, and the two ways for a command to end.
    assert quoted - {0, 1, 2} <= {getattr(limits, name) for name in OF_ASKS}


def test_the_white_space_is_that_of_the_contract() -> None:
    (sentence,) = re.findall(r"Visible is everything but (.*?);", TEXT, re.DOTALL)
    found: set[str] = set()
    for first, last in re.findall(r"U\+([0-9A-F]{4})(?: to U\+([0-9A-F]{4}))?", sentence):
        found |= {chr(code) for code in range(int(first, 16), int(last or first, 16) + 1)}
    assert found == {*WHITESPACE}


# ---------------------------------------------------------------- schemas


def test_every_schema_is_listed_with_its_id() -> None:
    rows = table_of(PAGE, "JSON Schemas", "file").rows
    assert [row[0] for row in rows] == [
        f"[{name}.json](schemas/{name}.json)" for name in json_schemas()
    ]
    assert [row[1].strip("`") for row in rows] == [s["$id"] for s in json_schemas().values()]


def test_what_the_schemas_can_not_tell_is_listed_and_nothing_else() -> None:
    rows = table_of(PAGE, "JSON Schemas", "code").rows
    assert {row[0].strip("`") for row in rows if row[1]} == {*beyond_schemas.ON_ASKS}
    assert {row[0].strip("`") for row in rows if row[2]} == {*beyond_schemas.ON_ANSWERS}
    assert [row[0] for row in rows] == sorted(row[0] for row in rows if row[1] or row[2])


def test_the_keys_of_a_case_are_those_that_are_read() -> None:
    rows = {
        row[0].strip("`"): row
        for row in table_of(PAGE, "Checking without a service", "key of a case").rows
    }
    assert [*rows] == [field.name for field in fields(Case)]
    assert codes_in(rows["op"][1]) == [*get_args(Operation)]
    assert codes_in(rows["kind"][1]) == [*ASK_KINDS]
    assert codes_in(rows["surface"][1]) == [*get_args(Surface)]

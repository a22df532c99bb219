"""The pages on blocks say what the code does."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Final

import pytest
from pydantic import JsonValue

from parleyd.app.blocks.cases import OPERATIONS, Case, CaseOptions
from parleyd.app.blocks.report import report
from parleyd.contract.blocks import limits
from parleyd.contract.blocks.catalog import (
    ACTION,
    BLOCK,
    CALLBACK,
    COLUMN,
    ELEMENT,
    ID,
    INLINE,
    OPTION,
    POINT,
    REF,
    REF_ID,
)
from parleyd.contract.blocks.cells import RowsForm
from parleyd.contract.blocks.forms import (
    CountForm,
    EnumForm,
    FlagForm,
    Form,
    MappingForm,
    NumberForm,
    PatternForm,
    StringForm,
    TextForm,
)
from parleyd.contract.blocks.issues import WARNING_CODES, BlockCode, BlockIssue
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.prose import PROSE_FIELDS
from parleyd.contract.blocks.records import ChildrenForm, Field, ListForm, RecordForm, TaggedForm
from parleyd.contract.blocks.structure import structural_issues
from parleyd.contract.blocks.validation import check
from tests.app.processes import environment, run
from tests.docs.keys import span
from tests.docs.pages import REFERENCE, Row, codes_in, read_page, table_of

PAGE: Final = read_page("blocks.md")
TEXT: Final = (REFERENCE / "blocks.md").read_text(encoding="utf-8")
HOW_TO: Final = (REFERENCE.parent / "how-to" / "check-a-document.md").read_text(encoding="utf-8")
PATTERNS: Final = {ID: "id", CALLBACK: "callback name", REF_ID: "dataset id"}


# ---------------------------------------------------------------- fields


def takes(form: Form, item: str) -> str:
    """Returns what the page says that a key takes; `item` names the mappings of a list."""
    match form:
        case TextForm():
            return f"text ≤ {form.most}"
        case StringForm(None):
            return "string"
        case StringForm():
            return f"string ≤ {form.most}"
        case PatternForm():
            return PATTERNS[form]
        case EnumForm():
            return ", ".join(f"`{value}`" for value in form.values)
        case FlagForm():
            return "boolean"
        case NumberForm():
            return "number"
        case CountForm():
            return "whole number ≥ 1"
        case MappingForm():
            return "mapping"
        case RowsForm():
            return "rows"
        case ChildrenForm():
            return f"{span(form.least, form.most)} × block"
        case ListForm():
            return f"{span(form.least, form.most)} × {takes(form.item, item)}"
        case RecordForm() | TaggedForm():
            return item
        case _:
            raise AssertionError(form)


def said(its_fields: Iterable[Field]) -> list[tuple[str, str, bool]]:
    """Returns what a table must say of fields: name, what it takes, whether it is required."""
    return [
        (field.name, takes(field.form, field.name.removesuffix("s")), field.required)
        for field in its_fields
    ]


def listed(rows: Iterable[Row]) -> list[tuple[str, str, bool]]:
    """Returns what a table says of keys."""
    return [(row[0].strip("`"), row[1], row[2] == "required") for row in rows]


def own(name: str, record: RecordForm, tag: str) -> list[tuple[str, str, str, bool]]:
    """Returns the rows of a record: not its tag, nor the id that every block may have."""
    kept = [f for f in record.fields if f.name != tag and (f.required or f.name != "id")]
    return [(name, *row) for row in said(kept)] or [(name, "", "", False)]


@pytest.mark.parametrize(
    ("heading", "first", "form"),
    [
        ("The blocks", "block", BLOCK),
        ("Elements and actions", "element", ELEMENT),
        ("Elements and actions", "action", ACTION),
    ],
)
def test_every_field_is_listed_with_what_it_takes(
    heading: str, first: str, form: TaggedForm
) -> None:
    rows = table_of(PAGE, heading, first).rows
    found = [(row[0].strip("`"), *listed([row[1:]])[0]) for row in rows]
    expected = [row for name, its in form.records.items() for row in own(name, its, form.tag)]
    assert found == expected
    assert all(row[-1] for row in rows)


def test_every_field_of_a_dataset_is_listed_with_what_it_takes() -> None:
    rows = table_of(PAGE, "Datasets", "dataset").rows
    for name, record in (("inline", INLINE), ("ref", REF)):
        its = [row[1:] for row in rows if row[0] == f"`{name}`"]
        assert listed(its) == said(record.fields)
    assert len(rows) == len(INLINE.fields) + len(REF.fields)


@pytest.mark.parametrize(
    ("heading", "first", "record"),
    [
        ("The blocks", "key of a point", POINT),
        ("Elements and actions", "key of an option", OPTION),
        ("Datasets", "key of a column", COLUMN),
    ],
)
def test_the_keys_of_what_lists_hold_are_listed(
    heading: str, first: str, record: RecordForm
) -> None:
    assert listed(table_of(PAGE, heading, first).rows) == said(record.fields)


VALUES: Final[Mapping[str, JsonValue]] = {
    "v": 1,
    "datasets": {},
    "blocks": [{"type": "divider"}],
}


def test_the_keys_of_the_document_are_listed_in_their_order() -> None:
    rows = table_of(PAGE, "The document", "key").rows
    keys = [row[0].strip("`") for row in rows]
    assert not [*structural_issues({key: VALUES[key] for key in keys})]
    assert [issue.code for issue in structural_issues({**VALUES, "more": 1})] == [
        BlockCode.UNKNOWN_KEY
    ]
    assert {key for key, row in zip(keys, rows, strict=True) if row[2] == "required"} == {
        "v",
        "blocks",
    }
    assert rows[-1][1] == f"1–{limits.BLOCKS} × block"


def test_the_prose_that_counts_together_is_listed() -> None:
    (sentence,) = re.findall(r"The texts of (.*?) together have", TEXT, re.DOTALL)
    assert codes_in(sentence) == [*PROSE_FIELDS]


# ---------------------------------------------------------------- what is read


def read_value(yaml: str) -> object:
    """Returns the value of an unquoted scalar."""
    document = parse(f"v: 1\nit: {yaml}\n")
    assert isinstance(document, dict)
    return document["it"]


KINDS: Final[Mapping[str, type[object] | tuple[type[object], ...]]] = {
    "null": type(None),
    "a boolean": bool,
    "a whole number": int,
    "a number": float,
    "a number that no field takes": float,
    "a string": str,
}


def test_unquoted_words_are_what_the_page_says() -> None:
    rows = table_of(PAGE, "Reading YAML and JSON", "unquoted YAML").rows
    assert [row[1] for row in rows] == [*KINDS]
    for words, kind in rows:
        for word in codes_in(words):
            value = read_value(word)
            assert isinstance(value, KINDS[kind]), word
            assert (kind == "a whole number") == (type(value) is int), word
    assert read_value("") is None
    assert read_value("012") == read_value("0o14") == read_value("0xC") == 12


REFUSED: Final = [
    ["v: &name 1", "v: 1\nit: *name", "v: 1\nit: !name x", "v: !!int 1", "v: 1\nit: **bold**"],
    ["", " \n", "# a comment"],
    ["Here it is:\n\n```yaml\nv: 1\n```", "v: 1\n---\nv: 1\n"],
    ["v: 1\nblocks:\n\t- a", "v: 1\nit: a: b"],
    ["v: 1\nv: 1", '{"v": 1, "it": {"a": 1, "a": 2}}'],
    ["[1]", "blocks: []", "v"],
    [f"v: {'[' * limits.LEVELS}{']' * limits.LEVELS}", f"v: {'x' * limits.TEXT_BYTES}"],
]
"""Texts that each row refuses."""


def test_what_is_not_accepted_has_the_code_that_the_page_says() -> None:
    rows = table_of(PAGE, "Reading YAML and JSON", "not accepted").rows
    for (_, code), texts in zip(rows, REFUSED, strict=True):
        for text in texts:
            (error,) = check(text, BlockOptions()).errors
            assert (error.path, f"`{error.code}`") == ("", code), text


# ---------------------------------------------------------------- codes and limits


def test_every_code_is_listed() -> None:
    errors = [row[0].strip("`") for row in table_of(PAGE, "Errors", "code").rows]
    warnings = [row[0].strip("`") for row in table_of(PAGE, "Errors", "code of a warning").rows]
    assert errors == [code.value for code in BlockCode if code not in WARNING_CODES]
    assert warnings == sorted(WARNING_CODES)


LIMITS: Final[Mapping[str, tuple[str, ...]]] = {
    "columns children": ("COLUMNS_CHILDREN_MIN", "COLUMNS_CHILDREN_MAX"),
    "segmented options": ("SEGMENTED_OPTIONS_MIN", "SEGMENTED_OPTIONS_MAX"),
}
"""Rows of two limits."""


def test_every_limit_is_listed_with_its_value() -> None:
    named: list[str] = []
    for limit, value, _ in table_of(PAGE, "Limits", "limit").rows:
        names = LIMITS.get(limit, (limit.upper().replace(" ", "_"),))
        named += names
        assert value == "–".join(str(getattr(limits, name)) for name in names), limit
    assert sorted(named) == sorted(name for name in vars(limits) if name.isupper())


def test_the_page_quotes_no_other_number_than_limits() -> None:
    prose = re.sub(r"```.*?```|`[^`]*`|U\+[0-9A-F]{4}", "", TEXT, flags=re.DOTALL)
    for other in ("UTF-16", "UTF-8", "version 1.2", "draft 7", "the number 1"):
        prose = prose.replace(other, "")
    quoted = {int(number) for number in re.findall(r"\d+", prose)}
    known = {value for name, value in vars(limits).items() if name.isupper()}
    assert quoted - {0, 1} <= known  # one of a list, and the two ends of a command


# ---------------------------------------------------------------- the commands


def test_the_keys_of_a_case_are_those_that_are_read() -> None:
    rows = {
        row[0].strip("`"): row
        for row in table_of(PAGE, "Checking without a service", "key of a case").rows
    }
    parts = {"text": ["document", "html"]}
    assert [*rows] == [key for field in fields(Case) for key in parts.get(field.name, [field.name])]
    assert codes_in(rows["op"][1]) == [*OPERATIONS]
    aliases = [field.alias for field in CaseOptions.model_fields.values()]
    assert codes_in(rows["options"][3])[: len(aliases)] == aliases
    operations = table_of(PAGE, "Checking without a service", "`op`").rows
    assert [row[0].strip("`") for row in operations] == [*OPERATIONS]


def test_the_first_document_of_the_page_is_valid() -> None:
    (document, *_) = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    told = report(document)
    assert (told.ok, told.text) == (True, "")
    assert not isinstance(parse(document), BlockIssue)


async def test_the_command_of_the_page_prints_what_it_shows(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```\n(\$ cat reply.yaml\n.*?)```", TEXT, re.DOTALL)
    _, document, printed = re.split(r"^\$ .*\n", shown, flags=re.MULTILINE)
    await _assert_said(document, printed, tmp_path)


async def test_the_how_to_prints_what_it_shows(tmp_path: Path) -> None:
    (document,) = re.findall(r"```yaml\n(.*?)```", HOW_TO, re.DOTALL)
    of_form, of_meaning = re.findall(r"^```\n(blocks\[.*?)```", HOW_TO, re.DOTALL | re.MULTILINE)
    await _assert_said(document, of_form, tmp_path)
    assert document.count("318") == 1
    await _assert_said(document.replace("318", '"318"'), of_meaning, tmp_path)


async def _assert_said(document: str, expected: str, folder: Path) -> None:
    (folder / "reply.yaml").write_text(document, encoding="utf-8")
    file = str(folder / "reply.yaml")
    ended = await run("blocks", "validate", file, env=environment(folder))
    assert (ended.code, ended.out, ended.err) == (1, expected, "")


async def test_the_case_of_the_how_to_is_valid_under_its_options(tmp_path: Path) -> None:
    (case,) = re.findall(r"echo '(.*?)' \| parleyd blocks check -", HOW_TO, re.DOTALL)
    env = environment(tmp_path)
    ended = await run("blocks", "check", "-", env=env, typed=case.encode())
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == '{"name":"photo","errors":[],"warnings":[]}\n'
    without = case.replace("img.example.org", "elsewhere.example.org", 1)
    refused = await run("blocks", "check", "-", env=env, typed=without.encode())
    assert "IMAGE_HOST_NOT_ALLOWED" in refused.out

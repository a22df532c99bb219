"""What the model is told about documents (spec blocks 16)."""

import os
import re
from pathlib import Path

import pytest

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.catalog import (
    ACTION,
    BLOCK,
    CHART_KINDS,
    COLUMN_TYPES,
    ELEMENT,
    GRAINS,
)
from parleyd.contract.blocks.forms import EnumForm
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.prompt import EXAMPLE_OF_PROSE, EXAMPLE_WITH_DATA, prompt_section
from parleyd.contract.blocks.validation import check

SNAPSHOTS = Path(__file__).parent / "prompts"

OPTIONS = {
    "defaults": BlockOptions(),
    "html": BlockOptions(html=True),
    "hosts": BlockOptions(image_hosts=("img.books.example", "*", "cdn.books.example")),
    "callbacks": BlockOptions(host_actions=("renewLoan", "exportLoans")),
}

RESERVED = (
    "stepper",
    "checklist",
    "gallery",
    "list",
    "eyebrow",
    "copy",
    "OUT_OF_RANGE",
    "COPY_TARGET_INVALID",
)
"""Names that later versions may use (23.3)."""


@pytest.mark.parametrize("name", OPTIONS)
def test_the_section_is_the_one_on_record(name: str) -> None:
    """Set PARLEY_UPDATE_SNAPSHOTS to write down what is said now."""
    section = prompt_section(OPTIONS[name])
    snapshot = SNAPSHOTS / f"{name}.md"
    if os.environ.get("PARLEY_UPDATE_SNAPSHOTS"):
        snapshot.write_text(section + "\n", encoding="utf-8")
    assert section + "\n" == snapshot.read_text(encoding="utf-8")


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_no_reserved_name_is_mentioned(options: BlockOptions) -> None:
    section = prompt_section(options).lower()
    assert [name for name in RESERVED if name.lower() in section] == []


@pytest.mark.parametrize("example", [EXAMPLE_WITH_DATA, EXAMPLE_OF_PROSE])
def test_an_example_is_told_and_valid(example: str) -> None:
    assert f"<example>\n{example}</example>" in prompt_section(BlockOptions())
    verdict = check(example, BlockOptions(host_actions=()))
    assert verdict.errors == ()
    assert verdict.warnings == ()


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_limit_is_told(options: BlockOptions) -> None:
    section = prompt_section(options)
    for text in (
        f"At most {limits.BLOCKS} blocks",
        f"depth of {limits.DEPTH}",
        f"{limits.ELEMENTS} elements",
        f"`columns` has {limits.COLUMNS_CHILDREN_MIN} to {limits.COLUMNS_CHILDREN_MAX} `children`",
        f"`card` 1 to {limits.CARD_CHILDREN}",
        f"{limits.DATASETS} datasets",
        f"{limits.DATASET_ROWS} rows and {limits.DATASET_COLUMNS} columns",
        f"`limit` (1 to {limits.REF_LIMIT})",
        f"{limits.PROSE} characters in a text block",
        f"{limits.PROSE_TOTAL} in the texts of the whole document",
        f"`heading`: `text` ({limits.HEADING})",
        f"`badge`: `text` ({limits.SHORT_TEXT})",
        f"`context`: `text` ({limits.CONTEXT})",
        f"`label` ({limits.SHORT_TEXT}), `value` ({limits.SHORT_TEXT})",
        f"`delta` ({limits.METRIC_DELTA}), `helper` ({limits.METRIC_HELPER})",
        f"`children` (1 to {limits.CARD_CHILDREN} items); optional `title` ({limits.TITLE})",
        f"{limits.BAR_CATEGORIES} categories",
        f"{limits.DONUT_SLICES} slices",
        f"{limits.HTML_BYTES} bytes",
    ):
        assert text in section


def test_every_number_is_a_limit() -> None:
    told = prompt_section(BlockOptions(html=True))
    without_examples = told[: told.index("### Examples")].replace("YAML 1.2", "YAML")
    known = {value for name, value in vars(limits).items() if name.isupper()}
    words = without_examples.replace("2xl", "").replace('"318"', "")
    numbers = {int(number) for number in re.findall(r"[0-9]+", words)}
    # 0 and 1 are where sizes begin, and a line needs 2 points.
    assert numbers <= known | {0, 1, 2}
    never_told = {"TEXT_BYTES", "LEVELS", "ISSUES_REPORTED", "REF_ID"}
    assert {
        name
        for name, value in vars(limits).items()
        if name.isupper() and name not in never_told and value not in numbers
    } == set()


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_name_of_the_catalog_is_told(options: BlockOptions) -> None:
    section = prompt_section(options)
    for tagged in (BLOCK, ELEMENT, ACTION):
        for name, record in tagged.records.items():
            if (name == "html" and not options.html) or (
                name == "callback" and not options.host_actions
            ):
                continue
            line = next(it for it in section.splitlines() if it.startswith(f"- `{name}`"))
            for field in record.fields[1:]:
                if field.name == "id":
                    continue
                assert f"`{field.name}`" in line
                if isinstance(field.form, EnumForm):
                    assert all(f"`{value}`" in line for value in field.form.values)
    assert all(f"`{word}`" in section for word in (*CHART_KINDS, *COLUMN_TYPES, *GRAINS))


def test_html_is_told_only_where_it_is_on() -> None:
    off, on = prompt_section(BlockOptions()), prompt_section(BlockOptions(html=True))
    assert "- `html`" not in off
    assert "`card`, `callout`" in off
    assert "do not emit any" in off
    assert "- `html`: `html`; optional `title` (200), `height` (`sm`, `md` or `lg`)" in on
    assert "no scripts, no links, no network" in on
    assert "do not emit any" not in on


def test_image_hosts_are_told_as_they_are() -> None:
    assert "do not emit https images" in prompt_section(BlockOptions(image_hosts=("*", "")))
    told = prompt_section(OPTIONS["hosts"])
    assert "exactly one of `img.books.example`, `cdn.books.example`" in told
    assert "do not emit https images" not in told


@pytest.mark.parametrize("names", [None, ()])
def test_without_callbacks_none_are_to_be_emitted(names: tuple[str, ...] | None) -> None:
    section = prompt_section(BlockOptions(host_actions=names))
    assert "Do not emit the action kind `callback`" in section
    assert "- `callback`" not in section


def test_callbacks_are_told_as_they_are() -> None:
    assert "exactly `renewLoan`, `exportLoans`" in prompt_section(OPTIONS["callbacks"])

"""What is shown of a document while it streams (spec blocks 13)."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract.blocks.fences import unfenced
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.parsing import Refusal, parse, read
from parleyd.contract.blocks.partial import PartialDocument, PartialParser, parse_partial
from parleyd.contract.blocks.validation import check
from tests.contract.blocks.cases import cases, needs_cases, options_of
from tests.contract.blocks.documents import LENIENT, valid_documents
from tests.contract.blocks.texts import MISWRITTEN, STREAMED, TOP, as_yaml, pieces

NOTHING = PartialDocument()
DIVIDER: JsonValue = {"type": "divider"}
DATASET = "  a: {columns: [{name: b, type: string}], rows: [[c]]}\n"


def _shown(text: str, options: BlockOptions = LENIENT) -> tuple[int, bool]:
    partial = parse_partial(text, options)
    return len(partial.blocks), partial.pending


@needs_cases
@pytest.mark.parametrize("case", cases("partial"), ids=lambda case: case["name"])
def test_a_conformance_case_passes(case: dict[str, Any]) -> None:
    blocks, pending = _shown(case["document"], options_of(case))
    assert {"blocks": blocks, "pending": pending} == case["expect"]


@pytest.mark.parametrize(
    ("text", "blocks", "pending"),
    [
        ("", 0, True),
        (" \n\ufeff", 0, True),
        ("Three books", 0, True),
        ("```yaml\n", 0, True),
        ("v: 1\nblocks", 0, True),
        ("v: 1\nblocks:", 0, True),
        (f"{TOP}  - type: divider", 1, False),
        (f"{TOP}  - type: divi", 0, True),
        (f"{TOP}  - type: divider\n  -", 0, True),
        (f"{TOP}  - type: divider\n  - t", 1, True),
        (f"{TOP}  - type: text\n    markdown: half a sen", 1, False),
        (f'{TOP}  - type: text\n    markdown: "half a sen', 0, True),
        (f"{TOP}  - type: carousel\n  - type: divider\n  - t", 2, True),
        (f"{TOP}  - type: divider\n  - text: Loans: late\n  - type: divider\n  - t", 2, True),
        (f"{TOP}  - type: divider\n  - text: **bold**\n  - type: divider\n  - t", 2, True),
        (f"{TOP}  - type: divider\n  - text: **bold**\n  - type: divider", 1, True),
        (f"{TOP}  - type: divider\n  - text: Loans: late\n  - type: divider", 1, True),
        (f"{TOP}  - type: divider\n  - type: carousel\n  - type: divider", 2, True),
        (f"{TOP}# first\n\n  - type: divider\n\n  # second\n  - type: divider\n  - t", 2, True),
        ("v: 1\nblocks: # these\n  - type: divider\n  - t", 1, True),
        ("v: 1\nblocks: # these\n  - type: divider", 1, False),
        ("v: 1\n blocks:\n  - type: divider\n  - t", 0, True),
        ("v: 1\nblocks:x\n  - type: divider\n  - t", 0, True),
        ("v: 1\nblocks:x\nblocks:\n  - type: divider\n  - t", 1, True),
        ("v: 1\nblocks: [{type: divider}, {type: div", 0, True),
        ("v: 1\nblocks: [{type: divider}, {type: divider}]", 2, False),
        ("v: 1\nblocks: [{type: divider}]\n# done", 1, False),
        ('{"v": 1, "blocks": [{"type": "divider"}, {"type"', 0, True),
        ('{"v": 1, "blocks": [{"type": "divider"}]}', 1, False),
        ('{"v": 1, "blocks": [{"type": "divider"}]} # done', 1, False),
        ('{v: 1, "bl\\u006fcks": [{type: divider}]}', 1, False),
        ('v: 1\n"bl\\u006fcks":\n- type: divider', 1, False),
        ("v: 1\nblocks :\n  - type: divider", 1, False),
        ('```json\n{"v": 1, "blocks": [{"type": "divider"}]}\n\n```', 1, False),
        (f"```yaml\n{TOP}  - type: divider\n  - t", 1, True),
        (f"```yaml\n{TOP}  - type: divider\n```", 1, False),
        (f"{TOP}  - type: divider\n...", 1, False),
        (f"{TOP}  - type: divider\n---\n{TOP}  - type: divider\n  - t", 1, True),
        ("%YAML 1.2\n---\nv: 1\nblocks:\n  - type: divider\n", 1, False),
        ("v: 1\nblocks:\n- type: divider\n- type: card\n  children:\n  - type: div", 1, True),
        ("v: 1\nblocks:\n    - type: divider\n    - type: divider\n    - t", 2, True),
        (f"{TOP}    - type: divider\n  - type: divider\n  - type: divider\n  - t", 2, True),
        (f"{TOP} - type: divider\n  - type: divider\n  - t", 1, True),
        (f"{TOP}  - type: text\n    markdown: |\n      a\n      - b\n      - c\n  - t", 1, True),
        (f"{TOP}  - type: table\n    data: a\n  - t", 1, True),
        ("blocks:\n  - type: divider\n  - type: divider", 1, True),
        ("v: 2\nblocks:\n  - type: divider\n  - type: divider", 1, True),
        (f"{TOP}  - type: divider\nv: 1\n  - type: divider\n  - t", 1, True),
        (f'{TOP}  - type: text\n    markdown: "a\n  - b"', 1, False),
    ],
)
def test_what_is_shown_of_a_text(text: str, blocks: int, pending: bool) -> None:  # noqa: FBT001
    assert _shown(text) == (blocks, pending)


def test_a_document_is_judged_by_the_options_given() -> None:
    text = f"{TOP}  - type: html\n    html: <p>a</p>"
    assert _shown(text, BlockOptions()) == (0, True)
    assert _shown(text, BlockOptions(html=True)) == (1, False)


def test_datasets_appear_once_blocks_have_begun() -> None:
    datasets = {"a": {"columns": [{"name": "b", "type": "string"}], "rows": [["c"]]}}
    text = f"v: 1\ndatasets:\n{DATASET}"
    assert parse_partial(text, LENIENT).datasets is None
    assert parse_partial(f"{text}blocks:", LENIENT).datasets == datasets
    assert parse_partial(f"{text}blocks:\n  - t", LENIENT).datasets == datasets
    whole = parse_partial(f"{text}blocks:\n  - type: table\n    data: a", LENIENT)
    assert (whole.datasets, whole.pending) == (datasets, False)
    broken = text.replace("[c]", "[*c]")
    assert parse_partial(f"{broken}blocks:\n  - t", LENIENT).datasets is None
    assert parse_partial("v: 1\ndatasets: 1\nblocks:\n  - t", LENIENT).datasets is None
    assert parse_partial(f"{TOP}  - type: divider\n  - t", LENIENT).datasets is None


def test_a_block_scalar_is_shown_with_its_last_line_break() -> None:
    text = f"{TOP}  - type: text\n    markdown: |+\n      a\n\n  - type: divider\n"
    whole = parse(text)
    assert isinstance(whole, dict)
    assert parse_partial(f"{text}  - t", LENIENT).blocks == (
        {"type": "text", "markdown": "a\n\n"},
        DIVIDER,
    )
    assert whole["blocks"] == [{"type": "text", "markdown": "a\n\n"}, DIVIDER]


def _by_the_letter(text: str, options: BlockOptions) -> PartialDocument:
    """Returns what the steps of section 13 give, done one by one."""
    inside = unfenced(text)
    whole = parse(text)
    if not isinstance(whole, BlockIssue) and check(text, options).ok:
        blocks, datasets = whole["blocks"], whole.get("datasets")
        assert isinstance(blocks, list)
        return PartialDocument(
            tuple(blocks), datasets if isinstance(datasets, dict) else None, pending=False
        )
    lines = inside.split("\n")
    at = next((i for i, it in enumerate(lines) if it == "blocks:" or it[:8] == "blocks: "), None)
    if at is None:
        return NOTHING
    head = "".join(f"{line}\n" for line in lines[:at])
    before = read(f"{head}blocks:\n  - type: divider") if "datasets:" in head else {}
    datasets = None if isinstance(before, Refusal) else before.get("datasets")
    items: list[list[str]] = []
    for line in lines[at + 1 :]:
        if line.startswith("  - "):
            items.append([line])
        elif items:
            items[-1].append(line)
    shown: list[JsonValue] = []
    for item in items[:-1]:
        alone = read(TOP + "\n".join(item))
        blocks = {} if isinstance(alone, Refusal) else alone.get("blocks")
        shown += blocks if isinstance(blocks, list) else []
    return PartialDocument(tuple(shown), datasets if isinstance(datasets, dict) else None)


def _has_other_indent(text: str) -> bool:
    """Tells whether the items are not two spaces deep, which the letter leaves open."""
    body = unfenced(text).partition("\nblocks:")[2].partition("\n")[2]
    return not body.startswith("  - ")


@given(MISWRITTEN, st.integers(0, 400))
@example(f"{TOP}  - type: text\n    markdown: 'open\n  - type: divider'", 400)
@example(f"{TOP}  - type: text\n    markdown: 'a\n  - b'\n  - type: divider", 400)
@example(f"{TOP}  - type: card\n    children: [\n  - a]\n  - type: divider", 400)
def test_the_result_is_that_of_the_steps_to_the_letter(text: str, cut: int) -> None:
    for it in (text[:cut], TOP + text, f"{TOP}  - type: divider\n{text}"[: cut + 32]):
        if not _has_other_indent(it):
            assert parse_partial(it, LENIENT) == _by_the_letter(it, LENIENT)


@given(valid_documents().map(as_yaml))
def test_so_it_is_at_every_cut_of_a_valid_document(text: str) -> None:
    for count in pieces(text, 40):
        assert parse_partial(count, LENIENT) == _by_the_letter(count, LENIENT)


@given(valid_documents().map(as_yaml))
def test_a_document_cut_at_every_character_never_shows_half_a_block_and_never_shrinks(
    text: str,
) -> None:
    document = parse(text)
    assert isinstance(document, dict)
    final = document["blocks"]
    assert isinstance(final, list)
    parser, finished = PartialParser(LENIENT), 0
    for end in range(len(text) + 1):
        partial = parser.read(text[:end])
        whole = len(partial.blocks) if partial.pending else len(partial.blocks) - 1
        assert list(partial.blocks[:whole]) == final[:whole]
        assert partial.datasets in (None, document["datasets"])
        if partial.pending:  # a valid beginning shows one more, which may yet grow
            assert whole >= finished
            finished = whole
        else:
            assert whole >= finished - 1
    assert parser.read(text) == PartialDocument(
        tuple(final), parser.read(text).datasets, pending=False
    )


@given(STREAMED | MISWRITTEN, st.integers(1, 60))
def test_a_parser_that_remembers_says_what_a_fresh_one_says(text: str, count: int) -> None:
    parser = PartialParser(LENIENT)
    for piece in pieces(text, count):
        assert parser.read(piece) == parse_partial(piece, LENIENT)


@given(st.lists(MISWRITTEN | STREAMED, min_size=2, max_size=5))
def test_so_it_does_for_texts_that_do_not_continue_each_other(texts: list[str]) -> None:
    parser = PartialParser(LENIENT)
    for text in [*texts, *reversed(texts)]:
        assert parser.read(text) == parse_partial(text, LENIENT)


def test_items_of_another_indent_are_none_once_one_of_two_spaces_comes() -> None:
    parser = PartialParser(LENIENT)
    text = f"{TOP}    - type: divider\n    - type: divider\n"
    assert len(parser.read(f"{text}    - t").blocks) == 2
    longer = f"{text}  - type: divider\n  - t"
    assert parser.read(longer) == parse_partial(longer, LENIENT)
    assert len(parser.read(longer).blocks) == 1


def test_what_is_lost_does_not_lose_another_document() -> None:
    parser = PartialParser(LENIENT)
    assert parser.read(f"{TOP}  - type: divider\n  - text: **bold**\n  - t").pending
    assert parser.read(f"{TOP}  - type: divider\n  - text: **bold**\n  - type: divider").pending
    valid = f"{TOP}  - type: divider\n  - type: divider"
    assert parser.read(valid) == PartialDocument((DIVIDER, DIVIDER), None, pending=False)


@given(st.text() | st.text().map(lambda text: f"{TOP}  - {text}\n  - t"))
def test_no_text_makes_it_raise(text: str) -> None:
    parse_partial(text, LENIENT)


def _report(style: str) -> str:
    """Returns a document of about 20,000 characters."""
    datasets = {
        "loans": {
            "columns": [{"name": "branch", "type": "string"}, {"name": "total", "type": "number"}],
            "rows": [[f"branch {row}", row] for row in range(150)],
        }
    }
    words = "Three books are late. " * 40
    blocks: list[Any] = []
    for index in range(16):
        blocks += [
            {"type": "text", "markdown": f"{words}{index}"},
            {"type": "metric", "label": f"Loans {index}", "value": f"{index}", "delta": "up"},
            {"type": "chart", "kind": "bar", "data": "loans", "x": "branch", "y": "total"},
        ]
    document = {"v": 1, "datasets": datasets, "blocks": blocks}
    text = as_yaml(document)
    match style:
        case "json":
            return json.dumps(document)
        case "indented_json":
            return json.dumps(document, indent=1)
        case "fenced":
            return f"```yaml\n{text}```"
        case "prose_in_blocks":
            return TOP + "".join(
                "  - type: text\n    markdown: |\n      some words of prose here\n"
                + "      and then some more of it, line by line\n" * 18
                for _ in range(22)
            )
        case "unknown_block":
            return text.replace("type: text", "type: carousel", 1).replace(
                '"type": "text"', '"type": "carousel"', 1
            )
        case "syntax_error":
            return text.replace("  - type", "  - text: Loans: late\n  - type", 1)
        case _:
            return text


@pytest.mark.parametrize(
    "style",
    [
        "quoted",
        "fenced",
        "json",
        "indented_json",
        "prose_in_blocks",
        "unknown_block",
        "syntax_error",
    ],
)
def test_a_stream_shows_at_every_piece_what_the_text_so_far_shows(style: str) -> None:
    text = _report(style)
    assert 15_000 < len(text) < 30_000
    parser = PartialParser(LENIENT)

    for piece in pieces(text, 40):
        assert parser.read(piece) == parse_partial(piece, LENIENT)

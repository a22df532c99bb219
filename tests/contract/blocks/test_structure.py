"""The structural phase: roots, fields, lists, depth (spec blocks 4, 5)."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import JsonValue

from parleyd.contract.blocks.catalog import BLOCK
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.validation import validate
from tests.contract.blocks.documents import LENIENT, actions, button, document, errors

DIVIDER: dict[str, JsonValue] = {"type": "divider"}
SHIP = "\U0001f6a2"


def _heading(text: Any) -> dict[str, JsonValue]:
    return {"type": "heading", "text": text}


def _card(*children: JsonValue) -> dict[str, JsonValue]:
    return {"type": "card", "children": list(children)}


ROOTS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "null": (None, [("", "INVALID_TYPE")]),
    "a list": ([], [("", "INVALID_TYPE")]),
    "a text": ("v: 1", [("", "INVALID_TYPE")]),
    "nothing": ({}, [("blocks", "MISSING_REQUIRED"), ("v", "INVALID_ENUM")]),
    "no version": ({"blocks": [DIVIDER]}, [("v", "INVALID_ENUM")]),
    "an unknown key": (
        {"v": 1, "__proto__": 1, "blocks": [DIVIDER]},
        [("__proto__", "UNKNOWN_KEY")],
    ),
    "datasets that are null": (
        {"v": 1, "datasets": None, "blocks": [DIVIDER]},
        [("datasets", "INVALID_TYPE")],
    ),
    "datasets in a list": (
        {"v": 1, "datasets": [], "blocks": [DIVIDER]},
        [("datasets", "INVALID_TYPE")],
    ),
    "no datasets in the mapping": ({"v": 1, "datasets": {}, "blocks": [DIVIDER]}, []),
    "blocks first": ({"blocks": [DIVIDER], "v": 1}, [("blocks", "KEY_ORDER")]),
    "datasets last": ({"v": 1, "blocks": [DIVIDER], "datasets": {}}, [("blocks", "KEY_ORDER")]),
    "datasets first": ({"datasets": {}, "v": 1, "blocks": [DIVIDER]}, [("datasets", "KEY_ORDER")]),
    "datasets before a lone version": (
        {"datasets": {}, "v": 1},
        [("blocks", "MISSING_REQUIRED"), ("datasets", "KEY_ORDER")],
    ),
    "unknown keys between": (
        {"a": 1, "v": 1, "b": 1, "blocks": [DIVIDER]},
        [
            ("a", "UNKNOWN_KEY"),
            ("b", "UNKNOWN_KEY"),
        ],
    ),
    "blocks that are null": ({"v": 1, "blocks": None}, [("blocks", "INVALID_TYPE")]),
}


@pytest.mark.parametrize(("value", "expected"), ROOTS.values(), ids=ROOTS)
def test_roots(value: Any, expected: list[tuple[str, str]]) -> None:
    assert errors(value) == expected


@pytest.mark.parametrize("version", [1, 1.0])
def test_version_1_is_the_number_one(version: Any) -> None:
    assert errors({"v": version, "blocks": [DIVIDER]}) == []


@pytest.mark.parametrize(
    "version", ["1", True, None, [], [1], {}, 2, 0, 1.5, float("nan"), float("inf"), 10**400]
)
def test_another_version_is_the_one_error_about_it(version: Any) -> None:
    assert errors({"v": version, "blocks": [DIVIDER]}) == [("v", "UNSUPPORTED_VERSION")]


BLOCKS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "null": (None, [("", "INVALID_TYPE")]),
    "a list": ([], [("", "INVALID_TYPE")]),
    "no type": ({"text": "x"}, [(".type", "INVALID_ENUM")]),
    "a type that is null": ({"type": None}, [(".type", "INVALID_ENUM")]),
    "a type that is a list": ({"type": ["divider"], "a": 1}, [(".type", "INVALID_ENUM")]),
    "a type that is a mapping": ({"type": {}}, [(".type", "INVALID_ENUM")]),
    "a type in another case": ({"type": "Divider"}, [(".type", "INVALID_ENUM")]),
    "an empty type": ({"type": ""}, [(".type", "INVALID_ENUM")]),
    "a type of a later version": ({"type": "stepper"}, [(".type", "INVALID_ENUM")]),
    "each fault of one object": (
        {"type": "metric", "value": 3, "trend": None, "zeta": 1, "alpha": 1},
        [
            (".alpha", "UNKNOWN_KEY"),
            (".label", "MISSING_REQUIRED"),
            (".trend", "INVALID_ENUM"),
            (".value", "INVALID_TYPE"),
            (".zeta", "UNKNOWN_KEY"),
        ],
    ),
    "an optional field that is null": (
        {"type": "card", "title": None, "children": [DIVIDER]},
        [(".title", "INVALID_TYPE")],
    ),
    "an enum that is a list": (
        {"type": "heading", "text": "x", "size": ["sm"]},
        [(".size", "INVALID_ENUM")],
    ),
    "an empty text": (_heading(""), [(".text", "TOO_SHORT")]),
    "a blank text": (_heading(" \t\ufeff\u3000"), [(".text", "TOO_SHORT")]),
    "a text of U+200B": (_heading("\u200b"), []),
    "a text of U+0085": (_heading("\x85"), []),
    "a text both blank and long": (
        _heading(" " * 201),
        [(".text", "TOO_LONG"), (".text", "TOO_SHORT")],
    ),
    "100 ships": (_heading(SHIP * 100), []),
    "101 ships": (_heading(SHIP * 101), [(".text", "TOO_LONG")]),
    "a text that is a list": (_heading(["x"]), [(".text", "INVALID_TYPE")]),
    "an id with a line break": ({"type": "divider", "id": "a\n"}, [(".id", "INVALID_FORMAT")]),
    "an empty id": ({"type": "divider", "id": ""}, [(".id", "INVALID_FORMAT")]),
    "an id of 64": ({"type": "divider", "id": "a" * 64}, []),
    "an id of 65": ({"type": "divider", "id": "a" * 65}, [(".id", "INVALID_FORMAT")]),
    "an id beyond ASCII": ({"type": "divider", "id": "a\u0661"}, [(".id", "INVALID_FORMAT")]),
    "an id that is a number": ({"type": "divider", "id": 7}, [(".id", "INVALID_TYPE")]),
    "an id that is null": ({"type": "divider", "id": None}, [(".id", "INVALID_TYPE")]),
    "a blank html": ({"type": "html", "html": " "}, []),
    "an empty html": ({"type": "html", "html": ""}, [(".html", "TOO_SHORT")]),
    "a legend of 1": (
        {"type": "chart", "kind": "bar", "points": [], "legend": 1},
        [(".legend", "INVALID_TYPE")],
    ),
    "no chart kind": ({"type": "chart", "points": []}, [(".kind", "INVALID_ENUM")]),
    "points of many forms": (
        {
            "type": "chart",
            "kind": "bar",
            "points": [
                {"label": "a", "value": 1, "extra": 2},
                {"label": "a", "value": True},
                {"label": "a", "value": float("inf")},
                {"label": "a", "value": 10**400},
                {"label": " ", "value": "1"},
                None,
                {},
            ],
        },
        [
            (".points[0].extra", "UNKNOWN_KEY"),
            (".points[1].value", "INVALID_TYPE"),
            (".points[2].value", "INVALID_TYPE"),
            (".points[3].value", "INVALID_TYPE"),
            (".points[4].label", "TOO_SHORT"),
            (".points[4].value", "INVALID_TYPE"),
            (".points[5]", "INVALID_TYPE"),
            (".points[6].label", "MISSING_REQUIRED"),
            (".points[6].value", "MISSING_REQUIRED"),
        ],
    ),
    "a table of no columns": (
        {"type": "table", "data": "d", "columns": []},
        [(".columns", "TOO_FEW")],
    ),
    "a table of odd columns": (
        {"type": "table", "data": "d", "columns": ["", 3, "x" * 65, " "]},
        [
            (".columns[0]", "TOO_SHORT"),
            (".columns[1]", "INVALID_TYPE"),
            (".columns[2]", "TOO_LONG"),
        ],
    ),
    "actions without anything": (
        {"type": "actions"},
        [(".elements", "MISSING_REQUIRED"), (".id", "MISSING_REQUIRED")],
    ),
    "children that are no list": (
        {"type": "card", "children": {}},
        [(".children", "INVALID_TYPE")],
    ),
    "no children": ({"type": "columns", "children": []}, [(".children", "TOO_FEW")]),
    "too many children, one of them wrong": (
        {"type": "columns", "children": [DIVIDER, DIVIDER, DIVIDER, DIVIDER, {}]},
        [(".children", "TOO_MANY"), (".children[4].type", "INVALID_ENUM")],
    ),
    "a merge key": ({"type": "divider", "<<": {}}, [(".<<", "UNKNOWN_KEY")]),
    "a key with a dot": ({"type": "divider", "a.b": 1}, [(".a.b", "UNKNOWN_KEY")]),
    "a field of a later version": (
        {"type": "card", "eyebrow": "x", "children": [DIVIDER]},
        [(".eyebrow", "UNKNOWN_KEY")],
    ),
}


@pytest.mark.parametrize(("block", "expected"), BLOCKS.values(), ids=BLOCKS)
def test_blocks(block: Any, expected: list[tuple[str, str]]) -> None:
    assert errors(document(block), LENIENT) == [(f"blocks[0]{at}", code) for at, code in expected]


ELEMENTS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "null": (None, [("", "INVALID_TYPE")]),
    "no type": ({"id": "a"}, [(".type", "INVALID_ENUM")]),
    "a block": ({"type": "text", "markdown": "x"}, [(".type", "INVALID_ENUM")]),
    "a bare button": (
        {"type": "button"},
        [
            (".action", "MISSING_REQUIRED"),
            (".id", "MISSING_REQUIRED"),
            (".text", "MISSING_REQUIRED"),
        ],
    ),
    "a bare segmented control": (
        {"type": "segmented", "id": "s", "options": [{}, {"label": "a", "data": " ", "x": 1}]},
        [
            (".options[0].data", "MISSING_REQUIRED"),
            (".options[0].label", "MISSING_REQUIRED"),
            (".options[1].x", "UNKNOWN_KEY"),
            (".target", "MISSING_REQUIRED"),
        ],
    ),
}


@pytest.mark.parametrize(("element", "expected"), ELEMENTS.values(), ids=ELEMENTS)
def test_elements(element: Any, expected: list[tuple[str, str]]) -> None:
    at = "blocks[0].elements[0]"
    assert errors(document(actions("row", element))) == [(at + it, code) for it, code in expected]


ACTIONS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "null": (None, [("", "INVALID_TYPE")]),
    "a list": ([{"kind": "reply", "text": "x"}], [("", "INVALID_TYPE")]),
    "a text": ("callback", [("", "INVALID_TYPE")]),
    "a link": ("javascript:alert(1)", [("", "INVALID_TYPE")]),
    "a nested call": (
        {"call": {"kind": "callback", "name": "go"}},
        [(".kind", "INVALID_ENUM")],
    ),
    "a kind that is an action": (
        {"kind": {"kind": "callback", "name": "go"}},
        [(".kind", "INVALID_ENUM")],
    ),
    "a call beside a reply": (
        {"kind": "reply", "text": "x", "name": "go", "payload": {}},
        [(".name", "UNKNOWN_KEY"), (".payload", "UNKNOWN_KEY")],
    ),
    "a link in place of a kind": (
        {"href": "javascript:alert(1)"},
        [(".kind", "INVALID_ENUM")],
    ),
    "a kind of a later version": ({"kind": "copy", "text": "x"}, [(".kind", "INVALID_ENUM")]),
    "a payload that is null": (
        {"kind": "callback", "name": "go", "payload": None},
        [(".payload", "INVALID_TYPE")],
    ),
    "a payload that is a text": (
        {"kind": "callback", "name": "go", "payload": "{}"},
        [(".payload", "INVALID_TYPE")],
    ),
    "any mapping as payload": ({"kind": "callback", "name": "go", "payload": {"": [None]}}, []),
    "a name with a line break": (
        {"kind": "callback", "name": "go\n"},
        [(".name", "INVALID_FORMAT")],
    ),
    "a long route": ({"kind": "open", "route": "x" * 201}, [(".route", "TOO_LONG")]),
    "an empty url": ({"kind": "open", "url": ""}, [(".url", "TOO_SHORT")]),
}


@pytest.mark.parametrize(("action", "expected"), ACTIONS.values(), ids=ACTIONS)
def test_bc_133_an_action_has_one_of_four_forms(
    action: Any, expected: list[tuple[str, str]]
) -> None:
    at = "blocks[0].elements[0].action"
    value = document(actions("row", button("b", action)))
    assert errors(value) == [(at + it, code) for it, code in expected]


# ---------------------------------------------------------------- how many, how deep


def test_50_blocks_are_allowed_and_51_are_one_error() -> None:
    assert errors(document(*[DIVIDER] * 50)) == []
    assert errors(document(*[DIVIDER] * 51)) == [("blocks", "TOO_MANY_BLOCKS")]


def test_51_items_that_are_no_blocks_are_too_many_too() -> None:
    found = errors(document(*[None] * 51))
    assert found[0] == ("blocks", "TOO_MANY_BLOCKS")
    assert found[1:] == [(f"blocks[{i}]", "INVALID_TYPE") for i in range(51)]


def test_children_count_whatever_their_parent_is() -> None:
    leaf: Any = {"type": "divider", "children": [DIVIDER] * 50}
    assert errors(document(leaf)) == [
        ("blocks", "TOO_MANY_BLOCKS"),
        ("blocks[0].children", "UNKNOWN_KEY"),
    ]


def test_what_has_no_type_does_not_count_nor_do_its_children() -> None:
    untyped: Any = {"children": [DIVIDER] * 60}
    assert errors(document(*[DIVIDER] * 49, untyped)) == [("blocks[49].type", "INVALID_ENUM")]


def test_only_the_first_nested_layout_is_told_and_all_fields_are_checked() -> None:
    value = document(
        _card(DIVIDER, _card({"type": "divider", "wide": 1})),
        {"type": "columns", "children": [_card(DIVIDER), {"type": "context"}]},
    )
    assert errors(value) == [
        ("blocks[0].children[1]", "DEPTH_EXCEEDED"),
        ("blocks[0].children[1].children[0].wide", "UNKNOWN_KEY"),
        ("blocks[1].children[1].text", "MISSING_REQUIRED"),
    ]


def test_the_first_in_document_order_is_the_one_inside_an_earlier_block() -> None:
    leaf: Any = {"type": "divider", "children": [_card(_card(DIVIDER))]}
    value = document(leaf, _card(_card(DIVIDER)))
    assert errors(value) == [
        ("blocks[0].children", "UNKNOWN_KEY"),
        ("blocks[0].children[0].children[0]", "DEPTH_EXCEEDED"),
    ]


def test_of_nested_layouts_in_one_block_the_first_is_told() -> None:
    value = document({"type": "columns", "children": [_card(DIVIDER), _card(DIVIDER)]})
    assert errors(value) == [("blocks[0].children[0]", "DEPTH_EXCEEDED")]


def test_a_leaf_adds_no_depth() -> None:
    leaf: Any = {"type": "divider", "children": [_card(DIVIDER)]}
    assert errors(document(leaf)) == [("blocks[0].children", "UNKNOWN_KEY")]
    inside = errors(document(_card(leaf)))
    assert ("blocks[0].children[0].children[0]", "DEPTH_EXCEEDED") in inside


def test_the_catalog_has_15_blocks() -> None:
    assert [*BLOCK.records] == [
        "heading",
        "text",
        "metric",
        "badge",
        "divider",
        "context",
        "chart",
        "table",
        "actions",
        "columns",
        "card",
        "html",
        "callout",
        "image",
        "details",
    ]


LIMITS: dict[str, tuple[Callable[[str], Any], str, int]] = {
    "heading": (_heading, "text", 200),
    "text": (lambda it: {"type": "text", "markdown": it}, "markdown", 4000),
    "metric label": (lambda it: {"type": "metric", "label": it, "value": "1"}, "label", 80),
    "metric value": (lambda it: {"type": "metric", "label": "a", "value": it}, "value", 80),
    "metric delta": (
        lambda it: {"type": "metric", "label": "a", "value": "1", "delta": it},
        "delta",
        40,
    ),
    "metric helper": (
        lambda it: {"type": "metric", "label": "a", "value": "1", "helper": it},
        "helper",
        120,
    ),
    "badge": (lambda it: {"type": "badge", "text": it}, "text", 80),
    "context": (lambda it: {"type": "context", "text": it}, "text", 280),
    "chart title": (
        lambda it: {"type": "chart", "kind": "bar", "points": [], "title": it},
        "title",
        120,
    ),
    "empty text": (
        lambda it: {"type": "chart", "kind": "bar", "points": [], "emptyText": it},
        "emptyText",
        280,
    ),
    "card title": (lambda it: {**_card(DIVIDER), "title": it}, "title", 120),
    "html title": (lambda it: {"type": "html", "html": "x", "title": it}, "title", 200),
    "callout": (lambda it: {"type": "callout", "text": it}, "text", 4000),
    "image alt": (lambda it: {"type": "image", "src": "file:1", "alt": it}, "alt", 200),
    "details title": (lambda it: {"type": "details", "title": it, "text": "x"}, "title", 200),
    "details text": (lambda it: {"type": "details", "title": "a", "text": it}, "text", 4000),
    "image src": (
        lambda it: {"type": "image", "alt": "a", "src": f"file:{it[5:]}"},
        "src",
        100_000,
    ),
}


@pytest.mark.parametrize(("block", "field", "most"), LIMITS.values(), ids=LIMITS)
def test_texts_up_to_their_limit(block: Any, field: str, most: int) -> None:
    assert errors(document(block("x" * most)), LENIENT) == []
    too_long = validate(document(block("x" * (most + 1))), LENIENT).errors
    assert [(it.path, it.code) for it in too_long] == [(f"blocks[0].{field}", "TOO_LONG")]
    assert str(most) in too_long[0].fix


# ---------------------------------------------------------------- what is said


def test_a_fix_names_the_values_that_are_allowed() -> None:
    fix = validate(document({"type": "nothing"}), BlockOptions()).errors[0].fix
    assert all(f"`{name}`" in fix for name in BLOCK.records)


def test_a_quoted_value_is_clipped() -> None:
    error = validate(document({"type": "x" * 9000}), BlockOptions()).errors[0]
    assert len(error.message) < 120


def test_a_number_where_a_text_belongs_is_to_be_put_in_quotes() -> None:
    error = validate(document({"type": "badge", "text": 3}), BlockOptions()).errors[0]
    assert error.message == "`blocks[0].text` is a number, which is a wrong value here."
    assert error.fix == "Write `blocks[0].text` as a text of 1 to 80 characters, in quotes."

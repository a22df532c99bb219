"""Ids for actions blocks, and the fallback for texts (spec blocks 14, 19)."""

import json
from typing import Any

import pytest
from hypothesis import given
from pydantic import JsonValue

from parleyd.contract.blocks.autofill import fill_missing_action_ids
from parleyd.contract.blocks.fallback import wrap_as_text
from tests.contract.blocks.documents import ANYTHING, button, document, spoilt_documents
from tests.contract.blocks.texts import MISWRITTEN

_GO: JsonValue = {"kind": "reply", "text": "Go"}


def _ids(text: str) -> list[Any]:
    """Returns the ids of all blocks of a filled document, those below each block after it."""
    filled = fill_missing_action_ids(text)
    assert filled is not None
    assert "\n" not in filled
    ids: list[Any] = []

    def walk(blocks: list[dict[str, Any]]) -> None:
        for block in blocks:
            ids.append(block.get("id"))
            walk(block.get("children", []))

    walk(json.loads(filled)["blocks"])
    return ids


def _nameless(**fields: Any) -> dict[str, Any]:
    return {"type": "actions", "elements": [button("go", _GO)], **fields}


def test_every_nameless_actions_block_gets_the_first_free_id() -> None:
    value = document(
        _nameless(),
        {"type": "card", "children": [_nameless(), {"type": "divider", "id": "actions_2"}]},
        {"type": "columns", "id": "row", "children": [_nameless(), _nameless()]},
        _nameless(elements=[button("actions_4", _GO)]),
    )
    assert _ids(json.dumps(value)) == [
        *("actions", None, "actions_3", "actions_2"),
        *("row", "actions_5", "actions_6", "actions_7"),
    ]


def test_ids_further_down_are_taken_already() -> None:
    value = document(_nameless(), {"type": "text", "markdown": "a", "id": "actions"})
    assert _ids(json.dumps(value)) == ["actions_2", "actions"]


@pytest.mark.parametrize("its_id", [None, 5, True, [], {}, 1.5])
def test_an_id_that_is_no_string_is_replaced(its_id: Any) -> None:
    assert _ids(json.dumps(document(_nameless(id=its_id)))) == ["actions"]


@pytest.mark.parametrize("its_id", ["", "Bad id", "actions"])
def test_an_id_that_is_a_string_is_left_to_the_validator(its_id: str) -> None:
    assert fill_missing_action_ids(json.dumps(document(_nameless(id=its_id)))) is None


def test_an_id_of_a_bad_form_is_not_taken() -> None:
    value = document({"type": "divider", "id": "actions "}, _nameless())
    assert _ids(json.dumps(value)) == ["actions ", "actions"]


def test_the_document_keeps_its_content_and_its_order_of_keys() -> None:
    text = (
        "extra: 1\nblocks:\n  - type: actions\n    elements: []\n    z: é📚\n"
        "datasets: {a: 1}\nv: 1.0\n"
    )
    assert fill_missing_action_ids(text) == (
        '{"v":1.0,"datasets":{"a":1},'
        '"blocks":[{"type":"actions","elements":[],"z":"é📚","id":"actions"}]}'
    )
    assert fill_missing_action_ids("v: 1\nblocks: [{type: actions}]") == (
        '{"v":1,"blocks":[{"type":"actions","id":"actions"}]}'
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just prose",
        "v: 1\nblocks:\n  - type: divider",
        "v: 2\nblocks:\n  - type: actions",
        "v: true\nblocks:\n  - type: actions",
        'v: "1"\nblocks:\n  - type: actions',
        "v:\nblocks:\n  - type: actions",
        "v: 1",
        "v: 1\nblocks: {type: actions}",
        "v: 1\nblocks: [actions, 1, null, [{type: actions}]]",
        "v: 1\nblocks: [{type: card, children: {type: actions}}]",
        "v: 1\nblocks: [{type: text, children: [{type: actions}]}]",
        "v: 1\nblocks: [{type: [actions]}, {type: {a: 1}}, {}]",
        "v: 1\nblocks: [{type: Actions}]",
        "v: 1\nblocks:\n  - type: actions\n    text: **bold**",
    ],
)
def test_nothing_is_filled_where_nothing_can_be(text: str) -> None:
    assert fill_missing_action_ids(text) is None


@pytest.mark.parametrize("elements", [None, 1, "a", {"id": "actions"}, [1, None, ["a"], {}]])
def test_odd_elements_do_no_harm(elements: Any) -> None:
    assert _ids(json.dumps(document(_nameless(elements=elements)))) == ["actions"]


def test_blocks_at_any_depth_are_found() -> None:
    inner = "{type: actions}"
    for _ in range(90):
        inner = f"{{type: card, children: [{inner}]}}"
    assert _ids(f"v: 1\nblocks: [{inner}]") == [*[None] * 90, "actions"]


@given(spoilt_documents() | ANYTHING.map(lambda value: {"v": 1, "blocks": [value]}))
def test_filling_never_raises_and_is_done_at_once(value: Any) -> None:
    filled = fill_missing_action_ids(json.dumps(value))
    assert filled is None or fill_missing_action_ids(filled) is None


@given(MISWRITTEN)
def test_no_text_makes_it_raise(text: str) -> None:
    fill_missing_action_ids(text)


@pytest.mark.parametrize("text", ["", " ", "Three **books**\n", "x" * 10_000, "v: 1"])
def test_a_text_is_wrapped_unchanged(text: str) -> None:
    assert wrap_as_text(text) == {"v": 1, "blocks": [{"type": "text", "markdown": text}]}

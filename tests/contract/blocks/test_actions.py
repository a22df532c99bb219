"""Ids, targets, addresses and callbacks (spec blocks 8.3)."""

from typing import Any

import pytest

from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.validation import validate
from tests.contract.blocks.documents import actions, button, document, errors

TABLE: Any = {"type": "table", "id": "main", "data": "far"}
FAR: Any = {"source": "ref", "id": "far-1"}
REPLY: Any = {"kind": "reply", "text": "x"}
E = "blocks[0].elements[0]"


def _select(target: str) -> Any:
    return {"kind": "select", "target": target, "data": "nowhere"}


def _segmented(target: str) -> Any:
    options: Any = [{"label": "a", "data": "nowhere"}, {"label": "b", "data": "elsewhere"}]
    return {"type": "segmented", "id": "s", "target": target, "options": options}


@pytest.mark.parametrize(
    ("action", "right"),
    [
        ({"kind": "open", "url": "https://books.example/"}, True),
        ({"kind": "open", "route": "/loans"}, True),
        ({"kind": "open"}, False),
        ({"kind": "open", "url": "https://books.example/", "route": "/loans"}, False),
    ],
)
def test_open_has_exactly_one_address(action: Any, right: bool) -> None:  # noqa: FBT001 (a table)
    found = errors(document(actions("row", button("b", action))))
    assert found == ([] if right else [(f"{E}.action", "MISSING_REQUIRED")])


def test_a_target_may_come_later_and_inside_a_card() -> None:
    row = actions("row", button("b", _select("main")), _segmented("main"))
    card: Any = {"type": "card", "children": [TABLE]}
    assert errors(document(row, card, far=FAR)) == []


@pytest.mark.parametrize("target", ["row", "note", "Main", "far", "constructor", " "])
def test_a_target_is_the_id_of_a_chart_or_table(target: str) -> None:
    row = actions("row", button("b", _select(target)), _segmented(target))
    note: Any = {"type": "divider", "id": "note"}
    assert errors(document(row, TABLE, note, far=FAR)) == [
        (f"{E}.action.target", "SELECT_TARGET_INVALID"),
        ("blocks[0].elements[1].target", "SELECT_TARGET_INVALID"),
    ]


def _callback(name: str, host_actions: tuple[str, ...] | None) -> Any:
    value = document(actions("row", button("b", {"kind": "callback", "name": name})))
    return validate(value, BlockOptions(host_actions=host_actions)).errors


def test_callbacks_are_checked_against_the_names_given() -> None:
    assert _callback("goOn", None) == ()
    assert _callback("goOn", ("stop", "goOn")) == ()
    for host_actions in ((), ("goon", "go")):
        (error,) = _callback("goOn", host_actions)
        assert (error.path, error.code) == (f"{E}.action.name", "UNKNOWN_HOST_ACTION")


def test_the_fix_names_the_callbacks_or_says_that_there_are_none() -> None:
    assert "`go`, `stop`" in _callback("goOn", ("go", "stop"))[0].fix
    assert "none registered" in _callback("goOn", ())[0].fix


def test_blocks_and_elements_share_their_ids_in_document_order() -> None:
    value = document(
        {"type": "card", "id": "one", "children": [{"type": "divider", "id": "two"}]},
        actions("two", button("three", REPLY), button("three", REPLY), button("one", REPLY)),
        {"type": "divider", "id": "three"},
    )
    assert errors(value) == [
        ("blocks[1].elements[1].id", "DUPLICATE_ID"),
        ("blocks[1].elements[2].id", "DUPLICATE_ID"),
        ("blocks[1].id", "DUPLICATE_ID"),
        ("blocks[2].id", "DUPLICATE_ID"),
    ]


def test_an_actions_block_comes_before_its_elements_and_a_parent_before_its_children() -> None:
    value = document(
        actions("row", button("row", REPLY)),
        {"type": "card", "id": "card", "children": [{"type": "divider", "id": "card"}]},
    )
    assert errors(value) == [
        (f"{E}.id", "DUPLICATE_ID"),
        ("blocks[1].children[0].id", "DUPLICATE_ID"),
    ]

import json
from math import inf, nan
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import HealthCheck, given, settings
from pydantic import JsonValue

from parley.v1 import blocks_pb2 as pb
from parleyd.contract.blocks import limits
from parleyd.contract.blocks.issues import BlockCode, BlockIssue
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.validation import validate
from parleyd.contract.json import compact
from parleyd.rpc.block_fields import ITEMS_READ
from parleyd.rpc.blocks import document_from_proto, document_to_proto, issue_to_proto
from tests.contract.blocks.cases import cases, needs_cases, options_of
from tests.contract.blocks.documents import (
    ANYTHING,
    LENIENT,
    actions,
    button,
    document,
    errors,
    inline,
    spoilt_documents,
    valid_documents,
)
from tests.rpc.any_message import messages
from tests.rpc.every_block import every_record

thoroughly = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Looks for faults, not for slowness: a busy machine is none."""

RECORDS = every_record()
VALID = [case for case in cases("validate") if not case["expect"]["errors"]]


def carried(value: Any) -> dict[str, JsonValue]:
    """Returns a document as it comes out at the other end of the wire."""
    sent = document_to_proto(value).SerializeToString()
    return document_from_proto(pb.BlockDocument.FromString(sent))


def written(value: Any) -> str:
    """Returns JSON as text, in which 5 is not 5.0 and zero has its sign."""
    return json.dumps(value, sort_keys=True, allow_nan=False)


def plain(value: Any) -> dict[str, Any]:
    """Returns a document without what says nothing, and counts as whole numbers."""
    datasets = {name: dict(dataset) for name, dataset in value.get("datasets", {}).items()}
    for dataset in datasets.values():
        if dataset.get("source") == "inline":
            del dataset["source"]
        if "limit" in dataset:
            dataset["limit"] = int(dataset["limit"])
    named: dict[str, Any] = {"datasets": datasets} if datasets else {}
    return {"v": int(value["v"]), **named, "blocks": value["blocks"]}


# ---------------------------------------------------------------- there and back


@pytest.mark.parametrize("values", RECORDS.values(), ids=RECORDS.keys())
def test_every_record_with_every_field_comes_back_the_same(
    values: list[dict[str, JsonValue]],
) -> None:
    assert values
    for value in values:
        assert written(carried(value)) == written(plain(value))


@needs_cases
@pytest.mark.parametrize("case", VALID, ids=lambda case: case["name"])
def test_every_valid_case_comes_back_the_same(case: dict[str, Any]) -> None:
    value = parse(case["document"])
    assert isinstance(value, dict)
    came = carried(value)
    assert written(came) == written(plain(value))
    assert validate(came, options_of(case)) == validate(value, options_of(case))


@needs_cases
def test_there_are_valid_cases() -> None:
    assert len(VALID) > 10


@thoroughly
@given(valid_documents())
def test_every_valid_document_comes_back_the_same(value: dict[str, JsonValue]) -> None:
    came = carried(value)
    assert written(came) == written(plain(value))
    assert validate(came, LENIENT) == validate(value, LENIENT)


def test_datasets_keep_their_order() -> None:
    names = ["zebra", "ant", "mole", "a", "b"]
    value = document(**{name: inline("x:string") for name in names})
    sent = document_to_proto(value)
    assert [dataset.name for dataset in sent.datasets] == names
    came = document_from_proto(sent)
    assert [*came] == ["v", "datasets", "blocks"]
    assert [*plain(came)["datasets"]] == names


def test_a_half_of_a_character_is_replaced() -> None:
    value = document(
        {"type": "text", "markdown": "a\ud83d"},
        {"type": "table", "data": "d", "columns": ["\udc00"]},
        actions("do", button("go", {"kind": "callback", "name": "f", "payload": {"\ud83d": inf}})),
        d=inline("x:string", rows=[["\ud83d!"]]),
    )
    came = carried(value)
    assert compact(came).count("\ufffd") == 4
    assert '{"\ufffd":null}' in compact(came)


# ---------------------------------------------------------------- as clients see it


def test_a_document_reads_naturally_as_json() -> None:
    value = document(
        {"type": "heading", "id": "top", "text": "Loans", "size": "2xl"},
        {"type": "divider"},
        {"type": "chart", "kind": "bar", "data": "loans", "x": "day", "y": "count", "height": "sm"},
        {"type": "chart", "kind": "donut", "points": [{"label": "A", "value": 0}], "legend": False},
        {
            "type": "card",
            "title": "Today",
            "children": [{"type": "metric", "label": "Loans", "value": "318", "trend": "up"}],
        },
        actions(
            "do",
            {
                **button("go", {"kind": "callback", "name": "renew", "payload": {"loan_id": 7}}),
                "variant": "primary",
                "iconName": "book",
            },
            button("see", {"kind": "open", "route": "/loans"}),
        ),
        loans=inline("day:date", "count:number", rows=[["2026-03-04", 12], ["late", 2**53 + 1]]),
        all={"source": "ref", "id": "Far-1", "grain": "week", "limit": 500},
    )
    assert MessageToDict(document_to_proto(value)) == {
        "v": 1,
        "datasets": [
            {
                "name": "loans",
                "inline": {
                    "columns": [
                        {"name": "day", "type": "TYPE_DATE"},
                        {"name": "count", "type": "TYPE_NUMBER"},
                    ],
                    "rows": [
                        {"cells": [{"text": "2026-03-04"}, {"number": 12}]},
                        {
                            "cells": [
                                {"text": "late"},
                                {"number": 2**53, "exact": "9007199254740993"},
                            ]
                        },
                    ],
                },
            },
            {"name": "all", "ref": {"id": "Far-1", "grain": "GRAIN_WEEK", "limit": 500}},
        ],
        "blocks": [
            {"id": "top", "heading": {"text": "Loans", "size": "SIZE_2XL"}},
            {"divider": {}},
            {
                "chart": {
                    "kind": "KIND_BAR",
                    "binding": {"data": "loans", "x": "day", "y": "count"},
                    "height": "BLOCK_HEIGHT_SM",
                }
            },
            {
                "chart": {
                    "kind": "KIND_DONUT",
                    "points": {"points": [{"label": "A", "value": 0}]},
                    "legend": False,
                }
            },
            {
                "card": {
                    "title": "Today",
                    "children": [
                        {"metric": {"label": "Loans", "value": "318", "trend": "TREND_UP"}}
                    ],
                }
            },
            {
                "id": "do",
                "actions": {
                    "elements": [
                        {
                            "id": "go",
                            "button": {
                                "text": "Go",
                                "action": {
                                    "callback": {"name": "renew", "payloadJson": '{"loan_id":7}'}
                                },
                                "variant": "VARIANT_PRIMARY",
                                "iconName": "book",
                            },
                        },
                        {
                            "id": "see",
                            "button": {"text": "Go", "action": {"open": {"route": "/loans"}}},
                        },
                    ]
                },
            },
        ],
    }


@pytest.mark.parametrize("code", BlockCode)
def test_an_issue_arrives_whole(code: BlockCode) -> None:
    issue = BlockIssue(path="blocks[0].\ud83d", code=code, message="It is wrong.", fix="Mend it.")
    assert MessageToDict(pb.BlockIssue.FromString(issue_to_proto(issue).SerializeToString())) == {
        "path": "blocks[0].\ufffd",
        "code": code.name,
        "message": "It is wrong.",
        "fix": "Mend it.",
    }


# ---------------------------------------------------------------- what is not valid


@thoroughly
@given(spoilt_documents())
def test_a_document_that_is_wrong_somewhere_still_has_a_form_on_the_wire(value: Any) -> None:
    if isinstance(value, dict):
        assert compact(carried(value))


@thoroughly
@given(ANYTHING)
def test_anything_has_a_form_on_the_wire(value: Any) -> None:
    assert compact(carried({"v": value, "datasets": {"a": value}, "blocks": value}))
    assert compact(carried({"v": 1, "datasets": value, "blocks": [value]}))


@thoroughly
@given(messages(pb.BlockDocument))
def test_whatever_a_client_sends_is_read_and_judged(message: pb.BlockDocument) -> None:
    value = document_from_proto(message)
    validate(value, LENIENT)
    assert compact(value)
    assert document_from_proto(document_to_proto(json.loads(compact(value)))) is not None


@pytest.mark.parametrize(
    "count", [2**31, -(2**31) - 1, 10**308, 10**4000, inf, nan, 1.5, "1", True]
)
def test_what_is_no_count_of_32_bits_is_left_out(count: Any) -> None:
    far: JsonValue = {"source": "ref", "id": "a", "limit": count}
    came = carried({"v": count, "datasets": {"far": far}, "blocks": []})
    assert came == {"datasets": {"far": {"source": "ref", "id": "a"}}, "blocks": []}


def test_an_unknown_block_is_no_block_on_the_wire_but_has_its_place() -> None:
    value = document({"type": "stepper", "id": "s"}, {"type": "divider"})
    assert MessageToDict(document_to_proto(value))["blocks"] == [{"id": "s"}, {"divider": {}}]


def block(**fields: Any) -> pb.BlockDocument:
    return pb.BlockDocument(v=1, blocks=[pb.Block(**fields)])


def pressed(**fields: Any) -> pb.BlockDocument:
    button_ = pb.ButtonElement(text="Go", **fields)
    element = pb.BlockElement(id="go", button=button_)
    return block(id="do", actions=pb.ActionsBlock(elements=[element]))


def payload(text: str) -> pb.BlockDocument:
    callback = pb.CallbackAction(name="f", payload_json=text)
    return pressed(action=pb.BlockAction(callback=callback))


READ: dict[str, tuple[pb.BlockDocument, list[tuple[str, str]]]] = {
    "nothing": (pb.BlockDocument(), [("blocks", "TOO_FEW"), ("v", "INVALID_ENUM")]),
    "another_version": (
        pb.BlockDocument(v=2, blocks=[pb.Block(divider=pb.DividerBlock())]),
        [("v", "UNSUPPORTED_VERSION")],
    ),
    "a_block_newer_than_this": (block(id="a"), [("blocks[0].type", "INVALID_ENUM")]),
    "an_empty_block": (
        block(heading=pb.HeadingBlock()),
        [("blocks[0].text", "MISSING_REQUIRED")],
    ),
    "a_word_newer_than_this": (
        block(heading=pb.HeadingBlock(text="A", size=77)),  # pyright: ignore[reportArgumentType] - as newer clients send
        [("blocks[0].size", "INVALID_ENUM")],
    ),
    "actions_without_anything": (
        block(actions=pb.ActionsBlock()),
        [("blocks[0].elements", "TOO_FEW"), ("blocks[0].id", "MISSING_REQUIRED")],
    ),
    "an_element_newer_than_this": (
        block(id="do", actions=pb.ActionsBlock(elements=[pb.BlockElement(id="a")])),
        [("blocks[0].elements[0].type", "INVALID_ENUM")],
    ),
    "a_button_without_an_action": (
        pressed(),
        [("blocks[0].elements[0].action", "MISSING_REQUIRED")],
    ),
    "an_action_newer_than_this": (
        pressed(action=pb.BlockAction()),
        [("blocks[0].elements[0].action.kind", "INVALID_ENUM")],
    ),
    "nothing_to_open": (
        pressed(action=pb.BlockAction(open=pb.OpenAction())),
        [("blocks[0].elements[0].action", "MISSING_REQUIRED")],
    ),
    "an_empty_address": (
        pressed(action=pb.BlockAction(open=pb.OpenAction(url=""))),
        [("blocks[0].elements[0].action.url", "TOO_SHORT")],
    ),
    "a_payload_that_is_no_json": (
        payload("{"),
        [("blocks[0].elements[0].action.payload", "INVALID_TYPE")],
    ),
    "a_payload_that_is_no_object": (
        payload("[1]"),
        [("blocks[0].elements[0].action.payload", "INVALID_TYPE")],
    ),
    "a_payload_without_end": (
        payload('{"a":' * 100_000),
        [("blocks[0].elements[0].action.payload", "INVALID_TYPE")],
    ),
    "a_payload_that_is_too_deep": (
        payload('{"a":' * 300 + "1" + "}" * 300),
        [("blocks[0].elements[0].action.payload", "INVALID_TYPE")],
    ),
    "a_payload_with_a_number_that_is_too_long": (
        payload('{"a":' + "1" * 10_000 + "}"),
        [("blocks[0].elements[0].action.payload", "INVALID_TYPE")],
    ),
    "an_unbound_chart": (
        block(chart=pb.ChartBlock(kind=pb.ChartBlock.KIND_BAR)),
        [("blocks[0].data", "MISSING_REQUIRED")],
    ),
    "a_chart_of_no_kind_without_points": (
        block(chart=pb.ChartBlock(points=pb.ChartPoints())),
        [("blocks[0].kind", "INVALID_ENUM")],
    ),
    "a_point_without_anything": (
        block(chart=pb.ChartBlock(kind=1, points=pb.ChartPoints(points=[pb.ChartPoint()]))),  # pyright: ignore[reportArgumentType] - by its number
        [
            ("blocks[0].points[0].label", "MISSING_REQUIRED"),
            ("blocks[0].points[0].value", "MISSING_REQUIRED"),
        ],
    ),
    "a_point_of_no_number": (
        block(
            chart=pb.ChartBlock(
                kind=pb.ChartBlock.KIND_LINE,
                points=pb.ChartPoints(points=[pb.ChartPoint(label="A", value=nan)]),
            )
        ),
        [("blocks[0].points[0].value", "INVALID_TYPE")],
    ),
    "a_dataset_newer_than_this": (
        pb.BlockDocument(
            v=1,
            datasets=[pb.Dataset(name="d")],
            blocks=[pb.Block(divider=pb.DividerBlock())],
        ),
        [("datasets.d.columns", "MISSING_REQUIRED"), ("datasets.d.rows", "MISSING_REQUIRED")],
    ),
    "a_dataset_without_a_name": (
        pb.BlockDocument(
            v=1,
            datasets=[pb.Dataset(ref=pb.RefDataset(limit=0))],
            blocks=[pb.Block(divider=pb.DividerBlock())],
        ),
        [("datasets.", "INVALID_TYPE")],
    ),
    "a_ref_without_rows": (
        pb.BlockDocument(
            v=1,
            datasets=[pb.Dataset(name="d", ref=pb.RefDataset(limit=0))],
            blocks=[pb.Block(divider=pb.DividerBlock())],
        ),
        [("datasets.d.id", "MISSING_REQUIRED"), ("datasets.d.limit", "INVALID_TYPE")],
    ),
    "an_empty_cell": (
        pb.BlockDocument(
            v=1,
            datasets=[
                pb.Dataset(
                    name="d",
                    inline=pb.InlineDataset(
                        columns=[pb.DatasetColumn(name="x", type=pb.DatasetColumn.TYPE_NUMBER)],
                        rows=[pb.DatasetRow(cells=[pb.DatasetCell(exact="5")])],
                    ),
                )
            ],
            blocks=[pb.Block(divider=pb.DividerBlock())],
        ),
        [("datasets.d.rows[0][0]", "COLUMN_TYPE_MISMATCH")],
    ),
}


@pytest.mark.parametrize(("message", "faults"), READ.values(), ids=READ.keys())
def test_what_a_client_leaves_out_is_absent_and_its_faults_reach_the_check(
    message: pb.BlockDocument, faults: list[tuple[str, str]]
) -> None:
    value = document_from_proto(pb.BlockDocument.FromString(message.SerializeToString()))
    assert errors(value, LENIENT) == faults
    assert compact(value)


def test_of_two_datasets_with_one_name_the_last_counts() -> None:
    refs = [pb.Dataset(name="d", ref=pb.RefDataset(id=id_)) for id_ in "ab"]
    assert document_from_proto(pb.BlockDocument(datasets=refs)) == {
        "datasets": {"d": {"source": "ref", "id": "b"}},
        "blocks": [],
    }


def test_more_is_read_than_any_list_may_have() -> None:
    most = [limits.BLOCKS, limits.DATASET_ROWS, limits.CHART_POINTS, limits.ELEMENTS]
    assert max(*most, limits.DATASET_COLUMNS, limits.SEGMENTED_OPTIONS_MAX) < ITEMS_READ


def test_a_hostile_list_costs_no_more_than_its_length() -> None:
    rows = pb.InlineDataset(rows=[pb.DatasetRow()] * 1_000_000)
    value: Any = document_from_proto(pb.BlockDocument(datasets=[pb.Dataset(name="d", inline=rows)]))
    its_rows = value["datasets"]["d"]["rows"]
    assert len(its_rows) == 1_000_000
    assert its_rows.count(None) == 1_000_000 - ITEMS_READ

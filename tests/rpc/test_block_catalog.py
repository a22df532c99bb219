"""The catalog of blocks and the protos list the same, field by field and word by word."""

import pytest
from google.protobuf.descriptor import Descriptor

from parley.v1 import blocks_pb2 as pb
from parleyd.contract.blocks.catalog import (
    ACTION,
    BLOCK,
    COLUMN,
    ELEMENT,
    INLINE,
    OPTION,
    POINT,
    REF,
)
from parleyd.contract.blocks.forms import EnumForm
from parleyd.contract.blocks.records import RecordForm, TaggedForm

STANDS_FOR: dict[str, set[str]] = {
    "binding": {"data", "x", "y"},
    "payloadJson": {"payload"},
    "exact": set(),  # `value` is the field
}
"""Fields of the protos that stand for others of the catalog."""

ON_ITS_HOLDER: dict[str, set[str]] = {
    "block": {"type", "id"},
    "element": {"type", "id"},
    "action": {"kind"},
    "inline": {"source"},
    "ref": {"source"},
}
"""Fields of the catalog that the message around a record has, or its oneof."""

TAGGED: dict[str, tuple[TaggedForm, Descriptor]] = {
    "block": (BLOCK, pb.Block.DESCRIPTOR),
    "element": (ELEMENT, pb.BlockElement.DESCRIPTOR),
    "action": (ACTION, pb.BlockAction.DESCRIPTOR),
}

RECORDS: dict[str, tuple[str, RecordForm, Descriptor | None]] = {
    "column": ("column", COLUMN, pb.DatasetColumn.DESCRIPTOR),
    "option": ("option", OPTION, pb.SegmentedOption.DESCRIPTOR),
    "point": ("point", POINT, pb.ChartPoint.DESCRIPTOR),
    "inline": ("inline", INLINE, pb.InlineDataset.DESCRIPTOR),
    "ref": ("ref", REF, pb.RefDataset.DESCRIPTOR),
    **{
        f"{noun}_{name}": (noun, record, message.fields_by_name[name].message_type)
        for noun, (form, message) in TAGGED.items()
        for name, record in form.records.items()
        if name in message.fields_by_name
    },
}


@pytest.mark.parametrize("noun", TAGGED)
def test_there_is_a_message_for_every_record_and_the_other_way_round(noun: str) -> None:
    form, message = TAGGED[noun]
    assert [field.name for field in message.oneofs_by_name[noun].fields] == [*form.records]


@pytest.mark.parametrize(("noun", "record", "message"), RECORDS.values(), ids=RECORDS.keys())
def test_a_record_and_its_message_have_the_same_fields(
    noun: str, record: RecordForm, message: Descriptor | None
) -> None:
    assert message is not None
    sent = {
        name
        for field in message.fields
        for name in STANDS_FOR.get(field.json_name, {field.json_name})
    }
    assert sent == {field.name for field in record.fields} - ON_ITS_HOLDER.get(noun, set())


@pytest.mark.parametrize(("noun", "record", "message"), RECORDS.values(), ids=RECORDS.keys())
def test_a_closed_list_has_the_same_words_in_the_same_order(
    noun: str, record: RecordForm, message: Descriptor | None
) -> None:
    assert message is not None
    closed = {
        field.name: field.form.values
        for field in record.fields
        if isinstance(field.form, EnumForm) and field.name not in ON_ITS_HOLDER.get(noun, set())
    }
    sent = {
        field.json_name: field.enum_type for field in message.fields if field.enum_type is not None
    }
    assert sent.keys() == closed.keys()
    for name, enum in sent.items():
        unspecified, *others = enum.values
        prefix = unspecified.name.removesuffix("UNSPECIFIED")
        assert unspecified.number == 0
        assert prefix != unspecified.name
        assert [value.name for value in others] == [prefix + it.upper() for it in closed[name]]

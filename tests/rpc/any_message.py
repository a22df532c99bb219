"""Messages of any content, drawn by hypothesis from what protobuf says of their fields."""

from collections.abc import Collection
from typing import Any, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import NULL_VALUE, ListValue, Struct, Value
from hypothesis import strategies as st

Drawn = TypeVar("Drawn", bound=Message)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
"""Doubles that are numbers. What is added makes the negative zero, which JSON lacks, the other."""

VALUES: st.SearchStrategy[Value] = st.recursive(
    st.one_of(
        st.just(Value(null_value=NULL_VALUE)),
        st.booleans().map(lambda value: Value(bool_value=value)),
        NUMBERS.map(lambda value: Value(number_value=value)),
        TEXTS.map(lambda value: Value(string_value=value)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: Value(list_value=ListValue(values=items))),
        st.dictionaries(TEXTS, inner, max_size=3).map(
            lambda fields: Value(struct_value=Struct(fields=fields))
        ),
    ),
    max_leaves=6,
)

_SCALARS: dict[int, st.SearchStrategy[Any]] = {
    FieldDescriptor.TYPE_STRING: TEXTS,
    FieldDescriptor.TYPE_BYTES: st.binary(max_size=6),
    FieldDescriptor.TYPE_BOOL: st.booleans(),
    FieldDescriptor.TYPE_INT32: st.integers(-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: st.integers(-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_DOUBLE: NUMBERS,
}


def messages(of: type[Drawn], always_set: Collection[str] = ()) -> st.SearchStrategy[Drawn]:
    """Returns messages with any of their fields. The oneofs named in `always_set` are never unset.

    A field of a type that is not known here can't be drawn, which fails.
    """
    return _messages(of, always_set)


@st.composite
def _messages(draw: st.DrawFn, of: type[Drawn], always_set: Collection[str]) -> Drawn:
    message = of()
    picked: set[str] = set()
    for oneof in of.DESCRIPTOR.oneofs:  # each `optional` field is one of its own
        names = [field.name for field in oneof.fields]
        unset = [] if oneof.full_name in always_set else [""]
        picked.add(draw(st.sampled_from([*unset, *names])))
    for field in of.DESCRIPTOR.fields:
        if field.containing_oneof is not None and field.name not in picked:
            continue
        value = draw(_values(field, always_set))
        kind = field.message_type
        if kind is None and not field.is_repeated:
            setattr(message, field.name, value)
        elif kind is not None and kind.GetOptions().map_entry:
            for key, item in value.items():
                getattr(message, field.name)[key].CopyFrom(item)
        elif field.is_repeated:
            getattr(message, field.name).extend(value)
        else:
            getattr(message, field.name).CopyFrom(value)
    return message


def _values(field: Any, always_set: Collection[str]) -> st.SearchStrategy[Any]:
    kind, enum = field.message_type, field.enum_type
    if enum is not None:
        one: st.SearchStrategy[Any] = st.sampled_from([value.number for value in enum.values])
    elif kind is None:
        one = _SCALARS[field.type]
    elif kind.GetOptions().map_entry:
        of = kind.fields_by_name["value"]
        return st.dictionaries(TEXTS, _values(of, always_set), max_size=3)
    elif kind.full_name == Value.DESCRIPTOR.full_name:
        one = VALUES
    else:
        one = _messages(GetMessageClass(kind), always_set)
    return st.lists(one, max_size=3) if field.is_repeated else one

"""The options of a list on the wire: those of a choice, and those of a form's field."""

from collections.abc import Sequence

from pydantic import JsonValue

from parley.v1 import asks_pb2
from parleyd.contract.json import JsonObject, objects_at, string_at
from parleyd.rpc.values import items_from_proto, scalars_from_proto


def options_from_proto(options: Sequence[asks_pb2.Option]) -> list[JsonValue]:
    """Returns options as they were sent."""
    return items_from_proto(options, _option_from_proto)


def options_to_proto(record: JsonObject) -> list[asks_pb2.Option]:
    """Returns the options of a choice or a field."""
    return [_option_to_proto(option) for option in objects_at(record, "options")]


def _option_from_proto(option: asks_pb2.Option) -> dict[str, JsonValue]:
    return {"id": option.id, "label": option.label, **scalars_from_proto(option)}


def _option_to_proto(option: JsonObject) -> asks_pb2.Option:
    return asks_pb2.Option(
        id=string_at(option, "id") or "",
        label=string_at(option, "label") or "",
        description=string_at(option, "description"),
    )

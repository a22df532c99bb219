"""Cases: a document and what is to be done with it, as JSON (spec blocks 26)."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic.alias_generators import to_camel

from parleyd.app.case_files import UnreadableCase
from parleyd.contract.blocks.options import BlockOptions, ColumnType, KnownColumn
from parleyd.contract.field_errors import dotted, listed
from parleyd.contract.json import JsonObject, string_at

Operation: TypeAlias = Literal["parse", "validate", "partial", "sanitize"]

OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)


@dataclass(frozen=True)
class Case:
    """What is to be done with a text: a fragment of HTML for `sanitize`, else a document."""

    name: str
    op: Operation
    text: str
    options: BlockOptions


class _Read(BaseModel):
    """What is read from a case: nothing is coerced, and other keys don't count."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", alias_generator=to_camel)


class _Column(_Read):
    name: str
    type: ColumnType


class _Dataset(_Read):
    columns: list[_Column]


class CaseOptions(_Read):
    """The options of a case, as JSON."""

    html: bool = False
    image_hosts: list[str] = []
    host_actions: list[str] | None = None
    datasets: dict[str, _Dataset] = {}

    def block_options(self) -> BlockOptions:
        """Returns the options that the case is decided under."""
        return BlockOptions(
            html=self.html,
            image_hosts=tuple(self.image_hosts),
            host_actions=None if self.host_actions is None else tuple(self.host_actions),
            datasets={
                its_id: tuple(KnownColumn(column.name, column.type) for column in it.columns)
                for its_id, it in self.datasets.items()
            },
        )


def read_case(value: JsonObject) -> Case:
    """Returns the case that an object says; keys that no case has don't count.

    Raises:
        UnreadableCase: It is no case.
    """
    op = _operation(value)
    return Case(
        name=_string(value, "name"),
        op=op,
        text=_string(value, "html" if op == "sanitize" else "document"),
        options=_options(value.get("options", {})),
    )


def _operation(record: JsonObject) -> Operation:
    found = record.get("op")
    for operation in OPERATIONS:
        if operation == found:
            return operation
    raise UnreadableCase(f"`op` is none of {listed(OPERATIONS)}.")


def _string(record: JsonObject, key: str) -> str:
    found = string_at(record, key)
    if found is None:
        raise UnreadableCase(f"`{key}` is no string.")
    return found


def _options(value: JsonValue) -> BlockOptions:
    try:
        return CaseOptions.model_validate(value).block_options()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = dotted(("options", *first["loc"]))
        raise UnreadableCase(f"`{place}`: {first['msg']}.") from error

"""What a deployment allows in its documents, and what it knows of their data (spec blocks 1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

ColumnType: TypeAlias = Literal["string", "number", "date"]


@dataclass(frozen=True)
class KnownColumn:
    """A column of a dataset that the server keeps."""

    name: str
    type: ColumnType


@dataclass(frozen=True)
class BlockOptions:
    """How documents are checked.

    `host_actions` are the names that callbacks may have; None leaves callbacks unchecked, an empty
    tuple refuses them all. `datasets` are the columns of stored datasets by their ids; of an id
    that is not among them nothing is known.
    """

    html: bool = False
    image_hosts: tuple[str, ...] = ()
    host_actions: tuple[str, ...] | None = None
    datasets: Mapping[str, tuple[KnownColumn, ...]] = field(
        default_factory=dict[str, tuple[KnownColumn, ...]]
    )

"""The table of stored datasets (spec blocks 21.1)."""

from datetime import datetime
from typing import Final
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Named,
    Table,
    Text,
    TypedColumns,
    text,
)

from parleyd.contract.blocks.options import KnownColumn
from parleyd.store.columns import Stored
from parleyd.store.metadata import NOW, TIME, metadata


class DatasetColumns(TypedColumns):
    """A dataset that a tool has registered, never changed.

    `rows` is JSON text, which nothing searches; without `expire_time` the dataset stays.
    """

    id: Named[str] = Column(Text, primary_key=True)
    owner: Named[str] = Column(Text)
    conversation_id: Named[UUID] = Column(ForeignKey("conversations.id", ondelete="CASCADE"))
    columns: Named[tuple[KnownColumn, ...]] = Column(Stored(TypeAdapter(tuple[KnownColumn, ...])))
    rows: Named[bytes] = Column(LargeBinary)
    row_count: Named[int] = Column(Integer)
    create_time: Named[datetime] = Column(TIME, server_default=NOW)
    expire_time: Named[datetime | None] = Column(TIME)


datasets: Final = Table(
    "datasets",
    metadata,
    DatasetColumns,
    CheckConstraint("id ~ '^[A-Za-z0-9_-]{1,80}$'", "id_can_be_written"),
    CheckConstraint("row_count >= 0", "rows_counted"),
    Index("datasets_by_owner", "owner"),
    Index("datasets_of_conversation", "conversation_id", text("create_time DESC")),
    Index("datasets_expiring", "expire_time", postgresql_where=text("expire_time IS NOT NULL")),
)

"""The tables of files (spec turns 4.1). The bytes lie in the file store."""

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    Named,
    Table,
    Text,
    TypedColumns,
    text,
)

from parleyd.store.columns import StorableText
from parleyd.store.metadata import NEW_ID, NOW, TIME, metadata


class FileColumns(TypedColumns):
    """A file of a person.

    `use_time` is set once a message, an answer or a tool's result refers to it, `delete_time` once
    it is forgotten, and `purge_time` once its bytes are gone, too.
    """

    id: Named[UUID] = Column(primary_key=True, server_default=NEW_ID)
    owner: Named[str] = Column(Text)
    filename: Named[str] = Column(StorableText)
    storage_key: Named[str] = Column(Text, unique=True)
    mime_type: Named[str] = Column(Text)
    size_bytes: Named[int] = Column(BigInteger)
    sha256: Named[bytes] = Column(LargeBinary)
    create_time: Named[datetime] = Column(TIME, server_default=NOW)
    delete_time: Named[datetime | None] = Column(TIME)
    use_time: Named[datetime | None] = Column(TIME)
    purge_time: Named[datetime | None] = Column(TIME)


files: Final = Table(
    "files",
    metadata,
    FileColumns,
    CheckConstraint("char_length(filename) BETWEEN 1 AND 255", "filename_shown_whole"),
    CheckConstraint("size_bytes >= 0", "size_counts"),
    CheckConstraint("purge_time IS NULL OR delete_time IS NOT NULL", "purged_when_deleted"),
    Index(
        "files_by_owner",
        "owner",
        text("create_time DESC"),
        postgresql_where=text("delete_time IS NULL"),
    ),
    Index(
        "files_unused",
        "create_time",
        postgresql_where=text("use_time IS NULL AND delete_time IS NULL"),
    ),
    Index(
        "files_leftover",
        "delete_time",
        postgresql_where=text("delete_time IS NOT NULL AND purge_time IS NULL"),
    ),
)


class FileRequestColumns(TypedColumns):
    """Which file a request id made (spec turns 11.2)."""

    owner: Named[str] = Column(Text, primary_key=True)
    request_id: Named[str] = Column(Text, primary_key=True)
    request_hash: Named[bytes] = Column(LargeBinary)
    file_id: Named[UUID] = Column(ForeignKey("files.id", ondelete="CASCADE"))
    create_time: Named[datetime] = Column(TIME, server_default=NOW)


file_requests: Final = Table(
    "file_requests",
    metadata,
    FileRequestColumns,
    Index("file_requests_time", "create_time"),
)

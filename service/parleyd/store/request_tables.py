"""The table of the request log (spec turns 4.1)."""

from datetime import datetime
from typing import Final
from uuid import UUID

from pydantic import JsonValue
from sqlalchemy import BigInteger, Column, Identity, Index, Named, Table, Text, TypedColumns, text

from parleyd.store.columns import Json, StorableText
from parleyd.store.metadata import NOW, TIME, metadata


class RequestColumns(TypedColumns):
    """The log of what models were asked (spec turns 12.1)."""

    id: Named[int] = Column(BigInteger, Identity(always=True), primary_key=True)
    owner: Named[str | None] = Column(Text)
    conversation_id: Named[UUID | None]
    turn_id: Named[UUID | None]
    ai_model: Named[str] = Column(StorableText)
    request_type: Named[str] = Column(Text)
    prompt: Named[str] = Column(StorableText)
    response: Named[str | None] = Column(StorableText)
    error: Named[str | None] = Column(StorableText)
    response_time_ms: Named[int | None]
    tokens_used: Named[int | None]
    metadata_: Named[JsonValue] = Column("metadata", Json(), nullable=True)
    create_time: Named[datetime] = Column(TIME, server_default=NOW)


ai_requests: Final = Table(
    "ai_requests",
    metadata,
    RequestColumns,
    Index("ai_requests_by_owner", "owner", text("create_time DESC")),
    Index("ai_requests_by_model", "ai_model", text("create_time DESC")),
    Index("ai_requests_by_type", "request_type", text("create_time DESC")),
    Index("ai_requests_by_turn", "turn_id"),
)

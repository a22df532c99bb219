"""The table of notices: what the deployment's receiver is to be told of asks."""

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    Named,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
    text,
)

from parleyd.store.metadata import NEW_ID, NOW, TIME, ZERO, metadata


class NoticeColumns(TypedColumns):
    """What is told of an ask once: that it was asked, or that it is resolved.

    One that is `due` is sent from `next_time` on, by whoever has claimed it until `claimed_until`.
    One that is `waiting` is due once its ask is resolved. `last_error` is a status or the name of
    a fault, never a text of the receiver's.
    """

    id: Named[UUID] = Column(primary_key=True, server_default=NEW_ID)
    ask_id: Named[UUID] = Column(ForeignKey("asks.id", ondelete="CASCADE"))
    kind: Named[str] = Column(Text)
    state: Named[str] = Column(Text, server_default=text("'due'"))
    attempts: Named[int] = Column(Integer, server_default=ZERO)
    next_time: Named[datetime] = Column(TIME, server_default=NOW)
    claimed_until: Named[datetime | None] = Column(TIME)
    last_error: Named[str | None] = Column(Text)
    create_time: Named[datetime] = Column(TIME, server_default=NOW)
    end_time: Named[datetime | None] = Column(TIME)


notices: Final = Table(
    "notices",
    metadata,
    NoticeColumns,
    UniqueConstraint("ask_id", "kind"),
    CheckConstraint("kind IN ('asked','resolved')", "kind_known"),
    CheckConstraint("state IN ('waiting','due','sent','dropped','dead')", "state_known"),
    CheckConstraint("kind = 'resolved' OR state <> 'waiting'", "end_waited_for"),
    CheckConstraint(
        "(state IN ('sent','dropped','dead')) = (end_time IS NOT NULL)", "time_when_ended"
    ),
    CheckConstraint("claimed_until IS NULL OR state = 'due'", "claimed_when_due"),
    Index("notices_due", "next_time", postgresql_where=text("state = 'due'")),
    Index("notices_waiting", "ask_id", postgresql_where=text("state = 'waiting'")),
    Index("notices_ended", "end_time", postgresql_where=text("end_time IS NOT NULL")),
)

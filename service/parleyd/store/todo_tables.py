"""The tables of the todo lists that the demo agent's tools work on."""

from datetime import datetime
from typing import Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Named,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
)
from sqlalchemy import text as sql

from parleyd.store.columns import StorableText
from parleyd.store.metadata import NOW, TIME, metadata

TODO_CHARACTERS: Final = 200
"""Of the text of a todo at most."""


class TodoListColumns(TypedColumns):
    """The list of a person. Its row is the lock of the todos on it."""

    owner: Named[str] = Column(
        Text, CheckConstraint("owner <> ''", "owner_given"), primary_key=True
    )
    create_time: Named[datetime] = Column(TIME, server_default=NOW)


demo_todo_lists: Final = Table("demo_todo_lists", metadata, TodoListColumns)


class TodoColumns(TypedColumns):
    """Something to do, or that is done; the first that was added has the smallest id."""

    id: Named[int] = Column(BigInteger, Identity(always=True), primary_key=True)
    owner: Named[str] = Column(Text, ForeignKey("demo_todo_lists.owner", ondelete="CASCADE"))
    text: Named[str] = Column(StorableText)
    done: Named[bool] = Column(server_default=sql("false"))
    idempotency_key: Named[str | None] = Column(Text)
    create_time: Named[datetime] = Column(TIME, server_default=NOW)
    done_time: Named[datetime | None] = Column(TIME)


demo_todos: Final = Table(
    "demo_todos",
    metadata,
    TodoColumns,
    CheckConstraint(f"char_length(text) BETWEEN 1 AND {TODO_CHARACTERS}", "text_shown_whole"),
    CheckConstraint("done = (done_time IS NOT NULL)", "time_when_done"),
    UniqueConstraint("owner", "idempotency_key"),
)

"""Statements that are built once, and the values they are given.

Their text never changes, so SQLAlchemy compiles and PostgreSQL plans each of them once.
"""

from collections.abc import Iterable
from typing import Any, TypeVar, TypeVarTuple

from sqlalchemy import (
    BindParameter,
    Column,
    Connection,
    CursorResult,
    FromClause,
    bindparam,
    column,
    func,
)
from sqlalchemy.sql.selectable import TypedReturnsRows
from sqlalchemy.types import TypeEngine

T = TypeVar("T")
Columns = TypeVarTuple("Columns")


def given(name: str, type_: TypeEngine[T] | None = None) -> BindParameter[T]:
    """Returns the place of a value in a statement; beside a column its type is the column's.

    The parameter gets another name than any column: SQLAlchemy would take one that is named like a
    column for a value to write into it.
    """
    return bindparam(f"given_{name}", type_=type_)


def run(
    connection: Connection,
    statement: TypedReturnsRows[*Columns],
    /,
    **values: object,
) -> CursorResult[*Columns]:
    """Runs a statement with the values it is given."""
    return connection.execute(statement, {f"given_{name}": value for name, value in values.items()})


def rows_of(name: str, columns: Iterable[Column[Any]], values: BindParameter[Any]) -> FromClause:
    """Returns the JSON objects of one value as rows with the given columns."""
    like = [column(one.name, one.type) for one in columns]
    records = func.jsonb_to_recordset(values).table_valued(*like)
    return records.render_derived(name=name, with_types=True)

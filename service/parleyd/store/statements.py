"""Statements that are built once, and the values they are given.

Their text never changes, so SQLAlchemy compiles and PostgreSQL plans each of them once. SQLAlchemy
writes the SQL and converts values; outside a transaction asyncpg runs it without more ado, for a
third of what a statement costs otherwise.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, TypeVarTuple, cast
from weakref import WeakKeyDictionary

import asyncpg
from sqlalchemy import (
    BindParameter,
    Column,
    Connection,
    Dialect,
    FromClause,
    Result,
    bindparam,
    column,
    func,
)
from sqlalchemy.engine.result import IteratorResult, SimpleResultMetaData
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.selectable import TypedReturnsRows
from sqlalchemy.types import TypeEngine
from sqlalchemy.util import await_only

T = TypeVar("T")
Columns = TypeVarTuple("Columns")

AT_ONCE: Final = "AUTOCOMMIT"
"""The isolation level of connections whose statements each commit as they end."""


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
) -> Result[*Columns]:
    """Runs a statement with the values it is given.

    Raises:
        IntegrityError: It violates a constraint.
        OSError: The connection was closed.
    """
    named = {f"given_{name}": value for name, value in values.items()}
    if connection.get_execution_options().get("isolation_level") != AT_ONCE:
        return connection.execute(statement, named)
    result = _compiled(statement, connection.dialect).run(connection, named)
    return cast("Result[*Columns]", result)


def driver_of(connection: Connection) -> "asyncpg.Connection[asyncpg.Record]":
    """Returns the driver's own connection."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, asyncpg.Connection)
    return cast("asyncpg.Connection[asyncpg.Record]", driver)


def rows_of(name: str, columns: Iterable[Column[Any]], values: BindParameter[Any]) -> FromClause:
    """Returns the JSON objects of one value as rows with the given columns."""
    like = [column(one.name, one.type) for one in columns]
    records = func.jsonb_to_recordset(values).table_valued(*like)
    return records.render_derived(name=name, with_types=True)


Convert = Callable[[Any], Any] | None


@dataclass(frozen=True)
class _Compiled:
    """A statement as SQL, with what turns values into its arguments and records into rows."""

    sql: str
    arguments: tuple[tuple[str, object, Convert], ...]
    columns: tuple[tuple[int, Callable[[Any], Any]], ...]
    metadata: SimpleResultMetaData

    def run(self, connection: Connection, values: Mapping[str, object]) -> Result[Any]:
        """Runs the statement on the connection's driver."""
        driver = driver_of(connection)
        arguments = [
            convert(values.get(name, default)) if convert else values.get(name, default)
            for name, default, convert in self.arguments
        ]
        try:
            records = await_only(driver.fetch(self.sql, *arguments))
        except asyncpg.IntegrityConstraintViolationError as error:
            raise IntegrityError(self.sql, None, error, hide_parameters=True) from error
        except asyncpg.InterfaceError as error:
            if driver.is_closed():
                raise ConnectionResetError(str(error)) from error
            raise
        return IteratorResult(self.metadata, self._rows(records))

    def _rows(self, records: Sequence[asyncpg.Record]) -> Iterator[tuple[Any, ...]]:
        for record in records:
            if not self.columns:
                yield tuple(record)
                continue
            row = list(record)
            for place, convert in self.columns:
                row[place] = convert(row[place])
            yield tuple(row)


_COMPILED: Final[WeakKeyDictionary[TypedReturnsRows[*tuple[Any, ...]], _Compiled]] = (
    WeakKeyDictionary()
)


def _compiled(statement: TypedReturnsRows[*Columns], dialect: Dialect) -> _Compiled:
    found = _COMPILED.get(statement)
    if found is None:
        found = _COMPILED[statement] = _compile(statement, dialect)
    return found


def _compile(statement: TypedReturnsRows[*Columns], dialect: Dialect) -> _Compiled:
    compiled = statement.compile(dialect=dialect)
    assert not compiled.post_compile_params, "a statement is complete when it is compiled"
    parameters = {name: bind for bind, name in compiled.bind_names.items()}
    names = compiled.positiontup or ()
    columns = statement.exported_columns
    converts = [
        column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns
    ]
    return _Compiled(
        sql=str(compiled),
        arguments=tuple(
            (
                name,
                parameters[name].value,
                parameters[name].type.dialect_impl(dialect).bind_processor(dialect),
            )
            for name in names
        ),
        columns=tuple((i, convert) for i, convert in enumerate(converts) if convert),
        metadata=SimpleResultMetaData(list(columns.keys())),
    )

"""The todo lists that the demo agent's tools work on, each call one transaction."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, func, insert, literal_column, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.store.engine import Database
from parleyd.store.statements import given, run
from parleyd.store.todo_tables import TODO_CHARACTERS, demo_todo_lists, demo_todos

TODOS_MAX: Final = 100
"""On one list."""

__all__ = ["TODOS_MAX", "TODO_CHARACTERS", "PostgresTodos", "Todo", "TodoListFull"]


@dataclass(frozen=True)
class Todo:
    """Something to do, or that is done."""

    text: str
    done: bool = False


EXAMPLES: Final = (
    Todo("Buy milk"),
    Todo("Water the plants", done=True),
    Todo("Call the dentist"),
    Todo("Return the library books", done=True),
    Todo("Plan the weekend"),
)
"""What is on everybody's list at first."""


class TodoListFull(Exception):
    """There are `TODOS_MAX` todos on the list."""


class PostgresTodos:
    """Keeps one todo list a person. A list is made, with a few examples, when it is first used."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def list_todos(self, owner: str) -> tuple[Todo, ...]:
        """Returns all that is on a list, the first that was added first.

        Raises:
            Unavailable: The database can't be reached.
        """

        def read(connection: Connection) -> tuple[Todo, ...]:
            _open_list(connection, owner)
            return tuple(Todo(text, done) for text, done in run(connection, _TODOS, owner=owner))

        return await self._database.write(read, lambda connection: _lock_list(connection, owner))

    async def add_todo(self, owner: str, text: str, key: str) -> Todo:
        """Adds a todo of at most `TODO_CHARACTERS`. A repeat with the same key adds nothing.

        Returns the todo that the first call with the key has added, as it is now.

        Raises:
            TodoListFull: Nothing was added.
            Unavailable: The database can't be reached.
        """

        def add(connection: Connection) -> Todo:
            _open_list(connection, owner)
            if added := _read_added(connection, owner, key):
                return added
            if run(connection, _COUNT, owner=owner).scalar_one() >= TODOS_MAX:
                raise TodoListFull
            row = run(connection, _ADD, owner=owner, text=text, key=key).one()
            return Todo(*row)

        def was_added(connection: Connection) -> bool:
            return _lock_list(connection, owner) and bool(_read_added(connection, owner, key))

        return await self._database.write(add, was_added)

    async def delete_completed(self, owner: str) -> tuple[Todo, ...]:
        """Deletes what is done and returns it, the first that was added first.

        Raises:
            Unavailable: The database can't be reached.
        """

        def clear(connection: Connection) -> tuple[Todo, ...]:
            _open_list(connection, owner)
            rows = run(connection, _DELETE_DONE, owner=owner).all()
            return tuple(Todo(text, done) for _, text, done in sorted(rows))

        def was_cleared(connection: Connection) -> bool:
            if not _lock_list(connection, owner):
                return False
            return not any(done for _, done in run(connection, _TODOS, owner=owner))

        return await self._database.write(clear, was_cleared)


def _open_list(connection: Connection, owner: str) -> None:
    """Locks a list; one that is not there is made, and the examples put on it."""
    if run(connection, _MAKE_LIST, owner=owner).one_or_none():
        run(connection, _ADD_EXAMPLES, owner=owner)
    else:
        _lock_list(connection, owner)


def _lock_list(connection: Connection, owner: str) -> bool:
    """Locks a list and tells whether there is one."""
    return run(connection, _LOCK_LIST, owner=owner).one_or_none() is not None


def _read_added(connection: Connection, owner: str, key: str) -> Todo | None:
    row = run(connection, _ADDED, owner=owner, key=key).one_or_none()
    return Todo(*row) if row else None


_MAKE_LIST: Final = (
    postgresql.insert(demo_todo_lists)
    .values(owner=given("owner"))
    .on_conflict_do_nothing()
    .returning(demo_todo_lists.c.owner)
)
_LOCK_LIST: Final = (
    select(demo_todo_lists.c.owner)
    .where(demo_todo_lists.c.owner == given("owner"))
    .with_for_update()
)
_ADD_EXAMPLES: Final = (
    insert(demo_todos)
    .values(
        [
            {
                "owner": given("owner"),
                "text": example.text,
                "done": example.done,
                "done_time": func.now() if example.done else None,
            }
            for example in EXAMPLES
        ]
    )
    .returning(demo_todos.c.id)
)
_ADD: Final = (
    insert(demo_todos)
    .values(owner=given("owner"), text=given("text"), idempotency_key=given("key"))
    .returning(demo_todos.c.text, demo_todos.c.done)
)
_OF_OWNER: Final = demo_todos.c.owner == given("owner")
_TODOS: Final = (
    select(demo_todos.c.text, demo_todos.c.done).where(_OF_OWNER).order_by(demo_todos.c.id)
)
_ADDED: Final = select(demo_todos.c.text, demo_todos.c.done).where(
    _OF_OWNER, demo_todos.c.idempotency_key == given("key")
)
_COUNT: Final = select(func.count()).select_from(demo_todos).where(_OF_OWNER)
_DELETE_DONE: Final = (
    delete(demo_todos)
    .where(_OF_OWNER, demo_todos.c.done.is_(literal_column("true")))
    .returning(demo_todos.c.id, demo_todos.c.text, demo_todos.c.done)
)

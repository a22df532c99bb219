"""The todo lists of the demo agent's tools, one a person."""

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.store.todos import (
    EXAMPLES,
    TODO_CHARACTERS,
    TODOS_MAX,
    PostgresTodos,
    Todo,
    TodoListFull,
)

DONE = tuple(todo for todo in EXAMPLES if todo.done)
OPEN = tuple(todo for todo in EXAMPLES if not todo.done)


@pytest.fixture
def todos(engine: AsyncEngine) -> PostgresTodos:
    return PostgresTodos(engine)


async def connect(todos: PostgresTodos) -> None:
    """Makes the connections of the pool, so that calls at once do not wait for them in turn."""
    await asyncio.gather(*(todos.list_todos("somebody") for _ in range(8)))


async def test_a_first_look_finds_examples_some_of_them_completed(todos: PostgresTodos) -> None:
    assert await todos.list_todos("noor") == EXAMPLES
    assert OPEN
    assert DONE
    assert await todos.list_todos("noor") == EXAMPLES


async def test_the_examples_are_made_once_however_many_look_at_once(todos: PostgresTodos) -> None:
    await connect(todos)
    seen = await asyncio.gather(*(todos.list_todos("noor") for _ in range(8)))
    assert seen == [EXAMPLES] * 8


async def test_what_is_completed_is_deleted_and_the_examples_do_not_come_back(
    todos: PostgresTodos,
) -> None:
    assert await todos.delete_completed("noor") == DONE
    assert await todos.list_todos("noor") == OPEN
    assert await todos.delete_completed("noor") == ()
    assert await todos.list_todos("noor") == OPEN


async def test_a_list_that_is_emptied_stays_empty(
    todos: PostgresTodos, engine: AsyncEngine
) -> None:
    await todos.list_todos("noor")
    async with engine.begin() as connection:
        await connection.execute(text("DELETE FROM demo_todos"))
    assert await todos.list_todos("noor") == ()


async def test_a_todo_is_added_at_the_end_and_once_for_a_key(todos: PostgresTodos) -> None:
    added = [await todos.add_todo("noor", "Buy bread", "chain/1/0") for _ in range(3)]
    assert added == [Todo("Buy bread")] * 3
    assert await todos.list_todos("noor") == (*EXAMPLES, Todo("Buy bread"))


async def test_repeats_at_once_add_once(todos: PostgresTodos) -> None:
    await connect(todos)
    await asyncio.gather(*(todos.add_todo("noor", "Buy bread", "chain/1/0") for _ in range(8)))
    assert await todos.list_todos("noor") == (*EXAMPLES, Todo("Buy bread"))


async def test_the_same_words_with_another_key_are_another_todo(todos: PostgresTodos) -> None:
    for key in ("chain/1/0", "chain/1/1"):
        await todos.add_todo("noor", "Buy bread", key)
    assert await todos.list_todos("noor") == (*EXAMPLES, *[Todo("Buy bread")] * 2)


async def test_everybody_has_a_list_of_their_own(todos: PostgresTodos) -> None:
    await todos.add_todo("noor", "Buy bread", "chain/1/0")
    await todos.add_todo("teo", "Buy jam", "chain/1/0")
    assert await todos.delete_completed("teo") == DONE
    assert await todos.list_todos("noor") == (*EXAMPLES, Todo("Buy bread"))
    assert await todos.list_todos("teo") == (*OPEN, Todo("Buy jam"))


async def test_a_full_list_takes_no_more_but_repeats_what_it_took(todos: PostgresTodos) -> None:
    for number in range(TODOS_MAX - len(EXAMPLES)):
        await todos.add_todo("noor", f"Number {number}", f"key {number}")
    with pytest.raises(TodoListFull):
        await todos.add_todo("noor", "One too many", "another key")
    assert await todos.add_todo("noor", "Number 0", "key 0") == Todo("Number 0")
    assert len(await todos.list_todos("noor")) == TODOS_MAX


async def test_two_at_once_do_not_fill_a_list_beyond_its_end(todos: PostgresTodos) -> None:
    await connect(todos)
    for number in range(TODOS_MAX - len(EXAMPLES) - 1):
        await todos.add_todo("noor", f"Number {number}", f"key {number}")
    tries = [todos.add_todo("noor", "The last", f"last {n}") for n in range(4)]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == [
        "Todo",
        *["TodoListFull"] * 3,
    ]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("x" * TODO_CHARACTERS, "x" * TODO_CHARACTERS),
        ("👋" * TODO_CHARACTERS, "👋" * TODO_CHARACTERS),
        ("a\x00b\ud800", "a\ufffdb\ufffd"),
        ("'; DROP TABLE demo_todos; --", "'; DROP TABLE demo_todos; --"),
    ],
    ids=["long", "long in emoji", "unstorable", "SQL"],
)
async def test_words_are_kept_as_they_are_written(
    todos: PostgresTodos, written: str, kept: str
) -> None:
    assert await todos.add_todo("noor", written, "key") == Todo(kept)
    assert (await todos.list_todos("noor"))[-1] == Todo(kept)

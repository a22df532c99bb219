"""The tools of the demo agent: a todo list that is kept in the database, and made-up sales."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import Field, JsonValue

from parleyd.app.demo_sales import COLUMNS, sales_rows
from parleyd.store.todos import TODO_CHARACTERS, TODOS_MAX, PostgresTodos, Todo, TodoListFull
from parleyd.tools import HostTool, ToolContext, ToolFailed, tool
from parleyd.turns.options import TurnOptions
from parleyd.turns.tools import ApprovalWording

DELETION: Final = "deleteCompletedTodos"

DELETION_WORDS: Final[Mapping[str, JsonValue]] = {
    "title": "Delete completed todos",
    "prompt": "Delete all of your completed todos? This can't be undone.",
    "confirmLabel": "Delete them",
    "denyLabel": "Keep them",
    "destructive": True,
}
"""They name no todos: which are completed is known when they are deleted, not when it is asked."""


@dataclass(frozen=True)
class Todos:
    """What is on a list."""

    todos: tuple[Todo, ...]


@dataclass(frozen=True)
class AddedTodo:
    """What was put on a list."""

    added: str


@dataclass(frozen=True)
class DeletedTodos:
    """What was taken off a list."""

    deleted: tuple[str, ...]


def with_demo_tools(options: TurnOptions, todos: PostgresTodos) -> TurnOptions:
    """Returns options with the demo agent's tools before those of the deployment.

    A tool of the deployment's own takes the place of one with the same name, its wording too. Sales
    are looked up only where replies are documents, which alone can show them.
    """
    tools = demo_tools(todos)
    if options.blocks:
        tools[load_sales.name] = load_sales
    own = {name: tool for name, tool in tools.items() if name not in options.tools}
    wordings = {name: words for name, words in DEMO_WORDINGS.items() if name in own}
    return replace(
        options,
        tools={**own, **options.tools},
        approval_wordings={**wordings, **options.approval_wordings},
    )


@tool(name="loadSales", replay_safe=True)
async def load_sales(context: ToolContext) -> dict[str, JsonValue]:
    """Looks up the sales of the shop, every hour of two years. Draw its dataset with a grain."""
    rows = await asyncio.to_thread(sales_rows)
    return (await context.datasets.register(COLUMNS, rows)).as_json()


def demo_tools(todos: PostgresTodos) -> dict[str, HostTool]:
    """Returns the tools of the todo list by name.

    The last needs an approval, whatever it is called with.
    """

    @tool(name="listTodos", replay_safe=True)
    async def list_todos(context: ToolContext) -> Todos:
        """Lists the person's todos, those that are completed too."""
        return Todos(await todos.list_todos(context.owner))

    @tool(name="addTodo", replay_safe=True)
    async def add_todo(
        text: Annotated[str, Field(pattern=r"\S", max_length=TODO_CHARACTERS)],
        context: ToolContext,
    ) -> AddedTodo:
        """Puts one todo on the person's list, in the person's own words."""
        try:
            added = await todos.add_todo(context.owner, text, context.idempotency_key)
        except TodoListFull as error:
            raise ToolFailed(
                f"The list is full: it has {TODOS_MAX} todos. Delete the completed ones first."
            ) from error
        return AddedTodo(added.text)

    @tool(name=DELETION, needs_approval=True)
    async def delete_completed_todos(context: ToolContext) -> DeletedTodos:
        """Deletes all of the person's completed todos for good. The others stay."""
        deleted = await todos.delete_completed(context.owner)
        return DeletedTodos(tuple(todo.text for todo in deleted))

    return {each.name: each for each in (list_todos, add_todo, delete_completed_todos)}


async def _deletion_words(args: JsonValue) -> object:
    del args
    return dict(DELETION_WORDS)


DEMO_WORDINGS: Final[Mapping[str, ApprovalWording]] = {DELETION: _deletion_words}
"""In which words an approval is asked for, by the names of the tools."""

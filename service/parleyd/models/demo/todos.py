"""Looks at a todo list, adds to it, and deletes what is done: that alone once it is approved."""

import re
from collections.abc import Sequence
from typing import Final

from parleyd.contract.blocks.limits import DATASET_ROWS
from parleyd.contract.json import JsonObject, flag_at, objects_at, string_at, strings_at
from parleyd.models.demo.document import Document, cell, dataset, suggestions
from parleyd.models.demo.errand import Errand
from parleyd.models.demo.words import first_of, quoted

_NAMED: Final = 10
_TODOS: Final = r"(to-?dos?|to-?do list|tasks?|list)"


def _listed(result: JsonObject) -> str:
    todos = objects_at(result, "todos")
    texts = {
        done: [string_at(todo, "text") or "" for todo in todos if flag_at(todo, "done") is done]
        for done in (False, True)
    }
    if not todos:
        return "There is nothing on your list."
    said: list[str] = []
    if texts[False]:
        said.append(f"On your list: {_named(texts[False])}.")
    else:
        said.append("There is nothing left to do on your list.")
    if texts[True]:
        said.append(f"Completed: {_named(texts[True])}.")
    return " ".join(said)


def _tabled(result: JsonObject) -> Document | None:
    """Returns the list as a table; an empty one is not worth it."""
    todos = objects_at(result, "todos")
    if not todos:
        return None
    completed = sum(flag_at(todo, "done") is True for todo in todos)
    suggested = ["Delete my completed todos"] if completed else ["Add milk to my list"]
    return Document(
        blocks=(
            {"type": "heading", "text": "Your list"},
            {
                "type": "columns",
                "children": [
                    {"type": "metric", "label": "To do", "value": str(len(todos) - completed)},
                    {"type": "metric", "label": "Completed", "value": str(completed)},
                ],
            },
            {"type": "table", "id": "todos_table", "data": "todos"},
            suggestions(*suggested),
        ),
        datasets={
            "todos": dataset(
                {"todo": "string", "state": "string"},
                [
                    (
                        cell(string_at(todo, "text") or ""),
                        "completed" if flag_at(todo, "done") else "open",
                    )
                    for todo in todos[:DATASET_ROWS]
                ],
            )
        },
    )


def _added(result: JsonObject) -> str:
    return f"{quoted(string_at(result, 'added') or '')} is on your list now."


def _deleted(result: JsonObject) -> str:
    if deleted := strings_at(result, "deleted"):
        return (
            f"Done: your completed todos are deleted, {_named(deleted)}. "
            "The open ones are untouched."
        )
    return "There were no completed todos, so I deleted nothing."


def _named(texts: Sequence[str]) -> str:
    return first_of([quoted(text) for text in texts], _NAMED)


LISTING: Final = Errand(
    tool="listTodos",
    asked_for=re.compile(
        rf"\b(what|show|list|tell|read|see|which)\b.*\b(my|the) ([\w-]+ )?{_TODOS}\b"
        r"|^\W*(my )?(to-?dos?|to-?do list|tasks)\W*$|\bwhat do i have to do\b",
        re.IGNORECASE,
    ),
    in_words="I'd look at your todo list, but here I have no tool that reads it.",
    done=_listed,
    shown=_tabled,
)

ADDITION: Final = Errand(
    tool="addTodo",
    asked_for=re.compile(
        r"\b(?:add|put|write|note)\s+[“\"']?(?P<text>\S(?:.*?\S)?)[”\"']?\s+"
        rf"(?:to|on|onto|in)\s+(?:my|the|our)\s+(?:[\w-]+\s+)?{_TODOS.replace('(', '(?:')}\b",
        re.IGNORECASE | re.DOTALL,
    ),
    in_words="I'd put it on your todo list, but here I have no tool that writes it.",
    done=_added,
)

DELETION: Final = Errand(
    tool="deleteCompletedTodos",
    asked_for=re.compile(
        r"\b(delete|remove|clear|clean ?up|purge|drop)\b.*\b(to-?dos?|tasks?|completed)\b",
        re.IGNORECASE,
    ),
    in_words=(
        "Deleting your completed todos can't be undone, and here I can't let you confirm it. "
        "So I leave them where they are."
    ),
    done=_deleted,
    denied="All right, I deleted nothing. Your completed todos are still there.",
)

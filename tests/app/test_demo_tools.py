"""The tools of the demo agent: a todo list in the database, deleted from with approval alone."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parleyd.app.demo_tools import DELETION, demo_tools
from parleyd.app.identity import development_token
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, running_service
from parleyd.contract.json import JsonObject
from parleyd.models.demo import DemoModel
from parleyd.models.script import Text
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.store.todos import EXAMPLES, TODO_CHARACTERS, TODOS_MAX, PostgresTodos
from parleyd.tools import HostTool, ToolContext, ToolFailed, host_tool
from parleyd.turns.model import Model
from tests.end_to_end.person import COMPACT, Person, accept, cancel

OPEN = "On your list: “Buy milk”, “Call the dentist” and “Plan the weekend”."
COMPLETED = "Completed: “Water the plants” and “Return the library books”."
WISH = "delete my completed todos"


@pytest.fixture
def tools(engine: AsyncEngine) -> Mapping[str, HostTool]:
    return demo_tools(PostgresTodos(engine))


def context(owner: str = "noor", key: str = "chain/1/0") -> ToolContext:
    return ToolContext(owner, uuid4(), uuid4(), "call_1", key)


async def test_there_are_three_and_one_needs_approval(tools: Mapping[str, HostTool]) -> None:
    guarded = {
        name: (await tool.needs_approval({}, context()), tool.replay_safe)
        for name, tool in tools.items()
    }
    assert guarded == {
        "listTodos": (False, True),
        "addTodo": (False, True),
        "deleteCompletedTodos": (True, False),
    }


async def test_what_they_return_tells_what_they_did(tools: Mapping[str, HostTool]) -> None:
    examples: list[JsonValue] = [{"text": each.text, "done": each.done} for each in EXAMPLES]
    assert await tools["listTodos"].run({}, context()) == {"todos": examples}
    for _ in range(2):
        assert await tools["addTodo"].run({"text": "Sweep"}, context()) == {"added": "Sweep"}
    deleted = await tools[DELETION].run({}, context())
    assert deleted == {"deleted": [each.text for each in EXAMPLES if each.done]}
    left: list[JsonValue] = [
        {"text": text, "done": False}
        for text in (*[each.text for each in EXAMPLES if not each.done], "Sweep")
    ]
    assert await tools["listTodos"].run({}, context()) == {"todos": left}
    assert await tools["listTodos"].run({}, context("teo")) == {"todos": examples}


@pytest.mark.parametrize(
    "args", [{}, {"text": ""}, {"text": " \n"}, {"text": "x" * (TODO_CHARACTERS + 1)}, {"text": 3}]
)
def test_a_todo_without_words_or_with_too_many_is_refused(
    tools: Mapping[str, HostTool], args: dict[str, JsonValue]
) -> None:
    assert tools["addTodo"].faults(args)
    assert tools["addTodo"].faults({"text": "x" * TODO_CHARACTERS}) is None


async def test_a_full_list_is_told_as_one(tools: Mapping[str, HostTool]) -> None:
    for number in range(TODOS_MAX - len(EXAMPLES)):
        await tools["addTodo"].run({"text": "Sweep"}, context(key=f"key {number}"))
    with pytest.raises(ToolFailed, match="The list is full: it has 100 todos"):
        await tools["addTodo"].run({"text": "Sweep"}, context(key="another"))


@asynccontextmanager
async def talking(
    folder: Path,
    database_url: str,
    model: Model | None = None,
    own: Mapping[str, HostTool] | None = None,
    **settings: Any,
) -> AsyncGenerator[Person]:
    """Yields somebody who talks to the demo agent, or to another model in its place."""
    here = Settings(environment="development", port=0, data_dir=folder, **settings)
    replacements = Replacements(model=model, tools=own or {})
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(
            running_service(here, database_url=database_url, replacements=replacements)
        )
        token = development_token(here)
        yield Person(await stack.enter_async_context(parley.connect(service.address, token)))


async def test_the_agent_reads_the_list_and_adds_to_it(tmp_path: Path, database_url: str) -> None:
    async with talking(tmp_path, database_url) as person:
        listed = await person.prompt("What is on my list?")
        assert listed.names == ["started", "tool_call", "tool_result", "text", "done"]
        assert listed.text == f"{OPEN} {COMPLETED}"
        added = await person.prompt("Add bread to my list", listed.conversation_id)
        assert added.text == "“bread” is on your list now."
        again = await person.prompt("What is on my list?", listed.conversation_id, COMPACT)
        assert "“Plan the weekend” and “bread”" in again.text


async def test_the_agent_deletes_nothing_without_approval(
    tmp_path: Path, database_url: str
) -> None:
    async with talking(tmp_path, database_url) as person:
        asked = await person.prompt(WISH)
        assert asked.names == ["started", "tool_call", "ask", "done"]
        confirm = asked.ask.input
        assert confirm.prompt == "Delete all of your completed todos? This can't be undone."
        assert confirm.confirm.destructive
        assert (asked.ask.tool_name, json.loads(asked.ask.tool_args_json)) == (DELETION, {})
        assert [button.label for button in asked.ask.simple.buttons] == ["Delete them", "Keep them"]
        here = asked.conversation_id
        listed = await person.prompt("What is on my list?")
        assert COMPLETED in listed.text

        denied = await person.press(here, asked.ask.tool_call_id, "deny")
        assert denied.text == "All right, I deleted nothing. Your completed todos are still there."
        assert COMPLETED in (await person.prompt("What is on my list?")).text

        again = await person.prompt(WISH, here)
        cancelled = await person.answer(here, again.ask.tool_call_id, cancel("not now"))
        assert cancelled.text == denied.text

        once_more = await person.prompt(WISH, here, COMPACT)
        approved = await person.answer(here, once_more.ask.tool_call_id, accept(confirmed=True))
        assert approved.names == ["started", "ask_resolved", "tool_result", "text", "done"]
        assert approved.text == (
            "Done: your completed todos are deleted, “Water the plants” and “Return the library "
            "books”. "
            "The open ones are untouched."
        )
        assert (await person.prompt("What is on my list?")).text == OPEN


async def test_with_asks_off_the_agent_says_that_it_can_not_be_approved(
    tmp_path: Path, database_url: str
) -> None:
    async with talking(tmp_path, database_url, asks=()) as person:
        told = await person.prompt(WISH)
        assert told.names == ["started", "text", "done"]
        assert "here I can't let you confirm it" in told.text
        assert COMPLETED in (await person.prompt("What is on my list?")).text


async def test_a_tool_of_the_deployment_takes_the_place_of_one_of_the_agent(
    tmp_path: Path, database_url: str
) -> None:
    def clear(read: JsonObject, context: ToolContext) -> object:
        del read, context
        return {"deleted": ["Everything"]}

    schema: dict[str, JsonValue] = {"type": "object"}
    own = host_tool(name=DELETION, description="Deletes at once.", schema=schema, run=clear)
    async with talking(tmp_path, database_url, own={DELETION: own}) as person:
        told = await person.prompt(WISH)
        assert told.names == ["started", "tool_call", "tool_result", "text", "done"]
        assert "“Everything”" in told.text
        assert COMPLETED in (await person.prompt("What is on my list?")).text


async def test_the_words_of_a_tool_of_the_deployment_are_its_own(
    tmp_path: Path, database_url: str
) -> None:
    def clear(read: JsonObject, context: ToolContext) -> object:
        raise NotImplementedError

    schema: dict[str, JsonValue] = {"type": "object"}
    own = host_tool(
        name=DELETION, description="Clears.", schema=schema, run=clear, needs_approval=True
    )
    async with talking(tmp_path, database_url, own={DELETION: own}) as person:
        asked = await person.prompt(WISH)
        assert asked.ask.input.prompt == "Allow deleteCompletedTodos? Clears."


async def test_another_model_is_not_offered_them(tmp_path: Path, database_url: str) -> None:
    model = ScriptedModel(in_turn([Text("Hello.")]))
    async with talking(tmp_path, database_url, model) as person:
        await person.prompt("Hello")
    assert [tool.name for tool in model.calls[0].tools if not tool.name.startswith("ask_")] == []
    async with talking(tmp_path, database_url, DemoModel()) as person:
        assert OPEN in (await person.prompt("What is on my list?")).text

"""What opening a turn asks of the storage and of the deployment's own functions."""

from uuid import UUID

import pytest
from pydantic import JsonValue

from parleyd.contract.errors import ToolUnavailable
from parleyd.contract.turns import AnswerInput, PromptInput, TurnRequest
from parleyd.turns.admission import open_turn
from parleyd.turns.deployment import Deployment
from parleyd.turns.options import TurnOptions
from parleyd.turns.ports import Opening
from parleyd.turns.situations import NamedAsks, Situation
from parleyd.turns.tools import ToolSet, TurnContext
from tests.turns.ports_in_memory import MemoryLeases, MemoryStore, Opened, PlainTool, deployment
from tests.turns.turn_values import APPROVED, CONVERSATION, DENIED, meeting, stored_approval


async def opening_of(
    request: TurnRequest, situation: Situation
) -> tuple[Opening, list[TurnContext]]:
    """Returns what the store is asked to open, and for what turns tools were made."""
    made_for: list[TurnContext] = []

    async def request_tools(context: TurnContext) -> ToolSet:
        made_for.append(context)
        return {}

    store = MemoryStore(situation)
    shared = deployment(store, MemoryLeases(), TurnOptions(request_tools=request_tools))
    with pytest.raises(Opened):
        await open_turn(shared, UUID(int=2), request)
    (opening,) = store.openings
    return opening, made_for


def wish(conversation_id: UUID | None) -> TurnRequest:
    return TurnRequest(
        owner="ada",
        conversation_id=conversation_id,
        input=PromptInput(text="Hello"),
        project="work",
    )


async def test_the_tools_of_a_turn_are_made_for_the_project_of_its_conversation() -> None:
    _, made_for = await opening_of(wish(CONVERSATION), meeting())
    assert [context.project for context in made_for] == ["home"]


async def test_a_turn_that_makes_its_conversation_brings_the_project() -> None:
    opening, (context,) = await opening_of(wish(None), Situation())
    assert context.project == opening.project == "work"
    assert context.conversation_id == opening.new_conversation_id


async def test_what_was_seen_is_what_the_turn_is_opened_on() -> None:
    opening, _ = await opening_of(wish(CONVERSATION), meeting())
    assert opening.seen == meeting()


async def test_v15_an_approval_without_its_tool_opens_nothing_and_a_denial_does() -> None:
    situation = meeting(NamedAsks(stored_approval(), 1))
    refused = MemoryStore(situation)
    with pytest.raises(ToolUnavailable):
        await open_turn(deploying(refused), UUID(int=2), answering(APPROVED))
    assert refused.openings == []

    denied = MemoryStore(situation)
    with pytest.raises(Opened):
        await open_turn(deploying(denied), UUID(int=2), answering(DENIED))

    there = MemoryStore(situation)
    with pytest.raises(Opened):
        await open_turn(
            deploying(there, {"delete": PlainTool("delete")}), UUID(int=2), answering(APPROVED)
        )


def deploying(store: MemoryStore, tools: ToolSet | None = None) -> Deployment:
    options = TurnOptions(ask_kinds=("choice",), tools=tools or {})
    return deployment(store, MemoryLeases(), options)


def answering(envelope: dict[str, JsonValue]) -> TurnRequest:
    return TurnRequest(
        owner="ada",
        conversation_id=CONVERSATION,
        input=AnswerInput(tool_call_id="apr_1", answer=envelope),
    )

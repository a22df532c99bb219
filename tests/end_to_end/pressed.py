"""Presses on buttons of documents, and what the request log holds of them."""

import json
from collections.abc import Sequence
from typing import Any, Final

from pydantic import JsonValue
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import ParleyError, error_of
from parley.v1.conversations_pb2 import CreateConversationRequest
from parley.v1.turns_pb2 import RunBlockActionRequest, RunBlockActionResponse
from tests.end_to_end.person import Person, refused
from tests.server import Server

ACTIONS: Final = ("tests.loan_actions",)
LOAN: Final[JsonValue] = {"loan_id": "L-1"}


async def begun(person: Person) -> str:
    """Returns a new conversation."""
    made = await person.client.conversations.CreateConversation(CreateConversationRequest())
    return made.conversation.conversation_id


def pressing(
    own: str, action: str, payload: JsonValue = None, /, **other: Any
) -> RunBlockActionRequest:
    """Returns what a press on a button sends."""
    told: dict[str, Any] = {
        "conversation_id": own,
        "message_id": "12",
        "block_id": "actions",
        "element_id": "pay",
        "action": action,
        "payload_json": "" if payload is None else json.dumps(payload),
    }
    return RunBlockActionRequest(**(told | other))


async def press(
    person: Person, own: str, action: str, payload: JsonValue = None
) -> RunBlockActionResponse:
    return await person.client.turns.RunBlockAction(pressing(own, action, payload))


async def refusal(person: Person, request: RunBlockActionRequest) -> ParleyError:
    return error_of(await refused(person.client.turns.RunBlockAction(request)))


async def logged(server: Server, engine: AsyncEngine) -> Sequence[Row[Any]]:
    """Stops the server, which then has written its log, and returns the lines of actions."""
    await server.stop()
    async with engine.connect() as connection:
        rows = await connection.execute(
            text(
                "SELECT owner, conversation_id::text, turn_id, ai_model, prompt, response, error,"
                " response_time_ms, tokens_used, metadata FROM ai_requests"
                " WHERE request_type = 'ui_action' ORDER BY id"
            )
        )
        return rows.all()


def heading_of(response: RunBlockActionResponse) -> str:
    [block] = response.blocks.blocks
    return block.heading.text

"""A conversation that waits on an ask, and the answers it refuses."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import grpc
from pydantic import JsonValue

from parley import ParleyError, error_of
from parley.v1 import asks_pb2
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import tool_name
from parleyd.models.script import Call, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.kinds_asked import ASK_ID
from tests.end_to_end.person import Person, refused
from tests.server import Server, StartServer

Faults: TypeAlias = list[tuple[str, str]]
"""Paths and codes."""


@dataclass
class Waiting:
    """A conversation that waits on an ask."""

    server: Server
    noor: Person
    conversation_id: str

    async def faults_of(self, answer: asks_pb2.AskAnswer) -> Faults:
        """Sends an answer that must be refused, checks that nothing came of it; tells its faults.

        The ask is pending as before, the model was not called, nothing was stored.
        """
        told = await self.fails_with(answer, "INVALID_ANSWER")
        assert told.code == grpc.StatusCode.INVALID_ARGUMENT
        assert all(field.message and field.fix for field in told.fields)
        return [(field.path, field.code) for field in told.fields]

    async def fails_with(self, answer: asks_pb2.AskAnswer, reason: str) -> ParleyError:
        """Sends an answer that must fail for this reason, and checks that nothing came of it."""
        before = await self.noor.messages(self.conversation_id)
        pending = (await self.noor.conversation(self.conversation_id)).pending_ask
        calls = len(self.server.model.calls)
        error = await refused(self.noor.answer(self.conversation_id, ASK_ID, answer))
        told = error_of(error)
        assert told.reason == reason
        assert (await self.noor.conversation(self.conversation_id)).pending_ask == pending
        assert pending.tool_call_id == ASK_ID
        assert await self.noor.messages(self.conversation_id) == before
        assert len(self.server.model.calls) == calls
        return told


async def wait_on(
    start_server: StartServer,
    kind: AskKind,
    ask_input: dict[str, JsonValue],
    *steps: ScriptedStep,
    **server_options: Any,
) -> Waiting:
    """Returns a conversation that waits on an ask of this kind; `prompt` may be left out.

    The model goes on as the steps say, or else with "Done."
    """
    call = Call(tool_name(kind), {"prompt": "Well?", **ask_input}, ASK_ID)
    server = await start_server(in_turn([call], *(steps or [[Text("Done.")]])), **server_options)
    noor = await server.person()
    played = await noor.prompt("Please")
    assert played.names == ["started", "ask", "done"]
    return Waiting(server, noor, played.conversation_id)

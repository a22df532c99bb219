"""A conversation that waits on an approval, and what became of the call that it guards."""

import json
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from parley.v1 import asks_pb2, conversations_pb2, turns_pb2
from parleyd.models.script import Call, ScriptedMessage, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from parleyd.models.signatures import signed
from parleyd.turns.model import ModelCall, ToolOutcome
from tests.end_to_end.person import Person, Played, accept
from tests.server import Server, StartServer
from tests.standard_tools import ARCHIVE, DELETE, DELETE_ID, PLANS, StandardTools, delete

CLEAN_UP: Final = "Clean up"
DONE: Final[ScriptedStep] = [Text("Done.")]
APPROVED: Final = ["started", "ask_resolved", "tool_result", "text", "done"]
GUARDED_PAUSE: Final = ["started", "tool_call", "ask", "done"]

Message = conversations_pb2.Message


def approval() -> asks_pb2.AskAnswer:
    """Returns the answer that lets a call run."""
    return accept(confirmed=True)


def denial() -> asks_pb2.AskAnswer:
    """Returns the answer that keeps a call from running."""
    return accept(confirmed=False)


def denied(reason: str) -> dict[str, JsonValue]:
    """Returns what a client and the model are told of a call that was denied."""
    return {"approved": False, "reason": reason}


@dataclass
class Guarded:
    """A conversation that waits on the approval of a call. `asked` is the turn that paused."""

    server: Server
    noor: Person
    tools: StandardTools
    asked: Played

    @property
    def own(self) -> str:
        """Names the conversation."""
        return self.asked.conversation_id

    @property
    def approval_id(self) -> str:
        return self.asked.ask.tool_call_id

    @property
    def runs(self) -> int:
        """Counts the runs of the guarded tools, whichever."""
        return len(self.tools.runs(DELETE)) + len(self.tools.runs(ARCHIVE))

    async def answer(self, answer: asks_pb2.AskAnswer) -> Played:
        return await self.noor.answer(self.own, self.approval_id, answer)

    async def approve(self) -> Played:
        return await self.answer(approval())

    async def untouched(self) -> None:
        """Checks that the approval is pending as before and that nothing has run."""
        pending = (await self.noor.conversation(self.own)).pending_ask
        assert pending.tool_call_id == self.approval_id
        assert pending.input == self.asked.ask.input
        assert len(await self.noor.messages(self.own)) == 3
        assert self.runs == 0
        assert len(self.server.model.calls) == 1


async def wait_on_approval(
    start_server: StartServer,
    tools: StandardTools,
    *steps: ScriptedStep,
    call: Call | None = None,
    **given: Any,
) -> Guarded:
    """Returns a conversation whose first step calls DELETE; `steps` are the further ones."""
    offered: dict[str, Any] = {"tools": tools.all_hosted, **given}
    server = await start_server(in_turn([call or delete()], *(steps or (DONE,))), **offered)
    noor = await server.person()
    asked = await noor.prompt(CLEAN_UP)
    assert asked.names == GUARDED_PAUSE
    return Guarded(server, noor, tools, asked)


def outcomes(call: ModelCall) -> list[ToolOutcome]:
    """Returns what the model was told last of its calls."""
    message = call.messages[-1]
    assert isinstance(message, ScriptedMessage)
    assert message.role == "tool"
    found = [part for part in message.parts if isinstance(part, ToolOutcome)]
    assert len(found) == len(message.parts)
    return found


def ran(call_id: str = DELETE_ID, tool: str = DELETE) -> ToolOutcome:
    """Returns what the model is told of a call that ran."""
    return ToolOutcome(call_id, tool, value=PLANS)


def not_run(reason: str, call_id: str = DELETE_ID, tool: str = DELETE) -> ToolOutcome:
    """Returns what the model is told of a call that was denied."""
    return ToolOutcome(call_id, tool, value=denied(reason), denied=reason)


def first_step(*calls: Call) -> tuple[ScriptedMessage, ...]:
    """Returns what was said and called up to the pause."""
    head, *others = calls or (delete(),)
    return (
        ScriptedMessage("user", (Text(CLEAN_UP),)),
        ScriptedMessage("model", (signed(head), *others)),
    )


def told(result: turns_pb2.ToolResult) -> tuple[str, JsonValue, bool, str]:
    """Returns of a result the call, what it is, whether it is an error, and why it was denied."""
    value = json.loads(result.result_json)
    return result.tool_call_id, value, result.is_error, result.denied.reason


def rows(messages: list[Message]) -> list[tuple[str, str, str]]:
    """Names rows by their type, their tool, and where their ask stands."""
    return [
        (
            Message.Type.Name(row.type).removeprefix("TYPE_").lower(),
            row.tool_name,
            conversations_pb2.MessageAsk.Status.Name(row.ask.status)
            .removeprefix("STATUS_")
            .lower()
            .replace("unspecified", ""),
        )
        for row in messages
    ]

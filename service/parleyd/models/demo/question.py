"""What makes something that the demo agent asks. Each is one value of `Question` in a file."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import tool_name
from parleyd.contract.json import JsonObject, object_at
from parleyd.models.demo.reply import Reply
from parleyd.turns.model import ModelCall, Tool, ToolOutcome


@dataclass(frozen=True)
class Question:
    """Something the agent asks; fulfils `Wish`.

    `accepted` replies to the content of an answer that fits `input`.
    """

    kind: AskKind
    asked_for: re.Pattern[str]
    input: dict[str, JsonValue]
    in_words: str
    accepted: Callable[[JsonObject], str]
    declined: str
    cancelled: str

    @property
    def tool(self) -> str:
        """Names the tool that asks it."""
        return tool_name(self.kind)

    def args(self, asked: re.Match[str]) -> dict[str, JsonValue]:
        """Returns the question, which is the same whatever the prompt says."""
        del asked
        return self.input

    def fits(self, call: ModelCall) -> bool:
        """Tells whether it can be asked: a small surface narrows what a tool takes."""
        return any(self._taken_by(tool) for tool in call.tools)

    def reply_to(self, outcome: ToolOutcome) -> Reply:
        """Returns what the agent says to an answer; without one, what it says in place of asking.

        There is none where the call did not reach the person.
        """
        match outcome.value:
            case {"action": "accept", "content": dict(content)}:
                return Reply(self.accepted(content))
            case {"action": "decline"}:
                return Reply(self.declined)
            case {"action": "cancel"}:
                return Reply(self.cancelled)
            case _:
                return Reply(self.in_words)

    def _taken_by(self, tool: Tool) -> bool:
        if tool.name != self.tool:
            return False
        takes = object_at(tool.schema, "properties")
        return all(_takes(takes.get(key), value) for key, value in self.input.items())


def _takes(schema: JsonValue, value: JsonValue) -> bool:
    match schema:
        case {"enum": list(values)}:
            return value in values
        case dict():
            return True
        case _:
            return False

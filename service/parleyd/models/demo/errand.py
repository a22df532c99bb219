"""What makes something that the demo agent does, with a tool of the deployment."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from parleyd.contract.asks.kinds import TOOL_PREFIX
from parleyd.contract.json import JsonObject
from parleyd.models.demo.document import Document
from parleyd.models.demo.reply import Reply
from parleyd.turns.model import ModelCall, ToolOutcome


@dataclass(frozen=True)
class Errand:
    """Something the agent does by a tool; fulfils `Wish`.

    The groups of `asked_for` are the arguments by name. `done` replies to the tool's result.
    `denied` replies to a person who does not approve; a tool that needs nobody's approval has none.
    `shown` is the result as a document, where words are not enough for it.
    """

    tool: str
    asked_for: re.Pattern[str]
    in_words: str
    done: Callable[[JsonObject], str]
    denied: str | None = None
    shown: Callable[[JsonObject], Document | None] | None = None

    def args(self, asked: re.Match[str]) -> dict[str, JsonValue]:
        """Returns what the person said in the places that are arguments."""
        return {name: text for name, text in asked.groupdict().items() if text is not None}

    def fits(self, call: ModelCall) -> bool:
        """Tells whether it can be done. What needs an approval takes somebody who can be asked."""
        names = [tool.name for tool in call.tools]
        if self.denied is not None and not any(name.startswith(TOOL_PREFIX) for name in names):
            return False
        return self.tool in names

    def reply_to(self, outcome: ToolOutcome) -> Reply:
        """Returns what the agent says to a result, to a denial, or to a tool that failed."""
        if outcome.denied is not None:
            return Reply(self.denied or self.in_words)
        if outcome.error is not None:
            return Reply(f"That did not work. {outcome.error}")
        if not isinstance(outcome.value, dict):
            return Reply("That is done.")
        shown = self.shown(outcome.value) if self.shown else None
        return Reply(self.done(outcome.value), shown)

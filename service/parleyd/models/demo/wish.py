"""What a person may wish for and the demo agent understands."""

import re
from typing import Protocol

from pydantic import JsonValue

from parleyd.models.demo.reply import Reply
from parleyd.turns.model import ModelCall, ToolOutcome


class Wish(Protocol):
    """Something the agent calls a tool for: to ask the person, or to do it.

    `asked_for` is looked for in the prompt, whatever its case. `in_words` stands in for the call
    where it can't be made.
    """

    @property
    def tool(self) -> str:
        """Names the tool."""
        ...

    @property
    def asked_for(self) -> re.Pattern[str]:
        """Is how the agent knows."""
        ...

    @property
    def in_words(self) -> str:
        """Is what the agent says in place of calling the tool."""
        ...

    def args(self, asked: re.Match[str]) -> dict[str, JsonValue]:
        """Returns what the tool is called with, of the place where `asked_for` was found."""
        ...

    def fits(self, call: ModelCall) -> bool:
        """Tells whether the call can be made, with the tools that there are."""
        ...

    def reply_to(self, outcome: ToolOutcome) -> Reply:
        """Returns what the agent says to what became of the call."""
        ...

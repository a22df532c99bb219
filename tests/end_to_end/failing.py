"""A conversation whose answer is stored and whose turn then failed."""

from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from parleyd.models.script import ScriptedMessage, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from parleyd.models.signatures import rebuilt, signed
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.person import Person, Played, accept
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

SET_UP = "Set up my workspace"
TEAM: dict[str, JsonValue] = {"action": "accept", "content": {"selected": ["team"]}}
TEAM_PICKED = ScriptedMessage("tool", (ToolOutcome(PLAN_ID, "ask_choice", value=TEAM),))

ANSWERED = (
    ScriptedMessage("user", (Text(SET_UP),)),
    ScriptedMessage("model", (signed(ask_plan()),)),
    TEAM_PICKED,
)
"""What the model is sent by an answer's turn."""

ANSWERED_BEFORE = (
    ScriptedMessage("user", (Text(SET_UP),)),
    ScriptedMessage("model", (rebuilt(ask_plan()),)),
    TEAM_PICKED,
)
"""What a later turn makes of it."""


@dataclass
class FailedAnswer:
    """PLAN was asked and answered; `played` is the answer's turn."""

    server: Server
    noor: Person
    asked: Played
    played: Played

    @property
    def conversation_id(self) -> str:
        return self.asked.conversation_id

    @property
    def turn_id(self) -> str:
        return self.played.turn_id

    async def retry(self) -> Played:
        """Retries the answer's turn."""
        return await self.noor.retry(self.conversation_id, self.turn_id)


async def answer_that_fails(
    start_server: StartServer, *steps: ScriptedStep, **server: Any
) -> FailedAnswer:
    """Answers PLAN; the model goes on as the steps say, with which the turn has to fail."""
    started = await start_server(in_turn([ask_plan()], *steps), **server)
    noor = await started.person()
    asked = await noor.prompt(SET_UP)
    played = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert played.names[-2:] == ["error", "done"]
    return FailedAnswer(started, noor, asked, played)

"""Trials of approvals: by stream and by single calls, with and without restarts in between."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from parley.v1 import asks_pb2, conversations_pb2, turns_pb2
from parleyd.models.script import ScriptedStep
from parleyd.models.scripted import by_progress, by_prompt
from parleyd.turns.model import ModelCall
from tests.end_to_end.guarded import CLEAN_UP, DONE
from tests.end_to_end.person import Person
from tests.server import Server, StartServer
from tests.standard_tools import StandardTools

HELLO = "never mind, hello"


@dataclass
class GuardedTrial:
    """A person and a server, which is replaced by another one at `rest` where it is restarting.

    `start` starts a server; all of them play one script between them.
    """

    start: Callable[[], Awaitable[Server]]
    streaming: bool
    restarting: bool
    servers: list[Server] = field(default_factory=list[Server])

    @property
    def calls(self) -> list[ModelCall]:
        """Returns the model calls of all servers."""
        return [call for server in self.servers for call in server.model.calls]

    async def person(self, subject: str = "noor") -> Person:
        if not self.servers:
            self.servers.append(await self.start())
        return await self.servers[-1].person(subject)

    async def rest(self) -> None:
        """Restarts the server, if this trial does."""
        if self.restarting:
            await self.servers[-1].stop()
            self.servers.append(await self.start())

    async def say(self, text: str, conversation_id: str = "") -> turns_pb2.TurnResult:
        """Sends a message, in a new conversation unless one is named."""
        noor = await self.person()
        if not conversation_id:
            request = conversations_pb2.CreateConversationRequest()
            made = await noor.client.conversations.CreateConversation(request)
            conversation_id = made.conversation.conversation_id
        prompt = turns_pb2.PromptInput(text=text)
        return await self.run(turns_pb2.TurnRequest(conversation_id=conversation_id, prompt=prompt))

    async def answer(
        self, conversation_id: str, tool_call_id: str, answer: asks_pb2.AskAnswer
    ) -> turns_pb2.TurnResult:
        """Answers, and returns how the turn ended."""
        given = turns_pb2.AnswerInput(tool_call_id=tool_call_id, answer=answer)
        return await self.run(turns_pb2.TurnRequest(conversation_id=conversation_id, answer=given))

    async def run(self, request: turns_pb2.TurnRequest) -> turns_pb2.TurnResult:
        """Runs a turn in the way of this trial."""
        noor = await self.person()
        if not self.streaming:
            return await noor.run(request)
        played = await noor.play(
            turns_pb2.StreamTurnRequest(
                conversation_id=request.conversation_id,
                prompt=request.prompt if request.HasField("prompt") else None,
                answer=request.answer if request.HasField("answer") else None,
            )
        )
        return (await noor.turn(request.conversation_id, played.turn_id)).result


def trial_of(
    start_server: StartServer,
    tools: StandardTools,
    *steps: ScriptedStep,
    streaming: bool,
    restarting: bool,
) -> GuardedTrial:
    """Returns a trial of a script; one message has `steps`, further ones are just replied to."""
    pick = by_prompt(
        {CLEAN_UP: by_progress(*steps)}
        | dict.fromkeys((HELLO, "continue", "one", "two", "three"), by_progress(DONE))
    )
    return GuardedTrial(lambda: start_server(pick, tools=tools.all_hosted), streaming, restarting)

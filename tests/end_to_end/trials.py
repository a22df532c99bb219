"""Trials that are run by stream and by single calls, with and without restarts of the server."""

from dataclasses import dataclass, field

import pytest

from parley.v1 import asks_pb2, turns_pb2
from parleyd.models.played import Pick
from parleyd.turns.model import ModelCall
from parleyd.turns.tools import ToolSet
from tests.end_to_end.person import Person
from tests.server import Server, StartServer

every_way = pytest.mark.parametrize(
    ("streaming", "restarting"),
    [
        pytest.param(True, False, id="by stream"),
        pytest.param(False, False, id="by single calls"),
        pytest.param(True, True, id="by stream, with restarts"),
        pytest.param(False, True, id="by single calls, with restarts"),
    ],
)


@dataclass
class Trial:
    """A person and a server, which is replaced by another one at `rest` where it is restarting.

    All its servers play one script between them.
    """

    start_server: StartServer
    pick: Pick
    tools: ToolSet
    streaming: bool
    restarting: bool
    servers: list[Server] = field(default_factory=list[Server])

    async def begin(self, text: str) -> str:
        """Starts a conversation, whose first turn has to pause; returns its id."""
        await self._start()
        noor = await self.person()
        played = await noor.prompt(text)
        assert played.names[-2:] == ["ask", "done"]
        await self.rest()
        return played.conversation_id

    async def rest(self) -> None:
        """Restarts the server, if this trial does."""
        if self.restarting:
            await self.servers[-1].stop()
            await self._start()

    async def person(self) -> Person:
        return await self.servers[-1].person()

    @property
    def calls(self) -> list[ModelCall]:
        """Returns the model calls of all servers."""
        return [call for server in self.servers for call in server.model.calls]

    async def answer(
        self, conversation_id: str, tool_call_id: str, answer: asks_pb2.AskAnswer
    ) -> turns_pb2.TurnResult:
        """Answers, and returns how the turn ended."""
        return await self._run(
            turns_pb2.TurnRequest(
                conversation_id=conversation_id,
                answer=turns_pb2.AnswerInput(tool_call_id=tool_call_id, answer=answer),
            )
        )

    async def retry(self, conversation_id: str, turn_id: str) -> turns_pb2.TurnResult:
        """Retries, and returns how the turn ended."""
        return await self._run(
            turns_pb2.TurnRequest(
                conversation_id=conversation_id, retry=turns_pb2.RetryInput(turn_id=turn_id)
            )
        )

    async def _run(self, request: turns_pb2.TurnRequest) -> turns_pb2.TurnResult:
        noor = await self.person()
        if not self.streaming:
            return await noor.run(request)
        played = await noor.play(
            turns_pb2.StreamTurnRequest(
                conversation_id=request.conversation_id,
                answer=request.answer if request.HasField("answer") else None,
                retry=request.retry if request.HasField("retry") else None,
            )
        )
        result = (await noor.turn(request.conversation_id, played.turn_id)).result
        assert played.done.state == result.state
        assert ("ask" in played.names) == result.HasField("pending_ask")
        assert ("error" in played.names) == result.HasField("error")
        assert ("text" in played.names) == bool(result.text)
        return result

    async def _start(self) -> None:
        self.servers.append(await self.start_server(self.pick, tools=self.tools))

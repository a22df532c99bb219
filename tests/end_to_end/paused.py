"""A conversation that waits on PLAN."""

from dataclasses import dataclass

from parley.v1 import conversations_pb2
from tests.end_to_end.person import Person, Played
from tests.server import Server
from tests.standard_asks import PLAN_ID

Message = conversations_pb2.Message


@dataclass
class Paused:
    """A conversation that waits on PLAN."""

    server: Server
    noor: Person
    asked: Played

    @property
    def conversation_id(self) -> str:
        return self.asked.conversation_id

    async def untouched(self) -> None:
        """Checks that nothing has happened since the pause."""
        conversation = await self.noor.conversation(self.conversation_id)
        messages = await self.noor.messages(self.conversation_id)
        assert conversation.pending_ask.tool_call_id == PLAN_ID
        assert [message.type for message in messages] == [Message.TYPE_USER, Message.TYPE_TOOL_CALL]
        assert len(self.server.model.calls) == 1

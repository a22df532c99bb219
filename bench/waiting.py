"""Conversations that wait on an ask, made and answered through the client."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from bench.scripts import BUTTON
from parley import Client
from parley.v1 import turns_pb2 as pb

PROMPT = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Set up my workspace"))


@dataclass(frozen=True)
class Waiting:
    """A conversation that waits on the ask of `bench.scripts`."""

    conversation_id: str
    tool_call_id: str

    @property
    def button(self) -> pb.ButtonInput:
        """Returns the press of a button of its card."""
        return pb.ButtonInput(tool_call_id=self.tool_call_id, button_id=BUTTON)

    @property
    def answer(self) -> pb.StreamTurnRequest:
        """Returns the request that presses the button."""
        return pb.StreamTurnRequest(conversation_id=self.conversation_id, button=self.button)


async def stored_events(
    client: Client, request: pb.StreamTurnRequest
) -> AsyncGenerator[pb.TurnEvent, None]:
    """Yields the stored events of a turn as they come, without previews."""
    async for response in client.turns.StreamTurn(request):
        if response.event.sequence:
            yield response.event


async def ask(client: Client, request: pb.StreamTurnRequest = PROMPT) -> Waiting:
    """Runs a turn to the ask that it ends with."""
    *_, asked, done = [event async for event in stored_events(client, request)]
    if done.done.state != pb.Turn.STATE_PAUSED:
        raise AssertionError(f"no question: {asked} {done}")
    return Waiting(done.done.conversation_id, asked.ask.tool_call_id)

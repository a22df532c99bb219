"""A service that runs an agent of its own: what it asks and sees, through the generated client."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from google.protobuf.duration_pb2 import Duration

from parley import Client
from parley.v1 import asks_pb2, conversations_pb2, service_asks_pb2
from tests.end_to_end.person import Person
from tests.server import Server

Ask = service_asks_pb2.Ask


def plan_input() -> asks_pb2.AskInput:
    """Returns the question which plan it is to be."""
    options = [
        asks_pb2.Option(id=name.lower(), label=name) for name in ("Starter", "Team", "Enterprise")
    ]
    choice = asks_pb2.ChoiceInput(select=asks_pb2.ChoiceInput.SELECT_ONE, options=options)
    return asks_pb2.AskInput(prompt="Which plan do you want?", choice=choice)


class AskingService:
    """A service with a token, which asks people in their conversations."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ask(
        self,
        conversation_id: str,
        *,
        owner: str = "noor",
        ask_input: asks_pb2.AskInput | None = None,
        ttl: timedelta | None = None,
        **more: Any,
    ) -> Ask:
        """Asks the owner of a conversation, which plan it is to be unless something else."""
        request = service_asks_pb2.CreateAskRequest(
            conversation_id=conversation_id,
            owner=owner,
            input=ask_input or plan_input(),
            ttl=duration(ttl) if ttl is not None else None,
            **more,
        )
        return (await self.client.asks.CreateAsk(request)).ask

    async def read(self, ask_id: str) -> Ask:
        request = service_asks_pb2.GetAskRequest(ask_id=ask_id)
        return (await self.client.asks.GetAsk(request)).ask

    async def wait(self, ask_id: str, at_most: timedelta | None = None) -> Ask:
        """Waits for an ask, as long as one call may unless less is wanted."""
        request = service_asks_pb2.WaitAskRequest(
            ask_id=ask_id, timeout=duration(at_most) if at_most is not None else None
        )
        return (await self.client.asks.WaitAsk(request)).ask

    async def cancel(self, ask_id: str, reason: str = "") -> Ask:
        request = service_asks_pb2.CancelAskRequest(ask_id=ask_id, reason=reason)
        return (await self.client.asks.CancelAsk(request)).ask


async def asking_service(server: Server, name: str = "errands") -> AskingService:
    """Returns a service that may ask."""
    person = await server.person(name, aud="parley-internal", scope="asks.write")
    return AskingService(person.client)


async def empty_conversation(person: Person) -> str:
    """Returns a conversation of a person's in which nothing was said yet."""
    response = await person.client.conversations.CreateConversation(
        conversations_pb2.CreateConversationRequest(request_id=str(uuid4()))
    )
    return response.conversation.conversation_id


def duration(span: timedelta) -> Duration:
    message = Duration()
    message.FromTimedelta(span)
    return message

"""A question that is newer than a client can be answered from its card."""

from uuid import uuid4

import pytest

import parley
from parley.v1 import turns_pb2 as pb
from parley.v1.cards_pb2 import SimpleCard, SimpleCardButton
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.clients.older import without_choices
from tests.server import StartServer
from tests.standard_asks import ask_plan

PROMPT = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Set up my plan"))


async def test_a_client_that_is_older_than_a_kind_of_question_answers_it(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Team it is.")]))
    async with parley.connect(server.address, server.token()) as client:
        stream = client.channel.unary_stream(
            "/parley.v1.TurnService/StreamTurn",
            request_serializer=pb.StreamTurnRequest.SerializeToString,
            response_deserializer=without_choices("StreamTurnResponse").FromString,
        )
        events = [response.event async for response in stream(PROMPT)]
        (ask,) = (event.ask for event in events if event.HasField("ask"))
        assert ask.input.prompt == "Which plan do you want?"
        assert ask.input.WhichOneof("kind") is None, "it is newer than the client"
        request = pb.TurnRequest(
            conversation_id=ask.conversation_id,
            button=parley.card_answer(ask, ask.simple.buttons[0].id),
            request_id=str(uuid4()),
        )
        assert (await client.turns.Turn(request)).result.text == "Team it is."


async def test_a_question_of_the_list_is_answered_from_its_card(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Team it is.")]))
    noor = await server.person()
    await noor.prompt("Set up my plan")
    (ask,) = (await noor.client.turns.ListPendingAsks(pb.ListPendingAsksRequest())).pending_asks
    request = pb.TurnRequest(
        conversation_id=ask.conversation_id,
        button=parley.card_answer(ask, ask.simple.buttons[0].id),
    )
    assert (await noor.client.turns.Turn(request)).result.text == "Team it is."


def test_a_button_that_the_card_does_not_have_can_not_be_pressed() -> None:
    card = SimpleCard(buttons=[SimpleCardButton(id="skip", label="Skip")])
    for simple in (card, SimpleCard()):
        with pytest.raises(ValueError, match="no button 'other'"):
            parley.card_answer(pb.AskAsked(tool_call_id="call-1", simple=simple), "other")

"""Conversations whose messages are too large for one page."""

from parley.v1.conversations_pb2 import ListMessagesRequest, Message
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.server import StartServer

REPLY = "é" * 600_000
"""1.2 MB."""
TURNS = 5


async def test_a_conversation_of_large_messages_is_listed_page_by_page(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn(*[[Text(REPLY)]] * TURNS))
    noor = await server.person()
    conversation_id = (await noor.prompt("Tell me")).conversation_id
    for _ in range(TURNS - 1):
        await noor.prompt("More", conversation_id)

    pages: list[list[Message]] = []
    request = ListMessagesRequest(conversation_id=conversation_id)
    while not pages or request.page_token:
        response = await noor.client.conversations.ListMessages(request)
        pages.append(list(response.messages))
        request.page_token = response.next_page_token

    assert [len(page) for page in pages] == [5, 4, 1]
    texts = [message.text for page in pages for message in page]
    assert texts == [text for said in ("Tell me", *["More"] * 4) for text in (said, REPLY)]

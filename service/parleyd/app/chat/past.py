"""What was said in a conversation before."""

from collections import deque
from collections.abc import AsyncIterator
from typing import Final

from parley import Client
from parley.v1.conversations_pb2 import ListMessagesRequest, Message

LINES_SHOWN_AGAIN: Final = 6


async def latest_lines(client: Client, conversation_id: str, running_turn_id: str) -> list[Message]:
    """Returns the last lines that person and agent wrote, the oldest first.

    Replies of the turn that runs are left out: who watches it is shown them.

    Raises:
        grpc.aio.AioRpcError: The service refuses, or can't be reached.
    """
    lines = deque[Message](maxlen=LINES_SHOWN_AGAIN)
    async for message in _messages(client, conversation_id):
        written = message.type in {Message.TYPE_USER, Message.TYPE_ASSISTANT} and message.text
        to_come = message.type == Message.TYPE_ASSISTANT and message.turn_id == running_turn_id
        if written and not message.superseded and not to_come:
            lines.append(message)
    return [*lines]


async def reply_id(client: Client, conversation_id: str, turn_id: str) -> str:
    """Returns what the last reply of a turn is named by, or nothing where there is none.

    Raises:
        grpc.aio.AioRpcError: The service refuses, or can't be reached.
    """
    named = ""
    async for message in _messages(client, conversation_id):
        if message.type == Message.TYPE_ASSISTANT and message.turn_id == turn_id:
            named = message.message_id
    return named


async def _messages(client: Client, conversation_id: str) -> AsyncIterator[Message]:
    request = ListMessagesRequest(conversation_id=conversation_id)
    while True:
        response = await client.conversations.ListMessages(request)
        for message in response.messages:
            yield message
        if not response.next_page_token:
            return
        request.page_token = response.next_page_token

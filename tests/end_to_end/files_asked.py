"""An ask for files of every kind, and what its answer is told as."""

from typing import Any

from pydantic import JsonValue

from parley.v1 import asks_pb2, conversations_pb2
from tests.end_to_end.waiting import Waiting

MessageAsk = conversations_pb2.MessageAsk

ALL: dict[str, JsonValue] = {"accept": ["image", "pdf", "text", "csv", "json"]}
FIRST, SECOND, THIRD = [f"content.files[{n}]" for n in range(3)]
NO_FILE = "7e57ab1e-0000-4000-8000-000000000000"


def files_of(value: JsonValue) -> list[Any]:
    """Returns the files of a stored answer."""
    assert isinstance(value, dict)
    assert value["action"] == "accept"
    content: Any = value["content"]
    return content["files"]


async def answered_files(waiting: Waiting) -> list[asks_pb2.FileRef]:
    """Returns the files of the answer as the conversation shows them."""
    messages = await waiting.noor.messages(waiting.conversation_id)
    assert messages[1].ask.status == MessageAsk.STATUS_ANSWERED
    return list(messages[2].ask.answer.accept.files.files)

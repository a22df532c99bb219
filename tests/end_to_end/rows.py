"""What is stored of a conversation, told in short."""

from collections.abc import Iterable

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import conversations_pb2

Message = conversations_pb2.Message
MessageAsk = conversations_pb2.MessageAsk


def types(messages: Iterable[Message]) -> list[str]:
    """Names what the lines of a conversation hold, in their order."""
    return [Message.Type.Name(message.type).removeprefix("TYPE_").lower() for message in messages]


async def steps_kept(engine: AsyncEngine, chain_id: str = "") -> int:
    """Counts the journaled steps of one chain, or of all."""
    async with engine.connect() as connection:
        counted = await connection.execute(
            text("SELECT count(*) FROM turn_steps WHERE :chain IN ('', CAST(chain_id AS text))"),
            {"chain": chain_id},
        )
        return counted.scalar_one()

"""What a model call streams, told apart: its message, and what it used."""

from collections.abc import AsyncIterator

from parleyd.turns.model import Model, ModelCall, Part, StreamPart, UsagePart


async def parts_of(model: Model, call: ModelCall) -> list[Part]:
    """Makes a call and returns the parts of its message."""
    return [part async for part in message_parts(model.stream(call))]


async def message_parts(stream: AsyncIterator[StreamPart]) -> AsyncIterator[Part]:
    """Yields the parts of the message as they come."""
    async for part in stream:
        if not isinstance(part, UsagePart):
            yield part


async def usage_of(model: Model, call: ModelCall) -> list[int]:
    """Makes a call and returns what it said it used, in tokens."""
    return [part.tokens async for part in model.stream(call) if isinstance(part, UsagePart)]

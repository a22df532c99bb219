"""A model that plays a step of a script for every call: all that scripted models share."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing, contextmanager
from typing import TypeAlias

from pydantic import JsonValue

from parleyd.models import script
from parleyd.models.script import (
    Fail,
    Hold,
    Raise,
    ScriptedMessage,
    ScriptedStep,
    Text,
    Unforeseen,
    Usage,
)
from parleyd.turns.model import (
    ModelCall,
    ModelFailed,
    Part,
    ProviderMessage,
    RebuiltCall,
    Shown,
    StreamPart,
    TextPart,
    ToolOutcome,
    UsagePart,
)

Pick: TypeAlias = Callable[[ModelCall], ScriptedStep]
"""Chooses the step that answers a model call."""


class Holds:
    """The places where model calls wait for a test, by name."""

    def __init__(self) -> None:
        self._arrivals: Counter[str] = Counter()
        self._arrived = asyncio.Condition()
        self._released: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def reached(self, name: str, times: int = 1) -> None:
        """Waits until so many model calls have come to the hold, since it was made."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: self._arrivals[name] >= times)

    def release(self, name: str) -> None:
        """Lets every call pass that waits at the hold or comes to it later."""
        self._released[name].set()

    async def wait(self, name: str) -> None:
        """Waits as a model call does."""
        async with self._arrived:
            self._arrivals[name] += 1
            self._arrived.notify_all()
        await self._released[name].wait()


class PlayedModel:
    """Fulfils the model port with a script in place of a vendor.

    Nothing of a call outlives it, so that one process may go on where another stopped.
    """

    def __init__(self, pick: Pick, *, provider: str, model_id: str) -> None:
        self.holds = Holds()
        self._pick = pick
        self._provider = provider
        self._model_id = model_id
        self._streaming = 0

    @property
    def provider(self) -> str:
        """Names the vendor that the script stands in for."""
        return self._provider

    @property
    def model_id(self) -> str:
        """Names the model."""
        return self._model_id

    @property
    def codec(self) -> str:
        """Names the form that `encode` writes."""
        return script.CODEC

    @property
    def supports_tools(self) -> bool:
        """Tells whether the model can call tools; image models can't (spec turns 3.9)."""
        return "image" not in self._model_id

    @property
    def streaming(self) -> int:
        """Counts the calls that are streaming now."""
        return self._streaming

    async def stream(self, call: ModelCall) -> AsyncGenerator[StreamPart, None]:
        """Plays the step that the script has for `call`.

        Raises:
            ModelFailed: The step says so, or holds no part at all.
            Unforeseen: The step says so.
        """
        async with aclosing(self.play(self._pick(call))) as parts:
            async for part in parts:
                yield part

    async def play(self, step: ScriptedStep) -> AsyncGenerator[StreamPart, None]:
        """Plays one step.

        Raises:
            ModelFailed: The step says so, or holds no part at all.
            Unforeseen: The step says so.
        """
        with self._counted():
            spoken = False
            for part in step:
                match part:
                    case Fail(kind=kind, message=message, wait_seconds=wait_seconds):
                        raise ModelFailed(kind, message, wait_seconds=wait_seconds)
                    case Raise(message=message):
                        raise Unforeseen(message)
                    case Usage(tokens=tokens):
                        yield UsagePart(tokens)
                    case Hold(name=name):
                        await self.holds.wait(name)
                    case _:
                        spoken = True
                        yield script.as_part(part)
            if not spoken:
                raise ModelFailed("server", "The step holds no part.")

    def user_message(self, text: str, shown: Sequence[Shown] = ()) -> ProviderMessage:
        """Returns what the person wrote, and the files that came with it."""
        return ScriptedMessage("user", (Text(text), *shown))

    def reply_message(self, text: str) -> ProviderMessage:
        """Returns a reply of an earlier turn."""
        return ScriptedMessage("model", (Text(text),))

    def assistant_message(self, parts: Sequence[Part]) -> ProviderMessage:
        """Returns the message of a step, every part as it came, in order."""
        return ScriptedMessage("model", tuple(script.as_script(part) for part in parts))

    def rebuilt_message(self, calls: Sequence[RebuiltCall]) -> ProviderMessage:
        """Returns the message of a step whose own is gone, opaque bytes included."""
        return ScriptedMessage("model", tuple(script.as_call(call) for call in calls))

    def tool_message(self, outcomes: Sequence[ToolOutcome]) -> ProviderMessage:
        """Returns the one message with the results of all calls of a step, in call order."""
        return ScriptedMessage("tool", tuple(outcomes))

    def encode(self, messages: Sequence[ProviderMessage]) -> bytes:
        """Returns messages as bytes from which `decode` makes equal ones."""
        return script.encode(messages)

    def decode(self, codec: str, data: bytes) -> tuple[ProviderMessage, ...]:
        """Returns the messages that `encode` wrote.

        Raises:
            UndecodableMessages: Another codec, or nothing that it wrote.
        """
        return script.decode(codec, data)

    async def generate_json(
        self, system: str, prompt: str, schema: dict[str, JsonValue], temperature: float
    ) -> str:
        """Plays the step that the script has for the prompt, whatever the schema.

        Raises:
            ModelFailed: The step says so, or holds no part at all.
            Unforeseen: The step says so.
        """
        del schema
        call = ModelCall(system, (self.user_message(prompt),), (), None, temperature)
        parts = [part async for part in self.play(self._pick(call))]
        return "".join(part.text for part in parts if isinstance(part, TextPart))

    @contextmanager
    def _counted(self) -> Generator[None]:
        self._streaming += 1
        try:
            yield
        finally:
            self._streaming -= 1

"""The port of the language model; "model" means nothing else here (spec turns 5.1)."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from pydantic import JsonValue

ProviderMessage: TypeAlias = object
"""A message in the provider's own form. Only the adapter that made it looks inside."""


@dataclass(frozen=True)
class Tool:
    """A tool as the model is told of it. `schema` is JSON Schema with an object at its root."""

    name: str
    description: str
    schema: dict[str, JsonValue]


@dataclass(frozen=True)
class ModelCall:
    """One call of the model."""

    system: str | None
    messages: tuple[ProviderMessage, ...]
    tools: tuple[Tool, ...]
    tool_choice: Literal["auto", "none", "required"] | None
    temperature: float


@dataclass(frozen=True)
class TextPart:
    """Text for the person. `raw` is the provider's own part, kept as it came."""

    text: str
    raw: object


@dataclass(frozen=True)
class ThoughtPart:
    """A thought, or a part that only carries the provider's metadata. Never shown."""

    raw: object


@dataclass(frozen=True)
class CallPart:
    """A tool call. `call_id` is the provider's, where it gives one."""

    call_id: str | None
    name: str
    args: JsonValue
    raw: object


@dataclass(frozen=True)
class UsagePart:
    """What the call has used so far, in tokens. No part of the model's message."""

    tokens: int


Part: TypeAlias = TextPart | ThoughtPart | CallPart
StreamPart: TypeAlias = Part | UsagePart


@dataclass(frozen=True)
class TextShown:
    """Text that a model is shown beside a result or a message: what a file is, or what is in it."""

    text: str


@dataclass(frozen=True)
class MediaShown:
    """An image or a document that a model is shown as it is."""

    mime_type: str
    data: bytes = field(repr=False)
    filename: str | None = None


Shown: TypeAlias = TextShown | MediaShown


@dataclass(frozen=True)
class ToolOutcome:
    """The result of a call, for the model: JSON, an error it can mend, or a denial.

    `call_id` is the provider's id of the call, where it gave one. `denied` says why a call that
    needed an approval has not run; `value` is then what is stored of it. `shown` are the files that
    belong to the result, each after a line that says what it is (spec turns 11.4).
    """

    call_id: str | None
    name: str
    value: JsonValue = None
    error: str | None = None
    denied: str | None = None
    shown: tuple[Shown, ...] = ()


@dataclass(frozen=True)
class RebuiltCall:
    """A call of a step whose provider messages are gone (spec turns 5.2)."""

    call_id: str | None
    name: str
    args: JsonValue


ModelFailureKind: TypeAlias = Literal["rate_limit", "server", "timeout", "refused", "other"]


class ModelFailed(Exception):
    """The model call failed. The text is the provider's and never goes to a client.

    `wait_seconds` is how long the provider asks us to wait before another try, where it says so.
    """

    def __init__(
        self, kind: ModelFailureKind, message: str, *, wait_seconds: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind: ModelFailureKind = kind
        self.wait_seconds = wait_seconds


class UndecodableMessages(Exception):
    """Stored provider messages that this adapter can't read; the step is rebuilt from its calls."""


class Model(Protocol):
    """A language model of one vendor (spec turns 5.1)."""

    @property
    def provider(self) -> str:
        """Names the vendor; stored messages go back to an adapter of the same name only."""
        ...

    @property
    def model_id(self) -> str:
        """Names the model, as the vendor does."""
        ...

    @property
    def codec(self) -> str:
        """Names the form that `encode` writes."""
        ...

    @property
    def supports_tools(self) -> bool:
        """Tells whether the model can call tools."""
        ...

    def stream(self, call: ModelCall) -> AsyncGenerator[StreamPart, None]:
        """Streams the parts of one model call. Ending the iteration early ends the call.

        Raises:
            ModelFailed: The provider failed, refused, or ended without any part.
        """
        ...

    def user_message(self, text: str, shown: Sequence[Shown] = ()) -> ProviderMessage:
        """Returns what the person wrote, and the files that came with it."""
        ...

    def reply_message(self, text: str) -> ProviderMessage:
        """Returns a reply of an earlier turn."""
        ...

    def assistant_message(self, parts: Sequence[Part]) -> ProviderMessage:
        """Returns the message of a step, every part as it came, in order."""
        ...

    def rebuilt_message(self, calls: Sequence[RebuiltCall]) -> ProviderMessage:
        """Returns the message of a step whose own is gone."""
        ...

    def tool_message(self, outcomes: Sequence[ToolOutcome]) -> ProviderMessage:
        """Returns the one message with the results of all calls of a step, in call order."""
        ...

    def encode(self, messages: Sequence[ProviderMessage]) -> bytes:
        """Returns messages as bytes from which `decode` makes equal ones."""
        ...

    def decode(self, codec: str, data: bytes) -> tuple[ProviderMessage, ...]:
        """Returns the messages that `encode` wrote.

        Raises:
            UndecodableMessages: Another codec, or a newer form.
        """
        ...

    async def generate_text(self, system: str, prompt: str, temperature: float) -> str:
        """Returns a short text, as for a title.

        Raises:
            ModelFailed: As in `stream`.
        """
        ...

    async def generate_json(
        self, system: str, prompt: str, schema: dict[str, JsonValue], temperature: float
    ) -> str:
        """Returns a text of JSON that `schema` describes, JSON Schema with an object at its root.

        The model is held to the schema as far as its vendor can; the caller checks what comes. The
        text may stand in a fence. Cancelling ends the call.

        Raises:
            ModelFailed: As in `stream`.
        """
        ...

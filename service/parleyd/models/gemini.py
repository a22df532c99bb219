"""Gemini through google-genai (spec turns 5.5)."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from contextvars import ContextVar
from typing import TypeAlias

import httpx2
from google.genai import Client
from google.genai import types as genai
from pydantic import JsonValue

from parleyd.models import gemini_messages
from parleyd.models.gemini_failures import (
    PROVIDER_ERRORS,
    failure_of_block,
    failure_of_error,
    failure_of_finish,
)
from parleyd.models.gemini_files import takes_files_in_results
from parleyd.models.gemini_results import results_message
from parleyd.models.gemini_schemas import gemini_schema
from parleyd.turns.model import (
    ModelCall,
    ModelFailed,
    Part,
    ProviderMessage,
    RebuiltCall,
    Shown,
    StreamPart,
    TextPart,
    ThoughtPart,
    Tool,
    ToolOutcome,
    UsagePart,
)

PROVIDER = "gemini"
API_VERSION = "v1beta"
IDLE_SECONDS = 60.0

_MODES = {
    "auto": genai.FunctionCallingConfigMode.AUTO,
    "required": genai.FunctionCallingConfigMode.ANY,
    "none": genai.FunctionCallingConfigMode.NONE,
}
_responses: ContextVar[list[httpx2.Response]] = ContextVar("responses")
_Frames: TypeAlias = asyncio.Queue[genai.GenerateContentResponse | None]


class GeminiModel:
    """A Gemini model. It owns its HTTP connections; `aclose` ends them.

    `base_url` is for a proxy; `idle_seconds` is how long the provider may be silent, at the start
    and between two frames.
    """

    def __init__(
        self,
        model_id: str,
        api_key: str,
        *,
        base_url: str | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._model_id = model_id
        self._api_key = api_key
        self._idle_seconds = idle_seconds
        # Silence is watched here. The SDK's own timeout would also tell the server to cut answers
        # that take longer in all, and its connection pool would make the hundredth turn wait.
        self._http = httpx2.AsyncClient(
            timeout=None,
            limits=httpx2.Limits(max_keepalive_connections=20, keepalive_expiry=30),
            event_hooks={"response": [_remember]},
        )
        self._client = Client(
            vertexai=False,
            api_key=api_key,
            http_options=genai.HttpOptions(
                base_url=base_url,
                api_version=API_VERSION,
                retry_options=genai.HttpRetryOptions(attempts=1),
                httpx_async_client=self._http,
            ),
        )

    @property
    def provider(self) -> str:
        """Names the vendor."""
        return PROVIDER

    @property
    def model_id(self) -> str:
        """Names the model, as the vendor does."""
        return self._model_id

    @property
    def codec(self) -> str:
        """Names the form that `encode` writes, with the version of the SDK."""
        return gemini_messages.CODEC

    @property
    def supports_tools(self) -> bool:
        """Tells whether the model can call tools; image models can't (spec turns 3.9)."""
        return "image" not in self._model_id

    async def aclose(self) -> None:
        """Closes the connections. The model can't be called afterwards."""
        await self._http.aclose()
        await self._client.aio.aclose()
        self._client.close()

    async def stream(self, call: ModelCall) -> AsyncGenerator[StreamPart, None]:
        """Streams the parts of one model call, and what it used whenever Gemini says so.

        Parts that show nothing are held back until one does. A call that fails before has thus
        streamed nothing of its message and can be repeated (spec turns 3.4.5); one that ends before
        has failed.

        Raises:
            ModelFailed: The provider failed, refused, fell silent, or ended without an answer.
        """
        async with aclosing(self._parts(call, _config(call))) as parts:
            async for part in parts:
                yield part

    def user_message(self, text: str, shown: Sequence[Shown] = ()) -> ProviderMessage:
        """Returns what the person wrote, and the files that came with it."""
        return gemini_messages.user_content(text, shown)

    def reply_message(self, text: str) -> ProviderMessage:
        """Returns a reply of an earlier turn."""
        return gemini_messages.reply_content(text)

    def assistant_message(self, parts: Sequence[Part]) -> ProviderMessage:
        """Returns the message of a step, every part as it came, in order."""
        return gemini_messages.step_content(parts)

    def rebuilt_message(self, calls: Sequence[RebuiltCall]) -> ProviderMessage:
        """Returns the message of a step whose own is gone."""
        return gemini_messages.rebuilt_content(calls)

    def tool_message(self, outcomes: Sequence[ToolOutcome]) -> ProviderMessage:
        """Returns the one message with the results of all calls of a step, in call order."""
        files_inside = takes_files_in_results(self._model_id)
        return results_message(outcomes, files_inside=files_inside)

    def encode(self, messages: Sequence[ProviderMessage]) -> bytes:
        """Returns messages as bytes from which `decode` makes equal ones."""
        return gemini_messages.encode(messages)

    def decode(self, codec: str, data: bytes) -> tuple[ProviderMessage, ...]:
        """Returns the messages that `encode` wrote.

        Raises:
            UndecodableMessages: Another codec, or a newer form.
        """
        return gemini_messages.decode(codec, data)

    async def generate_text(self, system: str, prompt: str, temperature: float) -> str:
        """Returns a short text, as for a title.

        Raises:
            ModelFailed: As in `stream`.
        """
        call = ModelCall(system, (self.user_message(prompt),), (), None, temperature)
        return await self._text(call, _config(call))

    async def generate_json(
        self, system: str, prompt: str, schema: dict[str, JsonValue], temperature: float
    ) -> str:
        """Returns a text of JSON, as `schema` says in the keywords that Gemini knows.

        Raises:
            ModelFailed: As in `stream`.
        """
        call = ModelCall(system, (self.user_message(prompt),), (), None, temperature)
        config = _config(call)
        config.response_mime_type = "application/json"
        config.response_json_schema = gemini_schema(schema)
        return await self._text(call, config)

    async def _text(self, call: ModelCall, config: genai.GenerateContentConfig) -> str:
        """Returns all that one call says."""
        async with aclosing(self._parts(call, config)) as parts:
            return "".join([part.text async for part in parts if isinstance(part, TextPart)])

    async def _parts(
        self, call: ModelCall, config: genai.GenerateContentConfig
    ) -> AsyncGenerator[StreamPart, None]:
        """Streams the parts of one call, see `stream`."""
        held: list[Part] = []
        finished = answered = False
        async with aclosing(self._frames(call, config)) as frames:
            async for frame in frames:
                if tokens := frame.usage_metadata and frame.usage_metadata.total_token_count:
                    yield UsagePart(tokens)
                for candidate in _candidates(frame):
                    if candidate.finish_reason:
                        finished = True
                        if failure := failure_of_finish(candidate.finish_reason):
                            raise failure
                    for raw in (candidate.content and candidate.content.parts) or ():
                        part = gemini_messages.as_part(raw)
                        held.append(part)
                        answered = answered or not isinstance(part, ThoughtPart)
                    while answered and held:
                        yield held.pop(0)
        if not (finished and answered):
            raise ModelFailed("server", "the stream ended without an answer")

    async def _frames(
        self, call: ModelCall, config: genai.GenerateContentConfig
    ) -> AsyncGenerator[genai.GenerateContentResponse, None]:
        """Streams the frames of one call, and closes its connection however it ends.

        A task of its own reads them: the SDK closes a connection only where it is cancelled while
        it waits for the provider, and that task waits for nothing else.
        """
        frames: _Frames = asyncio.Queue()
        reading = asyncio.create_task(self._read(call, config, frames))
        try:
            while (frame := await self._next(frames)) is not None:
                yield frame
            await reading
        finally:
            reading.cancel()
            await asyncio.wait([reading])
            if not reading.cancelled():
                reading.exception()

    async def _read(
        self, call: ModelCall, config: genai.GenerateContentConfig, frames: _Frames
    ) -> None:
        opened: list[httpx2.Response] = []
        _responses.set(opened)
        try:
            # The SDK's signature names types of packages that it doesn't need.
            stream = await self._client.aio.models.generate_content_stream(  # pyright: ignore[reportUnknownMemberType]
                model=self._model_id,
                contents=[
                    content
                    for message in call.messages
                    for content in gemini_messages.as_contents(message)
                ],
                config=config,
            )
            async for frame in stream:
                frames.put_nowait(frame)
        except PROVIDER_ERRORS as error:
            raise failure_of_error(error, self._api_key) from None
        finally:
            frames.put_nowait(None)
            for response in opened:
                await response.aclose()

    async def _next(self, frames: _Frames) -> genai.GenerateContentResponse | None:
        try:
            async with asyncio.timeout(self._idle_seconds):
                return await frames.get()
        except TimeoutError:
            raise ModelFailed("timeout", f"silent for {self._idle_seconds:g} s") from None


async def _remember(response: httpx2.Response) -> None:
    """Notes a response for its reader: after an error in mid-stream the SDK leaves it open."""
    _responses.get().append(response)


def _candidates(frame: genai.GenerateContentResponse) -> Sequence[genai.Candidate]:
    feedback = frame.prompt_feedback
    if feedback and feedback.block_reason:
        raise failure_of_block(feedback.block_reason)
    return frame.candidates or ()


def _config(call: ModelCall) -> genai.GenerateContentConfig:
    return genai.GenerateContentConfig(
        system_instruction=call.system,
        temperature=call.temperature,
        tools=[_declared(call.tools)] if call.tools else None,
        tool_config=genai.ToolConfig(
            function_calling_config=genai.FunctionCallingConfig(mode=_MODES[call.tool_choice])
        )
        if call.tool_choice
        else None,
        automatic_function_calling=genai.AutomaticFunctionCallingConfig(disable=True),
        automatic_continuation=False,
    )


def _declared(tools: Sequence[Tool]) -> genai.Tool:
    return genai.Tool(
        function_declarations=[
            genai.FunctionDeclaration(
                name=tool.name, description=tool.description, parameters_json_schema=tool.schema
            )
            for tool in tools
        ]
    )

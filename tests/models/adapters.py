"""Every adapter, made to stream a call, to hang, and to show what it was sent."""

import base64
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from pydantic import JsonValue

from parleyd.contract.asks.kinds import ASK_KINDS
from parleyd.contract.asks.tools import ask_tools
from parleyd.models.demo import DemoModel
from parleyd.models.gemini import GeminiModel
from parleyd.models.gemini_messages import as_contents
from parleyd.models.script import Call, Hold, ScriptedMessage, Text, Thought, Usage, as_message
from parleyd.models.scripted import ScriptedModel, by_prompt, in_turn
from parleyd.models.strict import StrictModel
from parleyd.turns.model import (
    Model,
    ModelCall,
    ProviderMessage,
    Tool,
    ToolOutcome,
)
from tests.models.fake_gemini import FakeGemini, frame

SIGNATURE = bytes(range(256))
OTHER_SIGNATURE = bytes(reversed(range(256)))

DOCUMENT = '{"v": 1, "blocks": [{"type": "divider"}]}'

TOOLS = tuple(
    Tool(tool.name, tool.description, tool.schema) for tool in ask_tools(ASK_KINDS, "full")
)


@dataclass(frozen=True)
class Adapter:
    """A model on a stage of its own.

    `asking` is a prompt that makes it call `ask_choice`, `chatting` one that makes it talk, and
    `hanging` one whose answer isn't over after its first part; `showing` makes it write a document
    where JSON is asked for. `opaque_sent` returns the opaque bytes of its last request, `outcomes`
    what a tool message says, and `ended` waits until the call under way is over. `used` is what the
    chatting call says it used, 0 where it doesn't say.
    """

    model: Model
    opaque: Sequence[bytes]
    opaque_sent: Callable[[], Sequence[bytes]]
    outcomes: Callable[[ProviderMessage], Sequence[tuple[str | None, str, JsonValue]]]
    ended: Callable[[], Awaitable[None]]
    used: int = 0
    asking: str = "set up my plan"
    chatting: str = "hello"
    hanging: str = "what can you do"
    showing: str = "show my sales"

    def call(self, prompt: str, *later: ProviderMessage) -> ModelCall:
        """Returns a call with both ask tools."""
        messages = (self.model.user_message(prompt), *later)
        return ModelCall("Be brief.", messages, TOOLS, "auto", 1.0)


@asynccontextmanager
async def _scripted(kind: type[ScriptedModel]) -> AsyncGenerator[Adapter]:
    model = kind(
        by_prompt(
            {
                "set up my plan": in_turn(
                    [
                        Text("", OTHER_SIGNATURE),
                        Call("ask_choice", {"empty": {}, "nul": "\x00"}, "call_1", SIGNATURE),
                    ],
                    [Text("Done.")],
                ),
                "hello": in_turn([Text("Hello "), Usage(3), Text("there."), Usage(5)]),
                "what can you do": in_turn([Text("Much."), Hold("never")]),
                "show my sales": in_turn([Text(DOCUMENT[:9]), Text(DOCUMENT[9:])]),
            }
        )
    )

    async def ended() -> None:
        assert model.streaming == 0

    yield Adapter(
        model,
        opaque=(OTHER_SIGNATURE, SIGNATURE),
        opaque_sent=lambda: _opaque_of(model.calls[-1].messages),
        outcomes=_outcomes_of,
        ended=ended,
        used=5,
    )


@asynccontextmanager
async def _demo() -> AsyncGenerator[Adapter]:
    model = DemoModel()

    async def ended() -> None:
        assert model.streaming == 0

    yield Adapter(model, opaque=(), opaque_sent=list, outcomes=_outcomes_of, ended=ended)


@asynccontextmanager
async def _gemini() -> AsyncGenerator[Adapter]:
    server = FakeGemini()
    async with server.serving():
        model = GeminiModel("gemini-test", "secret", base_url=server.url)
        server.answer_prompt(
            "set up my plan",
            frame(
                {"text": "", "thoughtSignature": base64.b64encode(OTHER_SIGNATURE).decode()},
                {
                    "functionCall": {
                        "id": "call_1",
                        "name": "ask_choice",
                        "args": {"empty": {}, "nul": "\x00"},
                    },
                    "thoughtSignature": base64.b64encode(SIGNATURE).decode(),
                },
                finish="STOP",
            ),
        )
        server.answer_prompt("set up my plan", frame({"text": "Done."}, finish="STOP"))
        server.answer_prompt(
            "hello", frame({"text": "Hello "}), frame({"text": "there."}, finish="STOP")
        )
        server.answer_prompt("what can you do", frame({"text": "Much."}), then="hang")
        server.answer_prompt(
            "show my sales",
            frame({"text": DOCUMENT[:9]}),
            frame({"text": DOCUMENT[9:]}, finish="STOP"),
        )
        server.answer_prompt("Name this.", frame({"text": "Workspace setup"}, finish="STOP"))

        async def ended() -> None:
            await server.received[-1].client_left.wait()

        def opaque_sent() -> Sequence[bytes]:
            return [
                base64.urlsafe_b64decode(part["thoughtSignature"])
                for content in server.received[-1].contents
                for part in content["parts"]
                if "thoughtSignature" in part
            ]

        yield Adapter(
            model,
            opaque=(OTHER_SIGNATURE, SIGNATURE),
            opaque_sent=opaque_sent,
            outcomes=_responses_of,
            ended=ended,
            used=7,
        )
        await model.aclose()


ADAPTERS: dict[str, Callable[[], AbstractAsyncContextManager[Adapter]]] = {
    "scripted": partial(_scripted, ScriptedModel),
    "strict": partial(_scripted, StrictModel),
    "demo": _demo,
    "gemini": _gemini,
}


def _opaque_of(messages: Sequence[ProviderMessage]) -> list[bytes]:
    return [
        part.opaque
        for message in messages
        if isinstance(message, ScriptedMessage)
        for part in message.parts
        if isinstance(part, Text | Thought | Call) and part.opaque is not None
    ]


def _outcomes_of(message: ProviderMessage) -> list[tuple[str | None, str, JsonValue]]:
    return [
        (part.call_id, part.name, part.value if part.error is None else part.error)
        for part in as_message(message).parts
        if isinstance(part, ToolOutcome)
    ]


def _responses_of(message: ProviderMessage) -> list[tuple[str | None, str, JsonValue]]:
    found: list[tuple[str | None, str, JsonValue]] = []
    for part in as_contents(message)[0].parts or ():
        answer = part.function_response
        assert answer
        assert answer.response
        (said,) = answer.response.values()
        found.append((answer.id, answer.name or "", said))
    return found

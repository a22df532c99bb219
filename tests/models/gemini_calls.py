"""Calls of Gemini, and parts as they are on its wire."""

import base64
from typing import Any, Literal

from pydantic import JsonValue

from parleyd.models.gemini import GeminiModel
from parleyd.turns.model import (
    ModelCall,
    ProviderMessage,
    Tool,
)
from tests.models.fake_gemini import FakeGemini, frame
from tests.models.streamed import parts_of

SIGNATURE = bytes(range(256))


def call_of(
    model: GeminiModel,
    *later: ProviderMessage,
    system: str | None = None,
    tools: tuple[Tool, ...] = (),
    tool_choice: Literal["auto", "none", "required"] | None = None,
    temperature: float = 1.0,
) -> ModelCall:
    messages = (model.user_message("Hi."), *later)
    return ModelCall(system, messages, tools, tool_choice, temperature)


async def sent(server: FakeGemini, model: GeminiModel, call: ModelCall) -> dict[str, Any]:
    """Returns the body of the request that a call makes."""
    server.answer(frame({"text": "Fine."}, finish="STOP"))
    await parts_of(model, call)
    return server.received[-1].body


def function_call(
    name: str, args: JsonValue, signature: bytes | None = None, **more: str
) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": name, "args": args, **more}}
    if signature is not None:
        part["thoughtSignature"] = base64.b64encode(signature).decode()
    return part


def plain(part: dict[str, Any]) -> dict[str, Any]:
    """Returns a part with its signature as bytes: base64 has two alphabets."""
    if "thoughtSignature" not in part:
        return part
    return {**part, "thoughtSignature": base64.urlsafe_b64decode(_url_safe(part))}


def _url_safe(part: dict[str, Any]) -> str:
    return part["thoughtSignature"].replace("+", "-").replace("/", "_")

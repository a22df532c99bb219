"""Steps: one model call and the tool calls it made (spec turns 4.2)."""

import json
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from pydantic import BeforeValidator, JsonValue, PlainSerializer

from parleyd.contract.text import storable
from parleyd.contract.value import Value

CallRole: TypeAlias = Literal["ask", "host", "approval", "invalid"]
"""`ask`: a valid ask. `host`: a host tool with arguments that fit. `approval`: one that may run
only once it is approved. `invalid`: a call that can't run; `error` is what the model reads."""


def _kept(provider_id: str) -> str | dict[str, str]:
    if storable(provider_id) == provider_id:
        return provider_id
    return {"escaped": json.dumps(provider_id)}


def _as_it_came(kept: object) -> object:
    match kept:
        case {"escaped": str(text)}:
            return json.loads(text)
        case _:
            return kept


ProviderCallId: TypeAlias = Annotated[
    str, BeforeValidator(_as_it_came), PlainSerializer(_kept, when_used="json")
]
"""A provider's own id, which comes back from storage to the byte: its results must bear it."""


class StepCall(Value):
    """A tool call of a step, in the order of the model's message.

    `tool_call_id` is the public id; `provider_call_id` is the provider's own, where it gave one,
    and the only one that goes back to it. `args` are in storable form. `ask_id` names the ask that
    the call makes; of an approval only where it is the first ask of its step (spec turns 9.4, 9.6).
    """

    tool_call_id: str
    provider_call_id: ProviderCallId | None
    tool_name: str
    args: JsonValue
    role: CallRole
    ask_id: UUID | None = None
    error: str | None = None


class Step(Value):
    """A journaled step. `messages` are the provider's own, encoded by `codec`, and never change."""

    step_no: int
    provider: str
    model: str
    codec: str
    messages: bytes
    calls: tuple[StepCall, ...]
    text: str = ""

"""Steps: one model call and the tool calls it made (spec turns 4.2)."""

from typing import Literal, TypeAlias
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.value import Value

CallRole: TypeAlias = Literal["ask", "host", "invalid"]
"""`ask`: a valid ask. `host`: a host tool with arguments that fit. `invalid`: a call that can't run;
`error` is what the model reads."""


class StepCall(Value):
    """A tool call of a step, in the order of the model's message.

    `tool_call_id` is the public id; `provider_call_id` is the provider's own, where it gave one,
    and the only one that goes back to it. `args` are in storable form.
    """

    tool_call_id: str
    provider_call_id: str | None
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

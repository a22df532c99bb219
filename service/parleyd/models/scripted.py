"""The model of the tests: says what a script says and keeps what it was sent (spec turns 14)."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from parleyd.models.played import Pick, PlayedModel
from parleyd.models.script import ScriptedStep, Text, after_prompt, last_prompt
from parleyd.turns.model import ModelCall, StreamPart, TextPart

TITLE: ScriptedStep = (Text("Workspace setup"),)


class ScriptEnded(Exception):
    """The script has no step for this model call."""


@dataclass(frozen=True)
class TextCall:
    """One call of `generate_text`."""

    system: str
    prompt: str
    temperature: float


@dataclass(frozen=True)
class JsonCall:
    """One call of `generate_json`."""

    system: str
    prompt: str
    schema: dict[str, JsonValue]
    temperature: float


class ScriptedModel(PlayedModel):
    """Plays a script, and records every call in `calls` as it begins.

    `pick` may be `in_turn`, `by_prompt`, `by_progress`, or any function of the call. Texts that are
    no turns, as titles are, have records of their own, `text_calls`, and always play `title`; so
    have calls for JSON, `json_calls`, which play the script.
    """

    def __init__(
        self,
        pick: Pick,
        *,
        provider: str = "scripted",
        model_id: str = "scripted-1",
        title: ScriptedStep = TITLE,
    ) -> None:
        super().__init__(pick, provider=provider, model_id=model_id)
        self.calls: list[ModelCall] = []
        self.text_calls: list[TextCall] = []
        self.json_calls: list[JsonCall] = []
        self._title = title

    def stream(self, call: ModelCall) -> AsyncGenerator[StreamPart, None]:
        """Records the call, then plays its step.

        Raises:
            ModelFailed: The step says so, or holds no part at all.
            ScriptEnded: There is no step for this call.
        """
        self.calls.append(call)
        return super().stream(call)

    async def generate_text(self, system: str, prompt: str, temperature: float) -> str:
        """Returns the text of the title step.

        Raises:
            ModelFailed: That step says so.
        """
        self.text_calls.append(TextCall(system, prompt, temperature))
        parts = [part async for part in self.play(self._title)]
        return "".join(part.text for part in parts if isinstance(part, TextPart))

    async def generate_json(
        self, system: str, prompt: str, schema: dict[str, JsonValue], temperature: float
    ) -> str:
        """Records the call, then returns the text of its step.

        Raises:
            ModelFailed: The step says so, or holds no part at all.
            ScriptEnded: There is no step for this call.
        """
        self.json_calls.append(JsonCall(system, prompt, schema, temperature))
        return await super().generate_json(system, prompt, schema, temperature)


def in_turn(*steps: ScriptedStep) -> Pick:
    """Picks the steps one after the other, whatever the call."""
    rest = iter(steps)

    def pick(call: ModelCall) -> ScriptedStep:
        del call
        for step in rest:
            return step
        raise ScriptEnded(f"All {len(steps)} steps are played.")

    return pick


def by_progress(*steps: ScriptedStep) -> Pick:
    """Picks by the number of model messages after the last user message.

    Needs no memory: a second process goes on where a killed one stopped, and a call that is
    repeated gets the same step again.
    """

    def pick(call: ModelCall) -> ScriptedStep:
        done = sum(message.role == "model" for message in after_prompt(call.messages))
        if done >= len(steps):
            raise ScriptEnded(f"The script has {len(steps)} steps for a prompt, not {done + 1}.")
        return steps[done]

    return pick


def by_prompt(scripts: Mapping[str, Pick]) -> Pick:
    """Picks by the text of the last user message, so that turns may run at once."""

    def pick(call: ModelCall) -> ScriptedStep:
        prompt = last_prompt(call.messages)
        if prompt not in scripts:
            raise ScriptEnded(f"The script knows no prompt {prompt!r}.")
        return scripts[prompt](call)

    return pick

"""What the model of the benchmarks says, without taking time for it.

All scripts pick by progress, so that a second process goes on where a killed one stopped.
"""

from collections.abc import Mapping

from parleyd.models.played import Pick, PlayedModel
from parleyd.models.script import Call, Hold, ScriptedStep, Text
from parleyd.models.scripted import by_progress

THINKING = "thinking"
"""Where the model waits until the benchmark releases it."""
ASKS = 60
"""Questions that the script `asks` has for one prompt."""
BUTTON = "option:team"
"""A button on the card of `ASK`."""

ASK = Call(
    "ask_choice",
    {
        "prompt": "Which plan do you want?",
        "select": "one",
        "options": [
            {"id": "starter", "label": "Starter"},
            {"id": "team", "label": "Team"},
            {"id": "enterprise", "label": "Enterprise"},
        ],
        "default": ["team"],
    },
    opaque=bytes(range(256)),
)
ASK_FOR_FILES = Call("ask_files", {"prompt": "Which plans?", "accept": ["pdf"]})
REPLY: ScriptedStep = tuple(Text(f"word{number} ") for number in range(20))
"""A reply of twenty parts, as a model streams its tokens."""
HELD_REPLY: ScriptedStep = (Hold(THINKING), *REPLY)

SCRIPTS: Mapping[str, Pick] = {
    "ask": by_progress([ASK], REPLY),
    "ask_then_think": by_progress([ASK], HELD_REPLY),
    "asks": by_progress(*[[ASK]] * ASKS, REPLY),
    "files": by_progress([ASK_FOR_FILES], REPLY),
    "think": by_progress(HELD_REPLY),
}


class BenchModel(PlayedModel):
    """Plays a script and keeps nothing of a call, so that memory tells of the service alone."""

    def __init__(self, script: str) -> None:
        super().__init__(SCRIPTS[script], provider="scripted", model_id="scripted-1")

    async def generate_text(self, system: str, prompt: str, temperature: float) -> str:
        """Returns a title."""
        del system, prompt, temperature
        return "Workspace setup"

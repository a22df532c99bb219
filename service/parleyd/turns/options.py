"""What a deployment decides about its turns (spec turns 2)."""

from dataclasses import dataclass

from parleyd.contract import limits
from parleyd.contract.asks.ask import AskKind


@dataclass(frozen=True)
class TurnOptions:
    """One immutable set of options, shared by every turn of the process.

    `ask_kinds` empty means asks are off. Without tools a turn is one model call, whatever
    `max_steps` says.
    """

    ask_kinds: tuple[AskKind, ...] = ()
    max_steps: int = limits.TURN_STEPS
    temperature: float = 1.0
    title_temperature: float = 0.3
    system_prompt: str | None = None
    allow_client_system_instruction: bool = False

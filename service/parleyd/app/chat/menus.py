"""What a terminal offers for a question: a menu, and what its lines do."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from parley import FieldFault
from parley.v1.turns_pb2 import AnswerInput, ButtonInput, PromptInput
from parleyd.app.chat.questions import OpenQuestion
from parleyd.app.chat.terminal import Terminal

PersonInput: TypeAlias = PromptInput | AnswerInput | ButtonInput
"""What a person did: the inputs of a turn."""

Step: TypeAlias = Callable[[Terminal], Awaitable[PersonInput | None]]
"""Asks the person for more. Unless that leads to an input to send, the menu is shown again."""


@dataclass(frozen=True)
class MenuItem:
    """A line to pick: something to send, or something to do first."""

    label: str
    does: PersonInput | Step
    description: str = ""


@dataclass(frozen=True)
class Menu:
    """Lines to pick from, one of them preselected. `handoff`: some answers are out of its reach."""

    items: tuple[MenuItem, ...]
    preselected: int = 0
    handoff: bool = False


class Sheet(Protocol):
    """A question on the way to its answer.

    Keeps all that the person has put down until the service has taken it.
    """

    @property
    def question(self) -> OpenQuestion:
        """The question."""
        ...

    @property
    def names(self) -> Mapping[str, str]:
        """What the paths of an answer stand for on the screen."""
        ...

    def show(self, terminal: Terminal, /) -> None:
        """Shows what belongs to the question and has no room in a menu."""
        ...

    def menu(self) -> Menu:
        """Returns what the person can do now, but for what every question offers."""
        ...

    def refuse(self, faults: Sequence[FieldFault], /) -> None:
        """Takes note of what the service says is wrong, so that it is asked for again."""
        ...

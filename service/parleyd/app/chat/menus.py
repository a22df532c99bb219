"""What a terminal offers, for a question above all: a menu, and what its lines do."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from parley import FieldFault
from parley.v1.turns_pb2 import AnswerInput, ButtonInput, PromptInput, RetryInput
from parleyd.app.chat.questions import OpenQuestion
from parleyd.app.chat.terminal import Terminal

PersonInput: TypeAlias = PromptInput | AnswerInput | ButtonInput | RetryInput
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


async def write(terminal: Terminal) -> PromptInput | None:
    """Returns what the person writes."""
    return await terminal.read_message()


WRITE: Final = MenuItem("Write a message", write)


async def pick_input(
    terminal: Terminal, question: str, menu_now: Callable[[], Menu]
) -> PersonInput | None:
    """Shows a menu until a line leads to an input, and returns that; nothing when they leave."""
    while True:
        menu = menu_now()
        if menu.handoff:
            terminal.say("There are more answers than fit here; another app may offer them.")
        item = await terminal.pick(
            question,
            [(item.label, item.description, item) for item in menu.items],
            preselected=menu.preselected,
        )
        if item is None:
            return None
        match item.does:
            case PromptInput() | AnswerInput() | ButtonInput() | RetryInput() as said:
                return said
            case step:
                if said := await step(terminal):
                    return said

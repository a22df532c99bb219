"""Turns a question into what a terminal can offer: a list to pick from."""

from dataclasses import dataclass
from typing import TypeAlias

from parley.v1.asks_pb2 import (
    AcceptAnswer,
    AskAnswer,
    AskInput,
    ChoiceAnswer,
    ChoiceInput,
    ConfirmAnswer,
    ConfirmInput,
    DeclineAnswer,
)
from parley.v1.cards_pb2 import SimpleCard
from parley.v1.turns_pb2 import AnswerInput, ButtonInput, PromptInput

PersonInput: TypeAlias = PromptInput | AnswerInput | ButtonInput
"""What a person did: the inputs of a turn."""


@dataclass(frozen=True)
class OpenQuestion:
    """A question that a conversation waits on."""

    tool_call_id: str
    input: AskInput
    card: SimpleCard


@dataclass(frozen=True)
class MenuItem:
    """A line to pick. Without an input the person writes a message, which drops the question."""

    label: str
    input: AnswerInput | ButtonInput | None
    description: str = ""


@dataclass(frozen=True)
class Menu:
    """Lines to pick from, one of them preselected. `handoff`: some answers are out of its reach."""

    items: tuple[MenuItem, ...]
    preselected: int = 0
    handoff: bool = False


WRITE_INSTEAD = MenuItem("Write a message instead", None)


def menu_of(question: OpenQuestion) -> Menu:
    """Returns what a person may do with `question`.

    A kind that this terminal does not know is offered as the buttons of its card, so that it can be
    answered all the same.
    """
    asked = question.input
    match asked.WhichOneof("kind"):
        case "choice" if asked.choice.select == ChoiceInput.SELECT_ONE:
            menu = _choice(question.tool_call_id, asked.choice)
            may_skip = not asked.HasField("allow_decline") or asked.allow_decline
        case "confirm":
            menu = _confirm(question.tool_call_id, asked.confirm)
            may_skip = asked.allow_decline
        case _:
            menu = _buttons(question.tool_call_id, question.card)
            may_skip = False  # a card has its own button for it
    skip = AnswerInput(
        tool_call_id=question.tool_call_id, answer=AskAnswer(decline=DeclineAnswer())
    )
    skips = (MenuItem("Skip", skip),) if may_skip else ()
    return Menu((*menu.items, *skips, WRITE_INSTEAD), menu.preselected, menu.handoff)


def _choice(tool_call_id: str, choice: ChoiceInput) -> Menu:
    items = tuple(
        MenuItem(
            option.label,
            _accepted(tool_call_id, AcceptAnswer(choice=ChoiceAnswer(selected=[option.id]))),
            option.description,
        )
        for option in choice.options
    )
    ids = [option.id for option in choice.options]
    return Menu(items, ids.index(choice.default[0]) if choice.default else 0)


def _confirm(tool_call_id: str, confirm: ConfirmInput) -> Menu:
    """Offers both answers; what can't be undone is never a mere press of enter away."""
    labels = {True: confirm.confirm_label or "Confirm", False: confirm.deny_label or "Cancel"}
    items = tuple(
        MenuItem(
            label,
            _accepted(tool_call_id, AcceptAnswer(confirm=ConfirmAnswer(confirmed=confirmed))),
        )
        for confirmed, label in labels.items()
    )
    return Menu(items, preselected=1 if confirm.destructive else 0)


def _buttons(tool_call_id: str, card: SimpleCard) -> Menu:
    return Menu(
        tuple(
            MenuItem(button.label, ButtonInput(tool_call_id=tool_call_id, button_id=button.id))
            for button in card.buttons
        ),
        handoff=card.handoff,
    )


def _accepted(tool_call_id: str, content: AcceptAnswer) -> AnswerInput:
    return AnswerInput(tool_call_id=tool_call_id, answer=AskAnswer(accept=content))

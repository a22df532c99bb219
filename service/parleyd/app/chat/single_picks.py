"""Answers that are a line to pick: one option, yes or no, a button of the card."""

from collections.abc import Mapping, Sequence

from parley import FieldFault
from parley.v1.asks_pb2 import AcceptAnswer, ChoiceAnswer, ConfirmAnswer
from parley.v1.turns_pb2 import ButtonInput
from parleyd.app.chat.menus import Menu, MenuItem
from parleyd.app.chat.printable import plainly
from parleyd.app.chat.questions import OpenQuestion
from parleyd.app.chat.terminal import Terminal


class SinglePick:
    """A question whose every answer is a line of one menu."""

    names: Mapping[str, str] = {}

    def __init__(self, question: OpenQuestion, menu: Menu) -> None:
        self.question = question
        self._menu = menu

    def show(self, terminal: Terminal) -> None:
        """Shows nothing more."""

    def menu(self) -> Menu:
        """Returns the menu, which is always the same."""
        return self._menu

    def refuse(self, faults: Sequence[FieldFault]) -> None:
        """Keeps nothing: another line is for the person to pick."""


def choice_of_one(question: OpenQuestion) -> SinglePick:
    """Returns the options, the one that is picked beforehand preselected."""
    choice = question.input.choice
    items = tuple(
        MenuItem(
            option.label,
            question.accept(AcceptAnswer(choice=ChoiceAnswer(selected=[option.id]))),
            option.description,
        )
        for option in choice.options
    )
    ids = [option.id for option in choice.options]
    preselected = ids.index(choice.default[0]) if choice.default else 0
    return SinglePick(question, Menu(items, preselected))


def confirm(question: OpenQuestion) -> SinglePick:
    """Returns both answers; no approval, and nothing grave, is a mere press of enter away."""
    asked = question.input.confirm
    labels = {True: asked.confirm_label or "Confirm", False: asked.deny_label or "Cancel"}
    items = tuple(
        MenuItem(
            plainly(label),
            question.accept(AcceptAnswer(confirm=ConfirmAnswer(confirmed=confirmed))),
        )
        for confirmed, label in labels.items()
    )
    grave = asked.destructive or question.call is not None
    return SinglePick(question, Menu(items, preselected=1 if grave else 0))


def card_buttons(question: OpenQuestion) -> SinglePick:
    """Returns the buttons of the card, which answer what this terminal does not understand."""
    items = tuple(
        MenuItem(
            button.label,
            ButtonInput(tool_call_id=question.tool_call_id, button_id=button.id),
        )
        for button in question.card.buttons
    )
    return SinglePick(question, Menu(items, handoff=question.card.handoff))

"""How a question is answered in a terminal, from when it is shown until there is an answer."""

from typing import Final

from parley.v1.turns_pb2 import AnswerInput, ButtonInput, PromptInput
from parleyd.app.chat.menus import Menu, MenuItem, PersonInput, Sheet
from parleyd.app.chat.terminal import Terminal


async def _write(terminal: Terminal) -> PromptInput | None:
    return await terminal.read_message()


WRITE_INSTEAD: Final = MenuItem("Write a message instead", _write)
"""Drops the question."""


async def read_answer(terminal: Terminal, sheet: Sheet) -> PersonInput | None:
    """Shows the question and returns what the person does, or nothing when they leave.

    Who goes back on the way to an answer sees the menu again, and leaves from there.
    """
    question = sheet.question
    terminal.show_question(
        question.input.title or question.card.title,
        question.input.prompt or question.card.text,
        grave=question.input.confirm.destructive,
    )
    sheet.show(terminal)
    while True:
        menu = whole_menu(sheet)
        if menu.handoff:
            terminal.say("There are more answers than fit here; another app may offer them.")
        item = await terminal.pick(
            "Your answer:",
            [(item.label, item.description, item) for item in menu.items],
            preselected=menu.preselected,
        )
        if item is None:
            return None
        match item.does:
            case PromptInput() | AnswerInput() | ButtonInput() as said:
                return said
            case step:
                if said := await step(terminal):
                    return said


def whole_menu(sheet: Sheet) -> Menu:
    """Returns the menu of a question with the lines that do not depend on its kind."""
    menu = sheet.menu()
    question = sheet.question
    skips = (MenuItem("Skip", question.skip()),) if question.may_skip else ()
    return Menu((*menu.items, *skips, WRITE_INSTEAD), menu.preselected, menu.handoff)

"""How a question is answered in a terminal, from when it is shown until there is an answer."""

from collections.abc import Sequence
from typing import Final

from parleyd.app.chat.menus import Menu, MenuItem, PersonInput, Sheet, pick_input, write
from parleyd.app.chat.printable import plainly
from parleyd.app.chat.terminal import Terminal

WRITE_INSTEAD: Final = MenuItem("Write a message instead", write)
"""Drops the question."""


async def read_answer(
    terminal: Terminal, sheet: Sheet, others: Sequence[MenuItem] = ()
) -> PersonInput | None:
    """Shows the question and returns what the person does, or nothing when they leave.

    With an approval is shown what it lets run. `others` are lines that have nothing to do with the
    question. Who goes back on the way to an answer sees the menu again, and leaves from there.
    """
    question = sheet.question
    title = question.input.title or question.card.title
    text = question.input.prompt or question.card.text
    grave = question.input.confirm.destructive
    if question.call:
        # First, so that the question stays in sight however long the arguments are.
        terminal.show_call(question.call.tool_name, question.call.arguments)
    if question.call or grave:
        title, text = plainly(title), plainly(text)
    terminal.show_question(title, text, grave=grave)
    sheet.show(terminal)
    return await pick_input(terminal, "Your answer:", lambda: whole_menu(sheet, others))


def whole_menu(sheet: Sheet, others: Sequence[MenuItem] = ()) -> Menu:
    """Returns the menu of a question with the lines that do not depend on its kind."""
    menu = sheet.menu()
    question = sheet.question
    skips = (MenuItem("Skip", question.skip()),) if question.may_skip else ()
    items = (*menu.items, *skips, WRITE_INSTEAD, *others)
    return Menu(items, menu.preselected, menu.handoff)

"""A draft that the person edits and sends back."""

from collections.abc import Mapping, Sequence
from typing import Final

from parley import FieldFault
from parley.v1.asks_pb2 import AcceptAnswer, MarkdownAnswer
from parley.v1.turns_pb2 import AnswerInput
from parleyd.app.chat.menus import Menu, MenuItem
from parleyd.app.chat.questions import OpenQuestion, told
from parleyd.app.chat.terminal import Terminal

_NAMES: Final = {"content.markdown": "the text", "content.changed": "the text"}


class Draft:
    """The text as it stands."""

    names: Mapping[str, str] = _NAMES

    def __init__(self, question: OpenQuestion) -> None:
        self.question = question
        self._asked = question.input.markdown
        self._text = self._asked.initial

    def show(self, terminal: Terminal) -> None:
        """Shows the text."""
        terminal.show_draft(self._text)

    def menu(self) -> Menu:
        """Returns how to edit the text and, if it fits the question, to send it."""
        edit = MenuItem("Edit the text", self._edit)
        said = self._answer()
        if self.question.faults_of(said):
            return Menu((edit,))
        send = MenuItem(
            self.question.input.submit_label or "Send the text",
            said,
            "Changed" if self._changed else "As it is, unchanged",
        )
        return Menu((send, edit), preselected=0 if self._changed else 1)

    def refuse(self, faults: Sequence[FieldFault]) -> None:
        """Keeps nothing more: the text stays as it was written."""

    async def _edit(self, terminal: Terminal) -> None:
        text = await terminal.edit(self._text, self._asked.placeholder)
        if text is None:
            return
        self._text = text
        self.show(terminal)
        if faults := self.question.faults_of(self._answer()):
            terminal.show_fault("That does not fit.", told(faults, self.names))

    @property
    def _changed(self) -> bool:
        return self._text != self._asked.initial

    def _answer(self) -> AnswerInput:
        content = MarkdownAnswer(markdown=self._text, changed=self._changed)
        return self.question.accept(AcceptAnswer(markdown=content))

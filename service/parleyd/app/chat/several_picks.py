"""Several picks from a list, if wanted with one of the person's own."""

from collections.abc import Mapping, Sequence
from typing import Final

from parley import FieldFault
from parley.v1.asks_pb2 import AcceptAnswer, ChoiceAnswer
from parley.v1.turns_pb2 import AnswerInput
from parleyd.app.chat.menus import Menu, MenuItem
from parleyd.app.chat.questions import OpenQuestion, told
from parleyd.app.chat.terminal import Terminal

_OTHER: Final = ""
"""Stands for the person's own answer among the ids of options, none of which is empty."""
_OTHER_PATH: Final = "content.other"


class SeveralPicks:
    """A list with boxes to check."""

    def __init__(self, question: OpenQuestion) -> None:
        self.question = question
        self._choice = question.input.choice
        self._checked = {*self._choice.default}
        self._other = ""

    @property
    def names(self) -> Mapping[str, str]:
        """What the paths of an answer stand for."""
        return {"content.selected": "the list", _OTHER_PATH: f"“{self._other_label}”"}

    def show(self, terminal: Terminal) -> None:
        """Shows nothing more: the list comes with the boxes."""

    def menu(self) -> Menu:
        """Returns the way to the list."""
        count = len(self._choice.options) + self._choice.allow_other
        return Menu((MenuItem("Pick from the list", self._pick, f"{count} lines"),))

    def refuse(self, faults: Sequence[FieldFault]) -> None:
        """Keeps nothing more: what was checked stays checked."""

    async def _pick(self, terminal: Terminal) -> AnswerInput | None:
        while True:
            checked = await terminal.check("Pick:", self._lines(), self._checked)
            if checked is None:
                return None
            self._checked = {*checked}
            said = await self._answer(terminal)
            if said is None:
                continue
            faults = self.question.faults_of(said)
            if not faults:
                return said
            terminal.show_fault("That does not fit.", told(faults, self.names))

    async def _answer(self, terminal: Terminal) -> AnswerInput | None:
        """Returns the answer as it stands, or nothing when the person goes back to the list."""
        selected = [option.id for option in self._choice.options if option.id in self._checked]
        while True:
            other = await self._read_other(terminal) if _OTHER in self._checked else None
            if other is None and _OTHER in self._checked:
                return None
            content = ChoiceAnswer(selected=selected, other=other)
            said = self.question.accept(AcceptAnswer(choice=content))
            faults = [f for f in self.question.faults_of(said) if f.path == _OTHER_PATH]
            if not faults:
                return said
            terminal.show_fault("That does not fit.", told(faults, self.names))

    async def _read_other(self, terminal: Terminal) -> str | None:
        text = await terminal.write_line(f"{self._other_label}:", self._other)
        if text is not None:
            self._other = text
        return text

    def _lines(self) -> list[tuple[str, str, str]]:
        lines = [(each.label, each.description, each.id) for each in self._choice.options]
        if self._choice.allow_other:
            lines.append((self._other_label, "In your own words", _OTHER))
        return lines

    @property
    def _other_label(self) -> str:
        return self._choice.other_label or "Other"

"""A form, filled in field by field."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from pydantic import JsonValue

from parley import FieldFault
from parley.v1.asks_pb2 import FormField
from parley.v1.turns_pb2 import AnswerInput
from parleyd.app.chat.form_fields import read_entry, shown_entry
from parleyd.app.chat.menus import Menu, MenuItem
from parleyd.app.chat.questions import OpenQuestion, told
from parleyd.app.chat.terminal import Terminal
from parleyd.contract.json import objects_at, string_at
from parleyd.rpc.ask_inputs import ask_input_from_proto


class Form:
    """The fields and what they hold. Whatever was put into a field stays there, right or wrong."""

    def __init__(self, question: OpenQuestion) -> None:
        self.question = question
        self._fields = {field.id: field for field in question.input.form.fields}
        self._values = dict(_defaults(question))
        self._unseen = [*self._fields]
        self._refused: dict[str, list[FieldFault]] = {}

    @property
    def names(self) -> Mapping[str, str]:
        """What the paths of an answer stand for: each field by its label."""
        return {_path(field_id): f"“{field.label}”" for field_id, field in self._fields.items()}

    def show(self, terminal: Terminal) -> None:
        """Shows nothing more: the fields are lines of the menu."""

    def menu(self) -> Menu:
        """Returns the fields with what they hold, and before them what is to be done next."""
        said = self._answer()
        faults = self.question.faults_of(said)
        due = [field for field in self._fields if field in self._due(faults)]
        items: list[MenuItem] = []
        if due:
            begun = len(self._unseen) < len(self._fields)
            label = "Go on filling it in" if begun else "Fill it in"
            items.append(MenuItem(label, partial(self._fill_in, due)))
        if not faults:
            label = self.question.input.submit_label or "Send it"
            items.append(MenuItem(label, said, "As it stands below"))
        items += [
            MenuItem(
                f"{field.label}: {shown_entry(field, self._values.get(field_id))}",
                partial(self._fill_in, [field_id]),
            )
            for field_id, field in self._fields.items()
        ]
        return Menu(tuple(items))

    def refuse(self, faults: Sequence[FieldFault]) -> None:
        """Takes note of the fields that the service refuses; they are asked for again."""
        for field_id in self._fields:
            if here := [fault for fault in faults if _is_at(fault, field_id)]:
                self._refused[field_id] = here

    async def _fill_in(self, field_ids: Sequence[str], terminal: Terminal) -> None:
        """Asks for fields until the person goes back."""
        for field_id in field_ids:
            if not await self._ask_for(self._fields[field_id], terminal):
                return

    async def _ask_for(self, field: FormField, terminal: Terminal) -> bool:
        """Asks for a field until it holds what fits; tells whether it does."""
        faults = self._refused.get(field.id, [])
        while True:
            if faults:
                terminal.show_fault(f"“{field.label}” does not fit.", told(faults, self.names))
            entry = await read_entry(terminal, field, self._values.get(field.id))
            if entry is None:
                return False
            self._put(field.id, entry.value)
            faults = self._faults_at(field.id)
            if not faults:
                return True

    def _put(self, field_id: str, value: JsonValue) -> None:
        self._refused.pop(field_id, None)
        if field_id in self._unseen:
            self._unseen.remove(field_id)
        if value is None:
            self._values.pop(field_id, None)
        else:
            self._values[field_id] = value

    def _faults_at(self, field_id: str) -> list[FieldFault]:
        faults = self.question.faults_of(self._answer())
        return [fault for fault in faults if _is_at(fault, field_id)]

    def _due(self, faults: Sequence[FieldFault]) -> Iterator[str]:
        yield from self._unseen
        yield from self._refused
        for field_id in self._fields:
            if any(_is_at(fault, field_id) for fault in faults):
                yield field_id

    def _answer(self) -> AnswerInput:
        return self.question.accept_json({"values": self._values})


def _defaults(question: OpenQuestion) -> Iterator[tuple[str, JsonValue]]:
    _, ask_input = ask_input_from_proto(question.input)
    for field in objects_at(ask_input, "fields"):
        if "default" in field:
            yield string_at(field, "id") or "", field["default"]


def _path(field_id: str) -> str:
    return f"content.values.{field_id}"


def _is_at(fault: FieldFault, field_id: str) -> bool:
    """Tells whether a fault is that of a field, or of one of its picks."""
    path = _path(field_id)
    return fault.path == path or fault.path.startswith(f"{path}[")

"""How the fields of a form are asked for, one by one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from pydantic import JsonValue

from parley.v1.asks_pb2 import FormField, Option
from parleyd.app.chat.terminal import Terminal
from parleyd.contract.text import clip, is_blank, trim

_NO_ANSWER: Final = "No answer"
_SHOWN: Final = 60
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Entry:
    """What the person has put into a field; None is nothing."""

    value: JsonValue = None


async def read_entry(terminal: Terminal, field: FormField, held: JsonValue) -> Entry | None:
    """Asks for a field and returns what the person puts there, or None when they go back.

    `held` is what is there already. What does not fit the field is returned as it was written.
    """
    question = f"{field.label}{' (required)' if field.required else ''}:"
    if field.helper_text:
        terminal.say(field.helper_text)
    type_ = field.WhichOneof("type")
    match type_:
        case "boolean":
            return await _pick(terminal, field, question, [("Yes", True), ("No", False)], held)
        case "select":
            lines = [(option.label, option.id) for option in field.select.options]
            return await _pick(terminal, field, question, lines, held)
        case "multiselect":
            return await _check(terminal, question, field.multiselect.options, held)
        case "textarea":
            return _text(await terminal.write_lines(question, _as_text(held)))
        case "number":
            return _number(await terminal.write_line(question, _as_text(held)))
        case "text" | "email" | "url" | "phone" | "date" | "time" | "datetime" | None:
            return _text(await terminal.write_line(question, _as_text(held)))
        case _:
            assert_never(type_)


def shown_entry(field: FormField, value: JsonValue) -> str:
    """Returns what a field holds, as a line shows it."""
    match value:
        case None:
            return "—"
        case bool():
            return "Yes" if value else "No"
        case list():
            return ", ".join(_label(field.multiselect.options, item) for item in value) or "—"
        case str() if field.HasField("select"):
            return _label(field.select.options, value)
        case _:
            return clip(" ".join(_as_text(value).split()), _SHOWN)


async def _pick(
    terminal: Terminal,
    field: FormField,
    question: str,
    lines: Sequence[tuple[str, JsonValue]],
    held: JsonValue,
) -> Entry | None:
    entries = [(label, "", Entry(value)) for label, value in lines]
    if not field.required:
        entries.append((_NO_ANSWER, "", Entry()))
    values = [entry.value for _, _, entry in entries]
    preselected = values.index(held) if held in values else 0
    return await terminal.pick(question, entries, preselected=preselected)


async def _check(
    terminal: Terminal, question: str, options: Sequence[Option], held: JsonValue
) -> Entry | None:
    items = held if isinstance(held, list) else []
    checked = {item for item in items if isinstance(item, str)}
    lines = [(option.label, "", option.id) for option in options]
    picked = await terminal.check(question, lines, checked)
    if picked is None:
        return None
    return Entry([*picked] or None)


def _text(written: str | None) -> Entry | None:
    if written is None:
        return None
    return Entry(None if is_blank(written) else written)


def _number(written: str | None) -> Entry | None:
    """Returns a number as it is sent, which is a double, or what was written instead of one."""
    if written is None or not _NUMBER.fullmatch(trim(written)):
        return _text(written)
    number = float(trim(written))
    return Entry(int(number) if number.is_integer() else number)


def _as_text(value: JsonValue) -> str:
    return "" if value is None else str(value)


def _label(options: Sequence[Option], option_id: JsonValue) -> str:
    labels = {option.id: option.label for option in options}
    return labels.get(str(option_id), str(option_id))

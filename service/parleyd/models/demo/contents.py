"""What the demo agent finds in a file that it is shown: true, and no more than it can count."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue, TypeAdapter, ValidationError

from parleyd.contract import limits
from parleyd.models.demo.words import counted, first_of, quoted
from parleyd.turns.model import MediaShown, Shown, TextShown
from parleyd.turns.shown_files import GONE, NO_TEXT, NOT_AGAIN, NOT_READ

_JSON: Final[TypeAdapter[JsonValue]] = TypeAdapter(JsonValue)
_LINE: Final = re.compile(r"File \d+ of \d+: (.*) \((\S+), (\d+) bytes\)", re.DOTALL)
_CUT: Final = re.compile(r"\n\[The file is cut to its first (\d+) of \d+ bytes\.\]$")
_NOTES: Final = frozenset({GONE, NO_TEXT, NOT_AGAIN, NOT_READ})
"""What stands for a file's content where there is none to see."""
_NAMED: Final = 5

_KINDS: Final = {
    "image/jpeg": "a JPEG image",
    "image/png": "a PNG image",
    "image/gif": "a GIF image",
    "image/webp": "a WebP image",
    "application/pdf": "a PDF document",
}


@dataclass(frozen=True)
class SeenFile:
    """A file as it was shown: the line that says what it is, and what came after it."""

    name: str
    mime_type: str
    size: int
    content: Shown

    def told(self) -> str:
        """Returns a sentence about the file."""
        name = quoted(self.name)
        match self.content:
            case MediaShown(mime_type=mime_type, data=data):
                kind = _KINDS.get(mime_type, f"a file of the type {mime_type}")
                return f"{name} is {kind} of {counted(len(data), 'byte')}."
            case TextShown(text=text) if text in _NOTES and self.size != len(text):
                return f"{name} is {self.mime_type} of {counted(self.size, 'byte')}. {text}"
            case TextShown(text=text):
                if self.size > limits.SHOWN_FILE_BYTES and (cut := _CUT.search(text)):
                    found = _found("text/plain", text[: cut.start()])
                    return f"Of {name} I see the first {cut[1]} of {self.size} bytes: {found}."
                return f"{name} has {_found(self.mime_type, text)}."


def seen_files(shown: Sequence[Shown]) -> tuple[SeenFile, ...]:
    """Returns the files that were shown, in their order."""
    return tuple(_seen(shown))


def _seen(shown: Sequence[Shown]) -> Iterator[SeenFile]:
    parts = iter(shown)
    for part in parts:
        named = _LINE.fullmatch(part.text) if isinstance(part, TextShown) else None
        content = next(parts, None) if named else None
        if named and content:
            yield SeenFile(named[1], named[2], int(named[3]), content)


def _found(mime_type: str, text: str) -> str:
    """Returns what is in a text, for a sentence that begins with the file's name."""
    match mime_type:
        case "application/json":
            return _in_json(text) or _in_text(text)
        case "text/csv":
            return _in_table(text) or _in_text(text)
        case _:
            return _in_text(text)


def _in_text(text: str) -> str:
    words = text.split()
    size = f"{counted(len(text.splitlines()), 'line')} and {counted(len(words), 'word')}"
    return f"{size}, beginning {quoted(text)}" if words else size


def _in_table(text: str) -> str | None:
    try:
        rows = [row for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"))) if row]
    except csv.Error:
        return None
    if not rows:
        return None
    first = first_of([quoted(cell) for cell in rows[0]], _NAMED)
    return f"{counted(len(rows), 'row')}, the first of them {first}"


def _in_json(text: str) -> str | None:
    try:
        value = _JSON.validate_json(text.removeprefix("\ufeff"))
    except ValidationError:
        return None
    match value:
        case dict() if value:
            keys = [quoted(key) for key in value]
            return f"{counted(len(keys), 'key')}: {first_of(keys, _NAMED)}"
        case dict():
            return "no keys"
        case list():
            return f"a list of {counted(len(value), 'item')}"
        case _:
            return f"a single value, {quoted(text)}"

"""From the events of a YAML text to the one value that it holds (spec blocks 2.2)."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from pydantic import JsonValue
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)

from parleyd.contract.blocks.limits import LEVELS
from parleyd.contract.blocks.scalars import key_text, resolved
from parleyd.contract.blocks.yaml_texts import YamlText
from parleyd.contract.field_errors import quoted

TOO_DEEP: Final = f"collections are nested deeper than {LEVELS} levels"


class Flaw(NamedTuple):
    """What is wrong with a text, and where that showed, if that is known."""

    problem: str
    at: int | None = None


@dataclass(slots=True)
class _Open:
    """A collection that is being read; a mapping may have a key that waits for its value."""

    items: list[JsonValue] | dict[str, JsonValue]
    key: str | None = None


class Composing:
    """Takes the events of a text one by one.

    Once there is a flaw, or an anchor, alias or tag, nothing more is built. Events are still to be
    taken then, for a second document or one of those features weighs more than a flaw.
    """

    def __init__(self, source: YamlText) -> None:
        self._source = source
        self._open: list[_Open] = []
        self.documents = 0
        self.feature = False
        self.flaw: Flaw | None = None
        self.root: JsonValue = None

    def take(self, event: Event) -> None:
        """Takes the next event."""
        match event:
            case ScalarEvent():
                if self._builds(event):
                    text = self._source.restored(event.value)
                    self._place(resolved(text) if event.implicit[0] else text, event)
            case CollectionStartEvent():
                if self._builds(event):
                    self._begin(event)
            case CollectionEndEvent():
                if not self.feature and self.flaw is None:
                    self._place(self._open.pop().items, event)
            case AliasEvent():
                self.feature = True
            case DocumentStartEvent():
                self.documents += 1
            case _:
                pass

    def _builds(self, event: ScalarEvent | CollectionStartEvent) -> bool:
        """Tells whether the value of a node is wanted."""
        if event.anchor is not None or event.tag is not None:
            self.feature = True
        return not self.feature and self.flaw is None

    def _begin(self, event: NodeEvent) -> None:
        if len(self._open) == LEVELS:
            self.flaw = Flaw(TOO_DEEP, _index(event))
        else:
            self._open.append(_Open({} if isinstance(event, MappingStartEvent) else []))

    def _place(self, value: JsonValue, event: Event) -> None:
        """Puts a finished value where it belongs: into the list, or as a key, or as its value."""
        if not self._open:
            self.root = value
            return
        parent = self._open[-1]
        if isinstance(parent.items, list):
            parent.items.append(value)
        elif parent.key is not None:
            parent.items[parent.key] = value
            parent.key = None
        else:
            parent.key = key_text(value)
            if parent.key in parent.items:
                self.flaw = Flaw(f"the key {quoted(parent.key)} is there twice", _index(event))


def _index(event: Event) -> int:
    return 0 if event.start_mark is None else event.start_mark.index

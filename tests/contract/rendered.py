"""What a client loads by itself that shows Markdown as HTML."""

import re
from collections.abc import Collection, Iterator
from typing import Final
from xml.etree.ElementTree import Element

from html5lib.html5parser import (
    parse as parse_html,  # pyright: ignore[reportUnknownVariableType] (its **kwargs have no type)
)
from markdown_it import MarkdownIt
from pydantic import JsonValue
from typing_extensions import override

from parleyd.contract.blocks.images import allowed_hosts, is_allowed

_HARMLESS_VALUE: Final = re.compile(r"(?:text-align:(?:left|center|right)|language-.*|[^:/\\()]*)")
_PLACE: Final = re.compile(r"[:\\]|//")
_NOT_SHOWN: Final = frozenset({"src", "html", "url", "route", "payload", "iconName"})
_WORDS: Final = frozenset({"alt", "title"})


class _Lenient(MarkdownIt):
    """Shows what others show, whatever its address is."""

    @override
    def validateLink(self, url: str) -> bool:
        return True


def _reader() -> MarkdownIt:
    return _Lenient("commonmark", {"html": True, "maxNesting": 100})


_READERS: Final = (_reader(), _reader().enable(["table", "strikethrough"]))


def loaded(markdown: str, hosts: Collection[str] = ()) -> list[str]:
    """Returns what a browser that shows a text would load from elsewhere than it may."""
    if "![" not in markdown and "<" not in markdown:
        return []
    try:
        pages = [str(reader.render(markdown)) for reader in _READERS]
    except RecursionError:
        return []
    return [
        address
        for page in pages
        for element in parse_html(page).iter()
        for address in _of(element, hosts)
    ]


def shown_texts(value: JsonValue) -> Iterator[str]:
    """Yields the texts of a document that a client might show as Markdown."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from shown_texts(item)
        case dict():
            for key, item in value.items():
                if key not in _NOT_SHOWN:
                    yield from shown_texts(item)
        case _:
            pass


def _of(element: Element, hosts: Collection[str]) -> Iterator[str]:
    name = str(element.tag).rpartition("}")[2]
    if name in {"style", "script"} and _PLACE.search("".join(element.itertext())):
        yield name
    for attribute, value in element.attrib.items():
        if attribute in _WORDS or (name, attribute) == ("a", "href"):
            continue
        if (name, attribute) == ("img", "src"):
            if value and not is_allowed(value, allowed_hosts(hosts)):
                yield value
        elif not _HARMLESS_VALUE.fullmatch(value):
            yield value

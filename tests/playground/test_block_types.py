"""Every type of block is drawn, and none is forgotten here."""

import json
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, TypeAlias

from playwright.async_api import Locator, expect
from pydantic import JsonValue

from parley.v1.blocks_pb2 import Block
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.playground.conftest import Open
from tests.playground.phone import Phone

Seen: TypeAlias = Callable[[Locator], Awaitable[None]]
DATASETS: Final[JsonValue] = {
    "loans": {
        "columns": [{"name": "month", "type": "string"}, {"name": "sum", "type": "number"}],
        "rows": [["May", 30], ["June", 50]],
    }
}
DOT: Final = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY"
    "42YAAAAASUVORK5CYII="
)


class Drawn(NamedTuple):
    """A block as an agent writes it, without its type, and what a person sees of it."""

    written: dict[str, JsonValue]
    seen: Seen


def shows(*found: Callable[[Locator], Locator]) -> Seen:
    """Returns a check that all of these are in view."""

    async def seen(messages: Locator) -> None:
        for each in found:
            await expect(each(messages)).to_be_visible()

    return seen


def text(words: str) -> Callable[[Locator], Locator]:
    """Returns where a text is."""
    return lambda messages: messages.get_by_text(words, exact=True)


async def side_by_side(messages: Locator) -> None:
    """Checks that columns are no rows."""
    left = await text("Left")(messages).bounding_box()
    right = await text("Right")(messages).bounding_box()
    assert left
    assert right
    assert left["x"] + left["width"] <= right["x"]
    assert left["y"] == right["y"]


async def painted(messages: Locator) -> None:
    """Checks that an image has arrived."""
    image = messages.get_by_role("img", name="A dot")
    await expect(image).to_be_visible()
    await expect(image).to_have_js_property("naturalWidth", 1)


async def unfolds(messages: Locator) -> None:
    """Checks that a text is hidden until it is asked for."""
    await expect(text("It was lent twice.")(messages)).to_be_hidden()
    await text("The history")(messages).click()
    await expect(text("It was lent twice.")(messages)).to_be_visible()


EVERY: Final[dict[str, Drawn]] = {
    "heading": Drawn(
        {"text": "The library", "size": "xl"},
        shows(lambda messages: messages.get_by_role("heading", name="The library")),
    ),
    "text": Drawn(
        {"markdown": "There are *many* books."},
        shows(lambda messages: messages.get_by_role("emphasis").filter(has_text="many")),
    ),
    "metric": Drawn(
        {"label": "On loan", "value": "12 books", "delta": "3 more", "trend": "up"},
        shows(
            lambda messages: messages.get_by_role("term").filter(has_text="On loan"),
            lambda messages: messages.get_by_role("definition").filter(has_text="12 books"),
            lambda messages: messages.get_by_role("definition").filter(has_text="up 3 more"),
        ),
    ),
    "badge": Drawn({"text": "Overdue", "status": "warning"}, shows(text("Warning: Overdue"))),
    "divider": Drawn({}, shows(lambda messages: messages.get_by_role("separator"))),
    "context": Drawn({"text": "As of today"}, shows(text("As of today"))),
    "chart": Drawn(
        {"kind": "line", "title": "By month", "data": "loans", "x": "month", "y": "sum"},
        shows(
            lambda messages: messages.get_by_role("figure", name="By month").get_by_role(
                "img", name="Line chart"
            )
        ),
    ),
    "table": Drawn(
        {"title": "All months", "data": "loans"},
        shows(
            lambda messages: messages.get_by_role("figure", name="All months").get_by_role(
                "cell", name="June"
            )
        ),
    ),
    "actions": Drawn(
        {
            "elements": [
                {
                    "type": "button",
                    "id": "renew",
                    "text": "Renew",
                    "action": {"kind": "reply", "text": "Renew it"},
                }
            ]
        },
        shows(lambda messages: messages.get_by_role("button", name="Renew")),
    ),
    "columns": Drawn(
        {"children": [{"type": "context", "text": "Left"}, {"type": "context", "text": "Right"}]},
        side_by_side,
    ),
    "card": Drawn(
        {"title": "A card", "children": [{"type": "context", "text": "Inside"}]},
        shows(lambda messages: messages.get_by_role("region", name="A card").get_by_text("Inside")),
    ),
    "html": Drawn(
        {"html": "<h1>Dear reader</h1>", "title": "A letter"},
        shows(
            lambda messages: messages.locator("iframe").content_frame.get_by_role(
                "heading", name="Dear reader"
            )
        ),
    ),
    "callout": Drawn(
        {"text": "Mind the gap.", "status": "alert"},
        shows(lambda messages: messages.get_by_role("note").filter(has_text="Mind the gap.")),
    ),
    "image": Drawn({"src": DOT, "alt": "A dot"}, painted),
    "details": Drawn({"title": "The history", "text": "It was lent twice."}, unfolds),
}
"""All types, by their names in documents, which are those of the fields of `Block`."""


def test_no_type_of_block_is_forgotten() -> None:
    assert EVERY.keys() == {field.name for field in Block.DESCRIPTOR.oneofs_by_name["block"].fields}


async def test_every_type_of_block_is_drawn(open_playground: Open) -> None:
    blocks = [{"type": kind, **drawn.written} for kind, drawn in EVERY.items()]
    reply = json.dumps({"v": 1, "datasets": DATASETS, "blocks": blocks})
    opened = await open_playground(in_turn([Text(reply)]), blocks_html=True)
    phone = Phone(opened.page)
    await phone.say("Show me everything")
    for drawn in EVERY.values():
        await drawn.seen(phone.messages)
    await expect(phone.messages.get_by_text("newer version")).to_have_count(0)

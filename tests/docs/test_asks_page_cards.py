"""The page on asks says what cards there are (spec asks 10)."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from parleyd.contract import limits
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.cards import SimpleCard, to_simple_card
from parleyd.contract.json_schemas import CARD_SHAPE
from parleyd.contract.records import RecordShape
from tests.contract.valid_asks import POST, SEEDS, TRIP, AskInput, options
from tests.docs.keys import item_of, listed, said
from tests.docs.pages import Row, codes_in, read_page, table_of

PAGE: Final = read_page("asks.md")


def test_the_keys_of_cards_and_buttons_are_those_of_the_shape() -> None:
    assert listed(table_of(PAGE, "Simple cards", "key of a card").rows) == said(CARD_SHAPE.keys)
    button = item_of(CARD_SHAPE, "buttons")
    assert isinstance(button, RecordShape)
    *simple, response = button.keys
    *rows, last = listed(table_of(PAGE, "Simple cards", "key of a button").rows)
    assert rows == said(simple)
    assert last == (response.name, "answer", response.required)


LONG = "A very long label indeed "
FIELD: AskInput = {"type": "text", "id": "name", "label": "Name", "default": "Ines"}
DRAFT: AskInput = {"prompt": "Write.", "initial": "Dear all"}
RULES: Final[Sequence[tuple[AskKind, Sequence[AskInput]]]] = [
    ("choice", [{**TRIP, "options": options("a", "b")}, TRIP, {**TRIP, "default": ["bus"]}]),
    (
        "choice",
        [{**TRIP, "options": [{"id": i, "label": LONG + i} for i in "abc"], "default": ["a"]}],
    ),
    ("choice", [{**SEEDS, "select": "one", "default": ["kale"]}]),
    ("choice", [{**SEEDS, "default": ["kale"]}]),
    ("confirm", [POST, {**POST, "destructive": True, "allowDecline": True}]),
    ("markdown", [DRAFT]),
    ("form", [{"prompt": "Fill in.", "fields": [FIELD]}]),
    ("files", [{"prompt": "Send.", "accept": ["pdf"]}]),
]
"""Asks for each row of the table of cards; together they show each button of the row."""


def shown(button_id: str) -> str:
    """Returns the id of a button as the page writes it."""
    return re.sub("^option:.*", "option:<id>", button_id)


def test_a_card_has_the_buttons_that_its_row_says() -> None:
    rows = table_of(PAGE, "Simple cards", "ask").rows
    assert len(rows) == len(RULES)
    for row, (kind, asks) in zip(rows, RULES, strict=True):
        assert codes_in(row[0])[0] == kind
        cards = [to_simple_card(kind, ask, "call_1") for ask in asks]
        documented = [code for code in codes_in(row[1]) if code != "one"]
        assert documented == in_order_of_first(cards)
        assert {str(card.handoff).lower() for card in cards} == {row[2]}


def in_order_of_first(cards: Iterable[SimpleCard]) -> list[str]:
    """Returns the ids of the buttons of cards, each once."""
    return [*dict.fromkeys(shown(button.id) for card in cards for button in card.buttons)]


def test_the_standing_buttons_are_there_only_if_the_ask_may_be_skipped() -> None:
    for kind, asks in RULES:
        for ask in asks:
            card = to_simple_card(kind, {**ask, "allowDecline": False}, "call_1")
            assert {"skip", "cancel"}.isdisjoint(button.id for button in card.buttons)


def test_every_button_is_listed_with_its_looks() -> None:
    labels: dict[tuple[str, str], set[str]] = {}
    styles: dict[tuple[str, str], set[str]] = {}
    for kind, asks in RULES:
        for ask in asks:
            for button in to_simple_card(kind, ask, "call_1").buttons:
                labels.setdefault((kind, shown(button.id)), set()).add(button.label)
                styles.setdefault((kind, shown(button.id)), set()).add(button.style)
    documented: dict[tuple[str, str], Row] = {
        (kind, row[0].strip("`")): row
        for row in table_of(PAGE, "Simple cards", "button").rows
        for kind in codes_in(row[1])
    }
    assert {*documented} == {*styles}
    for button, row in documented.items():
        assert {*codes_in(row[3])} == styles[button]
        for label in codes_in(row[2]):
            pattern = re.escape(label).replace("…", ".+")
            assert any(re.fullmatch(pattern, each) for each in labels[button]), label


def test_the_tables_of_cards_quote_the_limits_of_cards() -> None:
    tables = [table_of(PAGE, "Simple cards", first) for first in ("ask", "button")]
    for row in (row for table in tables for row in table.rows):
        text = " ".join(row)
        most = limits.CARD_USE_LABEL if "use-default" in text else limits.CARD_LABEL
        assert {*re.findall(r"cut to (\d+)", text)} <= {str(most)}
        assert {*re.findall(r"(\d+) options", text)} <= {str(limits.CARD_BUTTONS)}
        assert len(re.findall(r"\d+", text)) == len(re.findall(r"cut to \d+|\d+ options", text))

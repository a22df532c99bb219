"""The texts of asks without images that a client would load from elsewhere."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given
from pydantic import JsonValue

from parleyd.contract.answers import accepted, check_answer
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS, check_ask, kind_named
from parleyd.contract.asks.shown_texts import (
    DRAFT,
    HOLDERS,
    LABELS,
    PROSE,
    ask_without_remote_images,
)
from parleyd.contract.cards import to_simple_card
from parleyd.contract.limits import MARKDOWN
from tests.contract.valid_asks import asks

LEAK: Final = "![a](https://leak.example/?said=everything)"


def test_bc_134_a_draft_a_card_and_the_check_of_an_answer_speak_of_the_same_text() -> None:
    raw: dict[str, JsonValue] = {"prompt": f"Mend {LEAK}", "title": LEAK, "initial": f"# {LEAK}\n"}
    clean = ask_without_remote_images(raw, ())
    assert clean == {"prompt": "Mend a", "title": "a", "initial": "# a\n"}
    card = to_simple_card("markdown", clean, "call")
    [approve, _] = card.buttons
    assert approve.response == accepted({"markdown": "# a\n", "changed": False})
    for markdown, changed in (("# a\n", False), (f"# {LEAK}\n", True)):
        content: JsonValue = {"markdown": markdown, "changed": changed}
        assert check_answer("markdown", clean, accepted(content)) == ()


def test_a_draft_of_the_most_units_stays_within_them() -> None:
    raw: dict[str, JsonValue] = {"prompt": "Go on", "initial": (LEAK * 500)[: MARKDOWN - 1] + "<"}
    clean = ask_without_remote_images(raw, ())
    assert check_ask("markdown", clean) == ()
    assert "![a](" not in str(clean)


def test_a_draft_may_become_blank_but_no_other_text() -> None:
    image = "![](https://leak.example/)"
    raw: dict[str, JsonValue] = {"prompt": image, "initial": image}
    assert ask_without_remote_images(raw, ()) == {"prompt": "(image)", "initial": ""}


def test_images_of_listed_hosts_stay() -> None:
    raw: dict[str, JsonValue] = {"prompt": "Look", "initial": "![a](https://img.books.example/1)"}
    assert ask_without_remote_images(raw, ["img.books.example"]) == raw


def test_labels_that_differ_go_on_differing() -> None:
    raw: dict[str, JsonValue] = {
        "prompt": "Sure?",
        "confirmLabel": "![Yes](//l.ex/a)",
        "denyLabel": "Yes",
    }
    clean = ask_without_remote_images(raw, ())
    assert check_ask("confirm", clean) == ()
    assert "![" not in str(clean)


def test_ids_and_defaults_stay() -> None:
    fields: list[JsonValue] = [
        {"id": "notes", "type": "textarea", "label": "Notes", "default": LEAK, "helperText": LEAK}
    ]
    raw: dict[str, JsonValue] = {"prompt": "Fill in", "fields": fields}
    clean: Any = ask_without_remote_images(raw, ())
    assert clean["fields"] == [
        {"id": "notes", "type": "textarea", "label": "Notes", "default": LEAK, "helperText": "a"}
    ]
    assert check_ask("form", clean) == ()


def _strings(schema: JsonValue) -> Iterator[str]:
    """Yields the names of what may be any string in a schema."""
    match schema:
        case dict():
            properties = schema.get("properties")
            if isinstance(properties, dict):
                yield from (name for name, its in properties.items() if _is_any_string(its))
            for each in schema.values():
                yield from _strings(each)
        case list():
            for each in schema:
                yield from _strings(each)
        case _:
            pass


def _is_any_string(schema: JsonValue) -> bool:
    if not isinstance(schema, dict) or schema.get("type") != "string":
        return False
    return schema.keys().isdisjoint({"enum", "const"})


@pytest.mark.parametrize("kind", ASK_KINDS)
def test_every_text_of_every_kind_is_known_to_be_shown_or_not(kind: AskKind) -> None:
    """A new key has to be thought of, or its text would come through."""
    known = {DRAFT, "id", "default", *PROSE, *LABELS}
    for offer in kind_named(kind).offers.values():
        assert set(_strings(offer.shape.schema())) <= known
        holders = {
            key.name for key in offer.shape.keys if key.shape.schema().get("type") == "array"
        }
        assert holders <= HOLDERS | {"default", "accept"}


@given(asks("full"))
def test_a_valid_ask_stays_valid(asked: tuple[AskKind, dict[str, JsonValue]]) -> None:
    kind, ask_input = asked
    spoilt = {
        key: f"{LEAK}{value}"[:20] if isinstance(value, str) and key in LABELS | PROSE else value
        for key, value in ask_input.items()
    }
    for each in (ask_input, spoilt):
        if check_ask(kind, each) == ():
            clean = ask_without_remote_images(each, ())
            assert check_ask(kind, clean) == ()
            assert ask_without_remote_images(clean, ()) == clean

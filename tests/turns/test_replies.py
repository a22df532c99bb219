"""How a reply is cleaned before it is shown and stored."""

import pytest

from parleyd.turns.replies import clean_reply

CASES = {
    "text is trimmed": ("  Hello there.\n", "Hello there."),
    "nothing stays nothing": (" \n\u00a0", ""),
    "an action after text is removed": ('Done.\n{"action": "refresh", "id": 3}', "Done."),
    "an action with braces inside is removed": (
        'See {this}. {"note": "}{", "action": {"name": "open"}}',
        "See {this}.",
    ),
    "a reply that is only an action is kept": ('{"action": "refresh"}', '{"action": "refresh"}'),
    "an object without an action is kept": ('Config: {"a": 1}', 'Config: {"a": 1}'),
    "an action in the middle is kept": ('{"action": 1} and more', '{"action": 1} and more'),
    "an action nested in another object is kept": (
        'See {"b": {"action": 1}}',
        'See {"b": {"action": 1}}',
    ),
    "braces that are no JSON are kept": ("f(x) = {x}", "f(x) = {x}"),
    "what cannot be stored is replaced": ("a\x00b\ud83dc", "a\ufffdb\ufffdc"),
}


@pytest.mark.parametrize(("text", "cleaned"), CASES.values(), ids=CASES)
def test_a_reply_is_cleaned(text: str, cleaned: str) -> None:
    assert clean_reply(text) == cleaned


def test_a_reply_of_many_open_braces_is_cleaned_in_bounded_time() -> None:
    text = "x" + "{" * 5_000 + "}"
    assert clean_reply(text) == text

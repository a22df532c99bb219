"""Texts and ids that fit an ask, by hypothesis."""

from typing import Any, Final, TypeAlias

from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract.text import cut, is_blank, units

AskInput: TypeAlias = dict[str, JsonValue]

CHARACTERS: Final = st.one_of(
    st.sampled_from(" \t\n\u00a0\u2003\ufeff\x85\u200b…\"'ab-Z\u0301\U0001f6a2\U0001f468\u200d"),
    st.characters(exclude_categories=["Cs"]),
)


def visible(most: int) -> st.SearchStrategy[str]:
    """Returns texts of at most `most` units with a visible character (G4)."""
    fitting = st.text(CHARACTERS, max_size=most + 2).map(lambda text: cut(text, most))
    return st.one_of(st.sampled_from(["a", "Yes", " Yes "]), fitting).filter(
        lambda text: not is_blank(text) and units(text) <= most
    )


IDS: Final = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,8}", fullmatch=True)


def optional(**fields: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """Returns the strategies of keys that may be absent, by key."""
    return fields

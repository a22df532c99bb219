"""How the contract measures and cuts text (spec asks G2, G3, SC2)."""

import re

WHITESPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
ELLIPSIS = "…"

_SURROGATES = re.compile("[\ud800-\udfff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
_HIGH_SURROGATES = range(0xD8, 0xDC)
"""The first byte of a high surrogate."""


def units(text: str) -> int:
    """Returns the length of `text` in UTF-16 code units, the measure of every limit (G2)."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def trim(text: str) -> str:
    """Returns `text` without the white space of G3 at both ends."""
    return text.strip(WHITESPACE)


def is_blank(text: str) -> bool:
    """Tells whether `text` is empty or holds nothing but the white space of G3."""
    return not text.strip(WHITESPACE)


def cut(text: str, limit: int) -> str:
    """Returns `text` in at most `limit` units, cut at a word where that keeps half of it (SC2).

    `limit` is at least 1. Only that much of a long text is looked at.
    """
    if _surely_fits(text, limit):
        return text
    whole = _beginning(text, limit + 1)
    if len(whole) <= 2 * limit:
        return text
    coded = _without_half_a_pair(whole[: 2 * (limit - 1)])
    kept = _decoded(coded)
    if _decoded(whole[len(coded) : len(coded) + 2]) not in WHITESPACE:
        space = max(map(kept.rfind, WHITESPACE))
        if space >= 0 and units(kept[:space]) >= limit // 2:
            kept = kept[:space]
    return kept.rstrip(WHITESPACE) + ELLIPSIS


def clip(text: str, limit: int) -> str:
    """Returns `text` in at most `limit` units, cut between any two characters (V1)."""
    if _surely_fits(text, limit):
        return text
    whole = _beginning(text, limit + 1)
    if len(whole) <= 2 * limit:
        return text
    return _decoded(_without_half_a_pair(whole[: 2 * (limit - 1)])) + ELLIPSIS


def storable(text: str) -> str:
    """Returns `text` with U+0000 and unpaired surrogates replaced by U+FFFD.

    PostgreSQL stores neither, and protobuf carries no surrogate (spec turns 3.4.3, 4.2).
    """
    return _UNSTORABLE.sub(_REPLACEMENT, text)


def without_surrogates(text: str) -> str:
    """Returns `text` with unpaired surrogates replaced by U+FFFD, as it is to be checked (W2).

    Python joins the two halves of a pair; what is left is unpaired.
    """
    return _SURROGATES.sub(_REPLACEMENT, text)


def _surely_fits(text: str, limit: int) -> bool:
    """Tells whether `text` fits by its length alone: a character has at most two units."""
    return 2 * len(text) <= limit


def _beginning(text: str, count: int) -> bytes:
    """Returns at least the first `count` units of `text`, as far as it has them, in UTF-16."""
    return text[:count].encode("utf-16-be", "surrogatepass")


def _without_half_a_pair(coded: bytes) -> bytes:
    """Returns UTF-16 without a high surrogate at its end."""
    return coded[:-2] if coded and coded[-2] in _HIGH_SURROGATES else coded


def _decoded(coded: bytes) -> str:
    return coded.decode("utf-16-be", "surrogatepass")

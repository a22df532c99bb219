"""How the contract measures and cuts text (spec asks G2, G3, SC2)."""

import re

WHITESPACE = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
ELLIPSIS = "…"

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


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
    """Returns `text` in at most `limit` units, cut at a word where that keeps half of it (SC2)."""
    if units(text) <= limit:
        return text
    kept = _first_units(text, limit - 1)
    if text[len(kept)] not in WHITESPACE:
        space = max(kept.rfind(char) for char in WHITESPACE)
        if space >= 0 and units(kept[:space]) >= limit // 2:
            kept = kept[:space]
    return kept.rstrip(WHITESPACE) + ELLIPSIS


def storable(text: str) -> str:
    """Returns `text` with U+0000 and unpaired surrogates replaced by U+FFFD.

    PostgreSQL stores neither, and protobuf carries no surrogate (spec turns 3.4.3, 4.2).
    """
    return _UNSTORABLE.sub(_REPLACEMENT, text)


def _first_units(text: str, count: int) -> str:
    """Returns the longest beginning of `text` of at most `count` units; never half a pair."""
    used = 0
    for index, char in enumerate(text):
        used += 1 if ord(char) <= 0xFFFF else 2
        if used > count:
            return text[:index]
    return text

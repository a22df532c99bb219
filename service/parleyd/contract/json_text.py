"""Whether a text is JSON (RFC 8259)."""

import json
from collections.abc import Sized


def is_json(text: str) -> bool:
    """Tells whether `text` is exactly one JSON value, of any type.

    Python's parser decides, with what it takes beyond the RFC left out: NaN and the infinities. It
    goes a few hundred levels deep; what is nested deeper counts as no JSON.
    """
    try:
        json.loads(
            text,
            parse_constant=_refuse,
            # Nothing is kept but lengths: a long number costs no time, an object no memory.
            parse_int=len,
            parse_float=len,
            object_pairs_hook=_length,
        )
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _length(pairs: Sized) -> int:
    return len(pairs)

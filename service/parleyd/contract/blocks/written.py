"""Documents as text: one line of JSON (spec blocks 17.2, 19)."""

import json
import re
from math import isfinite
from typing import Final

from pydantic import JsonValue

from parleyd.contract.json import JsonObject

_ROOT_KEYS: Final = ("v", "datasets", "blocks")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def as_json_line(document: JsonObject) -> str:
    """Returns a document as one line of JSON, its keys in order; other keys of the root are lost.

    Numbers that are not finite become null, as JSON has no word for them. An unpaired surrogate,
    which no UTF-8 carries, is written as its escape.
    """
    kept = {key: _finite(document[key]) for key in _ROOT_KEYS if key in document}
    line = json.dumps(kept, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", line)


def _finite(value: JsonValue) -> JsonValue:
    match value:
        case float() if not isfinite(value):
            return None
        case list():
            return [_finite(item) for item in value]
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case _:
            return value

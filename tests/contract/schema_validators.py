"""The exported schemas in two validators that have nothing in common."""

from typing import Any, Final

import jsonschema_rs
from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from pydantic import JsonValue

from parleyd.contract.asks.kind import AskKind
from parleyd.contract.json_schemas import json_schemas
from parleyd.contract.surfaces import Surface

SCHEMAS: Final = json_schemas()


def _in_python(schema: JsonValue) -> Any:
    """Returns a schema whose patterns mean in Python what they mean in ECMA-262.

    There `$` is the very end, here it is also what comes before a last line break.
    """
    match schema:
        case dict():
            copy = {key: _in_python(value) for key, value in schema.items()}
            if isinstance(pattern := schema.get("pattern"), str) and pattern.endswith("$"):
                copy["pattern"] = pattern.removesuffix("$") + r"\Z"
            return copy
        case list():
            return [_in_python(value) for value in schema]
        case _:
            return schema


_PYTHON: Final[dict[str, Validator]] = {
    name: Draft202012Validator(_in_python(schema)) for name, schema in SCHEMAS.items()
}
_RUST: Final = {name: jsonschema_rs.validator_for(schema) for name, schema in SCHEMAS.items()}


def accepts(name: str, value: Any) -> bool:
    """Tells whether a schema accepts a value; both validators must say the same."""
    accepted = _PYTHON[name].is_valid(value)
    assert _RUST[name].is_valid(value) is accepted, f"the validators differ on {name}: {value!r}"
    return accepted


def ask_schema(kind: AskKind, surface: Surface = "full") -> str:
    """Returns the name of the schema of an ask."""
    return f"ask-{kind}" if surface == "full" else f"ask-{kind}-{surface}"


def answer_schema(kind: AskKind) -> str:
    """Returns the name of the schema of an answer."""
    return f"answer-{kind}"

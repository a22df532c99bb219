"""What the tests of the contract compare: paths and codes, not words."""

from collections.abc import Sequence
from typing import TypeAlias

from pydantic import JsonValue

from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.field_errors import FieldError

Errors: TypeAlias = list[tuple[str, str]]


def reported(errors: Sequence[FieldError]) -> Errors:
    """Returns path and code of each error, in order."""
    return [(error.path, str(error.code)) for error in errors]


def errors_of_field(field: JsonValue) -> Errors:
    """Returns the errors of a form that has this field alone, by their paths within the field."""
    errors = reported(check_ask("form", {"prompt": "Fill in.", "fields": [field]}))
    assert all(path.startswith("fields[0]") for path, _ in errors)
    return [(path.removeprefix("fields[0]").removeprefix("."), code) for path, code in errors]

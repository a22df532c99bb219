"""What the tests of the contract compare: paths and codes, not words."""

from collections.abc import Sequence

from parleyd.contract.field_errors import FieldError


def reported(errors: Sequence[FieldError]) -> list[tuple[str, str]]:
    """Returns path and code of each error, in order."""
    return [(error.path, str(error.code)) for error in errors]

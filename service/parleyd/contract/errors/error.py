"""What every fault is: a reason, a sentence, and its facts (spec turns 8.2)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from parleyd.contract.field_errors import FieldError
from parleyd.contract.reasons import Reason


class ParleyError(Exception):
    """A fault that a caller is told of. The text is one sentence for the calling developer."""

    reason: ClassVar[Reason]

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the facts that travel with the reason, keyed as in `errors.proto`."""
        return {}


class Malformed(ParleyError):
    """The request itself is wrong: `fields` says where and how to mend it."""

    def __init__(self, message: str, fields: Sequence[FieldError] = ()) -> None:
        super().__init__(message)
        self.fields = tuple(fields)


class InvalidRequest(Malformed):
    """An id, a page token, a page size, a mask or a text that is malformed or over its limit."""

    reason = Reason.INVALID_REQUEST


class Unavailable(ParleyError):
    """The database can't be reached, or the server stops. Nothing was stored by the call."""

    reason = Reason.UNAVAILABLE

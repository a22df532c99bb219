"""What callers may not do, or not so often."""

from collections.abc import Mapping
from typing import Literal
from uuid import UUID

from parleyd.contract.errors.error import ParleyError
from parleyd.contract.reasons import Reason


class Unauthenticated(ParleyError):
    """No bearer token, or not a valid one."""

    reason = Reason.UNAUTHENTICATED


class NotOwner(ParleyError):
    """The conversation or the file belongs to someone else."""

    reason = Reason.NOT_OWNER

    def __init__(self, what: Literal["conversation", "file"] = "conversation") -> None:
        super().__init__(f"This {what} belongs to someone else.")


class ServiceOnly(ParleyError):
    """A call for services, by somebody who is none."""

    reason = Reason.SERVICE_ONLY

    def __init__(self) -> None:
        super().__init__(
            "This call is for services, and the bearer token speaks for a person; call with the "
            "token of a service."
        )


class TokenForbidden(ParleyError):
    """A token that may not be used for this call: a service's where people call, or one of both."""

    reason = Reason.TOKEN_FORBIDDEN


class ScopeMissing(ParleyError):
    """A service's token that does not allow the call: its claim `scope` lacks one."""

    reason = Reason.SCOPE_REQUIRED

    def __init__(self, scope: str) -> None:
        super().__init__(
            f"The bearer token lacks the scope {scope!r}; get one whose claim `scope`, a text with "
            "spaces between, has it."
        )
        self.scope = scope

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the scope that the call needs."""
        return {"scope": self.scope}


class OptionForbidden(ParleyError):
    """An option that the deployment does not leave to clients."""

    reason = Reason.OPTION_FORBIDDEN

    def __init__(self, option: str, message: str) -> None:
        super().__init__(message)
        self.option = option

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the option's name."""
        return {"option": self.option}


class RateLimited(ParleyError):
    """The caller has too much running at once (spec turns 12.5), or calls too often."""

    reason = Reason.RATE_LIMITED

    def __init__(
        self, what: str, limit: int, then: str = "at once; wait until one of them has ended"
    ) -> None:
        super().__init__(f"At most {limit} {what} {then}.")
        self.limit = limit

    @classmethod
    def by_owner(cls, limit: int) -> "RateLimited":
        """Returns the fault of a person who has too many turns running."""
        return cls("turns of one person may run", limit)

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the limit."""
        return {"limit": str(self.limit)}


class RequestIdReused(ParleyError):
    """The request id belongs to another request of this caller (spec turns 16.2)."""

    reason = Reason.REQUEST_ID_REUSED

    def __init__(self, request_id: UUID) -> None:
        super().__init__(
            f"The request id {request_id} was used for another request. Send a repeat unchanged, "
            "and every new request with an id of its own."
        )
        self.request_id = request_id

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the request id."""
        return {"request_id": str(self.request_id)}

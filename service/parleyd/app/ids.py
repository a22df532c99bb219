"""Ids from the operating system's randomness."""

import secrets
from uuid import UUID, uuid4

from ulid import ULID


class RandomIds:
    """Makes ids that nobody can guess; the `Ids` port of turns."""

    def uuid(self) -> UUID:
        """Returns a random id of a row (version 4)."""
        return uuid4()

    def ulid(self) -> str:
        """Returns a fresh ULID, with 80 random bits."""
        return str(ULID())

    def call_id(self) -> str:
        """Returns a fresh public id of a tool call, `call_<ulid>`."""
        return f"call_{self.ulid()}"

    def approval_id(self) -> str:
        """Returns a fresh public id of an approval, `apr_<ulid>`."""
        return f"apr_{self.ulid()}"

    def secret(self) -> str:
        """Returns a fresh secret of 256 random bits, as base64 for URLs spells it."""
        return secrets.token_urlsafe(32)

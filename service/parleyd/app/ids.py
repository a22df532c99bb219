"""Ids from the operating system's randomness."""

from uuid import UUID, uuid4

from ulid import ULID


class RandomIds:
    """Makes ids that nobody can guess; the `Ids` port of turns."""

    def uuid(self) -> UUID:
        """Returns a random id of a row (version 4)."""
        return uuid4()

    def call_id(self) -> str:
        """Returns a fresh public id of a tool call, `call_<ulid>`, with 80 random bits."""
        return f"call_{ULID()}"

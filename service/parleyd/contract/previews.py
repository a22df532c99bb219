"""What is sent of a step while it streams, and never stored (spec turns 6.5)."""

from typing import TypeAlias
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.value import Value


class TextPreview(Value):
    """More text of the running step."""

    turn_id: UUID
    delta: str


class BlocksPreview(Value):
    """The finished blocks of the running step, instead of its text where replies are documents.

    It takes the place of the one before. HTML is left out, which is shown only once it is cleaned.
    """

    turn_id: UUID
    document: dict[str, JsonValue]
    pending: bool


class PreviewDiscarded(Value):
    """The running step called a tool: the text that was sent of it is dropped."""

    turn_id: UUID


Preview: TypeAlias = TextPreview | BlocksPreview | PreviewDiscarded

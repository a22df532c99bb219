"""What is sent of a step while it streams, and never stored (spec turns 6.5)."""

from typing import TypeAlias
from uuid import UUID

from parleyd.contract.value import Value


class TextPreview(Value):
    """More text of the running step."""

    turn_id: UUID
    delta: str


class PreviewDiscarded(Value):
    """The running step called a tool: the text that was sent of it is dropped."""

    turn_id: UUID


Preview: TypeAlias = TextPreview | PreviewDiscarded

"""What is shown of a reply that is no document (spec blocks 14)."""

from pydantic import JsonValue


def wrap_as_text(text: str) -> dict[str, JsonValue]:
    """Returns a document with the reply, unchanged, as its one block of text.

    It is for display alone and is neither validated, for it may be too long, nor stored.
    """
    return {"v": 1, "blocks": [{"type": "text", "markdown": text}]}

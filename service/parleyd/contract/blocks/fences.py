"""The code fence that models put around a document (spec blocks 2.1)."""

from typing import Final

from parleyd.contract.text import trim

FENCE: Final = "```"


def unfenced(text: str) -> str:
    """Returns a reply without the white space around it, and without the one fence around it all.

    Other fences – longer ones, tildes, one that is not closed or has prose beside it – stay, and
    so does white space inside the fence, where it may be indentation.
    """
    whole = trim(text)
    first, broken, rest = whole.partition("\n")
    if (
        broken
        and first.startswith(FENCE)
        and not first.startswith(f"{FENCE}`")
        and rest.endswith(FENCE)
    ):
        return rest.removesuffix(FENCE).removesuffix("\n").removesuffix("\r")
    return whole

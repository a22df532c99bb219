"""All that the demo agent does and asks, the first that fits a prompt first."""

import re
from typing import Final

from parleyd.models.demo.documents import DOCUMENTS
from parleyd.models.demo.invitation import INVITATION
from parleyd.models.demo.plan import PLAN
from parleyd.models.demo.sales import SALES
from parleyd.models.demo.table import TABLE
from parleyd.models.demo.todos import ADDITION, DELETION, LISTING
from parleyd.models.demo.weekend import WEEKEND
from parleyd.models.demo.wish import Wish

_LOOKED_AT: Final = 1000
"""A wish stands in so many characters; searching a long text takes long."""

WISHES: Final[tuple[Wish, ...]] = (
    ADDITION,
    WEEKEND,
    PLAN,
    DELETION,
    LISTING,
    INVITATION,
    TABLE,
    SALES,
    DOCUMENTS,
)
"""What is added may be anything, so it is looked for first."""


def wish_in(prompt: str) -> tuple[Wish, re.Match[str]] | None:
    """Returns what the beginning of `prompt` calls for and where it says so, or None."""
    for wish in WISHES:
        if asked := wish.asked_for.search(prompt[:_LOOKED_AT]):
            return wish, asked
    return None

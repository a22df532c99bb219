"""What people read in an ask, without images that a client would load from elsewhere.

A draft is Markdown, and a client may show other texts as such, though the model is told to write
none there. It is done before an ask is stored: the card, the event, the stored ask and the check of
its answer speak of the same texts. What the model itself said stays as it is.
"""

from collections.abc import Iterable
from typing import Final

from pydantic import JsonValue

from parleyd.contract.json import JsonObject
from parleyd.contract.markdown_images import (
    may_show_images,
    plain_markdown,
    visible_without_remote_images,
    without_remote_images,
)

DRAFT: Final = "initial"
"""May become blank, as it may be in the first place."""
PROSE: Final = frozenset({"title", "prompt", "placeholder", "description", "helperText"})
LABELS: Final = frozenset({"label", "otherLabel", "submitLabel", "confirmLabel", "denyLabel"})
"""Are made plain, no more: two that differ have to go on differing."""
HOLDERS: Final = frozenset({"options", "fields"})
"""What else holds such texts."""


def ask_without_remote_images(ask_input: JsonObject, hosts: Iterable[str]) -> dict[str, JsonValue]:
    """Returns the input of a valid ask with no image that is not of a file, data or `hosts`.

    It is valid too: no text becomes longer, and only a draft may become blank. Its ids, bounds and
    defaults are the same. Doing it again changes nothing.
    """
    hosts = tuple(hosts)
    return {key: _cleaned(key, value, hosts) for key, value in ask_input.items()}


def _cleaned(key: str, value: JsonValue, hosts: tuple[str, ...]) -> JsonValue:
    match value:
        case str() if not may_show_images(value):
            return value
        case str() if key == DRAFT:
            return without_remote_images(value, hosts)
        case str() if key in PROSE:
            return visible_without_remote_images(value, hosts)
        case str() if key in LABELS:
            return plain_markdown(value)
        case list() if key in HOLDERS:
            return [
                ask_without_remote_images(item, hosts) if isinstance(item, dict) else item
                for item in value
            ]
        case _:
            return value

"""Where images may come from: files, the document itself, listed hosts (spec blocks 9.2)."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final

from parleyd.contract.blocks.faults import ticked
from parleyd.contract.blocks.issues import BlockCode, Issue
from parleyd.contract.blocks.placed import Placed
from parleyd.contract.field_errors import named, quoted
from parleyd.contract.json import string_at
from parleyd.contract.text import is_blank

_FILE: Final = "file:"
_DATA: Final = re.compile("data:image/", re.ASCII | re.IGNORECASE)
# ASCII alone: else `ſ` would match `s`, and U+212A `k`.
_HTTPS: Final = re.compile(
    r"https://([a-z0-9.-]+)(?::[0-9]{1,5})?(?:[/?#].*)?", re.ASCII | re.IGNORECASE
)
_NEVER_IN_A_URL: Final = re.compile(r"[\\\x00-\x1f\x7f]")
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+")


def usable_hosts(hosts: Iterable[str]) -> tuple[str, ...]:
    """Returns the entries that can match a host, each once: no blank one, `*`, nor with a port."""
    return tuple(dict.fromkeys(host for host in hosts if _HOST.fullmatch(host)))


def allowed_hosts(hosts: Iterable[str]) -> frozenset[str]:
    """Returns the hosts that `is_allowed` takes, in lower case."""
    return frozenset(host.lower() for host in usable_hosts(hosts))


def image_issues(blocks: Sequence[Placed], hosts: Sequence[str]) -> Iterator[Issue]:
    """Yields `IMAGE_HOST_NOT_ALLOWED` for every source that is not allowed.

    An image at a place of the model's choosing would carry the conversation there.
    """
    allowed = usable_hosts(hosts)
    lowered = allowed_hosts(hosts)
    where = "`file:` and the id of a file or to `data:image/…`" + (
        f" or to an https URL on {ticked(allowed)}" if allowed else ", as no https host is allowed"
    )
    for block in blocks:
        if block.type == "image":
            source = string_at(block.it, "src") or ""
            if not is_allowed(source, lowered):
                at = (*block.at, "src")
                yield Issue(
                    at,
                    BlockCode.IMAGE_HOST_NOT_ALLOWED,
                    f"{named(at)} is {quoted(source)}, where no image may come from.",
                    f"Set {named(at)} to {where}.",
                )


def is_allowed(source: str, hosts: Container[str]) -> bool:
    """Tells whether an image may come from there; `hosts` are those of `allowed_hosts`."""
    if source.startswith(_FILE):
        return not is_blank(source.removeprefix(_FILE))
    if _DATA.match(source):
        return True
    if _NEVER_IN_A_URL.search(source):
        return False
    url = _HTTPS.fullmatch(source)
    return url is not None and url[1].lower() in hosts

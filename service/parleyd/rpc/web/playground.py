"""The playground: a page in the browser, and the files that it is made of.

Nobody needs a token for them, and they hold none. The page gets its own from whoever opens it, in
the part of the address that no browser sends, and calls the service as every other client does.
"""

import gzip
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from parleyd.contract.blocks.images import usable_hosts

ASSETS: Final = Path(__file__).parent / "assets"
"""What `make gen` builds from `playground/`: `index.html`, and beside it the folder `assets`."""
PAGE_PATH: Final = "/"
ASSETS_PATH: Final = "/assets/"
"""The name of every file under it holds a hash of its content."""

_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
"""What the page may be made of: all of it text, which is packed on its way."""
_NAMED_BY_CONTENT: Final = "public, max-age=31536000, immutable"
_ASKED_FOR_EACH_TIME: Final = "no-cache"
_EVERYWHERE: Final = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), "
    "midi=(), payment=(), serial=(), usb=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


@dataclass(frozen=True)
class Playground:
    """The page of a deployment whose documents have images from these hosts."""

    image_hosts: tuple[str, ...] = ()

    @property
    def policy(self) -> str:
        """Returns the page's content security policy: nothing but what the page is made of.

        The frames that show a document's HTML have it too, beside their own. Their content is part
        of the page, so that no frame comes from anywhere.
        """
        hosts = (f"https://{host}:*" for host in usable_hosts(self.image_hosts))
        return "; ".join(
            (
                "default-src 'none'",
                "script-src 'self'",
                "style-src 'self'",
                " ".join(("img-src 'self' data: blob:", *hosts)),
                "connect-src 'self'",
                "font-src 'self'",
                "base-uri 'none'",
                "form-action 'none'",
                "frame-ancestors 'none'",
            )
        )


def playground_routes(playground: Playground, folder: Path = ASSETS) -> Sequence[BaseRoute]:
    """Returns the routes of the page and of its files, which are read now, each once.

    Raises:
        OSError: The page is not there, or a file can't be read.
        KeyError: A file is of a type that the page has none of.
    """
    page = _Asset(
        folder / "index.html",
        {"cache-control": _ASKED_FOR_EACH_TIME, "content-security-policy": playground.policy},
    )
    assets = [
        _Asset(
            path,
            {
                "cache-control": _NAMED_BY_CONTENT,
                # Who opens a file by itself gets a page that can do nothing.
                "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
            },
        )
        for path in sorted((folder / "assets").iterdir())
    ]
    return [
        Route(PAGE_PATH, _answering(page)),
        # A route a file: no path of a request ever becomes a path of the disk.
        *(Route(f"{ASSETS_PATH}{asset.name}", _answering(asset)) for asset in assets),
    ]


class _Asset:
    """A file in memory, as it is sent."""

    def __init__(self, path: Path, headers: dict[str, str]) -> None:
        self.name = path.name
        self._plain = path.read_bytes()
        self._type = _TYPES[path.suffix]
        self._headers = {**_EVERYWHERE, "vary": "accept-encoding", **headers}

    @cached_property
    def _packed(self) -> bytes:
        return gzip.compress(self._plain, mtime=0)

    def response(self, asked: Headers) -> Response:
        """Returns the file, packed for whoever can unpack it."""
        if "gzip" not in asked.get("accept-encoding", ""):
            return Response(self._plain, HTTPStatus.OK, self._headers, self._type)
        headers = {**self._headers, "content-encoding": "gzip"}
        return Response(self._packed, HTTPStatus.OK, headers, self._type)


def _answering(asset: _Asset) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return asset.response(request.headers)

    return answer

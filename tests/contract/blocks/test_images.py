"""Where images may come from (spec blocks 9.2)."""

from typing import Any

import pytest

from parleyd.contract.blocks.images import usable_hosts
from parleyd.contract.blocks.options import BlockOptions
from tests.contract.blocks.documents import document, errors

HOSTS = ("img.library.example", "CDN.Library.example")


def _is_allowed(source: str, hosts: tuple[str, ...] = HOSTS) -> bool:
    image: Any = {"type": "image", "alt": "a", "src": source}
    found = errors(document({"type": "card", "children": [image]}), BlockOptions(image_hosts=hosts))
    assert found in ([], [("blocks[0].children[0].src", "IMAGE_HOST_NOT_ALLOWED")])
    return not found


@pytest.mark.parametrize(
    "source",
    [
        "file:17",
        "file:../../etc/passwd",
        "file: x",
        "data:image/png;base64,AAAA",
        "DATA:Image/svg+xml,<svg/>",
        "data:image/",
        "https://img.library.example",
        "HTTPS://IMG.library.EXAMPLE/17.jpg",
        "https://cdn.library.example?x=1",
        "https://img.library.example#a",
        "https://img.library.example:8443/17.jpg",
        "https://img.library.example:0",
        "https://img.library.example/a b\u2028ü@evil.example",
    ],
)
def test_an_allowed_source(source: str) -> None:
    assert _is_allowed(source)


@pytest.mark.parametrize(
    "source",
    [
        "file:",
        "file: \ufeff",
        "File:17",
        "FILE:17",
        " file:17",
        "data:text/html,x",
        "data:image",
        " data:image/png",
        "http://img.library.example/17.jpg",
        "//img.library.example/17.jpg",
        "/17.jpg",
        "https:/img.library.example/17.jpg",
        "https:img.library.example",
        "https://",
        "https:///img.library.example",
        " https://img.library.example/",
        "https://img.library.example ",
        "https://evil.example/",
        "https://evil.example/img.library.example",
        "https://img.library.example.evil.example/",
        "https://a.img.library.example/",
        "https://img.library.example./",
        "https://img.library.example@evil.example/",
        "https://user@img.library.example/",
        "https://user:pass@img.library.example/",
        "https://img.library.example:/",
        "https://img.library.example:123456/",
        "https://img.library.example:a/",
        "https://img.library.example\\@evil.example/",
        "https://img.library.example/a\\b",
        "https://img.library.example/\n",
        "https://img.library.example/\ta",
        "https://img.library.example/\x7f",
        "https://img.library.example\n",
        "https://img%2elibrary.example/",
        "https://ımg.library.example/",
        "https://img。library.example/",
        "https://[::1]/",
        "httpſ://img.library.example/",
        "javascript:alert(1)",
        "blob:https://img.library.example/1",
        "*",
    ],
)
def test_a_source_that_is_not_allowed(source: str) -> None:
    assert not _is_allowed(source)


@pytest.mark.parametrize(
    "entry", ["", " ", "*", "*.library.example", "img.library.example:443", "img.library.example/"]
)
def test_an_entry_that_is_no_host_matches_nothing(entry: str) -> None:
    assert usable_hosts((entry,)) == ()
    for source in (
        "https://img.library.example/",
        "https://img.library.example:443/",
        "https://*/",
    ):
        assert not _is_allowed(source, (entry,))


def test_an_entry_beyond_ascii_does_not_match_its_lower_case() -> None:
    assert not _is_allowed("https://kran.example/", ("\u212aran.example",))


@pytest.mark.parametrize("hosts", [(), ("img.library.example",)])
def test_bc_134_an_image_carries_nothing_to_a_host_that_is_not_listed(
    hosts: tuple[str, ...],
) -> None:
    leaks = [
        "https://leak.example/?q=the+conversation",
        "https://img.library.example.leak.example/?q=the+conversation",
        "https://img.library.example@leak.example/?q=the+conversation",
        "https://leak.example\\@img.library.example/?q=the+conversation",
        "https://leak.example/https://img.library.example/",
        "//leak.example/?q=the+conversation",
    ]
    assert not any(_is_allowed(source, hosts) for source in leaks)

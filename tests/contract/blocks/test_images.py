"""Where images may come from (spec blocks 9.2)."""

from typing import Any

import pytest

from parleyd.contract.blocks.images import usable_hosts
from parleyd.contract.blocks.options import BlockOptions
from tests.contract.blocks.documents import document, errors

HOSTS = ("img.books.example", "CDN.Books.example")


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
        "https://img.books.example",
        "HTTPS://IMG.books.EXAMPLE/17.jpg",
        "https://cdn.books.example?x=1",
        "https://img.books.example#a",
        "https://img.books.example:8443/17.jpg",
        "https://img.books.example:0",
        "https://img.books.example/a b\u2028ü@evil.example",
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
        "http://img.books.example/17.jpg",
        "//img.books.example/17.jpg",
        "/17.jpg",
        "https:/img.books.example/17.jpg",
        "https:img.books.example",
        "https://",
        "https:///img.books.example",
        " https://img.books.example/",
        "https://img.books.example ",
        "https://evil.example/",
        "https://evil.example/img.books.example",
        "https://img.books.example.evil.example/",
        "https://a.img.books.example/",
        "https://img.books.example./",
        "https://img.books.example@evil.example/",
        "https://user@img.books.example/",
        "https://user:pass@img.books.example/",
        "https://img.books.example:/",
        "https://img.books.example:123456/",
        "https://img.books.example:a/",
        "https://img.books.example\\@evil.example/",
        "https://img.books.example/a\\b",
        "https://img.books.example/\n",
        "https://img.books.example/\ta",
        "https://img.books.example/\x7f",
        "https://img.books.example\n",
        "https://img%2ebooks.example/",
        "https://ımg.books.example/",
        "https://img。books.example/",
        "https://[::1]/",
        "httpſ://img.books.example/",
        "javascript:alert(1)",
        "blob:https://img.books.example/1",
        "*",
    ],
)
def test_a_source_that_is_not_allowed(source: str) -> None:
    assert not _is_allowed(source)


@pytest.mark.parametrize(
    "entry", ["", " ", "*", "*.books.example", "img.books.example:443", "img.books.example/"]
)
def test_an_entry_that_is_no_host_matches_nothing(entry: str) -> None:
    assert usable_hosts((entry,)) == ()
    for source in (
        "https://img.books.example/",
        "https://img.books.example:443/",
        "https://*/",
    ):
        assert not _is_allowed(source, (entry,))


def test_an_entry_beyond_ascii_does_not_match_its_lower_case() -> None:
    assert not _is_allowed("https://kran.example/", ("\u212aran.example",))


@pytest.mark.parametrize("hosts", [(), ("img.books.example",)])
def test_bc_134_an_image_carries_nothing_to_a_host_that_is_not_listed(
    hosts: tuple[str, ...],
) -> None:
    leaks = [
        "https://leak.example/?q=the+conversation",
        "https://img.books.example.leak.example/?q=the+conversation",
        "https://img.books.example@leak.example/?q=the+conversation",
        "https://leak.example\\@img.books.example/?q=the+conversation",
        "https://leak.example/https://img.books.example/",
        "//leak.example/?q=the+conversation",
    ]
    assert not any(_is_allowed(source, hosts) for source in leaks)

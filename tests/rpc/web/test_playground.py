"""The playground's page: how it is sent, and what it may do."""

import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import httpx2
import pytest

from parleyd.rpc.web.playground import ASSETS, ASSETS_PATH, Playground, playground_routes
from tests.rpc.web.http import http_front

PAGE = (ASSETS / "index.html").read_bytes()
FILES = {path.name: path.read_bytes() for path in (ASSETS / "assets").iterdir()}


def front(playground: Playground | None) -> AbstractAsyncContextManager[httpx2.AsyncClient]:
    """Returns a front whose gRPC server is nowhere: no file comes from there."""
    return http_front("127.0.0.1:1", playground=playground)


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    async with front(Playground()) as client:
        yield client


def policy(answer: httpx2.Response) -> dict[str, str]:
    """Returns the directives of a content security policy."""
    directives = answer.headers["content-security-policy"].split("; ")
    return {name: sources for name, _, sources in (each.partition(" ") for each in directives)}


async def test_the_page_is_asked_for_each_time_and_may_load_what_is_ours_alone(
    http: httpx2.AsyncClient,
) -> None:
    answer = await http.get("/")
    assert answer.status_code == 200
    assert answer.content == PAGE
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert policy(answer) == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data: blob:",
        "connect-src": "'self'",
        "font-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


async def test_whatever_is_sent_says_how_little_it_may_do(http: httpx2.AsyncClient) -> None:
    for path in ("/", *(f"{ASSETS_PATH}{name}" for name in FILES)):
        headers = (await http.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "microphone=()" in headers["permissions-policy"]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize("name", FILES)
async def test_a_file_whose_name_is_its_content_is_kept_for_good(
    http: httpx2.AsyncClient, name: str
) -> None:
    answer = await http.get(f"{ASSETS_PATH}{name}")
    assert answer.content == FILES[name]
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "accept-encoding"
    plain = await http.get(f"{ASSETS_PATH}{name}", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == FILES[name]
    head = await http.head(f"{ASSETS_PATH}{name}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == answer.headers["content-length"]


async def test_no_path_leads_out_of_the_folder(http: httpx2.AsyncClient) -> None:
    for path in (
        "/assets",
        "/assets/",
        "/assets/nothing.js",
        "/assets/../index.html",
        "/assets/%2e%2e/index.html",
        "/assets/..%2findex.html",
        "/assets/..%5cindex.html",
        f"/assets//{next(iter(FILES))}",
        "/index.html",
    ):
        answer = await http.get(path)
        assert answer.status_code == 404, path
        assert answer.json()["message"] == "There is nothing at this path."


async def test_nobody_writes_to_it(http: httpx2.AsyncClient) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert (await http.request(method, "/")).status_code == 405


async def test_without_a_playground_there_is_nothing() -> None:
    async with front(None) as http:
        for path in ("/", f"{ASSETS_PATH}{next(iter(FILES))}"):
            assert (await http.get(path)).status_code == 404


async def test_images_come_from_the_hosts_of_documents_and_from_no_other() -> None:
    hosts = ("img.example", "", "*", "a.example:8", "x; script-src *", "cdn.example")
    async with front(Playground(hosts)) as http:
        answer = await http.get("/")
    ours = "https://img.example:* https://cdn.example:*"
    assert policy(answer)["img-src"] == f"'self' data: blob: {ours}"
    assert policy(answer)["script-src"] == "'self'"


def test_the_page_holds_nothing_that_its_policy_forbids() -> None:
    page = PAGE.decode()
    assert not re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:", page)
    assert re.findall(r'(?:src|href)="(/assets/[^"]+)"', page)
    for url in re.findall(r'(?:src|href)="([^"]*)"', page):
        assert url.startswith(("/assets/", "data:")), url


def test_a_page_that_is_not_built_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "index.html"))):
        playground_routes(Playground(), tmp_path)

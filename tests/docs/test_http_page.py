"""The page of HTTP says what the front does."""

import re
from typing import Any, cast

from parleyd.rpc.server import SERVICES
from parleyd.rpc.web.bindings import bindings_of
from parleyd.rpc.web.downloads import DOWNLOADS
from parleyd.rpc.web.forwarding import FORWARDED, TIMEOUT_HEADER
from parleyd.rpc.web.json_bodies import SEPARATORS
from parleyd.rpc.web.json_checks import LEVELS
from parleyd.rpc.web.problems import HTTP_STATUSES, OVERRIDES
from parleyd.rpc.web.uploads import FILE, REQUEST_ID, SHA256, UPLOADS
from tests.docs.pages import REFERENCE, read_page
from tests.rpc.web.test_event_shapes import SHAPES

TEXT = (REFERENCE / "http.md").read_text(encoding="utf-8")
PAGE = read_page("http.md")


def test_it_lists_every_method_with_its_path_and_body() -> None:
    (table,) = PAGE["Methods"]
    told = {(request.strip("`"), method.strip("`")): body for request, method, body in table.rows}
    bound = {
        (
            f"{each.verb} {each.template.text}",
            f"{each.method.containing_service.name}.{each.method.name}",
        ): f"`{each.body}`" if each.body else "none"
        for each in bindings_of(SERVICES)
    }
    assert bound.items() <= told.items()
    assert {request for request, _ in told.keys() - bound.keys()} == {
        f"POST {UPLOADS.text}",
        f"GET {DOWNLOADS.text}",
    }


def test_it_lists_the_http_status_of_every_code() -> None:
    (table,) = PAGE["Errors"]
    told = {code.strip("`"): int(status[:3]) for code, status in table.rows}
    assert told == {code.name: status for code, status in HTTP_STATUSES.items()}
    assert all(f"{status} for" in TEXT for status in OVERRIDES - {"502"})


def test_it_lists_the_shape_of_every_event() -> None:
    _, table = PAGE["Streams"]
    told = {name: data for name, data in table.rows}  # noqa: C416 - rows are of any length
    assert [name.strip("`") for name in told] == [*SHAPES]
    for name, (_, shape) in SHAPES.items():
        named = set(re.findall(r'"([a-zA-Z]+)"', told[f"`{name}`"]))
        outer = cast("dict[str, Any]", shape)
        inner = [cast("dict[str, Any]", each) for each in outer.values() if isinstance(each, dict)]
        keys = {key for each in (outer, *inner) for key in each}
        assert keys <= named, name


def test_it_names_the_headers_the_parts_and_the_limits() -> None:
    assert all(name in TEXT.lower() for name in (*FORWARDED, TIMEOUT_HEADER))
    parts = {row[0].strip("`") for table in PAGE["Uploads"] for row in table.rows}
    assert parts == {FILE, SHA256, REQUEST_ID}
    assert f"{LEVELS} levels" in TEXT
    assert all(f"{most:,}" in TEXT for most in SEPARATORS.values())

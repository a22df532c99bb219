"""What a deployment allows in documents, and nothing else, comes through (spec blocks 18.2)."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Final

import pytest
from pydantic import JsonValue
from typing_extensions import override

from parley.v1 import blocks_pb2
from parleyd.models.script import ScriptedStep, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.documents import (
    INVALID,
    NOTE,
    button,
    checked,
    document,
    faults,
    heading,
    repairing,
    replaced,
)
from tests.end_to_end.person import Played
from tests.server import StartServer

LEAK: Final = "https://leak.example/?said=everything"
NETWORK: Final = ("http", "leak", "//", "url", "@import", "image-set", "cross-fade")


class Tags(HTMLParser):
    """Collects the tags and attributes of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)
        self.close()

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


def html(fragment: str) -> dict[str, JsonValue]:
    return {"type": "html", "html": fragment}


def image(src: str) -> dict[str, JsonValue]:
    return {"type": "image", "alt": "A chart", "src": src}


async def reply_of(start_server: StartServer, said: str, **settings: Any) -> tuple[Played, str]:
    """Returns how a document comes out, and the text that is stored."""
    server = await start_server(in_turn([Text(said)]), blocks=True, **settings)
    noor = await server.person()
    played = await noor.prompt("Show my loans")
    assert played.names == ["started", "text", "blocks", "done"]
    [_, reply] = await noor.messages(played.conversation_id)
    found = checked(played)
    assert reply.HasField("blocks") is found.ok
    assert reply.blocks == found.document
    return played, reply.text


# ------------------------------------------------------------ HTML


async def test_html_is_cleaned_before_anybody_is_shown_it(start_server: StartServer) -> None:
    said = document(
        heading("Loans"),
        html('<p onclick="x()">41 <b>loans</b></p><script>x()</script>'),
        {"type": "card", "children": [html("<a href='https://leak.example/'>Go</a>")]},
    )
    played, stored = await reply_of(start_server, said, blocks_html=True)
    found = checked(played)
    assert found.ok
    assert found.document.blocks[1].html.html == "<p>41 <b>loans</b></p>"
    assert found.document.blocks[2].card.children[0].html.html == "<a>Go</a>"
    assert (stored, "\n" in stored) == (played.text, False)
    assert json.loads(stored)["blocks"][1]["html"] == "<p>41 <b>loans</b></p>"


async def test_clean_html_leaves_a_document_as_the_model_wrote_it(
    start_server: StartServer,
) -> None:
    said = "v: 1\nblocks:\n  - type: html\n    html: <p>41 loans</p>"
    played, stored = await reply_of(start_server, said, blocks_html=True)
    assert (played.text, stored) == (said, said)
    assert checked(played).ok


async def test_html_of_which_nothing_is_left_is_an_error(start_server: StartServer) -> None:
    said = document(heading("Loans"), html("<script>x()</script>"))
    played, stored = await reply_of(start_server, said, blocks_html=True)
    assert [path for path, _ in faults(checked(played))] == ["blocks[1].html"]
    assert "x()" not in played.text
    assert stored.startswith(f"{played.text}{NOTE}- blocks[1].html ")


async def test_html_is_an_error_where_it_is_not_allowed(start_server: StartServer) -> None:
    said = document(html("<p>41 loans</p>"))
    played, stored = await reply_of(start_server, said)
    assert played.text == said
    assert faults(checked(played)) == [("blocks[0]", "HTML_DISABLED")]
    assert stored.startswith(f"{said}{NOTE}- blocks[0] HTML_DISABLED ")


async def test_the_html_of_a_repair_is_cleaned_too(start_server: StartServer) -> None:
    mended = document(html("<p>41</p><script>x()</script>"))
    server = await start_server(
        repairing(in_turn([Text(INVALID)]), [Text(mended)]),
        blocks=True,
        blocks_html=True,
        blocks_repair=True,
    )
    noor = await server.person()
    played = await noor.prompt("Show my loans")
    assert played.names == ["started", "text", "text_replaced", "blocks", "done"]
    assert checked(played).document.blocks[0].html.html == "<p>41</p>"
    assert "script" not in replaced(played)


@pytest.mark.parametrize(
    "fragment",
    [
        "<svg><foreignObject><![CDATA[</foreignObject><script>x()</script>]]></foreignObject></svg>",
        "<svg><foreignObject>&lt;script&gt;x()&lt;/script&gt;<p onclick=x()>a</p></svg>",
        "<math><mtext><svg:foreignObject xmlns:svg='x'><svg:script>x()</svg:script></math>",
        "<SVG><FOREIGNOBJECT><IMG SRC=x ONERROR=x()></FOREIGNOBJECT></SVG>",
    ],
)
async def test_bc_136_no_script_comes_through_svg(start_server: StartServer, fragment: str) -> None:
    said = document(html(f"<p>41 loans</p>{fragment}"))
    played, stored = await reply_of(start_server, said, blocks_html=True)
    found = checked(played)
    assert found.ok
    [block] = found.document.blocks
    for shown in (block.html.html, json.loads(stored)["blocks"][0]["html"]):
        page = Tags(shown)
        assert "p" in page.tags
        assert page.tags.isdisjoint({"script", "svg", "math", "foreignobject", "svg:script"})
        assert not any(name.startswith("on") for name in page.attributes)


@pytest.mark.parametrize(
    "styled",
    [
        "<p style='background:URL(https://leak.example/)'>41</p>",
        r"<p style='background:\75rl(https://leak.example/)'>41</p>",
        "<p style='background:image-set(\"https://leak.example/\" 1x)'>41</p>",
        "<style>@import 'https://leak.example/';</style><p>41</p>",
        "<p style='background:cross-fade(url(https://leak.example/),red)'>41</p>",
        "<svg><rect fill='url(https://leak.example/#a)'/></svg><p>41</p>",
    ],
)
async def test_bc_138_no_style_reaches_the_network(start_server: StartServer, styled: str) -> None:
    played, stored = await reply_of(start_server, document(html(styled)), blocks_html=True)
    [block] = checked(played).document.blocks
    assert block.html.html == "<p>41</p>"
    assert not any(word in stored.lower() for word in NETWORK)


# ------------------------------------------------------------ images


@pytest.mark.parametrize(
    ("hosts", "allowed"),
    [
        ((), ["file:f1", "data:image/png;base64,AA"]),
        (("cdn.example",), ["file:f1", "https://cdn.example/a.png", "https://CDN.example:8/a"]),
    ],
)
async def test_images_come_from_allowed_hosts_alone(
    start_server: StartServer, hosts: tuple[str, ...], allowed: list[str]
) -> None:
    refused = [LEAK, "http://cdn.example/a", "https://x.cdn.example/a", "https://cdn.example@leak/"]
    said = document(*map(image, allowed))
    bad = document(*map(image, [*allowed, *refused]))
    server = await start_server(
        in_turn([Text(said)], [Text(bad)]), blocks=True, blocks_image_hosts=hosts
    )
    noor = await server.person()

    good = checked(await noor.prompt("Show my loans"))
    found = checked(await noor.prompt("Show my loans"))

    assert [block.image.src for block in good.document.blocks] == allowed
    first = len(allowed)
    assert faults(found) == [
        (f"blocks[{first + place}].src", "IMAGE_HOST_NOT_ALLOWED") for place in range(len(refused))
    ]


async def test_bc_134_an_image_takes_nothing_to_a_host_that_is_not_listed(
    start_server: StartServer,
) -> None:
    said = document(image(LEAK))
    played, _ = await reply_of(start_server, said, blocks_html=True)
    assert faults(checked(played)) == [("blocks[0].src", "IMAGE_HOST_NOT_ALLOWED")]
    said = document(html(f'<p>41</p><img src="{LEAK}" alt="a" srcset="{LEAK} 2x">'))
    played, stored = await reply_of(start_server, said, blocks_html=True)
    assert checked(played).document.blocks[0].html.html == '<p>41</p><img alt="a">'
    assert "leak" not in stored


# ------------------------------------------------------------ actions


def wrong_actions() -> Iterator[tuple[str, JsonValue, str]]:
    yield "list", [{"kind": "reply", "text": "x"}], "INVALID_TYPE"
    yield "string", "javascript:x()", "INVALID_TYPE"
    yield "nested", {"kind": "reply", "text": {"kind": "callback"}}, "INVALID_TYPE"
    yield "call", {"call": "delete", "args": {}}, "INVALID_ENUM"


@pytest.mark.parametrize(
    ("action", "code"), [pytest.param(each[1], each[2], id=each[0]) for each in wrong_actions()]
)
async def test_bc_133_an_action_of_an_odd_shape_is_an_error(
    start_server: StartServer, action: JsonValue, code: str
) -> None:
    element: JsonValue = {"type": "button", "id": "go", "text": "Go", "action": action}
    said = document({"type": "actions", "id": "next", "elements": [element]})
    played, _ = await reply_of(start_server, said)
    assert [each for _, each in faults(checked(played))] == [code]


async def test_callbacks_are_errors_where_the_deployment_has_no_host_actions(
    start_server: StartServer,
) -> None:
    said = document(button(kind="callback", name="renew"))
    played, stored = await reply_of(start_server, said)
    path = "blocks[0].elements[0].action.name"
    assert faults(checked(played)) == [(path, "UNKNOWN_HOST_ACTION")]
    # The id was filled in nevertheless.
    assert json.loads(played.text)["blocks"][0]["id"] == "actions"
    assert stored.startswith(f"{played.text}{NOTE}- {path} UNKNOWN_HOST_ACTION ")


# ------------------------------------------------------------ YAML


async def test_bc_127_what_older_yaml_reads_as_something_else_keeps_its_type(
    start_server: StartServer,
) -> None:
    said = """\
v: 1
datasets:
  d:
    columns: [{name: a, type: string}, {name: n, type: number}]
    rows: [[NO, 1.10], [12:30, 0o14], [1_000, +7]]
blocks:
  - {type: badge, text: no}
  - {type: badge, text: on}
  - {type: badge, text: y}
  - {type: table, data: d}"""
    played, stored = await reply_of(start_server, said)
    assert stored == said
    shown = checked(played).document
    assert [block.badge.text for block in shown.blocks[:3]] == ["no", "on", "y"]
    assert rows_of(shown) == [("NO", 1.1), ("12:30", 12), ("1_000", 7)]


def rows_of(shown: blocks_pb2.BlockDocument) -> list[tuple[str, float]]:
    [dataset] = shown.datasets
    return [(row.cells[0].text, row.cells[1].number) for row in dataset.inline.rows]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("v: 1\nblocks: " + "- " * 1100 + "x", id="lists"),
        pytest.param("v: 1\nblocks:\n" + "\n".join(" " * n + "-" for n in range(1100)), id="deep"),
        pytest.param('{"v": 1, "blocks": ' + "[" * 5000, id="brackets"),
        pytest.param('{"v": 1, "blocks": ' + "[" * 1100 + "]" * 1100 + "}", id="json"),
    ],
)
async def test_bc_129_deep_nesting_is_an_error_and_the_service_goes_on(
    start_server: StartServer, said: str
) -> None:
    script: list[ScriptedStep] = [[Text(said)], [Text(document(heading("Loans")))]]
    server = await start_server(in_turn(*script), blocks=True, blocks_html=True)
    noor = await server.person()
    deep = await noor.prompt("Show my loans")
    assert deep.text == said
    assert faults(checked(deep)) == [("", "NOT_A_DOCUMENT")]
    assert checked(await noor.prompt("Show my loans", deep.conversation_id)).ok


async def test_bc_129_a_key_of_a_megabyte_is_an_error(start_server: StartServer) -> None:
    said = "v: 1\nblocks:\n  - type: divider\n    " + "k" * 1_000_000 + ": 1\n"
    server = await start_server(in_turn([Text(said)]), blocks=True)
    noor = await server.person()
    played = await noor.prompt("Show my loans")
    assert not checked(played).ok
    assert played.done.pending_tool_call_id == ""

"""The HTML of html blocks, cleaned (spec blocks 17)."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parleyd.contract.blocks.html import (
    DROPPED_WITH_CONTENT,
    KEPT_TAGS,
    sanitize_document,
    sanitize_html,
)
from parleyd.contract.blocks.issues import BlockCode
from parleyd.contract.blocks.limits import HTML_BYTES
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.validation import check
from tests.contract.blocks.cases import cases, needs_cases
from tests.contract.blocks.documents import LENIENT, document
from tests.contract.blocks.pages import assert_harmless


@needs_cases
@pytest.mark.parametrize("case", cases("sanitize"), ids=lambda case: case["name"])
def test_a_conformance_case_passes(case: dict[str, Any]) -> None:
    clean = sanitize_html(case["html"])
    assert [it for it in case["expect"]["contains"] if it not in clean] == []
    assert [it for it in case["expect"]["absent"] if it in clean] == []
    assert_harmless(clean)


@pytest.mark.parametrize(
    ("fragment", "clean"),
    [
        ("<p>a<b>c</b></p>", "<p>a<b>c</b></p>"),
        ("<p lang=de title=x class=y id=z style='color:red' dir=rtl>a</p>", "<p>a</p>"),
        ("<td colspan=2 width=3>a", "a"),
        (
            "<table><tr><td colspan=2 width=3>a</table>",
            "<table><tbody><tr><td>a</td></tr></tbody></table>",
        ),
        ("<a href=https://x.example name=n target=_top>a</a>", '<a name="n" target="_top">a</a>'),
        ("<blockquote cite=https://x.example>a</blockquote>", "<blockquote>a</blockquote>"),
        (
            "<img src=data:image/png;base64,QUJD alt=x>",
            '<img src="data:image/png;base64,QUJD" alt="x">',
        ),
        ("<img src=DATA:IMAGE/gif;x>", '<img src="DATA:IMAGE/gif;x">'),
        ("<img src=data:image/svg+xml,x>", '<img src="data:image/svg+xml,x">'),
        ("<img src=' data:image/png;x' alt=a>", '<img alt="a">'),
        ("<img src=data:text/html,x alt=a>", '<img alt="a">'),
        ("<img src=https://x.example/a.png alt=a>", '<img alt="a">'),
        ("<img src=//x.example/a.png alt=a>", '<img alt="a">'),
        ("<img src=a.png alt=a>", '<img alt="a">'),
        ("<img src=javascript:x() alt=a>", '<img alt="a">'),
        ("<img srcset='https://x.example 2x' alt=a onerror=x() loading=lazy>", '<img alt="a">'),
        ("<img src=data:image/png;x src=https://x.example>", '<img src="data:image/png;x">'),
        ("<img src=https://x.example src=data:image/png;x>", "<img>"),
        ("<p>a<script>b</script><style>c</style>d", "<p>ad</p>"),
        ("<textarea>a</textarea><title>b</title><noscript>c</noscript>d", "d"),
        ("<template><p>a</template><iframe>b</iframe><object>c</object>d", "d"),
        ("<svg><text>a</text></svg><math><mi>b</mi></math>c", "c"),
        ("<select><option>a</select>b", "b"),
        ("<form><label>a</label><button>b</button></form>", "ab"),
        ("<details><summary>a</summary>b</details>", "ab"),
        ("<marquee>a</marquee><video>b</video><dialog>c</dialog><x-y>d</x-y>", "abcd"),
        ("<input><meta><base><link><source><embed>a", "a"),
        ("<!-- a --><!--[if IE]>b<![endif]-->c<!doctype html><?php d ?>", "c"),
        ("a < b > c & d &amp; &lt;p&gt;", "a &lt; b &gt; c &amp; d &amp; &lt;p&gt;"),
        ("<p>a<select><p>b", "<p>a</p><p>b</p><p></p>"),
        ("<pre>\n\n\na", "<pre>\n\n\na</pre>"),
        ("<pre>\na", "<pre>a</pre>"),
        ("", ""),
        ("<p>📚 é", "<p>📚 é</p>"),
    ],
)
def test_what_is_left_of_a_fragment(fragment: str, clean: str) -> None:
    assert sanitize_html(fragment) == clean
    assert_harmless(clean)


@pytest.mark.parametrize("tag", sorted(KEPT_TAGS))
def test_a_listed_tag_stays_without_its_attributes(tag: str) -> None:
    table = {"caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"}
    bare = f"<{tag} onclick=x() style=x id=x class=x href=x>"
    fragment = {
        "tr": f"<table><tbody>{bare}",
        "td": f"<table><tr>{bare}",
        "th": f"<table><tr>{bare}",
        "col": f"<table><colgroup>{bare}",
    }.get(tag, f"<table>{bare}" if tag in table else bare)
    clean = sanitize_html(fragment)
    assert f"<{tag}>" in clean
    assert_harmless(clean)


@pytest.mark.parametrize("tag", sorted(DROPPED_WITH_CONTENT - {"embed"}))
def test_a_dropped_tag_takes_its_content_along(tag: str) -> None:
    inside = "<option>secret" if tag == "option" else f"<{tag}>secret</{tag}>"
    assert "secret" not in sanitize_html(f"<p>before</p>{inside}")


@pytest.mark.parametrize(
    "fragment",
    [
        "<svg><foreignObject><![CDATA[<script>alert(1)</script>]]></foreignObject></svg>",
        "<svg><foreignObject><![CDATA[</foreignObject></svg><script>alert(1)</script>]]>",
        "<svg><foreignobject><iframe srcdoc='<script>alert(1)</script>'></iframe></svg>",
        "&lt;svg&gt;&lt;foreignObject&gt;&lt;script&gt;alert(1)&lt;/script&gt;",
        "<svg><desc><![CDATA[</desc><script>alert(1)</script>]]></desc></svg>",
        "<math><annotation-xml encoding=text/html><script>alert(1)</script></math>",
        "<math><mtext><table><mglyph><style><!--</style><a title='--&gt;&lt;img onload=x()&gt;'>",
        "<svg:script>alert(1)</svg:script><x:script xmlns:x='http://www.w3.org/1999/xhtml'>a",
        "<svg xmlns:xlink='x'><a xlink:href='javascript:x()'><rect/></a></svg>",
        "<svg><style><img src=x onerror=x()></style></svg>",
        "<svg><p><style><!--</style><img src=x onerror=x()>--></style>",
        "<noscript><p title='</noscript><img src=x onerror=x()>'>",
        "<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=x()>",
        "<p><svg><foreignObject><p><img src=https://x.example onload=x()></p></svg>",
        "<template><svg/onload=x()></template><plaintext><script>x()</script>",
        "<xmp><script>x()</script></xmp><noembed><img src=x onerror=x()></noembed>",
        "<scr<script>ipt>x()</scr</script>ipt><<script>x()//<</script>",
        "<img src='x' onerror\n=\nx()><a href='java\tscript:x()'>a</a>",
    ],
)
def test_bc_136_svg_and_its_likes_bring_no_script(fragment: str) -> None:
    clean = sanitize_html(fragment)
    assert "<script" not in clean.lower()
    assert "<svg" not in clean.lower()
    assert "foreignobject>" not in clean.lower().replace("&gt;", "")
    assert_harmless(clean)


@pytest.mark.parametrize(
    "value",
    [
        "URL(https://leak.example/a)",
        "\\75rl(https://leak.example/a)",
        "u\\72l('https://leak.example/a')",
        "image-set('https://leak.example/a' 1x)",
        "-webkit-image-set(url(https://leak.example/a) 1x)",
        "cross-fade(url(https://leak.example/a), url(https://leak.example/b))",
        "@import 'https://leak.example/a'",
        "src('https://leak.example/a')",
    ],
)
def test_bc_138_no_style_refers_to_the_network(value: str) -> None:
    for fragment in (
        f'<p style="background:{value}">a</p>',
        f"<style>{value}; p{{background:{value}}}</style><p>a</p>",
        f'<svg><rect fill="{value}"/></svg><p>a</p>',
        f'<table background="https://leak.example/a"><tr><td style="{value}">a</table>',
    ):
        clean = sanitize_html(fragment)
        assert "leak.example" not in clean
        assert "a" in clean
        assert_harmless(clean)


_PIECES = st.sampled_from(
    [
        *(f"<{tag}>" for tag in ("p", "b", "a", "table", "tr", "td", "li", "svg", "math", "style")),
        *(f"</{tag}>" for tag in ("p", "b", "a", "table", "td", "svg", "math", "style", "script")),
        *("<script>", "<title>", "<noscript>", "<select>", "<option>", "<template>", "<textarea>"),
        *("<foreignObject>", "<mtext>", "<mglyph>", "<annotation-xml encoding=text/html>"),
        *("<form>", "<iframe>", "<frameset>", "<body onload=x()>", "<html lang=x>", "<plaintext>"),
        *("<img src=x onerror=x()>", "<img src='data:image/png;x' alt='<script>'>", "<pre>\n\n"),
        *("<a name='\"><script>x()</script>'>", "<![CDATA[", "]]>", "<!--", "-->", "--!>", "\x00"),
        *("&lt;script&gt;", "&#x3C;img src=x&#x3E;", "&amp;", "&", "<", ">", "'", '"', "=", "text"),
    ]
)


@given(st.lists(_PIECES | st.text(max_size=4), max_size=14).map("".join))
def test_whatever_is_cleaned_is_harmless_and_stays_so(fragment: str) -> None:
    assert_harmless(sanitize_html(fragment))


@pytest.mark.parametrize(
    "unit", ["<div>", "<b>", "<b><p>", "<table><tr><td>", "<svg>", "<!--", "<a><p></a>", "&lt;"]
)
def test_hostile_nesting_takes_a_bounded_time(unit: str) -> None:
    begun = time.thread_time()
    sanitize_html(unit * (HTML_BYTES // len(unit)))
    assert time.thread_time() - begun < 10


def _html(fragment: str) -> dict[str, Any]:
    return {"type": "html", "html": fragment}


def test_every_html_block_of_a_document_is_cleaned_nested_ones_too() -> None:
    dirty = "<p onclick=x()>a</p>"
    value = document(
        _html(dirty),
        {"type": "card", "children": [_html(dirty), {"type": "text", "markdown": dirty}]},
        {"type": "columns", "children": [{"type": "divider"}, _html("<p>b</p>")]},
        a={"columns": [{"name": "b", "type": "string"}], "rows": [["c"]]},
    )
    sanitized = sanitize_document(json.dumps(value, indent=1))
    assert sanitized.changed
    assert "\n" not in sanitized.text
    read = json.loads(sanitized.text)
    assert [*read] == ["v", "datasets", "blocks"]
    assert read["blocks"][0]["html"] == "<p>a</p>"
    assert read["blocks"][1]["children"] == [
        _html("<p>a</p>"),
        {"type": "text", "markdown": dirty},
    ]
    assert read["datasets"] == value["datasets"]
    again = sanitize_document(sanitized.text)
    assert (again.changed, again.text) == (False, sanitized.text)


@pytest.mark.parametrize(
    "text",
    [
        "just <script>prose</script>",
        "v: 1\nblocks:\n  - type: html\n    html: <p>clean</p>",
        "v: 1\nblocks:\n  - type: divider",
        "v: 1\nblocks:\n  - type: html\n    html: <p onclick=x()>\n    extra: 1",
        '{"v": 1, "blocks": [{"type": "html", "html": "<script>a</script>"}, {"type": "no"}]}',
    ],
)
def test_what_is_clean_or_no_valid_document_stays_as_it_is(text: str) -> None:
    sanitized = sanitize_document(text)
    assert (sanitized.changed, sanitized.text) == (False, text)


def test_a_document_is_judged_by_the_options_it_was_validated_with() -> None:
    value = document(
        _html("<p onclick=x()>a</p>"),
        {"type": "image", "alt": "a", "src": "https://img.books.example/1"},
    )
    text = json.dumps(value)
    options = BlockOptions(image_hosts=LENIENT.image_hosts)
    assert not sanitize_document(text).changed
    assert sanitize_document(text, options).changed


def test_cleaning_may_make_a_document_invalid() -> None:
    emptied = sanitize_document(json.dumps(document(_html("<script>x()</script>"))))
    assert emptied.changed
    assert [it.code for it in check(emptied.text, LENIENT).errors] == [BlockCode.TOO_SHORT]
    grown = sanitize_document(json.dumps(document(_html("<" * HTML_BYTES))))
    assert [it.code for it in check(grown.text, LENIENT).errors] == [BlockCode.HTML_TOO_LARGE]


def test_the_written_line_holds_what_json_and_utf_8_can() -> None:
    text = (
        '{"v": 1, "blocks": [{"type": "html", "html": "<b>\\ud800\\u0000\\u2028<i/x=1>"}, '
        '{"type": "actions", "id": "a", "elements": [{"type": "button", "id": "b", "text": '
        '"\\ud800", "action": {"kind": "callback", "name": "c", "payload": {"n": 1e999}}}]}]}'
    )
    sanitized = sanitize_document(text)
    assert sanitized.changed
    assert "\n" not in sanitized.text
    sanitized.text.encode()
    read: Any = parse(sanitized.text)
    element = read["blocks"][1]["elements"][0]
    assert element["text"] == "\ud800"
    assert element["action"]["payload"] == {"n": None}

"""Markdown without images of places that are not allowed."""

import time
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parleyd.contract.markdown_images import (
    IMAGE,
    may_show_images,
    plain_markdown,
    visible_without_remote_images,
    without_remote_images,
)
from parleyd.contract.text import ELLIPSIS, is_blank, units
from tests.contract.rendered import loaded

LEAK: Final = "https://leak.example/?said=everything"
HOSTS: Final = ("img.books.example",)
OURS: Final = "https://img.books.example/1.png"


def cleaned(markdown: str) -> str:
    """Returns a text without remote images, once it is known to be harmless and to stay so."""
    clean = without_remote_images(markdown, HOSTS)
    assert loaded(clean, HOSTS) == []
    assert units(clean) <= units(markdown)
    assert without_remote_images(clean, HOSTS) == clean
    return clean


@pytest.mark.parametrize("text", ["<script>&amp;</script>", "<style>b</style> <b>x</b>"])
def test_h7_markup_that_names_no_place_stays_as_it_is(text: str) -> None:
    assert without_remote_images(text, HOSTS) == text


@pytest.mark.parametrize(
    ("text", "may"),
    [
        *((f"<{tag}>{place}", True) for tag in ("style", "SCRIPT") for place in (":", "\\", "//")),
        *((f"<script>/{blank}/", True) for blank in "\t\n\r"),
        ("<style>&#47;&#47;", True),
        *((f"<style>&{name};", False) for name in ("amp", "lt", "gt", "quot", "nbsp")),
        ("<style>&amp", True),
        *((f"<{first} =", True) for first in "aZ/!?"),
        ("<b>x:y</b>", False),
        ("a<3 = b", False),
        ("style: script", False),
        ("a [b](c) = d", False),
        ("![", True),
    ],
)
def test_h7_a_text_is_only_read_where_it_may_load_something(text: str, *, may: bool) -> None:
    assert may_show_images(text) is may


def test_a_style_that_names_a_place_is_made_plain() -> None:
    text = "<style>@import '//leak.example'</style>"
    assert loaded(text)
    assert not loaded(cleaned(text))


def images() -> Iterator[tuple[str, str, str]]:
    yield "inline", f"See ![a chart]({LEAK}) here", "See a chart here"
    yield "title", f'![a]({LEAK} "loans") ![b]({LEAK}\n(x))', "a b"
    yield "in_brackets", f"![a](<{LEAK} x>)", "a"
    yield "no_words", f"a ![]({LEAK})b", "a b"
    yield "no_address", "![a]() ![b](<>)", "a b"
    yield "full_reference", f"![a][r]\n\n[r]: {LEAK}", "a\n\n"
    yield "collapsed_reference", f'![a][]\n\n[A]: <{LEAK}>\n "loans"\n', "a\n\n"
    yield "shortcut_reference", f"![a]\n\n[a]: {LEAK}", "a\n\n"
    yield "reference_that_a_link_uses", f"![a][r] [b][r]\n\n[r]: {LEAK}", f"a [b][r]\n\n[r]: {LEAK}"
    yield "reference_said_twice", f"![a][r]\n\n[r]: {OURS}\n[r]: {LEAK}", "a\n\n"
    yield (
        "reference_that_a_link_below_uses",
        f"![a][r]\n\n[b][r]\n\n[r]: {LEAK}",
        f"a\n\n[b][r]\n\n[r]: {LEAK}",
    )
    yield "list", f"- ![a]({LEAK})\n  1) ![b]({LEAK})", "- a\n  1) b"
    yield "tabs", f"* x\n\n\t![a]({LEAK})\n\n1.\t![b]({LEAK})", "* x\n\n\ta\n\n1.\tb"
    yield "half_a_tab", f"- ![a]({LEAK}\n\t\t'x')", "- a"
    yield "indented", f"x\n  ![a]({LEAK}) y", "x\n  a y"
    yield "no_character", f"\0![a]({LEAK})", "\ufffda"
    yield (
        "blank_to_one_reader_alone",
        f"x\n\n\u2003\n![a]({LEAK})",
        f"x\n\n\u2003\n\uff01[a]({LEAK})",
    )
    yield "quote", f"> x ![a\n> b]({LEAK}) y", "> x a\n> b y"
    yield "headings", f"# ![a]({LEAK}) #\n\n![b]({LEAK})\n===", "# a #\n\nb\n==="
    yield (
        "table",
        f"|a|b|\n|-|-|\n| ![x]({LEAK}) | \\| ![y]({LEAK}) |",
        "|a|b|\n|-|-|\n| x | \\| y |",
    )
    yield "cut_by_a_table", f"|a|b|\n|-|-|\n| `x | ![y]({LEAK}) `|", "|a|b|\n|-|-|\n| `x | y `|"
    yield (
        "many_alike_in_a_table",
        f"{'|a' * 12}|\n{'|-' * 12}|\n|`{f'|![x]({LEAK})' * 10}|`|",
        f"{'|a' * 12}|\n{'|-' * 12}|\n|`{'|x' * 10}|`|",
    )
    yield (
        "code_made_by_a_table",
        f"|a`|\n|-|\n|`![x]({LEAK}) `|",
        "|a`|\n|-|\n|`x `|",
    )
    yield "entities", "![a](https&colon;//leak.example) ![b](&#47;&#47;leak.example)", "a b"
    yield "escapes", r"![a](https:\/\/leak.example) ![b\]](//leak.example)", r"a b\]"
    yield "percent", "![a](https://%6ceak.example/) ![b](https://img.books.example%2f.leak/)", "a b"
    yield "user_info", "![a](https://img.books.example@leak.example/)", "a"
    yield "other_schemes", "![a](http://img.books.example/) ![b](ftp://x/) ![c](cid:x)", "a b c"
    yield "no_scheme", "![a](//leak.example/x) ![b](/x) ![c](x.png)", "a b c"
    yield "subdomain", "![a](https://x.img.books.example/)", "a"
    yield "file_on_another_machine", r"![a](file://leak.example/x) ![b](file:\\leak\x)", "a b"
    yield "not_an_image", "![a](data:text/html,x) ![b](javascript:x)", "a b"
    yield "in_a_link", f"[![a]({LEAK})](https://books.example)", "[a](https://books.example)"
    yield "in_an_image", f"![a ![b]({LEAK})]({LEAK})", "a b"
    yield "in_an_image_of_ours", f"![a ![b]({LEAK})]({OURS})", f"![a \uff01[b]({LEAK})]({OURS})"
    yield "made_by_cleaning", f"!![]({LEAK})[a]({LEAK})", "a"
    yield "too_deep_to_be_read", f"{'> ' * 40}![a]({LEAK})", f"{'> ' * 40}\uff01[a]({LEAK})"
    yield "other_dialects", f"![[{LEAK}]]", f"\uff01[[{LEAK}]]"
    yield "other_dialects_after_code", f"abc `x` ![[{LEAK}]]", f"abc `x` \uff01[[{LEAK}]]"
    yield "other_line_breaks", f"a\r\n![b]({LEAK})\rc", "a\nb\nc"
    yield "markup_in_its_words", f"![a *b* `c`]({LEAK})", "a *b* `c`"


def readers_differ() -> Iterator[tuple[str, str, str]]:
    """Yields what is code, or nothing, to the one reader and an image to another."""
    plain = f"\uff01[a]({LEAK})"
    for name, around in {
        "indented_after_a_definition": "[r]: x\n    {}",
        "indented_after_a_footnote": "[^1]: x\n\n    {}",
        "indented_in_a_list": "-     {}",
        "footnote": "[^1]: {}",
        "open_fence": "```\n{}\n",
        "fence_that_seems_closed": "~~~\n{}~~~",
        "code_after_an_address": "https://books.example/`{}`",
        "code_after_an_address_in_capitals": "WWW.books.example/`{}`",
    }.items():
        yield name, around.format(f"![a]({LEAK})"), around.format(plain)
    yield (
        "reference_after_an_address",
        f"https://books.example/`![a][r]`\n\n[r]: {LEAK}",
        f"https://books.example/`\uff01[a][r]`\n\n[r]: {LEAK}",
    )
    yield "two_in_a_footnote", "[^1]: <b c=d <f //g>", "[^1]: \u2039b c=d <f //g>"


HARMLESS_NAMES: Final = (
    *("align", "class", "colspan", "dir", "height", "id", "lang", "name", "open", "rowspan"),
    *("start", "title", "type", "valign", "width"),
)


def html() -> Iterator[tuple[str, str, str]]:
    yield "image", f"a <img src='{LEAK}' alt='a chart'> b", "a a chart b"
    yield "capitals", f'a <IMG ALT=chart SRC="{LEAK}"/> b', "a chart b"
    yield "words_with_an_image", f"<img alt='![a]({LEAK})' src=x>", "a"
    yield "srcset", f'a <img srcset="{LEAK} 2x"> b', "a  b"
    yield "style", f'a <b style="background:url({LEAK})">b</b>', "a b</b>"
    yield "poster", f'a <video poster="{LEAK}"></video>', "a </video>"
    yield "svg", f'a <svg><image href="{LEAK}"/></svg>', "a <svg></svg>"
    yield "frame", f'a <iframe src="{LEAK}"></iframe> <link rel=x href="{LEAK}">', "a </iframe> "
    yield "block", f'<div>\n<img src="{LEAK}">\n</div>', "<div>\n\n</div>"
    yield (
        "block_in_a_quote",
        f"> <div>\n> <img\n> src={LEAK}>",
        "> <div>\n> \u2039img\n> src=" + LEAK + ">",
    )
    yield "style_sheet", f"<style>@import '{LEAK}'</style>", f"@import '{LEAK}'"
    yield "script", f"<script>fetch('{LEAK}')</script>", f"fetch('{LEAK}')"
    yield "comment", f"a <!-- ![a]({LEAK}) --> b", "a  b"
    yield "comment_with_words", f"a <!-- alt=x <img alt=y> ![a]({LEAK}) --> b", "a  b"
    yield "open_comment", f"<!--\n![a]({LEAK})", f"\u2039!--\n\uff01[a]({LEAK})"
    yield "no_space", f"a <img/src={LEAK}> b", "a  b"
    yield "no_names", "<b onclick = 'x'>a</b> <b id=a style=b>c <b id='a(b)'>", "a</b> c "
    yield "names_of_a_link", f'<a href="x" ping="{LEAK}">a</a> <ab href="x">b', "a</a> b"
    yield "words", "<img src=x alt = 'a b'> <image src=x ALT=\"c'd\"/> <img alt=e>", "a b c'd e"
    yield "words_of_no_image", "<imgs src=x alt=b> <input src=x alt=a>", " "
    yield "instruction", f"a <?xml href={LEAK}?> b", "a  b"
    yield "no_end", f"a <img src={LEAK} b", f"a \u2039img src={LEAK} b"
    yield (
        "over_a_blank_line",
        f"<p><img alt='\n\n' src={LEAK} x",
        f"<p>\u2039img alt='\n\n' src={LEAK} x",
    )
    yield "in_markdown_in_html", f"<div>\n![a]({LEAK})\n</div>", f"<div>\n\uff01[a]({LEAK})\n</div>"


@pytest.mark.parametrize(
    ("markdown", "clean"),
    [pytest.param(each[1], each[2], id=each[0]) for each in (*images(), *readers_differ())],
)
def test_bc_134_of_an_image_from_elsewhere_the_words_are_left(markdown: str, clean: str) -> None:
    assert cleaned(markdown) == clean


@pytest.mark.parametrize(
    ("markdown", "clean"), [pytest.param(each[1], each[2], id=each[0]) for each in html()]
)
def test_bc_134_html_in_markdown_loads_nothing(markdown: str, clean: str) -> None:
    assert cleaned(markdown) == clean


@pytest.mark.parametrize(
    "markdown",
    [
        "",
        "no marks at all",
        f"an [ordinary link]({LEAK}), <{LEAK}> and [one][r]\n\n[r]: <{LEAK} x>",
        f"`![a]({LEAK})` ``<img src='{LEAK}'>``",
        f"```html\n<img src='{LEAK}'>\n```\n\n    ![a]({LEAK})\n",
        f"> ```\n> ![a]({LEAK})\n> ```",
        f"a\n  \n    ![b]({LEAK})",
        f"\t![a]({LEAK})",
        f"See https://books.example/ `![a]({LEAK})`",
        f"[a](https://books.example/![x) [b](<https://books.example/y z?c=d>) ![c]({OURS})",
        f"![a]({OURS} '![b') ![c]({OURS})",
        f"![a]({OURS}) ![b](HTTPS://IMG.BOOKS.EXAMPLE:443/x?y#z 'title')",
        "![a](data:image/png;base64,QUJD) ![b](file:01ARZ3)",
        f"![a][r]\n\n[r]: {OURS}",
        rf"\![a]({LEAK}) !\[a]({LEAK})",
        "Wow![1] List<int> x <y and z> w, 3 <4, a<b",
        "line<br>break H<sub>2</sub>O <p align=center> <td colspan='2'>",
        f"<a href=\"{LEAK}\">a link</a> <A\n href = '{LEAK}' >b</A\n>",
        *(f"<b {name}=a>" for name in HARMLESS_NAMES),
        "<b id=a9_#%.,;- class='a9_ #%.,;-' TITLE = \"a9_ #%.,;-\">",
        "<my-tag9 _a9:b.c-d hidden :x id=a /><hr/><BR /><styled>",
        "a\r\n![a](file:x)\r\n<br>",
    ],
)
def test_what_loads_nothing_from_elsewhere_stays_as_it_is(markdown: str) -> None:
    assert cleaned(markdown) == markdown


def test_only_the_hosts_that_are_given_are_allowed() -> None:
    text = f"![a]({OURS}) ![b](https://cdn.example/2.png)"
    assert without_remote_images(text, ()) == "a b"
    assert without_remote_images(text, ["*", " ", "cdn.example:443", "IMG.books.example"]) == (
        f"![a]({OURS}) b"
    )


def hostile() -> Iterator[tuple[str, str]]:
    end = f"![a]({LEAK})"
    yield "openings", "![" * 10_000
    yield "nested", "![" * 5_000 + "](a)" * 2_500
    yield "some_nested", "![" * 60 + f"]({LEAK})" * 60
    yield "brackets", "[" * 19_900 + end
    yield "many", end * 450
    yield "some_that_do_not_end", "[a](b " * 60 + "*" * 15_000 + end
    yield "ticks", "`" * 10_000 + " `" * 5_000 + end
    yield "quotes", ">" * 19_900 + end
    yield "deeper_and_deeper", "".join("> " * depth + f"{end}\n" for depth in range(120))
    yield "lists", "- " * 9_900 + end
    yield "emphasis", "*_" * 9_900 + end
    yield "escapes", "\\" * 19_900 + end
    yield "tags", "<a " * 6_000 + end
    yield "comments", "<!--" * 4_900 + end
    yield "open_comments", "<div>\n" + "<!--" * 2_900 + f"\n{end}"
    yield "very_many_comments", "<!--" * 24_900 + end
    yield "open_questions", "<div>\n" + "<?a" * 2_900 + f"\n{end}"
    yield "elements", "<b c=d>" * 2_800 + end
    yield "attributes", "<img " + "a=b " * 4_900 + f"src={LEAK}>"
    yield "names", "<a" + " x" * 9_900 + "=" + end
    yield "blocks", "<div>\n\n" * 2_000 + end
    yield "definitions", "[a]: b\n" * 2_500 + f"![a]\n[b]: {LEAK}\n![b]"
    yield "rows", "|a|b|\n|-|-|\n" + f"|{end}|`c`|\n" * 300
    yield "pipes", "|" * 9_000 + "\n" + "|-" * 4_500 + f"|\n{end}"
    yield "spaces", "a" + " " * 19_900 + end
    yield "paragraphs", f"{end}\n\n" * 400
    yield "long", "a " * 60_000 + end
    yield "very_long", "![" * 500_000 + end


@pytest.mark.parametrize("markdown", [pytest.param(text, id=name) for name, text in hostile()])
def test_a_hostile_text_is_clean_after_a_bounded_time(markdown: str) -> None:
    begun = time.thread_time()
    clean = without_remote_images(markdown, HOSTS)
    assert time.thread_time() - begun < 3
    assert units(clean) <= units(markdown)
    assert without_remote_images(clean, HOSTS) == clean
    assert "![a](https://leak" not in clean
    assert "<img" not in clean


_PIECES = st.sampled_from(
    [
        *("![", "!", "[", "]", "](", f"]({LEAK})", f"]({OURS})", "](<", ">)", ")", "][r]", "[]"),
        *(f"\n\n[r]: {LEAK}\n", f"\n[r]: <{OURS}>\n", "[a]: ", f"![a]({LEAK})", f"![a]({OURS})"),
        *("`", "``", "```", "\n```\n", "~~~\n", "\\", "\n", "\n\n", "    ", "\t", "\r", "> ", "- "),
        *(
            "1) ",
            "# ",
            " #",
            "\n===\n",
            "|",
            "\n|-|-|\n",
            "*",
            "_",
            "~~",
            "&",
            "&lt;",
            "&#33;",
            "\0",
        ),
        *("<img ", "<img/", f"src={LEAK}", f"src='{LEAK}'", "alt=", "alt='", "'", '"', ">", "/>"),
        *(
            "<div>",
            "\n<div>\n",
            "</div>",
            "<p ",
            "<!--",
            "-->",
            "<!-->",
            "<?",
            "?>",
            "<![CDATA[",
            "]]>",
        ),
        *(
            "<style>",
            "</style>",
            "\n<script>",
            "<textarea>",
            "<svg>",
            "<a href='",
            "<br>",
            "<",
            "=",
        ),
        *(
            "text",
            " ",
            "a",
            "\u2028",
            "\ufeff",
            "📚",
            "\uff01",
            "\u2039",
            LEAK,
            OURS,
            "//leak.example",
        ),
    ]
)
TEXTS: Final = st.lists(_PIECES | st.text(max_size=3), max_size=16).map("".join)


@given(TEXTS)
def test_whatever_is_cleaned_loads_nothing_and_stays_so(markdown: str) -> None:
    clean = cleaned(markdown)
    assert is_blank(clean) or not is_blank(markdown)
    assert not is_blank(visible_without_remote_images(f"a{markdown}", HOSTS))


@given(TEXTS)
def test_a_plain_text_has_no_images_and_no_tags(markdown: str) -> None:
    plain = plain_markdown(markdown)
    assert len(plain) == len(markdown)
    assert (plain_markdown(plain), loaded(plain)) == (plain, [])
    assert without_remote_images(plain, ()) == plain


def test_a_text_that_must_be_visible_is_never_left_blank() -> None:
    assert visible_without_remote_images(f" ![]({LEAK}) ", ()) == IMAGE
    assert visible_without_remote_images("![](xy)", ()) == IMAGE
    assert visible_without_remote_images("![](x)", ()) == ELLIPSIS
    assert visible_without_remote_images(" \n", ()) == " \n"


@pytest.mark.parametrize("hostile", ["![" * 5_000, "[" * 3_000 + "![a](/a.png)", "![a](b" * 3_000])
def test_what_takes_a_reader_long_is_made_plain_at_once(hostile: str) -> None:
    assert without_remote_images(hostile, ()) == plain_markdown(hostile)
    few = hostile[: len(hostile) // 1_000 * 2] + " ![a](data:image/png;base64,aaaa)"
    assert "![" in without_remote_images(few, ())

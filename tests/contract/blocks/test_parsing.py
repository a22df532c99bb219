"""From text to a document (spec blocks 2)."""

import inspect
import json
import subprocess
import sys
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract.blocks.issues import BlockCode, BlockIssue
from parleyd.contract.blocks.limits import LEVELS, TEXT_BYTES
from parleyd.contract.blocks.parsing import Refusal, parse, read
from parleyd.contract.text import WHITESPACE
from tests.contract.blocks.cases import cases, needs_cases, told
from tests.contract.blocks.texts import MISWRITTEN, STREAMED, TOP

NOT_A_DOCUMENT = "NOT_A_DOCUMENT"
FEATURE = "YAML_FEATURE_DISALLOWED"
DIVIDER = "v: 1\nblocks:\n  - type: divider"
READ: dict[str, JsonValue] = {"v": 1, "blocks": [{"type": "divider"}]}


def _code(text: str) -> str | None:
    """Returns the code of the one error of a text, or None if it parses."""
    parsed = parse(text)
    if not isinstance(parsed, BlockIssue):
        return None
    assert parsed.path == ""
    assert parsed.message.endswith(".")
    assert parsed.fix.endswith(".")
    return str(parsed.code)


@needs_cases
@pytest.mark.parametrize("case", cases("parse"), ids=lambda case: case["name"])
def test_a_conformance_case_passes(case: dict[str, Any]) -> None:
    parsed = parse(case["document"])
    assert told([parsed] if isinstance(parsed, BlockIssue) else []) == case["expect"]["errors"]


@pytest.mark.parametrize(
    "text",
    [
        DIVIDER,
        f"{WHITESPACE}{DIVIDER}{WHITESPACE}",
        f"```\n{DIVIDER}\n```",
        f"```yaml\n{DIVIDER}```",
        f"\ufeff ```JSON title=x\n{DIVIDER}\n```\n\u00a0",
        f"```python\r\n{DIVIDER}\r\n```",
        f"```a`b```c\n{DIVIDER}\n```",
        f"```yaml\n\n  \n{DIVIDER}\n\n\n```",
        f"---\n{DIVIDER}\n...\n# the end",
        f"# a reply\n%YAML 1.1\n---\n{DIVIDER}",
        f"%YAML 1.2\n---\n{DIVIDER}",
        f"%YAML 1.3\n---\n{DIVIDER}",
        DIVIDER.replace("\n", "\r\n"),
        "? v\n: 1\n? blocks\n: - type: divider",
        "\"v\": 1\n'blocks':\n- {type: divider,}",
        "{v: 1, blocks: [{type: divider},],}",
        "v: 1\nblocks: [\n\t{\n\t\ttype: divider\n\t}\n]",
        '{"v": 1, "blocks": [{"type": "divider"}]} # done',
        '{\n\t"v":\t1,\n\t"blocks": [\n\t\t{"type": "divider"}\n\t]\n}',
    ],
)
def test_ways_to_write_the_same_document(text: str) -> None:
    assert parse(text) == READ


@pytest.mark.parametrize(
    "text",
    [
        "",
        WHITESPACE,
        "```\n```",
        "```yaml\n \n```",
        "# only a comment",
        "---",
        "just prose",
        f"````\n{DIVIDER}\n````",
        f"~~~\n{DIVIDER}\n~~~",
        f"```yaml\n{DIVIDER}",
        f"{DIVIDER}\n```",
        f"Here:\n```\n{DIVIDER}\n```",
        f"```\n{DIVIDER}\n```\nDone.",
        f"```{DIVIDER}```",
        "\u200bv: 1",
        f"{DIVIDER}\n---",
        f"{DIVIDER}\n---\n{DIVIDER}",
        f"{DIVIDER}\n...\nv: 1",
        f"{DIVIDER}\n...\n---",
        f"%YAML 1.2\n{DIVIDER}",
        "- v: 1",
        "v",
        "12",
        "{}",
        "[]",
        "null",
        '"v: 1"',
        "V: 1",
        "blocks: []",
        "v: 1\nv: 1",
        "v: 1\nblocks: [{a: 1, a: 2}]",
        'v: 1\na: {b: 1, "b": 2}',
        "v: 1\n1: a\n'1': b",
        '{"v": 1, "v": 1}',
        '{"v": 1, "blocks": [{"a": {"b": 1, "b": 1}}]}',
        "v: 1\n\tblocks: []",
        "v: 1\nx:\n\t- a",
        "v: 1\nx: a\n\tb: c",
        "v: 1\ntext: Loans: overdue",
        "v: 1\nx: @here",
        "v: 1\nx: `code`",
        'v: 1\nx: "open',
        "v: 1\nx: 'open",
        "v: 1\nx: [1, 2",
        'v: 1\nx: "\\d"',
        'v: 1\nx: "\\uD83D"',
        "v: 1\nx: \x07",
        "{'v': 1",
        '{"v": 1} and more',
        '{"v": 1}{"v": 1}',
        '{"v": 1',
        '{"v": 1, "x": "open',
    ],
)
def test_a_text_that_is_no_document(text: str) -> None:
    assert _code(text) == NOT_A_DOCUMENT


@pytest.mark.parametrize(
    "text",
    [
        "&root\nv: 1",
        "&root {v: 1}",
        "&key v: 1",
        "v: &value 1",
        "v: 1\nblocks: &list\n  - type: divider",
        "v: 1\nx: {payload: {deep: [&a 1]}}",
        "v: 1\nx: *nothing",
        "v: 1\n*nothing : x",
        "v: 1\nx: !!str 42",
        "v: 1\nx: !!map {}",
        "v: 1\nx: !name y",
        "v: 1\nx: ! y",
        "v: 1\nx: !",
        "v: 1\nx: !<tag:yaml.org,2002:str> y",
        "v: 1\nx: !<open y",
        "v: 1\nx: !un!declared y",
        "%TAG !e! tag:example.com,2000:\n---\nv: 1\nx: !e!y z",
        "v: 1\nx: !!python/object/apply:os.system ['true']",
        "v: 1\nx: !!binary aGk=",
        "v: 1\nx: **Bold** text",
        "v: 1\nx: *emph* text",
        "v: 1\nx: * a",
        "v: 1\nx: & a",
        "v: 1\nx: &é a",
        "v: 1\nx: &a &b c",
        "v: 1\nx: &a *b",
        "- **a**",
        "*a",
        "&a just prose",
    ],
)
def test_an_anchor_an_alias_or_a_tag_is_refused(text: str) -> None:
    assert _code(text) == FEATURE


@pytest.mark.parametrize(
    "text",
    [
        "v: 1\nx: &a y\nz: Loans: overdue",
        "v: 1\nx: &a y\nx: again",
        "v: 1\nv: 1\nx: &a y",
        '{"v": 1, "v": 1, "x": *a}',
        'v: 1\nx:\n- &x "open',
        'v: [&x "open',
        "v: 1\nx: &a b\nc\n: d\n- e",
        "&a foo\nbar\nv: 1",
        "v: 1\nx: !y z\nw: \x07",
        "v: &a 1\nx: [1, 2",
        f"x: &a 1\ny: {'[' * 5000}",
        "x: &a 1",
        "- &a 1",
        "v: 1\nx: **a**\n...\n# the end",
    ],
)
def test_such_a_feature_outweighs_faults_after_it(text: str) -> None:
    assert _code(text) == FEATURE


@pytest.mark.parametrize(
    "text",
    [
        "v: 1\nx: &a y\n---\nv: 1",
        "v: 1\nx: **a**\n---\nv: 1",
        "v: 1\nx: **a**\n...\nv: 1",
        "v: 1\nx: &a y\nz: Loans: overdue\n---",
        "v: 1\nx: Loans: overdue\ny: &a z",
        'v: 1\nx: "open\ny: &a z',
        "v: 1\nx: \x07\ny: &a z",
    ],
)
def test_a_second_document_and_earlier_faults_outweigh_such_a_feature(text: str) -> None:
    assert _code(text) == NOT_A_DOCUMENT


@pytest.mark.parametrize(
    "text",
    [
        'v: 1\nx: "**Bold** & !"',
        "v: 1\nx: '*a'",
        "v: 1\nx: |\n  **Bold**\n  &a\n  !b",
        "v: 1\nx: a **b** &c !d",
        "v: 1\n# *a &b !c\nx: y",
        "v: 1\nx: [a*, b&c, d!]",
    ],
)
def test_their_characters_elsewhere_are_text(text: str) -> None:
    assert _code(text) is None


@pytest.mark.parametrize("version", ["", "null", "2", "one", "[]", '"1"'])
def test_any_version_parses(version: str) -> None:
    assert _code(f"v: {version}\nblocks: []") is None


def test_the_merge_key_is_an_ordinary_key() -> None:
    assert parse("v: 1\n<<: {a: 1}\na: 2") == {"v": 1, "<<": {"a": 1}, "a": 2}


def test_words_that_json_lacks_make_it_yaml() -> None:
    text = '{"v": 1, "a": NaN, "b": Infinity, "c": -Infinity}'
    assert parse(text) == {"v": 1, "a": "NaN", "b": "Infinity", "c": "-Infinity"}


def test_json_is_read_as_its_standard_says() -> None:
    text = '{"v": 1, "a": "\\uD83D\\uDCDA\\/\\u2028", "b": [1.0, -0, 1e2, 12], "c": "\\ud800"}'
    assert parse(text) == {"v": 1, "a": "📚/\u2028", "b": [1.0, 0, 100.0, 12], "c": "\ud800"}


def test_the_last_line_of_a_block_scalar_ends_like_all_others() -> None:
    last = parse(f"{TOP}  - type: text\n    markdown: |\n      a")
    inner = parse(f"{TOP}  - type: text\n    markdown: |\n      a\n  - type: divider")
    assert isinstance(last, dict)
    assert isinstance(inner, dict)
    assert last["blocks"] == [{"type": "text", "markdown": "a\n"}]
    assert inner["blocks"] == [{"type": "text", "markdown": "a\n"}, {"type": "divider"}]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a:[1], b:{c: d}}", {"a": [1], "b": {"c": "d"}}),
        ("{a:, b:}", {"a": None, "b": None}),
        ("{a:[':[', \":{\"], b: c} # a:[b", {"a": [":[", ":{"], "b": "c"}),
        ("{\n  a:[it's],\n  b:['it''s:{']\n  }", {"a": ["it's"], "b": ["it's:{"]}),
        ("{a:[it's], b: 'c:[d', e:[]}", {"a": ["it's"], "b": "c:[d", "e": []}),
        ("{: a, b: c}", {"": "a", "b": "c"}),
        ("\n  : a\n  b: c", {"": "a", "b": "c"}),
        ("\n  - : a\n  - b", [{"": "a"}, "b"]),
        ("|\n  \ta\n  b", "\ta\nb\n"),
        (">- # code\n\n  \ta", "\n\ta"),
        ("\n  a: b\n  \t\n  c: d", {"a": "b", "c": "d"}),
    ],
)
def test_what_is_yaml_today_is_read_though_libyaml_knows_it_not(
    text: str, value: JsonValue
) -> None:
    assert parse(f"v: 1\nx: {text}") == {"v": 1, "x": value}


@pytest.mark.parametrize("text", ["{a:[*b]}", "{: &a b}", "|\n  \ta\ny: *b"])
def test_such_yaml_may_use_no_feature_either(text: str) -> None:
    assert _code(f"v: 1\nx: {text}") == FEATURE


@pytest.mark.parametrize(
    "text", ["|\n\ta", "{a:[1}", "{: a, ~: b}", "\n  : a\n  : b", "{a: : b}", "\n  a: 1\n  \tb: 2"]
)
def test_faults_beside_such_yaml_stay_faults(text: str) -> None:
    assert _code(f"v: 1\nx: {text}") == NOT_A_DOCUMENT


def test_the_line_of_a_fault_is_told_and_nothing_of_the_text() -> None:
    issue = parse("v: 1\nblocks:\n  - type: heading\n    text: Secret: overdue\n")
    assert isinstance(issue, BlockIssue)
    assert "line 4" in issue.message
    assert "Secret" not in issue.message + issue.fix


def _lists(levels: int) -> str:
    return "[" * levels + "]" * levels


def _nested(way: str, levels: int) -> str:
    """Returns a document of so many levels, of which the root is one."""
    inner = levels - 1
    match way:
        case "flow lists":
            return f"v: 1\nx: {_lists(inner)}"
        case "flow mappings":
            return f"v: 1\nx: {'{a: ' * inner}1{'}' * inner}"
        case "block lists":
            return f"v: 1\nx:\n  {'- ' * inner}1"
        case "keys":
            return f"v: 1\n? {_lists(inner)}\n: 1"
        case "json lists":
            return f'{{"v": {_lists(inner)}}}'
        case _:
            return f'{{"v": {"[1, {" + chr(34) + "a" + chr(34) + ": "}{_lists(inner - 2)}}}]}}'


@pytest.mark.parametrize("levels", [LEVELS, LEVELS + 1])
@pytest.mark.parametrize(
    "way", ["flow lists", "flow mappings", "block lists", "keys", "json lists", "json"]
)
def test_collections_nest_to_the_limit(way: str, levels: int) -> None:
    assert _code(_nested(way, levels)) == (None if levels == LEVELS else NOT_A_DOCUMENT)


def test_a_text_may_be_of_two_megabytes_and_no_more() -> None:
    start = "v: 1\nx: |\n  "
    full = f"{start}{'a' * (TEXT_BYTES - len(start))}"
    assert TEXT_BYTES >= 2 * 1024 * 1024
    assert _code(full) is None
    assert _code(f"{full}a") == NOT_A_DOCUMENT
    assert _code(f"{start}{'ä' * (TEXT_BYTES // 2)}") == NOT_A_DOCUMENT


_BOMB = "v: 1\na: &a [x, x]\n" + "".join(
    f"{after}: &{after} [*{before}, *{before}]\n"
    for before, after in zip("abcdefghijklmnopqrst", "bcdefghijklmnopqrstu", strict=True)
)
HOSTILE: list[tuple[str, str, str | None]] = [
    ("alias_bomb", _BOMB, FEATURE),
    ("nested_lists", "\n".join(f"{' ' * i}-" for i in range(1100)), NOT_A_DOCUMENT),
    ("nested_lists_on_a_line", f"v: 1\nx:\n  {'- ' * 1100}y", NOT_A_DOCUMENT),
    ("closed_lists", f"v: 1\nx: {'[' * 1100}{']' * 1100}", NOT_A_DOCUMENT),
    ("open_brackets", "[" * 5000, NOT_A_DOCUMENT),
    ("open_braces", '{"a":' * 5000, NOT_A_DOCUMENT),
    ("very_many_brackets", f"v: 1\nx: {'[' * 1_000_000}", NOT_A_DOCUMENT),
    ("deep_json", f'{{"v": {"[" * 500_000}{"]" * 500_000}}}', NOT_A_DOCUMENT),
    ("question_marks", "? " * 500_000, NOT_A_DOCUMENT),
    ("long_key", f"v: 1\n{'k' * 1_000_000}: 1", NOT_A_DOCUMENT),
    ("long_explicit_key", f"v: 1\n? {'k' * 1_000_000}\n: 1", None),
    ("long_json_key", f'{{"v": 1, "{"k" * 1_000_000}": 1}}', None),
    ("nested_keys", f"v: 1\n{'? ' * 150}a", None),
    ("tags", f"v: 1\nx: !<{'%41' * 300_000}", FEATURE),
    ("dashes", "-" * 1_000_000, NOT_A_DOCUMENT),
    ("markers", "---\n" * 10_000, NOT_A_DOCUMENT),
    ("ends", f"v: **a\n{'...' + chr(10)}{'# x' + chr(10)}" * 10_000, NOT_A_DOCUMENT),
    ("spaces", f"v: 1\n{' ' * 1_000_000}x", None),
    ("comments", f"{'#' + chr(10)}" * 100_000, NOT_A_DOCUMENT),
]


@pytest.mark.parametrize(
    ("text", "code"),
    [(text, code) for _, text, code in HOSTILE],
    ids=[name for name, _, _ in HOSTILE],
)
def test_bc_129_a_hostile_text_is_answered_at_once_with_little_memory(
    text: str, code: str | None
) -> None:
    fastest = float("inf")
    for _ in range(3):  # a busy machine is no fault of the parser's
        begun = time.thread_time()
        assert _code(text) == code
        fastest = min(fastest, time.thread_time() - begun)
    assert fastest < 0.05
    tracemalloc.start()
    try:
        _code(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 * len(text) + 1_000_000


def test_two_megabytes_of_blocks_are_read() -> None:
    count = (TEXT_BYTES - len(TOP)) // len("  - type: divider\n")
    parsed = parse(TOP + "  - type: divider\n" * count)
    assert isinstance(parsed, dict)
    assert parsed["blocks"] == [{"type": "divider"}] * count


def test_a_deep_stack_of_the_caller_is_no_reason_to_raise() -> None:
    text = f'{{"v": {"[" * 199}{"]" * 199}}}'

    def sunk(levels: int) -> object:
        return parse(text) if levels == 0 else sunk(levels - 1)

    room = sys.getrecursionlimit() - len(inspect.stack(0))
    for left in (40, 120, 190, 260):
        assert isinstance(sunk(room - left), dict | BlockIssue)


def test_a_pyyaml_without_libyaml_is_refused_clearly() -> None:
    program = "import sys; sys.modules['yaml._yaml'] = None\nimport parleyd.contract.blocks.parsing"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 1
    assert "install a wheel of pyyaml" in run.stderr.splitlines()[-1]


_ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(st.text(max_size=5), _ANY_JSON, max_size=4).map(
    lambda entries: {"v": 1, **entries}
)


@given(
    _OBJECTS,
    st.sampled_from([None, 1, "\t"]),
    st.booleans(),
)
def test_json_parses_to_what_it_says(value: Any, indent: Any, escaped: bool) -> None:  # noqa: FBT001
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    parsed = parse(text)
    assert parsed == value
    assert repr(parsed) == repr(json.loads(text))


@given(_OBJECTS)
def test_json_inside_yaml_parses_to_what_it_says(value: Any) -> None:
    text = f"v: 1\nx: {json.dumps(value, ensure_ascii=False)}"
    assert parse(text) == {"v": 1, "x": value}


_SCRAPS = st.sampled_from(
    [
        *"{}[]:,-?*&!|>'\"%@`#~=\n\t \\0.e\r\x00\ufeff\u2028\ud800",
        "v: 1",
        "\n  - ",
        "---",
        "...",
        "<<",
    ]
)


@given(st.text() | st.lists(_SCRAPS | st.text(max_size=3), max_size=30).map("".join) | MISWRITTEN)
@example("{" * 400)
@example("v: 1\nx: \\uD83D")
def test_no_text_makes_the_parser_raise(text: str) -> None:
    parsed = parse(text)
    if isinstance(parsed, BlockIssue):
        assert parsed.code in (BlockCode.NOT_A_DOCUMENT, BlockCode.YAML_FEATURE_DISALLOWED)
    else:
        assert "v" in parsed
        assert parse(text) == parsed or "nan" in repr(parsed)


@given(MISWRITTEN | STREAMED, MISWRITTEN, st.integers(0, 400))
def test_what_is_refused_for_good_stays_refused(text: str, more: str, cut: int) -> None:
    beginning = text[:cut]
    refused = read(beginning)
    if isinstance(refused, Refusal) and refused.lasting:
        assert isinstance(read(text), Refusal)
        assert isinstance(read(beginning + more), Refusal)

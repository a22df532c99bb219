"""`parleyd blocks check` and `parleyd blocks schema`, as processes of their own."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from parleyd.contract.blocks.html import sanitize_html
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.partial import parse_partial
from parleyd.contract.blocks.schema import json_schema
from parleyd.contract.blocks.validation import check
from tests.app.processes import environment, run
from tests.contract.blocks.cases import CASES, FOLDER, needs_cases, options_of

FILES = sorted(FOLDER.glob("*.json"))
DOCUMENT = '{"v": 1, "blocks": [{"type": "divider"}]}'
CASE: dict[str, Any] = {"name": "valid", "op": "validate", "document": DOCUMENT}
VALID = '{"name":"valid","errors":[],"warnings":[]}\n'


def json_lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.split("\n")[:-1]]


def pairs(issues: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{"path": issue["path"], "code": issue["code"]} for issue in issues]


def told(issues: tuple[BlockIssue, ...]) -> list[dict[str, Any]]:
    return [issue.model_dump(mode="json") for issue in issues]


def in_python(case: dict[str, Any]) -> dict[str, Any]:
    """Returns what the functions of the contract say of a case."""
    match case["op"]:
        case "parse":
            parsed = parse(case["document"])
            errors = told((parsed,)) if isinstance(parsed, BlockIssue) else []
            return {"name": case["name"], "errors": errors, "warnings": []}
        case "validate":
            verdict = check(case["document"], options_of(case))
            errors, warnings = told(verdict.errors), told(verdict.warnings)
            return {"name": case["name"], "errors": errors, "warnings": warnings}
        case "partial":
            so_far = parse_partial(case["document"], options_of(case))
            return {"name": case["name"], "blocks": len(so_far.blocks), "pending": so_far.pending}
        case _:
            return {"name": case["name"], "html": sanitize_html(case["html"])}


def assert_expected(line: dict[str, Any], case: dict[str, Any]) -> None:
    """Fails unless a line is what the case expects."""
    expected = case["expect"]
    match case["op"]:
        case "parse":
            assert pairs(line["errors"]) == expected["errors"], case["name"]
        case "validate":
            got = {key: pairs(line[key]) for key in ("errors", "warnings")}
            assert got == expected, case["name"]
        case "partial":
            assert {key: line[key] for key in ("blocks", "pending")} == expected, case["name"]
        case _:
            assert all(text in line["html"] for text in expected["contains"]), case["name"]
            assert not any(text in line["html"] for text in expected["absent"]), case["name"]


@needs_cases
async def test_every_conformance_case_is_what_it_expects_and_what_python_says(
    tmp_path: Path,
) -> None:
    ended = await run("blocks", "check", *map(str, FILES), env=environment(tmp_path))
    assert (ended.code, ended.err) == (0, "")
    said = json_lines(ended.out)
    assert {case["op"] for case in CASES} == {"parse", "validate", "partial", "sanitize"}
    for line, case in zip(said, CASES, strict=True):
        assert_expected(line, case)
        expected = in_python(case)
        assert line == expected
        assert [*line] == [*expected]


@needs_cases
async def test_every_conformance_case_passes_as_a_line_of_standard_input(tmp_path: Path) -> None:
    env = environment(tmp_path)
    typed = "\n".join(json.dumps(case, ensure_ascii=False) for case in CASES).encode()
    assert await run("blocks", "check", "-", env=env, typed=typed) == await run(
        "blocks", "check", *map(str, FILES), env=env
    )


async def test_a_line_of_output_is_compact_and_in_ascii(tmp_path: Path) -> None:
    cases = [CASE, {"name": "ü", "op": "sanitize", "html": "<b>é</b>"}]
    typed = "\n".join(map(json.dumps, cases)).encode()
    ended = await run("blocks", "check", "-", env=environment(tmp_path), typed=typed)
    assert ended.out == VALID + '{"name":"\\u00fc","html":"<b>\\u00e9</b>"}\n'


async def test_the_options_of_a_case_count(tmp_path: Path) -> None:
    html = {"type": "html", "html": "<b>x</b>"}
    image = {"type": "image", "alt": "Pier", "src": "https://img.example.org/1"}
    action = {"kind": "callback", "name": "renew"}
    button = {"type": "button", "id": "b", "text": "Renew", "action": action}
    actions = {"type": "actions", "id": "a", "elements": [button]}
    table = {"type": "table", "data": "far", "columns": ["level"]}
    far = {"source": "ref", "id": "T-9"}
    document = {"v": 1, "datasets": {"far": far}, "blocks": [html, image, actions, table]}
    column = {"name": "at", "type": "date"}
    strict: dict[str, Any] = {"hostActions": [], "datasets": {"T-9": {"columns": [column]}}}
    loose: dict[str, Any] = {
        "html": True,
        "imageHosts": ["img.example.org"],
        "hostActions": ["renew"],
        "datasets": {"T-9": {"columns": [{**column, "name": "level"}]}},
    }
    cases = [
        {"name": name, "op": op, "document": json.dumps(document), "options": options}
        for op in ("validate", "partial")
        for name, options in (("strict", strict), ("loose", loose))
    ]
    typed = "\n".join(map(json.dumps, cases)).encode()
    ended = await run("blocks", "check", "-", env=environment(tmp_path), typed=typed)
    refused, accepted, pending, whole = json_lines(ended.out)
    assert pairs(refused["errors"]) == [
        {"path": "blocks[0]", "code": "HTML_DISABLED"},
        {"path": "blocks[1].src", "code": "IMAGE_HOST_NOT_ALLOWED"},
        {"path": "blocks[2].elements[0].action.name", "code": "UNKNOWN_HOST_ACTION"},
        {"path": "blocks[3].columns[0]", "code": "COLUMN_NOT_FOUND"},
    ]
    assert accepted["errors"] == []
    assert pending == {"name": "strict", "blocks": 0, "pending": True}
    assert whole == {"name": "loose", "blocks": 4, "pending": False}


async def test_it_loads_nothing_heavy(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(CASE))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import sys, parleyd.app.cli as cli\n"
        f"sys.argv = ['parleyd', 'blocks', 'check', {str(file)!r}]\n"
        "try:\n    cli.main()\nexcept SystemExit as stop:\n    print(stop.code, *sys.modules)",
        env=environment(tmp_path),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    line, loaded = out.decode().split("\n", 1)
    assert line + "\n" == VALID
    code, *modules = loaded.split()
    assert code == "0"
    heavy = {"alembic", "asyncpg", "google", "grpc", "mcp", "parley", "rich", "sqlalchemy"}
    assert heavy.isdisjoint(modules)
    layers = {name.split(".")[1] for name in modules if name.startswith("parleyd.")}
    assert layers == {"app", "contract"}


UNREADABLE: list[tuple[str, str | bytes, str]] = [
    ("nothing", "", "There is nothing in it."),
    ("no UTF-8", b"\xff", "This is no UTF-8."),
    ("a list", "[]", "A case is an object."),
    ("no name", json.dumps({**CASE, "name": 1}), "`name` is no string."),
    (
        "an unknown operation",
        json.dumps({**CASE, "op": "Parse"}),
        '`op` is none of "parse", "validate", "partial", "sanitize".',
    ),
    ("no document", json.dumps({**CASE, "document": {}}), "`document` is no string."),
    ("no html", json.dumps({**CASE, "op": "sanitize"}), "`html` is no string."),
    ("null for options", json.dumps({**CASE, "options": None}), "`options`: "),
    ("a number for a flag", json.dumps({**CASE, "options": {"html": 1}}), "`options.html`: "),
    (
        "a number for a host",
        json.dumps({**CASE, "options": {"imageHosts": [1]}}),
        "`options.imageHosts[0]`: ",
    ),
    (
        "an unknown type of column",
        json.dumps(
            {**CASE, "options": {"datasets": {"a": {"columns": [{"name": "x", "type": "bool"}]}}}}
        ),
        "`options.datasets.a.columns[0].type`: ",
    ),
]


@pytest.mark.parametrize(
    ("text", "sentence"), [u[1:] for u in UNREADABLE], ids=[u[0] for u in UNREADABLE]
)
async def test_what_is_no_case_is_told_in_a_sentence_and_the_others_are_decided(
    text: str | bytes, sentence: str, tmp_path: Path
) -> None:
    sound = tmp_path / "sound.json"
    sound.write_text(json.dumps(CASE))
    typed = text.encode() if isinstance(text, str) else text
    env = environment(tmp_path)
    ended = await run("blocks", "check", "-", "no-such.json", str(sound), env=env, typed=typed)
    assert (ended.code, ended.out) == (2, VALID)
    first, second = ended.err.splitlines()
    assert first.startswith(f"parleyd: standard input: {sentence}")
    assert second == "parleyd: no-such.json: No such file or directory."


async def test_the_schema_is_printed(tmp_path: Path) -> None:
    ended = await run("blocks", "schema", env=environment(tmp_path))
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == json_schema()

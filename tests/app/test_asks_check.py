"""`parleyd asks check`, as a process of its own."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.app.processes import COMMAND, environment, run
from tests.conformance import CASES, FILES, needs_cases

ASK: dict[str, Any] = {
    "name": "valid",
    "op": "ask",
    "kind": "confirm",
    "input": {"prompt": "Post the rota?"},
}
VALID = '{"name":"valid","errors":[]}\n'
REPLACED = "\ufffd"


def json_lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.split("\n")[:-1]]


async def outcome(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Returns what is said of one case, which can be read."""
    ended = await run(
        "asks", "check", "-", env=environment(folder), typed=json.dumps(case).encode()
    )
    assert (ended.code, ended.err) == (0, "")
    (line,) = json_lines(ended.out)
    return line


def reported(line: dict[str, Any]) -> list[tuple[str, str]]:
    return [(error["path"], error["code"]) for error in line["errors"]]


@needs_cases
async def test_every_conformance_case_passes(tmp_path: Path) -> None:
    ended = await run("asks", "check", *map(str, FILES), env=environment(tmp_path))
    assert (ended.code, ended.err) == (0, "")
    said = json_lines(ended.out)
    assert [line["name"] for line in said] == [case["name"] for case in CASES]
    for line, case in zip(said, CASES, strict=True):
        if case["op"] == "card":
            assert line == {"name": case["name"], **case["expect"]}
        else:
            assert [*line] == ["name", "errors"]
            expected = [(error["path"], error["code"]) for error in case["expect"]["errors"]]
            assert reported(line) == expected, case["name"]
            for error in line["errors"]:
                assert [*error] == ["path", "code", "message", "fix"]
                assert error["message"]
                assert error["fix"]


@needs_cases
async def test_every_conformance_case_passes_as_a_line_of_standard_input(tmp_path: Path) -> None:
    env = environment(tmp_path)
    typed = "\r\n\n".join(json.dumps(case, ensure_ascii=False) for case in CASES).encode()
    lines = await run("asks", "check", "-", env=env, typed=typed)
    files = await run("asks", "check", *map(str, FILES), env=env)
    assert lines == files


async def test_a_line_of_output_is_compact(tmp_path: Path) -> None:
    ended = await run(
        "asks", "check", "-", env=environment(tmp_path), typed=json.dumps(ASK, indent=2).encode()
    )
    assert (ended.code, ended.out, ended.err) == (0, VALID, "")


async def test_it_loads_nothing_heavy(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(ASK))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import sys, parleyd.app.cli as cli\n"
        f"sys.argv = ['parleyd', 'asks', 'check', {str(file)!r}]\n"
        "try:\n    cli.main()\nexcept SystemExit as stop:\n    print(stop.code, *sys.modules)",
        env=environment(tmp_path),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    line, loaded = out.decode().split("\n", 1)
    assert line + "\n" == VALID
    code, *modules = loaded.split()
    assert code == "0"
    heavy = {
        *("alembic", "asyncpg", "google", "grpc", "httpx2", "jwt", "parley", "pydantic_settings"),
        *("questionary", "rich", "sqlalchemy", "structlog", "uvloop"),
    }
    assert heavy.isdisjoint(modules)
    layers = {name.split(".")[1] for name in modules if name.startswith("parleyd.")}
    assert layers == {"app", "contract"}


# ---------------------------------------------------------------- how cases are read


async def test_files_and_standard_input_come_in_the_order_given(tmp_path: Path) -> None:
    one, several = tmp_path / "one.json", tmp_path / "several.jsonl"
    one.write_text(json.dumps({**ASK, "name": "one"}, indent=2))
    several.write_text("".join(json.dumps({**ASK, "name": name}) + "\n" for name in "ab"))
    ended = await run(
        *("asks", "check", str(several), "-", str(one)),
        env=environment(tmp_path),
        typed=json.dumps({**ASK, "name": "typed"}).encode(),
    )
    assert ended.code == 0
    assert [line["name"] for line in json_lines(ended.out)] == ["a", "b", "typed", "one"]


async def test_a_byte_order_mark_and_other_keys_don_t_count(tmp_path: Path) -> None:
    typed = b"\xef\xbb\xbf" + json.dumps({**ASK, "rule": "CF1", "expect": {}, "x": 1}).encode()
    ended = await run("asks", "check", "-", env=environment(tmp_path), typed=typed)
    assert (ended.code, ended.out) == (0, VALID)


async def test_characters_that_end_a_line_elsewhere_end_none_here(tmp_path: Path) -> None:
    name = "a\u2028b\u0085c\x1dd"
    case = {**ASK, "name": name, "input": {"prompt": name, name: 1}}
    typed = json.dumps(case, ensure_ascii=False).encode() + b"\n" + json.dumps(ASK).encode()
    ended = await run("asks", "check", "-", env=environment(tmp_path), typed=typed)
    assert ended.code == 0
    assert len(ended.out.splitlines()) == 2
    first, second = json_lines(ended.out)
    assert first["name"] == name
    assert reported(first) == [(name, "UNKNOWN_KEY")]
    assert second == json.loads(VALID)


async def test_unpaired_surrogates_are_replaced_before_anything_is_checked(
    tmp_path: Path,
) -> None:
    half = "\ud83d"
    options = [{"id": "a", "label": half}, {"id": "b", "label": "\udea2"}]
    ask = {"prompt": f"{half}\U0001f6a2?", "select": "many", "options": options}
    name = f"half {half} a ship"
    faulty = {**ask, "default": [half, REPLACED], half: 1}
    line = await outcome({"name": name, "op": "ask", "kind": "choice", "input": faulty}, tmp_path)
    assert line["name"] == f"half {REPLACED} a ship"
    assert reported(line) == [
        ("default[0]", "DEFAULT_NOT_IN_OPTIONS"),
        ("default[1]", "DEFAULT_NOT_IN_OPTIONS"),
        ("default[1]", "DUPLICATE_ID"),
        (REPLACED, "UNKNOWN_KEY"),
    ]
    line = await outcome({"name": name, "op": "card", "kind": "choice", "input": ask}, tmp_path)
    assert line["card"]["text"] == f"{REPLACED}\U0001f6a2?"


async def test_numbers_beyond_all_measure_are_no_numbers(tmp_path: Path) -> None:
    fields = [
        f'{{"type": "number", "id": "n{index}", "label": "N", "max": {number}}}'
        for index, number in enumerate(("9" * 5000, "-" + "9" * 309, "1e400", "1" + "0" * 308))
    ]
    form = f'{{"prompt": "Fill in.", "fields": [{",".join(fields)}]}}'
    case = f'{{"name": "numbers", "op": "ask", "kind": "form", "input": {form}}}'
    ended = await run("asks", "check", "-", env=environment(tmp_path), typed=case.encode())
    assert ended.code == 0
    (line,) = json_lines(ended.out)
    assert reported(line) == [(f"fields[{index}].max", "INVALID_TYPE") for index in range(3)]


async def test_a_huge_whole_number_stands_on_a_card_as_sent(tmp_path: Path) -> None:
    huge = 10**308
    field = {"type": "number", "id": "n", "label": "N", "default": huge}
    case = {**ASK, "op": "card", "kind": "form", "input": {"prompt": "Fill in.", "fields": [field]}}
    button = (await outcome(case, tmp_path))["card"]["buttons"][0]
    assert button["response"]["content"] == {"values": {"n": huge}}


async def test_an_answer_is_checked_whatever_the_surface(tmp_path: Path) -> None:
    case = {**ASK, "op": "answer", "surface": "compact", "response": None}
    assert reported(await outcome(case, tmp_path)) == [("", "INVALID_TYPE")]


# ---------------------------------------------------------------- what can't be read

DEEP = '{"name": "deep", "op": "ask", "kind": "confirm", "input": ' + "[" * 100_000
UNREADABLE: list[tuple[str, str | bytes, str]] = [
    ("nothing", " \n", "There is nothing in it."),
    ("no JSON", "{'name': 'a'}", "This is no JSON at column 2: Expecting property name enclosed"),
    ("half a case", json.dumps(ASK, indent=1)[:-2], "This is no JSON at line 7, column "),
    ("two cases on a line", json.dumps(ASK) * 2, "This is no JSON at column "),
    ("NaN", json.dumps({**ASK, "input": float("nan")}), "NaN is no JSON."),
    ("infinity", json.dumps({**ASK, "input": [-float("inf")]}), "-Infinity is no JSON."),
    ("no UTF-8", b'{"name": "\xe9"}', "This is no UTF-8."),
    ("half a pair in UTF-8", b'{"name": "\xed\xa0\xbd"}', "This is no UTF-8."),
    ("open to no end", DEEP, "This is nested too deeply to be read."),
    ("deep and closed", DEEP + "]" * 100_000 + "}", "This is nested too deeply to be read."),
    ("a list", "[]", "A case is an object."),
    ("null", "null", "A case is an object."),
    ("no name", json.dumps({**ASK, "name": None}), "`name` is no string."),
    (
        "an unknown operation",
        json.dumps({**ASK, "op": "Ask"}),
        '`op` is none of "ask", "answer", "card".',
    ),
    (
        "no kind",
        json.dumps({k: v for k, v in ASK.items() if k != "kind"}),
        '`kind` is none of "choice", "confirm", "markdown", "form", "files".',
    ),
    (
        "a list for a kind",
        json.dumps({**ASK, "kind": ["confirm"]}),
        '`kind` is none of "choice", "confirm", "markdown", "form", "files".',
    ),
    (
        "an unknown surface",
        json.dumps({**ASK, "surface": None}),
        '`surface` is none of "full", "compact".',
    ),
    (
        "a kind that the surface does not offer",
        json.dumps({**ASK, "surface": "compact", "kind": "form"}),
        "The compact surface does not offer form.",
    ),
    (
        "no input",
        json.dumps({k: v for k, v in ASK.items() if k != "input"}),
        "`input` is missing.",
    ),
    ("no response", json.dumps({**ASK, "op": "answer"}), "`response` is missing."),
    (
        "an answer to no valid ask",
        json.dumps({**ASK, "op": "answer", "input": {"prompt": ""}, "response": {}}),
        "`input` is no valid confirm ask: TOO_SHORT. `prompt` has no visible character.",
    ),
    (
        "a card of no ask",
        json.dumps({**ASK, "op": "card", "input": []}),
        "`input` is no valid confirm ask: INVALID_TYPE. The value itself is a list, a wrong type.",
    ),
]


@pytest.mark.parametrize(
    ("text", "sentence"), [u[1:] for u in UNREADABLE], ids=[u[0] for u in UNREADABLE]
)
async def test_what_is_no_case_is_told_in_a_sentence_and_the_others_are_decided(
    text: str | bytes, sentence: str, tmp_path: Path
) -> None:
    sound = tmp_path / "sound.json"
    sound.write_text(json.dumps(ASK))
    typed = text.encode() if isinstance(text, str) else text
    ended = await run("asks", "check", "-", str(sound), env=environment(tmp_path), typed=typed)
    assert ended.code == 2
    assert ended.out == VALID
    assert ended.err.startswith(f"parleyd: standard input: {sentence}")
    assert ended.err.count("\n") == 1


async def test_a_line_that_can_t_be_read_hides_no_other(tmp_path: Path) -> None:
    sound = json.dumps(ASK)
    lines = ["{", "", sound, "nonsense", json.dumps({**ASK, "op": 1}), sound]
    ended = await run(
        "asks", "check", "-", env=environment(tmp_path), typed="\n".join(lines).encode()
    )
    assert ended.code == 2
    assert ended.out == VALID * 2
    assert [line.split(":")[1] for line in ended.err.splitlines()] == [
        f" standard input, line {number}" for number in (1, 4, 5)
    ]


async def test_a_file_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    sound = tmp_path / "sound.json"
    sound.write_text(json.dumps(ASK))
    ended = await run(
        "asks", "check", "no-such.json", str(tmp_path), str(sound), env=environment(tmp_path)
    )
    assert ended.code == 2
    assert ended.out == VALID
    assert ended.err == (
        f"parleyd: no-such.json: No such file or directory.\nparleyd: {tmp_path}: Is a directory.\n"
    )


async def test_a_reader_who_leaves_early_gets_no_traceback(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = await asyncio.create_subprocess_exec(
        COMMAND,
        *("asks", "check", "-"),
        env=environment(tmp_path),
        stdin=asyncio.subprocess.PIPE,
        stdout=writing,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(writing)
    _, err = await process.communicate(json.dumps(ASK).encode())
    assert (process.returncode, err) == (1, b"")


async def test_without_a_file_it_says_how_it_is_called(tmp_path: Path) -> None:
    ended = await run("asks", "check", env=environment(tmp_path, COLUMNS="200"))
    assert ended.code == 2
    assert "Missing argument 'FILE...'" in ended.err

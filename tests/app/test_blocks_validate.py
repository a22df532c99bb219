"""`parleyd blocks validate`, as a process of its own."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from parleyd.app.blocks.report import report
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.validation import check
from tests.app.processes import COMMAND, environment, run
from tests.contract.blocks.cases import CASES, needs_cases

VALID = "v: 1\nblocks:\n  - {type: divider}\n"
LONELY = {"type": "chart", "kind": "line", "points": [{"label": "May", "value": 3}]}
LOST = {"type": "table", "data": "boats"}


def line(issue: BlockIssue) -> str:
    return f"{issue.path}  {issue.code}  {issue.message} — {issue.fix}\n"


def document(*blocks: object) -> bytes:
    return json.dumps({"v": 1, "blocks": [*blocks]}).encode()


async def test_a_valid_document_prints_nothing_and_ends_with_0(tmp_path: Path) -> None:
    file = tmp_path / "reply.yaml"
    file.write_text(VALID)
    ended = await run("blocks", "validate", str(file), env=environment(tmp_path))
    assert (ended.code, ended.out, ended.err) == (0, "", "")


async def test_warnings_of_a_valid_document_are_printed_and_it_ends_with_0(tmp_path: Path) -> None:
    typed = document(LONELY)
    ended = await run("blocks", "validate", "-", env=environment(tmp_path), typed=typed)
    (warning,) = check(typed.decode(), BlockOptions()).warnings
    assert (ended.code, ended.out, ended.err) == (0, line(warning), "")
    assert ended.out.startswith("blocks[0]  LINE_SINGLE_POINT  ")


async def test_errors_alone_are_printed_and_it_ends_with_1(tmp_path: Path) -> None:
    typed = document(LONELY, LOST, LOST)
    ended = await run("blocks", "validate", "-", env=environment(tmp_path), typed=typed)
    verdict = check(typed.decode(), BlockOptions())
    assert len(verdict.warnings) == 1
    assert (ended.code, ended.err) == (1, "")
    assert ended.out == "".join(map(line, verdict.errors))
    assert ended.out.count("DATASET_NOT_FOUND") == 2


async def test_an_error_of_the_whole_document_has_an_empty_path(tmp_path: Path) -> None:
    ended = await run("blocks", "validate", "-", env=environment(tmp_path), typed=b"Just prose.")
    assert ended.code == 1
    assert ended.out.startswith("  NOT_A_DOCUMENT  ")
    assert ended.out.count("\n") == 1


async def test_keys_with_line_ends_and_escapes_stay_on_their_line(tmp_path: Path) -> None:
    keys = {"a\nb": 1, "c\x1b[2J": 2, "d\u2028e": 3, "\ud83d": 4}
    typed = document({"type": "divider", **keys})
    ended = await run("blocks", "validate", "-", env=environment(tmp_path), typed=typed)
    assert ended.code == 1
    assert [row.split("  ")[:2] for row in ended.out.splitlines()] == [
        ["blocks[0].a\\u000ab", "UNKNOWN_KEY"],
        ["blocks[0].c\\u001b[2J", "UNKNOWN_KEY"],
        ["blocks[0].d\\u2028e", "UNKNOWN_KEY"],
        ["blocks[0].\ufffd", "UNKNOWN_KEY"],
    ]


async def test_what_is_printed_is_utf_8_whatever_the_terminal_says(tmp_path: Path) -> None:
    env = environment(tmp_path, PYTHONIOENCODING="ascii")
    ended = await run("blocks", "validate", "-", env=env, typed=document(LOST))
    assert (ended.code, ended.err) == (1, "")
    assert " — " in ended.out


async def test_a_byte_order_mark_and_line_ends_of_windows_do_not_count(tmp_path: Path) -> None:
    typed = b"\xef\xbb\xbf" + VALID.replace("\n", "\r\n").encode()
    ended = await run("blocks", "validate", "-", env=environment(tmp_path), typed=typed)
    assert (ended.code, ended.out, ended.err) == (0, "", "")


@needs_cases
def test_the_report_of_every_case_has_the_lines_of_its_issues() -> None:
    documents = [case["document"] for case in CASES if case["op"] in {"parse", "validate"}]
    assert documents
    for text in documents:
        verdict = check(text, BlockOptions())
        told = report(text)
        assert told.ok is verdict.ok
        assert told.text == "".join(map(line, verdict.errors or verdict.warnings))


# ---------------------------------------------------------------- what can't be read


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "One file is needed"),
        (["a.yaml", "b.yaml"], "One file is needed"),
        (["--html", "-"], "One file is needed"),
        (["no-such.yaml"], "no-such.yaml: No such file or directory."),
        (["/"], "/: Is a directory."),
        (["--strict"], "--strict: No such file or directory."),
        (["-"], "standard input: This is no UTF-8."),
    ],
)
async def test_what_can_not_be_read_is_told_on_standard_error_and_it_ends_with_1(
    arguments: list[str], sentence: str, tmp_path: Path
) -> None:
    env = environment(tmp_path)
    ended = await run("blocks", "validate", *arguments, env=env, typed=b"v: \xff")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"parleyd: {sentence}")
    assert ended.err.count("\n") == 1


async def test_a_reader_who_leaves_early_gets_no_traceback(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = await asyncio.create_subprocess_exec(
        COMMAND,
        *("blocks", "validate", "-"),
        env=environment(tmp_path),
        stdin=asyncio.subprocess.PIPE,
        stdout=writing,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(writing)
    _, err = await process.communicate(document(LOST))
    assert (process.returncode, err) == (1, b"")

"""`parleyd asks schemas`, as a process of its own."""

from pathlib import Path

from parleyd.contract.json_schemas import json_schemas
from tests.app.processes import environment, names_in, run

COMMITTED = Path(__file__).parents[2] / "docs" / "reference" / "schemas"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


async def test_the_schemas_in_the_docs_are_what_it_writes(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    ended = await run("asks", "schemas", str(folder), env=environment(tmp_path))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"Wrote {len(json_schemas())} schemas.\n"
    written = contents(folder)
    assert {*written} == {f"{name}.json" for name in json_schemas()}
    assert written == contents(COMMITTED), "run: parleyd asks schemas docs/reference/schemas"


async def test_a_repeat_changes_nothing_and_other_files_stay(tmp_path: Path) -> None:
    folder = tmp_path / "schemas"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    (folder / "card.json").write_text("{}")
    env = environment(tmp_path)
    first = await run("asks", "schemas", str(folder), env=env)
    before = contents(folder)
    assert await run("asks", "schemas", str(folder), env=env) == first
    assert contents(folder) == before
    assert before["mine.txt"] == b"mine"
    assert before["card.json"] != b"{}"


async def test_a_folder_that_can_not_be_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = await run("asks", "schemas", str(tmp_path / "file"), env=environment(tmp_path))
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("parleyd: The schemas can't be written: ")
    assert ended.err.count("\n") == 1
    assert names_in(tmp_path) == ["file"]

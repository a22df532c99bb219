"""Files that are not what they say, and names and ids that mean harm (spec turns 11.3, 11.4).

The id FI6 of the types' signs is the contract's own, see `file_types`; acceptance statements of
spec turns 15.9 are in the names of tests alone.
"""

from pathlib import Path
from typing import Any

import pytest
from grpc import StatusCode
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import asks_pb2
from parleyd.models.scripted import in_turn
from parleyd.turns.model import MediaShown, TextShown
from tests.end_to_end.answers import file, files, kept
from tests.end_to_end.files_asked import ALL, FIRST, SECOND, answered_files
from tests.end_to_end.files_kept import (
    everything_stored,
    file_rows,
    in_both_modes,
    objects,
    used_rows,
)
from tests.end_to_end.hostile import EMPTY, GIF_WITH_SCRIPT, HTML, NOT_TAKEN, UNTRUE
from tests.end_to_end.kinds_asked import ASK_ID, NOTES, PNG
from tests.end_to_end.shown import SCAN, last_outcome
from tests.end_to_end.waiting import wait_on
from tests.refused_uploads import refused_file
from tests.server import StartServer

NAMES = {
    "a path": "/etc/passwd",
    "a way up": "../../../../root/.ssh/authorized_keys",
    "a way up on Windows": "..\\..\\windows\\system32\\a.png",
    "nothing but dots": "..",
    "U+0000": "a\0.png",
    "letters that are turned around": "invoice\u202egnp.exe",
    "a line": "a\r\nSet-Cookie: x.png",
    "as long as it may be": "\U0001f469" * 127 + "a",
}


@in_both_modes
async def test_bc_075_a_declared_type_of_an_answered_file_is_not_trusted(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, mode: dict[str, Any]
) -> None:
    waiting = await wait_on(start_server, "files", ALL, **mode)
    told = {
        name: await waiting.faults_of(files(file(*untrue)))
        for name, untrue in {**UNTRUE, **EMPTY}.items()
    }
    assert told == {name: [(f"{FIRST}.mimeType", "MIME_MISMATCH")] for name in told}
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)
    dump = await everything_stored(engine)
    assert [name for name, (_, _, data) in UNTRUE.items() if data in dump] == []


async def test_bc_075_a_declared_type_of_an_upload_is_not_trusted(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    server = await start_server(in_turn())
    told: dict[str, tuple[StatusCode, str]] = {}
    for name, untrue in {**UNTRUE, **EMPTY, **NOT_TAKEN}.items():
        error = await refused_file(server, *untrue)
        told[name] = error.code, error.reason
    assert told == {
        **dict.fromkeys(UNTRUE, (StatusCode.INVALID_ARGUMENT, "MIME_MISMATCH")),
        **dict.fromkeys(EMPTY, (StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")),
        **dict.fromkeys(NOT_TAKEN, (StatusCode.INVALID_ARGUMENT, "FILE_TYPE_NOT_ALLOWED")),
    }
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)


@in_both_modes
async def test_an_answered_file_of_a_type_that_is_not_taken_is_refused(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, mode: dict[str, Any]
) -> None:
    waiting = await wait_on(start_server, "files", ALL, **mode)
    faults = await waiting.faults_of(files(*(file(*each) for each in NOT_TAKEN.values())))
    assert faults == [
        ("content.files[0].mimeType", "FILE_TYPE_NOT_ACCEPTED"),
        ("content.files[1].mimeType", "FILE_TYPE_NOT_ACCEPTED"),
        ("content.files[2].mimeType", "FILE_TYPE_NOT_ACCEPTED"),
        ("content.files[2].url", "MIME_MISMATCH"),
        ("content.files[3].mimeType", "FILE_TYPE_NOT_ACCEPTED"),
        ("content.files[3].url", "MIME_MISMATCH"),
    ]
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)


@in_both_modes
async def test_bc_075_a_gif_with_a_script_is_never_called_anything_but_a_gif(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    waiting = await wait_on(start_server, "files", ALL, **mode)
    name = "cat.html"
    await waiting.noor.answer(
        waiting.conversation_id, ASK_ID, files(file(name, "image/gif", GIF_WITH_SCRIPT))
    )
    assert last_outcome(waiting.server.model.calls[1]).shown == (
        TextShown(f"File 1 of 1: {name} (image/gif, {len(GIF_WITH_SCRIPT)} bytes)"),
        MediaShown("image/gif", GIF_WITH_SCRIPT, name),
    )
    (listed,) = await answered_files(waiting)
    assert listed.mime_type == "image/gif"
    if not mode:
        known, data = await waiting.noor.download(listed.file_id)
        assert (known.mime_type, data) == ("image/gif", GIF_WITH_SCRIPT)


async def test_an_upload_answered_as_another_type_than_it_is_is_refused(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    cat = await waiting.noor.upload("cat.gif", "image/gif", GIF_WITH_SCRIPT)
    for said in ("image/png", "text/plain", "application/json"):
        assert await waiting.faults_of(files(kept("cat.gif", said, cat.file_id))) == [
            (f"{FIRST}.mimeType", "MIME_MISMATCH")
        ]
    assert await used_rows(engine) == 0


@in_both_modes
async def test_more_files_than_an_answer_may_have_are_refused_unseen(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, mode: dict[str, Any]
) -> None:
    waiting = await wait_on(start_server, "files", ALL, **mode)
    eleven = files(*(file(f"{n}.png", "image/png", HTML) for n in range(11)))
    assert await waiting.faults_of(eleven) == [("content.files", "FILE_COUNT")]
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)
    ten = files(*(file(f"{n}.txt", "text/plain", NOTES) for n in range(10)))
    assert (await waiting.noor.answer(waiting.conversation_id, ASK_ID, ten)).text == "Done."
    assert len(last_outcome(waiting.server.model.calls[1]).shown) == 20


SPELLINGS = {
    "as it was given": "{}",
    "in capitals": "upper",
    "in braces": "{{{}}}",
    "as a URN": "urn:uuid:{}",
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=[*SPELLINGS])
async def test_a_file_id_in_another_spelling_names_the_same_file_and_is_stored_as_it_was_given(
    start_server: StartServer, spelling: str
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    scan = await waiting.noor.upload("scan.png", "image/png", PNG)
    spelt = scan.file_id.upper() if spelling == "upper" else spelling.format(scan.file_id)
    answer = files(kept("scan.png", "image/png", spelt))
    await waiting.noor.answer(waiting.conversation_id, ASK_ID, answer)
    assert [each.file_id for each in await answered_files(waiting)] == [scan.file_id]
    assert last_outcome(waiting.server.model.calls[1]).shown == SCAN


NO_IDS = {
    "no UUID": "../../etc/passwd",
    "another path of it": "{0}/../{0}",
    "with a NUL": "{0}\0",
    "a storage key": "uploads/0/01J-scan.png",
    "a letter short": "{0:.35}",
}


async def test_what_is_no_file_id_is_nobodys_file(start_server: StartServer) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    scan = await waiting.noor.upload("scan.png", "image/png", PNG)
    told = {
        name: await waiting.faults_of(
            files(kept("scan.png", "image/png", spelling.format(scan.file_id)[:64]))
        )
        for name, spelling in NO_IDS.items()
    }
    assert told == {name: [(f"{FIRST}.fileId", "FILE_NOT_OWNED")] for name in told}


async def test_a_file_may_be_named_twice_in_one_answer(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    scan = await waiting.noor.upload("scan.png", "image/png", PNG)
    twice = files(
        kept("scan.png", "image/png", scan.file_id),
        kept("again.png", "image/png", scan.file_id.upper()),
    )
    await waiting.noor.answer(waiting.conversation_id, ASK_ID, twice)
    assert [(each.filename, each.file_id) for each in await answered_files(waiting)] == [
        ("scan.png", scan.file_id),
        ("again.png", scan.file_id),
    ]
    label, *_ = last_outcome(waiting.server.model.calls[1]).shown[2:]
    assert label == TextShown(f"File 2 of 2: again.png (image/png, {len(PNG)} bytes)")
    assert await used_rows(engine) == 1


@pytest.mark.parametrize("name", NAMES.values(), ids=[*NAMES])
async def test_a_name_is_kept_as_text_and_is_no_path(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, name: str
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    noor = waiting.noor
    uploaded = await noor.upload(name, "image/png", PNG)
    answer = files(
        file(name, "image/png", PNG),
        kept(name, "image/png", uploaded.file_id),
    )
    assert (await noor.answer(waiting.conversation_id, ASK_ID, answer)).text == "Done."

    told = name.replace("\0", "\ufffd")
    listed = await answered_files(waiting)
    assert [each.filename for each in listed] == [told] * 2
    for each in listed:
        known, data = await noor.download(each.file_id)
        assert (known.filename, data) == (told, PNG)
    shown = last_outcome(waiting.server.model.calls[1]).shown
    assert [each.filename for each in shown if isinstance(each, MediaShown)] == [told] * 2
    async with engine.connect() as connection:
        keys = await connection.scalars(text("SELECT storage_key FROM files"))
        folder = (tmp_path / "files").resolve()
        for key in keys.all():
            assert (folder / key).resolve().is_relative_to(folder / "uploads")
            assert len(Path(key).parts) == 3
            assert set(Path(key).name) <= set(
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
            )
    assert len(objects(tmp_path)) == 2


@pytest.mark.parametrize("length", [256, 300])
async def test_a_name_that_is_too_long_is_refused(
    start_server: StartServer, tmp_path: Path, length: int
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    name = "a" * length
    answer = files(file("a.png", "image/png", PNG), file(name, "image/png", PNG))
    assert await waiting.faults_of(answer) == [(f"{SECOND}.filename", "TOO_LONG")]
    error = await refused_file(waiting.server, name, "image/png", PNG)
    assert (error.reason, [fault.path for fault in error.fields]) == (
        "INVALID_REQUEST",
        ["filename"],
    )
    assert objects(tmp_path) == []


async def test_an_answered_file_without_a_reference_or_with_a_foreign_url_is_refused(
    start_server: StartServer,
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    urls = ("https://example.test/a.png", "file:///etc/passwd", "blob:x", "data:,a", "")
    told = [
        asks_pb2.FileRef(filename="a.png", mime_type="image/png", size=1, url=url) for url in urls
    ]
    none = asks_pb2.FileRef(filename="a.png", mime_type="image/png", size=1)
    assert await waiting.faults_of(files(*told, none)) == [
        *((f"content.files[{n}].url", "INVALID_FORMAT") for n in range(len(urls))),
        (f"content.files[{len(urls)}]", "MISSING_REQUIRED"),
    ]

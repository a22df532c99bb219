"""Files in an answer: shown to the model once, told of ever after (spec turns 11.4, 11.5, 15.9).

The ids FI1 to FI7 of this folder are those of spec turns 15.9, not the contract's own rules.
"""

from base64 import b64encode
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import asks_pb2, turns_pb2
from parleyd.contract.json import compact
from parleyd.models.script import Call, Text
from parleyd.models.scripted import in_turn
from parleyd.turns.model import TextShown
from tests.end_to_end.answers import file, files, kept
from tests.end_to_end.files_asked import (
    ALL,
    FIRST,
    NO_FILE,
    SECOND,
    THIRD,
    answered_files,
    files_of,
)
from tests.end_to_end.files_kept import (
    WITHOUT_A_STORE,
    WatchedBytes,
    everything_stored,
    file_rows,
    in_both_modes,
    objects,
    traces_of,
    used_rows,
)
from tests.end_to_end.kinds_asked import ASK_ID, NOTES, PNG
from tests.end_to_end.shown import (
    SCAN,
    SCAN_AND_NOTES,
    last_outcome,
    outcome,
    outcomes,
)
from tests.end_to_end.waiting import wait_on
from tests.server import StartServer

SURE = Call("ask_confirm", {"prompt": "Sure?"}, "call_sure")


@in_both_modes
async def test_fi1_inline_files_are_shown_once_and_their_bytes_stored_in_no_row(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, mode: dict[str, Any]
) -> None:
    waiting = await wait_on(start_server, "files", ALL, **mode)
    noor = waiting.noor

    played = await noor.answer(
        waiting.conversation_id,
        ASK_ID,
        files(
            file("scan.png", "image/png", PNG, size=7),
            file("notes.txt", "text/plain", NOTES),
        ),
    )

    assert played.names == ["started", "ask_resolved", "text", "done"]
    listed = await answered_files(waiting)
    assert [(each.filename, each.mime_type, each.size) for each in listed] == [
        ("scan.png", "image/png", len(PNG)),
        ("notes.txt", "text/plain", len(NOTES)),
    ]
    told: list[Any] = []
    for each, data in zip(listed, (PNG, NOTES), strict=True):
        fact = {"filename": each.filename, "mimeType": each.mime_type, "size": each.size}
        if mode:
            assert each.WhichOneof("source") is None
            told.append({**fact})
        else:
            known, bytes_ = await noor.download(each.file_id)
            assert bytes_ == data
            assert (known.filename, known.mime_type, known.size_bytes) == (*fact.values(),)
            told.append({"fileId": each.file_id, **fact})
    stored: dict[str, Any] = {"action": "accept", "content": {"files": told}}
    result = last_outcome(waiting.server.model.calls[1])
    assert result.value == stored
    assert result.shown == SCAN_AND_NOTES
    assert (len(objects(tmp_path)), await file_rows(engine), await used_rows(engine)) == (
        (0, 0, 0) if mode else (2, 2, 2)
    )
    messages = await noor.messages(waiting.conversation_id)
    await waiting.server.stop()
    async with engine.connect() as connection:
        logged = await connection.scalars(
            text("SELECT prompt FROM ai_requests WHERE turn_id = :turn AND request_type='general'"),
            {"turn": played.turn_id},
        )
        assert logged.all() == [compact(stored)]
    listing = b"".join(message.SerializeToString() for message in messages)
    dump = await everything_stored(engine)
    assert b"scan.png" in listing
    assert b"scan.png" in dump
    for trace in (*traces_of(PNG), NOTES.strip(), b64encode(NOTES)):
        assert trace not in listing
        assert trace not in dump


@in_both_modes
async def test_a_file_as_a_data_url_is_taken_as_its_bytes_are(
    start_server: StartServer, engine: AsyncEngine, mode: dict[str, Any]
) -> None:
    waiting = await wait_on(start_server, "files", ALL, **mode)
    url = f"data:image/png;base64,{b64encode(PNG).decode()}"
    reference = asks_pb2.FileRef(filename="scan.png", mime_type="image/png", size=len(PNG), url=url)
    await waiting.noor.answer(waiting.conversation_id, ASK_ID, files(reference))
    (listed,) = await answered_files(waiting)
    assert not listed.HasField("url")
    assert listed.HasField("file_id") is not bool(mode)
    assert last_outcome(waiting.server.model.calls[1]).shown == SCAN
    dump = await everything_stored(engine)
    assert b"scan.png" in dump
    assert [trace for trace in traces_of(PNG) if trace in dump] == []


@in_both_modes
async def test_files_may_be_answered_without_a_stream(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    waiting = await wait_on(start_server, "files", ALL, **mode)
    answer = files(file("scan.png", "image/png", PNG), file("notes.txt", "text/plain", NOTES))
    result = await waiting.noor.run(
        turns_pb2.TurnRequest(
            conversation_id=waiting.conversation_id,
            answer=turns_pb2.AnswerInput(tool_call_id=ASK_ID, answer=answer),
            request_id=str(uuid4()),
        )
    )
    assert result.text == "Done."
    assert last_outcome(waiting.server.model.calls[1]).shown == SCAN_AND_NOTES
    assert len(await answered_files(waiting)) == 2


async def test_fi2_uploads_are_shown_told_of_and_kept_as_they_are(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    noor = waiting.noor
    scan = await noor.upload("scan.png", "image/png", PNG)
    notes = await noor.upload("notes.txt", "text/plain", NOTES)
    assert await used_rows(engine) == 0

    played = await noor.answer(
        waiting.conversation_id,
        ASK_ID,
        files(
            kept("scan.png", "image/png", scan.file_id, size=7),
            kept("notes.txt", "text/plain", notes.file_id),
        ),
    )

    assert played.names == ["started", "ask_resolved", "text", "done"]
    result = last_outcome(waiting.server.model.calls[1])
    assert files_of(result.value) == [
        {
            "fileId": scan.file_id,
            "filename": "scan.png",
            "mimeType": "image/png",
            "size": len(PNG),
        },
        {
            "fileId": notes.file_id,
            "filename": "notes.txt",
            "mimeType": "text/plain",
            "size": len(NOTES),
        },
    ]
    assert result.shown == SCAN_AND_NOTES
    assert [each.file_id for each in await answered_files(waiting)] == [
        scan.file_id,
        notes.file_id,
    ]
    assert (len(objects(tmp_path)), await file_rows(engine), await used_rows(engine)) == (2, 2, 2)
    dump = await everything_stored(engine)
    assert [trace for trace in (*traces_of(PNG), NOTES.strip()) if trace in dump] == []


async def test_fi2_foreign_deleted_and_unknown_files_are_refused_in_one_error_unread(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    watched = WatchedBytes()
    waiting = await wait_on(start_server, "files", ALL, wrap_bytes=watched.around)
    noor, eve = waiting.noor, await waiting.server.person("eve")
    foreign = await eve.upload("scan.png", "image/png", PNG)
    deleted = await noor.upload("scan.png", "image/png", PNG)
    await noor.delete_file(deleted.file_id)

    ids = (foreign.file_id, deleted.file_id, NO_FILE)
    answer = files(*(kept("scan.png", "image/png", each) for each in ids))

    assert await waiting.faults_of(answer) == [
        (f"{place}.fileId", "FILE_NOT_OWNED") for place in (FIRST, SECOND, THIRD)
    ]
    assert watched.reads == []
    assert len(objects(tmp_path)) == 1
    # Beside it one of her own is looked at, and what came along is stored nowhere.
    before = set(objects(tmp_path))
    own = await noor.upload("scan.png", "image/png", PNG)
    mixed = files(
        kept("scan.png", "image/png", own.file_id),
        kept("scan.png", "image/png", foreign.file_id),
        file("scan.png", "image/png", PNG),
    )
    assert await waiting.faults_of(mixed) == [(f"{SECOND}.fileId", "FILE_NOT_OWNED")]
    assert (len(objects(tmp_path)), await file_rows(engine), await used_rows(engine)) == (2, 2, 0)
    (own_object,) = set(objects(tmp_path)) - before
    assert [Path(key).name for key in watched.reads] == [own_object.name]


async def test_fi3_without_a_store_a_file_id_is_nobodys(start_server: StartServer) -> None:
    waiting = await wait_on(start_server, "files", ALL, **WITHOUT_A_STORE)
    ids = [kept("a.png", "image/png", file_id) for file_id in ("65f0", NO_FILE)]
    assert await waiting.faults_of(files(ids[0], file("b.png", "image/png", PNG), ids[1])) == [
        (f"{FIRST}.fileId", "FILE_NOT_OWNED"),
        (f"{THIRD}.fileId", "FILE_NOT_OWNED"),
    ]


@in_both_modes
async def test_fi4_a_long_table_is_cut_before_a_character_and_says_so(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    waiting = await wait_on(start_server, "files", ALL, **mode)
    table = b"a" * 99_999 + "é".encode() + b"b" * 50
    assert len(table) == 100_051

    await waiting.noor.answer(
        waiting.conversation_id, ASK_ID, files(file("long.csv", "text/csv", table))
    )

    assert last_outcome(waiting.server.model.calls[1]).shown == (
        TextShown("File 1 of 1: long.csv (text/csv, 100051 bytes)"),
        TextShown(f"{'a' * 99_999}\n[The file is cut to its first 99999 of 100051 bytes.]"),
    )


@in_both_modes
async def test_fi5_the_faults_of_all_files_are_told_together_and_nothing_is_stored(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, mode: dict[str, Any]
) -> None:
    waiting = await wait_on(start_server, "files", ALL, file_bytes=300, **mode)
    assert await waiting.faults_of(
        files(
            file("a.png", "image/png", b"just text"),
            file("b.txt", "text/plain", NOTES),
            file("c.json", "application/json", b"{"),
        )
    ) == [(f"{FIRST}.mimeType", "MIME_MISMATCH"), (f"{THIRD}.mimeType", "MIME_MISMATCH")]
    # The cap is checked with the sizes that are said; then nothing is looked at.
    assert await waiting.faults_of(
        files(
            file("a.png", "image/png", b"just text"),
            file("b.txt", "text/plain", b"a" * 301, size=1),
        )
    ) == [(f"{SECOND}.size", "FILE_TOO_LARGE")]
    assert b"just text" not in await everything_stored(engine)
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)


async def test_fi5_an_upload_over_the_cap_and_a_mismatch_are_told_together(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    first = await start_server(in_turn())
    noor = await first.person()
    large = await noor.upload("large.txt", "text/plain", b"a" * 301)
    waiting = await wait_on(start_server, "files", ALL, file_bytes=300)
    assert await waiting.faults_of(
        files(
            file("a.png", "image/png", b"just text"),
            kept("large.txt", "text/plain", large.file_id, size=1),
        )
    ) == [(f"{FIRST}.mimeType", "MIME_MISMATCH"), (f"{SECOND}.size", "FILE_TOO_LARGE")]
    assert (len(objects(tmp_path)), await file_rows(engine), await used_rows(engine)) == (1, 1, 0)


@in_both_modes
async def test_fi6_a_second_pause_keeps_no_bytes_and_its_answer_shows_what_the_files_were(
    start_server: StartServer, engine: AsyncEngine, mode: dict[str, Any]
) -> None:
    call = Call("ask_files", {"prompt": "Well?", **ALL}, ASK_ID)
    script = in_turn([call], [SURE], [Text("Done.")], [Text("Bye.")])
    server = await start_server(script, **mode)
    noor = await server.person()
    asked = await noor.prompt("Please")
    answered = await noor.answer(
        asked.conversation_id, ASK_ID, files(file("scan.png", "image/png", PNG))
    )
    assert answered.names == ["started", "ask_resolved", "ask", "done"]
    assert last_outcome(server.model.calls[1]).shown == SCAN
    dump = await everything_stored(engine)
    assert [trace for trace in traces_of(PNG) if trace in dump] == []

    result = await noor.press(asked.conversation_id, "call_sure", "approve")
    assert result.text == "Done."
    await noor.prompt("Thanks", asked.conversation_id)

    (_, _, first, _, second) = server.model.calls[2].messages
    (described,) = files_of(outcome(first).value)
    assert described == {
        **({} if mode else {"fileId": described["fileId"]}),
        "filename": "scan.png",
        "mimeType": "image/png",
        "size": len(PNG),
    }
    assert [outcome(first).shown, outcome(second).shown] == [(), ()]
    later, *_ = outcomes(server.model.calls[3].messages)
    assert files_of(later.value) == [described]
    assert all(each.shown == () for each in outcomes(server.model.calls[3].messages))


@in_both_modes
async def test_fi6_a_restart_between_two_pauses_shows_no_bytes_either(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    call = Call("ask_files", {"prompt": "Well?", **ALL}, ASK_ID)
    server = await start_server(in_turn([call], [SURE]), **mode)
    noor = await server.person()
    asked = await noor.prompt("Please")
    await noor.answer(asked.conversation_id, ASK_ID, files(file("scan.png", "image/png", PNG)))
    await server.stop()
    after = await start_server(in_turn([Text("Done.")]), **mode)
    noor = await after.person()
    await noor.press(asked.conversation_id, "call_sure", "approve")
    told, _ = outcomes(after.model.calls[0].messages)
    assert told.shown == ()
    assert [each["filename"] for each in files_of(told.value)] == ["scan.png"]

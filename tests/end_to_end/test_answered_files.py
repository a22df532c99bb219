"""Files in an answer: looked at, told of, and never kept (spec turns 11, 15.9)."""

from base64 import b64encode

import pytest
from pydantic import JsonValue
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import asks_pb2, conversations_pb2
from parleyd.models.script import Call, ScriptedMessage, Text
from parleyd.models.scripted import in_turn
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.answers import file, files
from tests.end_to_end.kinds_asked import ASK_ID, NOTES, PNG
from tests.end_to_end.waiting import wait_on
from tests.server import StartServer

MessageAsk = conversations_pb2.MessageAsk

ALL: dict[str, JsonValue] = {"accept": ["image", "pdf", "text", "csv", "json"]}
FIRST, SECOND, THIRD = [f"content.files[{n}]" for n in range(3)]


async def everything_stored(engine: AsyncEngine) -> bytes:
    """Returns all that the database holds, every column of every table."""
    held: list[bytes] = []
    async with engine.connect() as connection:
        columns = await connection.execute(
            text(
                "SELECT table_name, column_name, data_type FROM information_schema.columns"
                " WHERE table_schema = 'public'"
            )
        )
        for table, column, type_ in columns.all():
            read = f'"{column}"' if type_ == "bytea" else f'"{column}"::text'
            values = await connection.scalars(text(f'SELECT {read} FROM "{table}"'))
            held += [v.encode() if isinstance(v, str) else bytes(v or b"") for v in values]
    return b"\n".join(held)


def traces_of(data: bytes) -> list[bytes]:
    """Returns the forms in which the bytes of a file could have been kept, cut to what is sure."""
    middle = data[9:90]
    whole = b64encode(data)
    return [middle, middle.hex().encode(), whole[:40], whole[12:52]]


async def test_fi1_an_inline_file_is_told_of_and_never_kept(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    stored: dict[str, JsonValue] = {
        "action": "accept",
        "content": {
            "files": [
                {"filename": "scan.png", "mimeType": "image/png", "size": len(PNG)},
                {"filename": "notes.txt", "mimeType": "text/plain", "size": len(NOTES)},
            ]
        },
    }

    played = await waiting.noor.answer(
        waiting.conversation_id,
        ASK_ID,
        files(
            file("scan.png", "image/png", PNG, size=7),
            file("notes.txt", "text/plain", NOTES),
        ),
    )

    assert played.names == ["started", "ask_resolved", "text", "done"]
    result = waiting.server.model.calls[1].messages[-1]
    assert isinstance(result, ScriptedMessage)
    (outcome,) = result.parts
    assert isinstance(outcome, ToolOutcome)
    assert outcome.value == stored
    messages = await waiting.noor.messages(waiting.conversation_id)
    assert messages[1].ask.status == MessageAsk.STATUS_ANSWERED
    assert [
        (kept.filename, kept.mime_type, kept.size, kept.WhichOneof("source"))
        for kept in messages[2].ask.answer.accept.files.files
    ] == [
        ("scan.png", "image/png", len(PNG), None),
        ("notes.txt", "text/plain", len(NOTES), None),
    ]
    told = b"".join(message.SerializeToString() for message in messages)
    dump = await everything_stored(engine)
    assert b"scan.png" in told
    assert b"scan.png" in dump
    for trace in (*traces_of(PNG), NOTES.strip(), b64encode(NOTES)):
        assert trace not in told
        assert trace not in dump


async def test_a_file_as_a_data_url_is_taken_and_never_kept(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    url = f"data:image/png;base64,{b64encode(PNG).decode()}"
    reference = asks_pb2.FileRef(filename="scan.png", mime_type="image/png", size=len(PNG), url=url)
    await waiting.noor.answer(waiting.conversation_id, ASK_ID, files(reference))
    dump = await everything_stored(engine)
    assert b"scan.png" in dump
    assert [trace for trace in traces_of(PNG) if trace in dump] == []


async def test_fi6_a_second_pause_keeps_no_bytes_either(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    call = Call("ask_files", {"prompt": "Well?", **ALL}, ASK_ID)
    again = Call("ask_confirm", {"prompt": "Sure?"}, "call_sure")
    server = await start_server(in_turn([call], [again], [Text("Done.")]))
    noor = await server.person()
    asked = await noor.prompt("Please")
    answered = await noor.answer(
        asked.conversation_id, ASK_ID, files(file("scan.png", "image/png", PNG))
    )
    assert answered.names == ["started", "ask_resolved", "ask", "done"]
    dump = await everything_stored(engine)
    assert [trace for trace in traces_of(PNG) if trace in dump] == []

    result = await noor.press(asked.conversation_id, "call_sure", "approve")

    assert result.text == "Done."
    (_, _, first, _, second) = server.model.calls[2].messages
    assert isinstance(first, ScriptedMessage)
    (outcome,) = first.parts
    assert isinstance(outcome, ToolOutcome)
    assert outcome.value == {
        "action": "accept",
        "content": {"files": [{"filename": "scan.png", "mimeType": "image/png", "size": len(PNG)}]},
    }
    assert isinstance(second, ScriptedMessage)


async def test_fi3_without_uploads_a_file_id_is_nobodys(start_server: StartServer) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    ids = [
        asks_pb2.FileRef(filename="a.png", mime_type="image/png", size=1, file_id=file_id)
        for file_id in ("65f0", "another")
    ]
    assert await waiting.faults_of(files(ids[0], file("b.png", "image/png", PNG), ids[1])) == [
        (f"{FIRST}.fileId", "FILE_NOT_OWNED"),
        (f"{THIRD}.fileId", "FILE_NOT_OWNED"),
    ]


HTML = b"<!doctype html><script>alert(1)</script>"
UNTRUE = {
    "HTML as PNG": file("a.png", "image/png", HTML),
    "SVG as PNG": file("a.png", "image/png", b'<svg xmlns="http://www.w3.org/2000/svg"/>'),
    "a GIF with a script as PNG": file("a.png", "image/png", b"GIF89a=1;alert(1)"),
    "half a GIF header and a script": file("a.gif", "image/gif", b"GIF8=1;alert(1)//"),
    "JPEG as PNG": file("a.png", "image/png", b"\xff\xd8\xff\xe0JFIF"),
    "PNG as JPEG": file("a.jpg", "image/jpeg", PNG),
    "nothing as PNG": file("a.png", "image/png", b""),
    "nothing as JSON": file("a.json", "application/json", b""),
    "text with a NUL as CSV": file("a.csv", "text/csv", b"a,b\n1,\x002\n"),
    "Latin-1 as text": file("a.txt", "text/plain", "Gruß".encode("latin-1")),
    "PDF as text": file("a.txt", "text/plain", b"%PDF-1.7"),
    "text before a PDF": file("a.pdf", "application/pdf", b"\n%PDF-1.7"),
    "NaN as JSON": file("a.json", "application/json", b"NaN"),
    "HTML as JSON": file("a.json", "application/json", HTML),
}


@pytest.mark.parametrize("untrue", UNTRUE.values(), ids=[*UNTRUE])
async def test_bc_075_a_declared_type_is_not_trusted(
    start_server: StartServer, untrue: asks_pb2.FileRef
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    assert await waiting.faults_of(files(untrue)) == [(f"{FIRST}.mimeType", "MIME_MISMATCH")]


async def test_fi5_the_faults_of_all_files_are_told_together(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    assert await waiting.faults_of(
        files(
            file("a.png", "image/png", HTML),
            file("b.txt", "text/plain", NOTES),
            file("c.json", "application/json", b"{"),
        )
    ) == [(f"{FIRST}.mimeType", "MIME_MISMATCH"), (f"{THIRD}.mimeType", "MIME_MISMATCH")]
    assert HTML not in await everything_stored(engine)


async def test_fi5_a_file_over_the_cap_is_refused_whatever_it_says(
    start_server: StartServer,
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    large = PNG + bytes(10_485_760 - len(PNG) + 1)
    assert await waiting.faults_of(files(file("a.png", "image/png", large, size=1))) == [
        (f"{FIRST}.size", "FILE_TOO_LARGE")
    ]
    played = await waiting.noor.answer(
        waiting.conversation_id, ASK_ID, files(file("a.png", "image/png", large[:-1], size=1))
    )
    assert played.text == "Done."


async def test_a_file_in_another_ones_name_is_told_apart(start_server: StartServer) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    assert await waiting.faults_of(
        files(
            file("a.png", "IMAGE/PNG", PNG),
            file("b.png", "image/png; charset=utf-8", PNG),
        )
    ) == [
        (f"{FIRST}.mimeType", "FILE_TYPE_NOT_ACCEPTED"),
        (f"{FIRST}.url", "MIME_MISMATCH"),
        (f"{SECOND}.mimeType", "FILE_TYPE_NOT_ACCEPTED"),
        (f"{SECOND}.url", "MIME_MISMATCH"),
    ]

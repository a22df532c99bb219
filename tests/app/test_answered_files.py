"""Files, named in a terminal."""

from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format

import parley
from parley import Client
from parley.v1.asks_pb2 import AskInput, FileRef
from parley.v1.cards_pb2 import SimpleCard
from parley.v1.turns_pb2 import AnswerInput, StreamTurnRequest
from parleyd.app.chat.answered_files import AnsweredFiles
from parleyd.app.chat.questions import OpenQuestion
from parleyd.contract import limits
from parleyd.models.script import Call, Text
from parleyd.models.scripted import in_turn
from parleyd.turns.model import MediaShown, ToolOutcome
from tests.app.desk import Desk, answer, asked
from tests.app.keyboard import BACK, CLEAR, CTRL_C, DOWN, ENTER, UP
from tests.server import StartServer

PNG = b"\x89PNG\r\n\x1a\n" + bytes(24)
IMAGES = 'files { accept: "image" accept: "text" min_files: 1 max_files: 2 }'


def files(*several: FileRef) -> AnswerInput:
    said = answer("accept { files {} }")
    said.answer.accept.files.files.extend(several)
    return said


def scan(name: str = "scan.png") -> FileRef:
    return FileRef(filename=name, mime_type="image/png", size=len(PNG), data=PNG)


async def test_files_are_added_by_their_paths(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "scan.png").write_bytes(PNG)
    (tmp_path / "my notes.txt").write_text("Gruß")
    said = await desk.answer(
        asked(IMAGES),
        *(ENTER, f"{tmp_path}/scan.png", ENTER),
        *(DOWN, ENTER, " ~/my notes.txt", ENTER),
        ENTER,
    )
    notes = FileRef(filename="my notes.txt", mime_type="text/plain", size=5, data="Gruß".encode())
    assert said == files(scan(), notes)


async def test_a_file_is_taken_out_again(desk: Desk, tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(PNG)
    said = await desk.answer(
        asked(IMAGES),
        *(ENTER, f"{tmp_path}/a.png", ENTER),
        *(DOWN, ENTER, f"{tmp_path}/b.png", ENTER),
        *(DOWN, ENTER),
        ENTER,
    )
    assert said == files(scan("b.png"))
    assert "a.png is out." in desk.shown


async def test_too_few_files_can_not_be_sent(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    said = await desk.answer(
        asked('files { accept: "image" min_files: 2 }'),
        *(ENTER, f"{tmp_path}/a.png", ENTER),
        *(ENTER, f"{tmp_path}/a.png", ENTER),
        ENTER,
    )
    assert said == files(scan("a.png"), scan("a.png"))


async def test_a_file_that_does_not_fit_is_told_at_once_and_its_path_kept(
    desk: Desk, tmp_path: Path
) -> None:
    (tmp_path / "page.png").write_text("<html></html>\n")
    (tmp_path / "page.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "large.png").write_bytes(PNG + bytes(limits.FILE_BYTES))
    (tmp_path / "page.bin").write_bytes(b"\x00")
    said = await desk.answer(
        asked('files { accept: "image" }'),
        *(ENTER, f"{tmp_path}/nothing.png", ENTER),
        *(CLEAR, str(tmp_path), ENTER),
        *("/page.png", ENTER),
        *(BACK * 3, "pdf", ENTER),
        *(BACK * 3, "bin", ENTER),
        *(CLEAR, f"{tmp_path}/large.png", ENTER),
        *(CLEAR, ENTER),
        *(DOWN, ENTER),
    )
    assert said == answer("decline {}")
    for told in (
        f"✗ {tmp_path}/nothing.png is no file.",
        f"✗ {tmp_path} is no file.",
        '✗ “page.png” does not fit. The type of “page.png” is "text/plain", which is not taken.',
        'The type of “page.pdf” is "application/pdf", which is not taken.',
        'The type of “page.bin” is "application/octet-stream", which is not taken.',
        f"The file of “large.png” has {limits.FILE_BYTES + len(PNG)} bytes, too many.",
    ):
        assert " ".join(told.split()) in desk.shown


async def test_json_that_is_none_is_told_at_once(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text("{")
    (tmp_path / "good.json").write_text("{}")
    said = await desk.answer(
        asked('files { accept: "json" }'),
        *(ENTER, f"{tmp_path}/data.json", ENTER),
        *(CLEAR, f"{tmp_path}/good.json", ENTER),
        ENTER,
    )
    assert 'The type of “data.json” is "application/json", but the bytes of the file' in desk.shown
    assert said == files(
        FileRef(filename="good.json", mime_type="application/json", size=2, data=b"{}")
    )


async def test_files_that_are_too_much_together_are_told_at_once(
    desk: Desk, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_bytes(b"a" * 9_000_000)
    said = await desk.answer(
        asked('files { accept: "text" }'),
        *(ENTER, f"{tmp_path}/a.txt", ENTER),
        *(DOWN, ENTER, f"{tmp_path}/a.txt", ENTER, CTRL_C),
        *(UP * 2, ENTER),
    )
    assert said == answer("decline {}")
    assert "With the others it is too much for one answer" in desk.shown


def uploading(text: str, client: Client, tool_call_id: str = "call_1") -> AnsweredFiles:
    """Returns an empty sheet for a question of a service that may keep files."""
    ask_input = text_format.Parse(f'prompt: "Well?" {text}', AskInput())
    return AnsweredFiles(OpenQuestion(tool_call_id, ask_input, SimpleCard()), client)


async def test_a_file_is_uploaded_when_it_is_added(
    desk: Desk, tmp_path: Path, start_server: StartServer
) -> None:
    server = await start_server(in_turn([]))
    noor = await server.person()
    (tmp_path / "scan.png").write_bytes(PNG)
    said = await desk.answer(
        uploading(IMAGES, noor.client), *(ENTER, f"{tmp_path}/scan.png", ENTER), ENTER
    )
    assert isinstance(said, AnswerInput)
    (sent,) = said.answer.accept.files.files
    assert sent == FileRef(
        filename="scan.png", mime_type="image/png", size=len(PNG), file_id=sent.file_id
    )
    kept = await parley.download_file(noor.client, sent.file_id)
    assert (kept.file.filename, kept.data) == ("scan.png", PNG)


LARGE = PNG + bytes(limits.FILE_BYTES - len(PNG))


async def test_uploads_make_room_for_more_than_one_answer_holds(
    desk: Desk, tmp_path: Path, start_server: StartServer
) -> None:
    asking = Call("ask_files", {"prompt": "Well?", "accept": ["image"]}, "call_files")
    server = await start_server(in_turn([asking], [Text("Seen.")]))
    noor = await server.person()
    asked_for = await noor.prompt("Look at this")
    (tmp_path / "a.png").write_bytes(LARGE)
    sheet = uploading('files { accept: "image" }', noor.client, asked_for.ask.tool_call_id)
    said = await desk.answer(
        sheet,
        *(ENTER, f"{tmp_path}/a.png", ENTER),
        *(DOWN, ENTER, f"{tmp_path}/a.png", ENTER),
        ENTER,
    )
    assert isinstance(said, AnswerInput)
    assert len(said.answer.accept.files.files) * len(LARGE) > limits.RECEIVE_BYTES
    request = StreamTurnRequest(conversation_id=asked_for.conversation_id, answer=said)
    assert (await noor.play(request)).text == "Seen."
    (outcome,) = [
        part
        for message in server.model.calls[-1].messages
        for part in getattr(message, "parts", ())
        if isinstance(part, ToolOutcome)
    ]
    media = [part.data for part in outcome.shown if isinstance(part, MediaShown)]
    assert media == [LARGE, LARGE]


@pytest.mark.parametrize(
    "settings",
    [{"file_store": "none"}, {"uploads": False}],
    ids=["no file store", "uploads off"],
)
async def test_where_nothing_is_uploaded_the_bytes_come_in_the_answer(
    desk: Desk, tmp_path: Path, start_server: StartServer, settings: dict[str, Any]
) -> None:
    server = await start_server(in_turn([]), **settings)
    noor = await server.person()
    (tmp_path / "scan.png").write_bytes(PNG)
    (tmp_path / "a.png").write_bytes(LARGE)
    said = await desk.answer(
        uploading(IMAGES, noor.client),
        *(ENTER, f"{tmp_path}/a.png", ENTER),
        *(DOWN, ENTER, f"{tmp_path}/a.png", ENTER),
        *(CLEAR, f"{tmp_path}/scan.png", ENTER),
        *(DOWN, ENTER),
        ENTER,
    )
    assert said == files(scan())
    assert "With the others it is too much for one answer" in desk.shown


async def test_a_file_that_the_service_refuses_is_told_and_its_path_kept(
    desk: Desk, tmp_path: Path, start_server: StartServer
) -> None:
    server = await start_server(in_turn([]), file_bytes=len(PNG))
    noor = await server.person()
    (tmp_path / "a.png").write_bytes(PNG + b"x")
    (tmp_path / "b.png").write_bytes(PNG)
    said = await desk.answer(
        uploading(IMAGES, noor.client),
        *(ENTER, f"{tmp_path}/a.png", ENTER),
        *(BACK * 5, "b.png", ENTER),
        ENTER,
    )
    assert isinstance(said, AnswerInput)
    assert [file.filename for file in said.answer.accept.files.files] == ["b.png"]
    assert "✗ “a.png” was not taken:" in desk.shown


async def test_a_service_that_is_gone_is_told(
    desk: Desk, tmp_path: Path, start_server: StartServer
) -> None:
    server = await start_server(in_turn([]))
    (tmp_path / "scan.png").write_bytes(PNG)
    async with parley.connect(server.address, "token") as client:
        await server.stop()
        said = await desk.answer(
            uploading(IMAGES, client), *(ENTER, f"{tmp_path}/scan.png", ENTER), *(CTRL_C, CTRL_C)
        )
    assert said is None
    assert "“scan.png” was not taken: the service can't be reached." in desk.shown

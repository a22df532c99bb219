"""Files, named in a terminal."""

from pathlib import Path

import pytest

from parley.v1.asks_pb2 import FileRef
from parley.v1.turns_pb2 import AnswerInput
from parleyd.contract import limits
from tests.app.desk import Desk, answer, asked
from tests.app.keyboard import BACK, CLEAR, CTRL_C, DOWN, ENTER, UP

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

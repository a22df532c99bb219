"""Files of this machine, read to be sent."""

import os
from pathlib import Path

import pytest

from parley.v1.asks_pb2 import FileRef
from parleyd.app.chat.local_files import FileUnreadable, read_file, type_of

PNG = b"\x89PNG\r\n\x1a\n\x00"


@pytest.mark.parametrize(
    ("name", "data", "type_"),
    [
        ("a.png", PNG, "image/png"),
        ("a.jpg", PNG, "image/png"),
        ("a", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("a.csv", b"GIF89a", "image/gif"),
        ("a.webp", b"RIFF\x00\x00\x00\x00WEBP", "image/webp"),
        ("a.txt", b"%PDF-1.7", "application/pdf"),
        ("a.pdf", b" %PDF-1.7", "text/plain"),
        ("a.png", b"<html></html>", "text/plain"),
        ("a.CSV", b"a,b\n", "text/csv"),
        ("a.json", b"{}", "application/json"),
        ("a.json", b"{", "application/json"),
        ("a.md", "Gruß".encode(), "text/plain"),
        ("README", b"", "text/plain"),
        ("a.csv", b"", "text/csv"),
        ("a.txt", b"a\x00b", "application/octet-stream"),
        ("a.txt", "Gruß".encode("latin-1"), "application/octet-stream"),
        ("a.zip", b"PK\x03\x04\xff", "application/octet-stream"),
    ],
)
def test_a_type_is_told_by_what_a_file_holds(name: str, data: bytes, type_: str) -> None:
    assert type_of(name, data) == type_


def test_a_file_comes_with_its_name_size_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "Gruß 👋.png").write_bytes(PNG)
    assert read_file(f" {tmp_path}/Gruß 👋.png ") == FileRef(
        filename="Gruß 👋.png", mime_type="image/png", size=len(PNG), data=PNG
    )


def test_a_tilde_is_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.txt").write_text("a")
    assert read_file("~/a.txt").filename == "a.txt"


def test_a_name_that_is_no_text_is_made_one(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (tmp_path / name).write_text("a")
    assert read_file(f"{tmp_path}/{name}").filename == "caf\ufffd.txt"


@pytest.mark.parametrize("size", [0, 9, 10])
def test_a_file_of_the_most_bytes_is_read_whole(tmp_path: Path, size: int) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" * size)
    file = read_file(f"{tmp_path}/a.txt", most=10)
    assert (file.size, len(file.data)) == (size, size)


def test_of_a_larger_file_no_more_is_read_than_it_takes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" * 1000)
    file = read_file(f"{tmp_path}/a.txt", most=10)
    assert (file.size, len(file.data)) == (1000, 11)


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileUnreadable, match="is no file"):
        read_file(f"{tmp_path}/pipe")


@pytest.mark.parametrize(
    "path", ["", "/nowhere/a.png", "/", "~nobody-of-that-name/a.png", "a\x00b", "x" * 5000]
)
def test_what_is_no_file_is_said_to_be_none(path: str) -> None:
    with pytest.raises(FileUnreadable):
        read_file(path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="it takes a Linux")
def test_a_file_that_can_not_be_read_is_said_to_be_so() -> None:
    with pytest.raises(FileUnreadable, match="/proc/self/mem can't be read: "):
        read_file("/proc/self/mem")

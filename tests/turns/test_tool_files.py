"""Files that tools return: kept where files are kept, and shown to the model (spec turns 11.5)."""

from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from parleyd.contract import limits
from parleyd.contract.errors import Unavailable
from parleyd.contract.events import FileReturned
from parleyd.contract.files import File
from parleyd.turns.file_store import StoreFailed
from parleyd.turns.files import Files
from parleyd.turns.model import MediaShown, TextShown
from parleyd.turns.tool_runs import NOT_KEPT
from parleyd.turns.tools import ToolFile
from tests.turns.files_in_memory import MemoryBytes, MemoryFileRows
from tests.turns.ports_in_memory import RandomIds
from tests.turns.tool_scene import Scene, due

PNG = b"\x89PNG\r\n\x1a\nSECRET"
PICTURE = ToolFile(PNG, "image/png", "plot.png")


class Kept:
    """The files of a deployment, in memory."""

    def __init__(self) -> None:
        self.store = MemoryBytes()
        self.database = MemoryFileRows()
        self.files = Files(self.database, self.store, RandomIds())

    @property
    def rows(self) -> list[File]:
        """Returns what is known of the files that are kept."""
        return list(self.database.files.values())


def without_store() -> Files | None:
    return None


def without_bytes() -> Files:
    kept = Kept()
    kept.store.fails = {"put": StoreFailed("away")}
    return kept.files


def without_database() -> Files:
    kept = Kept()
    kept.database.away = [Unavailable("away")]
    return kept.files


async def test_a_file_is_kept_and_what_it_is_is_stored_and_told() -> None:
    kept = Kept()
    scene = Scene(files=kept.files)
    (execution,) = await scene.run(due(scene.returning(PICTURE), 2))
    (file,) = kept.rows
    assert (file.owner, file.filename, file.mime_type, file.size) == (
        "ada",
        "plot.png",
        "image/png",
        len(PNG),
    )
    assert kept.store.objects == {file.storage_key: PNG}
    told = {
        "file": {
            "fileId": str(file.id),
            "filename": "plot.png",
            "mimeType": "image/png",
            "size": len(PNG),
        }
    }
    assert (execution.state, execution.result) == ("finished", told)
    assert scene.store.results[0][1:] == (told, False)
    assert scene.store.files == [
        FileReturned(
            tool_call_id="call_2", filename="plot.png", mime_type="image/png", file_id=file.id
        )
    ]
    assert scene.runner.shown == {
        2: (
            TextShown(f"File 1 of 1: plot.png (image/png, {len(PNG)} bytes)"),
            MediaShown("image/png", PNG, "plot.png"),
        )
    }


async def test_what_a_tool_says_beside_its_file_is_part_of_the_result() -> None:
    scene = Scene(files=Kept().files)
    file = ToolFile(b"a,b", "text/csv", "a.csv", text="Two columns.")
    (execution,) = await scene.run(due(scene.returning(file)))
    assert isinstance(execution.result, dict)
    assert execution.result["text"] == "Two columns."
    assert scene.runner.shown[0][1] == TextShown("a,b")


NOT_THERE: dict[str, tuple[Callable[[], Files | None], list[str]]] = {
    "no store": (without_store, []),
    "the bytes are not taken": (without_bytes, ["file_not_kept"]),
    "the database is away": (without_database, ["file_not_kept"]),
}


@pytest.mark.parametrize(("files", "logged"), NOT_THERE.values(), ids=NOT_THERE)
async def test_a_file_that_is_not_kept_is_shown_and_said_to_be_gone_later(
    files: Callable[[], Files | None], logged: list[str]
) -> None:
    scene = Scene(files=files())
    with capture_logs() as lines:
        (execution,) = await scene.run(due(scene.returning(PICTURE)))
    assert execution.state == "finished"
    assert execution.result == {
        "file": {"filename": "plot.png", "mimeType": "image/png", "size": len(PNG)},
        "note": NOT_KEPT,
    }
    (told,) = scene.store.files
    assert told is not None
    assert told.file_id is None
    assert scene.runner.shown[0][1] == MediaShown("image/png", PNG, "plot.png")
    assert [line["event"] for line in lines] == logged
    assert "SECRET" not in str([lines, scene.store.results, scene.written])


UNREADABLE: dict[str, ToolFile] = {
    "of no type that a model reads": ToolFile(b"\x00\x01"),
    "text that is none": ToolFile("größe".encode("latin-1"), "text/csv", "a.csv"),
    "a picture that is none": ToolFile(b"<svg>", "image/png", "a.png"),
}


@pytest.mark.parametrize("file", UNREADABLE.values(), ids=UNREADABLE)
async def test_of_bytes_that_a_model_can_not_read_it_is_told_what_they_are(file: ToolFile) -> None:
    kept = Kept()
    scene = Scene(files=kept.files)
    (execution,) = await scene.run(due(scene.returning(file)))
    assert execution.state == "finished"
    assert isinstance(execution.result, dict)
    assert execution.result["file"] == {
        "fileId": str(kept.rows[0].id),
        "filename": file.filename,
        "mimeType": file.mime_type,
        "size": len(file.data),
    }
    assert list(kept.store.objects.values()) == [file.data]
    assert scene.runner.shown == {}


NAMES = {
    "empty": ("", "document"),
    "unstorable": ("a\x00\ud83d.txt", "a\ufffd\ufffd.txt"),
    "too long": ("x" * 300, "x" * (limits.FILENAME - 1) + "…"),
}


@pytest.mark.parametrize(("name", "used"), NAMES.values(), ids=NAMES)
async def test_a_name_that_can_not_be_stored_is_made_one_that_can(name: str, used: str) -> None:
    kept = Kept()
    scene = Scene(files=kept.files)
    (execution,) = await scene.run(due(scene.returning(ToolFile(b"hi", "text/plain", name))))
    assert [file.filename for file in kept.rows] == [used]
    (told,) = scene.store.files
    assert told is not None
    assert told.filename == used
    assert isinstance(execution.result, dict)
    assert isinstance(execution.result["file"], dict)
    assert execution.result["file"]["filename"] == used


async def test_the_files_of_one_step_are_not_shown_with_the_next() -> None:
    scene = Scene()
    await scene.run(due(scene.returning(PICTURE), 1), due(scene.returning(3), 0))
    assert list(scene.runner.shown) == [1]
    await scene.run(due(scene.returning(3), 1))
    assert scene.runner.shown == {}

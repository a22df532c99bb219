"""Attachments that are refused: nothing is stored, run or read (spec turns 11.6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import ParleyError, error_of
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.attached import SEE, Attachment, as_unary, attachment, message, uploaded
from tests.end_to_end.files_asked import NO_FILE
from tests.end_to_end.files_kept import (
    WITHOUT_A_STORE,
    WatchedBytes,
    everything_stored,
    file_rows,
    in_both_modes,
    objects,
    used_rows,
)
from tests.end_to_end.hostile import EMPTY, NOT_TAKEN, UNTRUE
from tests.end_to_end.kinds_asked import NOTES, PNG
from tests.end_to_end.person import Person, refused
from tests.end_to_end.shown import PDF, shown_with
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

CAP = 300


@dataclass
class Asking:
    """A conversation that waits on PLAN: a message that is refused must not cancel it."""

    server: Server
    noor: Person
    conversation_id: str

    async def refusal_of(self, *attachments: Attachment) -> ParleyError:
        """Sends a message that must be refused, in every kind of turn; checks that nothing came."""
        before = await self.noor.messages(self.conversation_id)
        here = message(*attachments, conversation_id=self.conversation_id)
        errors = [
            error_of(await refused(call))
            for call in (
                self.noor.play(here),
                self.noor.run(as_unary(here)),
                self.noor.play(message(*attachments)),
            )
        ]
        assert {(each.code, each.reason, each.fields) for each in errors} == {
            (errors[0].code, errors[0].reason, errors[0].fields)
        }
        assert await self.noor.messages(self.conversation_id) == before
        (conversation,) = await self.noor.conversations()
        assert conversation.pending_ask.tool_call_id == PLAN_ID
        assert len(self.server.model.calls) == 1
        return errors[0]

    async def faults_of(self, *attachments: Attachment) -> list[tuple[str, str]]:
        """Sends attachments that are not in order, and tells what is wrong with them."""
        error = await self.refusal_of(*attachments)
        assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "INVALID_ATTACHMENT")
        assert all(fault.message and fault.fix for fault in error.fields)
        return [
            (fault.path.removeprefix("prompt.attachments"), fault.code) for fault in error.fields
        ]


async def asking(start_server: StartServer, *steps: Sequence[Text], **options: Any) -> Asking:
    server = await start_server(in_turn([ask_plan()], *steps), **options)
    noor = await server.person()
    return Asking(server, noor, (await noor.prompt("Set up")).conversation_id)


@in_both_modes
async def test_urls_are_never_fetched(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, mode: dict[str, Any]
) -> None:
    waiting = await asking(start_server, **mode)
    urls = (
        *("http://127.0.0.1:1/a.png", "https://example.test/a.png", "HTTPS://example.test/a.png"),
        *("blob:https://example.test/1", "file:///etc/passwd", "ftp://example.test/a.png"),
        *("a.png", "", "javascript:alert(1)", "data:image/png,abc", "data:image/png;base64,a"),
    )
    given = [Attachment(type=Attachment.TYPE_IMAGE, url=url) for url in urls]
    for some in (given[:6], given[6:]):
        assert await waiting.faults_of(*some) == [
            (f"[{place}].url", "INVALID_FORMAT") for place in range(len(some))
        ]
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)


@in_both_modes
async def test_bc_075_a_declared_type_of_an_attachment_is_not_trusted(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, mode: dict[str, Any]
) -> None:
    waiting = await asking(start_server, **mode)
    given = {**UNTRUE, **EMPTY, **NOT_TAKEN}
    told = {name: await waiting.faults_of(attachment(*untrue)) for name, untrue in given.items()}
    assert told == {
        **{name: [("[0].mimeType", "MIME_MISMATCH")] for name in (*UNTRUE, *EMPTY)},
        **{name: [("[0].mimeType", "FILE_TYPE_NOT_ACCEPTED")] for name in NOT_TAKEN},
    }
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)
    dump = await everything_stored(engine)
    assert [name for name, (_, _, data) in given.items() if data and data in dump] == []


@in_both_modes
async def test_the_faults_of_all_attachments_are_told_together_and_none_is_stored(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, mode: dict[str, Any]
) -> None:
    waiting = await asking(start_server, file_bytes=CAP, **mode)
    pdf = Attachment(type=Attachment.TYPE_IMAGE, mime_type="application/pdf", data=PDF)
    assert await waiting.faults_of(
        attachment("scan.png", "image/png", PNG),
        pdf,
        attachment("a.png", "image/png", NOTES),
        attachment("large.txt", "text/plain", b"a" * (CAP + 1)),
    ) == [
        ("[1].mimeType", "FILE_TYPE_NOT_ACCEPTED"),
        ("[2].mimeType", "MIME_MISMATCH"),
        ("[3]", "FILE_TOO_LARGE"),
    ]
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)


@in_both_modes
@pytest.mark.parametrize("way", ["bytes", "url"])
async def test_an_attachment_over_the_cap_is_too_large(
    start_server: StartServer,
    engine: AsyncEngine,
    tmp_path: Path,
    mode: dict[str, Any],
    way: Any,
) -> None:
    waiting = await asking(start_server, [Text("Seen.")], file_bytes=CAP, **mode)
    large = attachment("large.txt", "text/plain", b"a" * (CAP + 1), way)
    error = await waiting.refusal_of(attachment("scan.png", "image/png", PNG), large)
    assert (error.code, error.reason) == (StatusCode.RESOURCE_EXHAUSTED, "FILE_TOO_LARGE")
    assert error.metadata == {"limit": str(CAP), "http_status": "413"}
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)
    fits = attachment("large.txt", "text/plain", b"a" * CAP, way)
    played = await waiting.noor.play(message(fits, conversation_id=waiting.conversation_id))
    assert played.names == ["started", "ask_resolved", "text", "done"]


async def test_an_upload_over_the_cap_is_too_large_and_unread(start_server: StartServer) -> None:
    noor = await (await start_server(in_turn())).person()
    large = await uploaded(noor, "large.txt", "text/plain", b"a" * (CAP + 1))
    watched = WatchedBytes()
    waiting = await asking(start_server, file_bytes=CAP, wrap_bytes=watched.around)
    error = await waiting.refusal_of(large)
    assert (error.code, error.reason) == (StatusCode.RESOURCE_EXHAUSTED, "FILE_TOO_LARGE")
    assert watched.reads == []


@in_both_modes
async def test_ten_attachments_are_taken_and_eleven_refused(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, mode: dict[str, Any]
) -> None:
    waiting = await asking(start_server, [Text("Seen.")], **mode)
    eleven = [attachment(f"{number}.txt", "text/plain", NOTES) for number in range(11)]
    ((path, _),) = await waiting.faults_of(*eleven)
    assert path == ""
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)
    await waiting.noor.play(message(*eleven[:10], conversation_id=waiting.conversation_id))
    assert len(shown_with(SEE, waiting.server.model.calls[1].messages)) == 20
    kept = 0 if mode else 10
    assert (len(objects(tmp_path)), await used_rows(engine)) == (kept, kept)


async def test_foreign_deleted_and_unknown_uploads_are_refused_alike_and_unread(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    watched = WatchedBytes()
    waiting = await asking(start_server, wrap_bytes=watched.around)
    noor, eve = waiting.noor, await waiting.server.person("eve")
    foreign = await uploaded(eve, "scan.png", "image/png", PNG)
    deleted = await uploaded(noor, "scan.png", "image/png", PNG)
    await noor.delete_file(deleted.file_id)
    unknown = Attachment(type=Attachment.TYPE_IMAGE, file_id=NO_FILE)
    inline = attachment("scan.png", "image/png", PNG)
    assert await waiting.faults_of(foreign, deleted, unknown, inline) == [
        (f"[{place}].fileId", "FILE_NOT_OWNED") for place in range(3)
    ]
    assert watched.reads == []
    assert (len(objects(tmp_path)), await file_rows(engine), await used_rows(engine)) == (1, 1, 0)


async def test_without_a_store_an_upload_is_nobodys(start_server: StartServer) -> None:
    noor = await (await start_server(in_turn())).person()
    scan = await uploaded(noor, "scan.png", "image/png", PNG)
    waiting = await asking(start_server, **WITHOUT_A_STORE)
    assert await waiting.faults_of(scan) == [("[0].fileId", "FILE_NOT_OWNED")]


async def test_an_upload_in_capitals_is_the_same_and_other_spellings_are_none(
    start_server: StartServer,
) -> None:
    waiting = await asking(start_server, [Text("Seen.")])
    scan = await uploaded(waiting.noor, "scan.png", "image/png", PNG)
    image, own = Attachment.TYPE_IMAGE, scan.file_id
    spelt = ("", "1", f"{{{own}}}", f"urn:uuid:{own}", own.replace("-", ""), f"{own}/../{own}")
    given = [Attachment(type=image, file_id=each) for each in spelt]
    assert await waiting.faults_of(*given) == [
        (f"[{place}].fileId", "INVALID_FORMAT") for place in range(len(spelt))
    ]
    capitals = Attachment(type=image, file_id=own.upper())
    played = await waiting.noor.play(message(capitals, conversation_id=waiting.conversation_id))
    *_, said, _ = await waiting.noor.messages(played.conversation_id)
    assert said.content[1].image.file_id == own


async def test_an_upload_attached_as_what_it_is_not_is_refused(start_server: StartServer) -> None:
    waiting = await asking(start_server)
    brief = await uploaded(waiting.noor, "brief.pdf", "application/pdf", PDF)
    as_image = Attachment(type=Attachment.TYPE_IMAGE, file_id=brief.file_id)
    as_png = Attachment(type=Attachment.TYPE_IMAGE, file_id=brief.file_id, mime_type="image/png")
    assert await waiting.faults_of(as_image, as_png) == [
        ("[0].mimeType", "FILE_TYPE_NOT_ACCEPTED"),
        ("[1].mimeType", "MIME_MISMATCH"),
    ]

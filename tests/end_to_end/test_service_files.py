"""Files with which somebody answers the ask of a service (spec turns 13.1, 16.4, X2)."""

from typing import Any, Final
from uuid import uuid4

import pytest
from grpc import StatusCode

from parley import error_of
from parley.v1 import asks_pb2
from parleyd.models.scripted import in_turn
from tests.end_to_end.answers import file, files, kept
from tests.end_to_end.asking_service import (
    Ask,
    AskingService,
    asking_service,
    empty_conversation,
)
from tests.end_to_end.files_kept import WITHOUT_A_STORE
from tests.end_to_end.kinds_asked import NOTES, PNG
from tests.end_to_end.person import Person, refused
from tests.server import Server, StartServer

SCAN: Final = file("scan.png", "image/png", PNG)
WANTED: Final = asks_pb2.AskInput(
    prompt="Which papers?", files=asks_pb2.FilesInput(accept=["image", "text"], max_files=3)
)


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn())


@pytest.fixture
async def noor(server: Server) -> Person:
    return await server.person()


@pytest.fixture
async def errands(server: Server) -> AskingService:
    return await asking_service(server)


async def answered(noor: Person, service: AskingService, *given: asks_pb2.FileRef) -> Ask:
    """Returns an ask of a service that noor has answered with files."""
    conversation_id = await empty_conversation(noor)
    ask = await service.ask(conversation_id, ask_input=WANTED)
    await noor.answer(conversation_id, ask.tool_call_id, files(*given))
    return await service.wait(ask.ask_id)


def told(ask: Ask) -> list[asks_pb2.FileRef]:
    return list(ask.answer.accept.files.files)


def download(service: AskingService, file_id: str) -> Any:
    return Person(service.client).download(file_id)


async def missing(service: AskingService, file_id: str) -> None:
    error = error_of(await refused(download(service, file_id)))
    assert (error.code, error.reason) == (StatusCode.NOT_FOUND, "FILE_NOT_FOUND")


async def test_x2_an_inline_file_is_downloaded_by_the_service_that_asked(
    noor: Person, errands: AskingService
) -> None:
    (given,) = told(await answered(noor, errands, SCAN))
    assert (given.filename, given.size, given.WhichOneof("source")) == (
        "scan.png",
        len(PNG),
        "file_id",
    )
    found, data = await download(errands, given.file_id)
    assert (found.filename, found.mime_type, data) == ("scan.png", "image/png", PNG)


async def test_an_uploaded_file_of_the_answer_is_downloaded_too(
    noor: Person, errands: AskingService
) -> None:
    uploaded = await noor.upload("notes.txt", "text/plain", NOTES)
    ref = kept("notes.txt", "text/plain", uploaded.file_id, len(NOTES))
    ask = await answered(noor, errands, SCAN, ref)
    assert told(ask)[1].file_id == uploaded.file_id
    for given, data in zip(told(ask), (PNG, NOTES), strict=True):
        assert (await download(errands, given.file_id))[1] == data


async def test_no_other_file_is_there_for_a_service(
    server: Server, noor: Person, errands: AskingService
) -> None:
    (given,) = told(await answered(noor, errands, SCAN))
    other = await asking_service(server, "other errands")
    await missing(other, given.file_id)
    unanswered = await noor.upload("notes.txt", "text/plain", NOTES)
    for file_id in (unanswered.file_id, str(uuid4())):
        await missing(errands, file_id)
    assert (await noor.download(unanswered.file_id))[1] == NOTES
    await noor.delete_file(given.file_id)
    await missing(errands, given.file_id)


async def test_a_service_downloads_and_does_nothing_else_with_files(
    server: Server, noor: Person, errands: AskingService
) -> None:
    (given,) = told(await answered(noor, errands, SCAN))
    as_person = Person(errands.client)
    for call in (
        as_person.upload("scan.png", "image/png", PNG),
        as_person.delete_file(given.file_id),
    ):
        assert error_of(await refused(call)).reason == "TOKEN_FORBIDDEN"
    tokens = await server.person("errands", aud="parley-internal", scope="asks.tokens")
    error = error_of(await refused(tokens.download(given.file_id)))
    assert (error.reason, error.metadata) == ("SCOPE_REQUIRED", {"scope": "asks.write"})


async def test_without_a_store_there_is_nothing_to_download(start_server: StartServer) -> None:
    server = await start_server(in_turn(), **WITHOUT_A_STORE)
    noor, errands = await server.person(), await asking_service(server)
    (given,) = told(await answered(noor, errands, SCAN))
    assert (given.filename, given.size) == ("scan.png", len(PNG))
    assert given.WhichOneof("source") is None
    error = error_of(await refused(download(errands, str(uuid4()))))
    assert error.reason == "FILES_DISABLED"

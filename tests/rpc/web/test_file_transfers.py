import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from parleyd.contract import limits
from parleyd.rpc.web.downloads import disposition
from tests.rpc.file_calls import CAP, NO_FILE, NOTES, SAMPLES, file_rows
from tests.rpc.file_server import FileServer, serving_files
from tests.rpc.web.http import body, faults, http_front, reason
from tests.rpc.wire import HOUR, Wire

UPLOAD = "/v1/files:upload"
SHA256 = hashlib.sha256(NOTES)


def front_of(server: FileServer, subject: str = "noor", **more: Any) -> Any:
    return http_front(server.address, server.key.issue(subject, HOUR), file_bytes=CAP, **more)


@pytest.fixture
async def http(file_server: FileServer) -> AsyncIterator[httpx2.AsyncClient]:
    """A front before a server of files of at most CAP bytes, and Noor's token."""
    async with front_of(file_server) as client:
        yield client


def part(data: bytes = NOTES, name: str = "notes.txt", kind: str = "text/plain") -> Any:
    return {"file": (name, data, kind)}


async def uploaded(http: httpx2.AsyncClient, files: Any, **fields: str) -> Any:
    response = await http.post(UPLOAD, files=files, data=fields)
    assert response.status_code == 200, response.text
    assert response.headers["x-content-type-options"] == "nosniff"
    return body(response)["file"]


@pytest.mark.parametrize("kind", SAMPLES)
async def test_a_file_of_every_type_comes_back_byte_for_byte(
    http: httpx2.AsyncClient, kind: str
) -> None:
    file = await uploaded(http, part(SAMPLES[kind], "a file", kind))
    response = await http.get(f"/v1/files/{file['fileId']}:download")
    assert response.content == SAMPLES[kind]
    assert response.headers["content-type"] == kind
    assert response.headers["content-length"] == str(len(SAMPLES[kind])) == file["sizeBytes"]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"].startswith("sandbox")
    assert "attachment" in response.headers["content-disposition"]


async def test_a_large_file_is_passed_on_in_pieces(engine: AsyncEngine, tmp_path: Path) -> None:
    large = b"0123456789abcdef" * (5 * 1024 * 1024 // 16)
    async with (
        serving_files(engine, tmp_path) as server,
        http_front(server.address, server.key.issue("noor", HOUR)) as http,
    ):
        file = await uploaded(http, part(large))
        response = await http.get(f"/v1/files/{file['fileId']}:download")
    assert response.content == large


async def test_what_is_said_of_a_file_may_come_before_or_after_it(
    http: httpx2.AsyncClient,
) -> None:
    facts = [
        ("sha256", (None, SHA256.hexdigest())),
        ("requestId", (None, NO_FILE)),
    ]
    first = await uploaded(http, [*facts, ("file", part()["file"])])
    again = await uploaded(http, [("file", part()["file"]), *facts])
    assert first == again


@pytest.mark.parametrize(
    "digest",
    [
        SHA256.hexdigest().upper(),
        base64.b64encode(SHA256.digest()).decode(),
        base64.urlsafe_b64encode(SHA256.digest()).decode().rstrip("="),
    ],
)
async def test_a_checksum_may_be_spelled_in_either_way(
    http: httpx2.AsyncClient, digest: str
) -> None:
    await uploaded(http, part(), sha256=digest)
    wrong = await http.post(UPLOAD, files=part(b"Bring no tent."), data={"sha256": digest})
    assert (wrong.status_code, reason(wrong)) == (400, "INVALID_REQUEST")


BAD_FORMS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "no file": ({"sha256": (None, "a" * 64)}, [("file", "MISSING_REQUIRED")]),
    "a file that is a text": ({"file": (None, "hello")}, [("file", "INVALID_TYPE")]),
    "two files": ([("file", part()["file"])] * 2, [("", "INVALID_FORMAT")]),
    "a file of another name": ({"document": part()["file"]}, [("document", "UNKNOWN_KEY")]),
    "an unknown part": ({**part(), "owner": (None, "ada")}, [("owner", "UNKNOWN_KEY")]),
    "no checksum": ({**part(), "sha256": (None, "x")}, [("sha256", "INVALID_FORMAT")]),
    "no request id": ({**part(), "requestId": (None, "x")}, [("requestId", "INVALID_FORMAT")]),
    "a part twice": (
        [("file", part()["file"]), ("sha256", (None, "a" * 64)), ("sha256", (None, "a" * 64))],
        [("sha256", "TOO_MANY")],
    ),
    "a long part": ({**part(), "requestId": (None, "x" * 5000)}, [("", "INVALID_FORMAT")]),
    "nothing in it": (part(b""), [("chunk", "MISSING_REQUIRED")]),
}


@pytest.mark.parametrize("name", BAD_FORMS)
async def test_a_form_that_is_not_as_it_has_to_be_keeps_nothing(
    http: httpx2.AsyncClient, engine: AsyncEngine, name: str
) -> None:
    form, where = BAD_FORMS[name]
    refused = await http.post(UPLOAD, files=form)
    assert (refused.status_code, reason(refused)) == (400, "INVALID_REQUEST"), refused.text
    assert faults(refused) == where
    assert await file_rows(engine) == 0


BAD_CONTENTS = {
    "no boundary": (b"x", "multipart/form-data"),
    "another boundary": (b"--b\r\n\r\n--b--\r\n", "multipart/form-data; boundary=a"),
    "an unfinished form": (
        b'--a\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello',
        "multipart/form-data; boundary=a",
    ),
    "a part without a name": (
        b"--a\r\nContent-Disposition: form-data\r\n\r\nhello\r\n--a--\r\n",
        "multipart/form-data; boundary=a",
    ),
    "nothing": (b"", "multipart/form-data; boundary=a"),
    "JSON": (b"{}", "application/json"),
    "the bytes themselves": (NOTES, "text/plain"),
}


@pytest.mark.parametrize("name", BAD_CONTENTS)
async def test_a_body_that_is_no_form_with_a_file_is_refused_with_a_sentence(
    http: httpx2.AsyncClient, engine: AsyncEngine, name: str
) -> None:
    content, kind = BAD_CONTENTS[name]
    refused = await http.post(UPLOAD, content=content, headers={"content-type": kind})
    assert (refused.status_code, reason(refused)) == (400, "INVALID_REQUEST")
    assert "multipart/form-data with one file" in body(refused)["message"]
    assert await file_rows(engine) == 0


async def test_bytes_of_another_type_than_said_are_refused(http: httpx2.AsyncClient) -> None:
    wrong = await http.post(UPLOAD, files=part(NOTES, "a.png", "image/png"))
    unknown = await http.post(UPLOAD, files=part(NOTES, "a.exe", "application/x-msdownload"))
    assert (wrong.status_code, reason(wrong)) == (400, "MIME_MISMATCH")
    assert (unknown.status_code, reason(unknown)) == (400, "FILE_TYPE_NOT_ALLOWED")


async def test_a_file_over_the_cap_is_413_and_the_rest_of_it_is_not_waited_for(
    http: httpx2.AsyncClient, engine: AsyncEngine
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'--a\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        while sent < 100 * CAP:
            sent += 10_000
            yield b"x" * 10_000
            await asyncio.sleep(0)

    just = await http.post(UPLOAD, files=part(b"x" * CAP))
    over = await http.post(UPLOAD, files=part(b"x" * (CAP + 1)))
    far_over = await http.post(UPLOAD, files=part(b"x" * 4 * CAP))
    kind = {"content-type": "multipart/form-data; boundary=a"}
    async with asyncio.timeout(30):
        unsaid = await http.post(UPLOAD, content=endless(), headers=kind)
    assert just.status_code == 200
    for refused in (over, far_over, unsaid):
        assert (refused.status_code, reason(refused)) == (413, "FILE_TOO_LARGE")
        assert body(refused)["details"][0]["metadata"]["limit"] == str(CAP)
    assert await file_rows(engine) == 1


async def test_who_may_not_upload_is_told_before_the_form_is_read(
    engine: AsyncEngine, tmp_path: Path
) -> None:
    told: list[tuple[int, str | None]] = []
    async with asyncio.timeout(30):
        for switches in ({"kept": False}, {"uploads": False}):
            async with (
                serving_files(engine, tmp_path, **switches) as server,
                front_of(server) as http,
            ):
                refused = await _early(http)
                told.append((refused.status_code, reason(refused)))
                nobody = await _early(http, "Bearer x")
                told.append((nobody.status_code, reason(nobody)))
    assert told == [
        (404, "FILES_DISABLED"),
        (401, "UNAUTHENTICATED"),
        (403, "UPLOADS_DISABLED"),
        (401, "UNAUTHENTICATED"),
    ]


async def _early(http: httpx2.AsyncClient, authorization: str = "") -> httpx2.Response:
    """Returns the answer to a request that never ends."""
    reader, writer = await asyncio.open_connection(http.base_url.host, http.base_url.port)
    writer.write(
        f"POST {UPLOAD} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
        "Content-Type: multipart/form-data; boundary=a\r\n"
        f"Authorization: {authorization or http.headers['authorization']}\r\n\r\n"
        "5\r\n--a\r\n\r\n".encode()
    )
    await writer.drain()
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    content = await reader.readexactly(int(headers["content-length"]))
    writer.close()
    return httpx2.Response(int(first.split()[1]), headers=headers, content=content)


async def test_a_client_that_leaves_in_its_form_leaves_nothing(
    http: httpx2.AsyncClient, engine: AsyncEngine
) -> None:
    begun = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield b'--a\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello'
        begun.set()
        await asyncio.Event().wait()

    kind = {"content-type": "multipart/form-data; boundary=a"}
    sending = asyncio.create_task(http.post(UPLOAD, content=slow(), headers=kind))
    await asyncio.wait_for(begun.wait(), 10)
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    await uploaded(http, part())
    assert await file_rows(engine) == 1


async def test_refusals_in_the_middle_keep_their_reason_however_often(
    http: httpx2.AsyncClient,
) -> None:
    for _ in range(30):
        refused = await http.post(UPLOAD, files=part(b"\0" * CAP, "a.png", "image/png"))
        assert reason(refused) == "MIME_MISMATCH"


async def test_all_that_is_logged_of_an_upload_has_one_id(http: httpx2.AsyncClient) -> None:
    with capture_logs([merge_contextvars]) as lines:
        await uploaded(http, part())
        await uploaded(http, part())
        await http.post(UPLOAD, files=part(), headers={"x-request-id": "abc-7"})
    ids = [line["request_id"] for line in lines if line["event"] == "call"]
    assert ids[::2] == ids[1::2]
    assert len({*ids}) == 3
    assert ids[-1] == "abc-7"


async def test_a_deadline_is_that_of_the_whole_upload(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[float] = []

    async def begin(context: Any) -> None:
        left.append(context.time_remaining())
        if len(left) == 2:
            await context.abort(StatusCode.INTERNAL, "Internal error from Core")

    wire.files.begin = begin
    clock = count(0, 20)
    monkeypatch.setattr("parleyd.rpc.web.uploads.monotonic", lambda: next(clock))
    async with http_front(wire.target, wire.key.issue("ada", HOUR)) as http:
        told = await http.post(UPLOAD, files=part(), headers={"x-timeout-ms": "100000"})
    assert told.status_code == 200
    assert [round(seconds, -1) for seconds in left] == [80, 60, 40]


async def test_a_server_that_does_not_say_who_may_upload_is_not_waited_for(wire: Wire) -> None:
    async def begin(_: Any) -> None:
        await asyncio.Event().wait()

    wire.files.begin = begin
    async with http_front(wire.target, wire.key.issue("ada", HOUR)) as http, asyncio.timeout(15):
        late = await http.post(UPLOAD, files=part(), headers={"x-timeout-ms": "300"})
    assert (late.status_code, body(late)["status"]) == (504, "DEADLINE_EXCEEDED")


async def test_what_is_not_there_or_another_person_s_is_404(
    http: httpx2.AsyncClient, file_server: FileServer
) -> None:
    file = await uploaded(http, part())
    async with front_of(file_server, "ada") as adas:
        theirs = await adas.get(f"/v1/files/{file['fileId']}:download")
        deleting = await adas.delete(f"/v1/files/{file['fileId']}")
    missing = await http.get(f"/v1/files/{NO_FILE}:download")
    malformed = await http.get("/v1/files/x:download")
    assert (theirs.status_code, reason(theirs)) == (404, "FILE_NOT_FOUND")
    assert (missing.status_code, reason(missing)) == (404, "FILE_NOT_FOUND")
    assert (malformed.status_code, reason(malformed)) == (400, "INVALID_REQUEST")
    assert (deleting.status_code, reason(deleting)) == (403, "NOT_OWNER")


async def test_a_download_that_is_cut_does_not_look_whole(
    http: httpx2.AsyncClient, file_server: FileServer
) -> None:
    file = await uploaded(http, part(b"x" * 50_000))
    (kept,) = file_server.store.objects()
    kept.write_bytes(b"x" * 20_000)
    with pytest.raises(httpx2.RemoteProtocolError):
        await http.get(f"/v1/files/{file['fileId']}:download")


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("a.txt", "attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt"),
        (
            'Grüße "x"\r\nSet-Cookie: a/b\\c%.txt',
            (
                'attachment; filename="Gr__e _x___Set-Cookie: a/b_c_.txt"; '
                "filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%22x%22%0D%0ASet-Cookie%3A%20a%2Fb%5Cc%25.txt"
            ),
        ),
    ],
)
def test_a_name_of_any_characters_is_a_header(name: str, header: str) -> None:
    assert disposition(name) == header


async def test_the_cap_of_the_spec_is_the_usual_one(wire: Wire) -> None:
    token = wire.key.issue("ada", HOUR)
    async with http_front(wire.target, token) as http:
        size = {"content-type": "multipart/form-data; boundary=a"}
        refused = await http.post(UPLOAD, content=b"x" * (11 * 1024 * 1024), headers=size)
    assert (refused.status_code, reason(refused)) == (413, "FILE_TOO_LARGE")
    assert body(refused)["details"][0]["metadata"]["limit"] == str(limits.FILE_BYTES)
    assert wire.files.calls == 0

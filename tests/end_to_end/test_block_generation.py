"""Documents for services, over the wire: from the request to the line of the log (blocks 20)."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from grpc import StatusCode
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parley.v1.block_generation_pb2 import GenerateBlocksRequest, GenerateBlocksResponse
from parleyd.app.development_key import DevelopmentKey
from parleyd.app.identity import authenticator_of
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, running_service
from parleyd.models.gemini_schemas import KEYWORDS
from parleyd.models.script import Fail, Hold, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from parleyd.turns.request_log import LoggedRequest, RequestLog
from tests.end_to_end.gemini_service import KEY, says
from tests.end_to_end.person import refused
from tests.models.fake_gemini import FakeGemini, error_frame, frame
from tests.server import Server, StartServer
from tests.server_process import LIFETIME

SOON: Final = 30
PROMPT: Final = "Draw my sales."
VALID: Final = '{"v":1,"blocks":[{"type":"heading","text":"Sales"}]}'
INVALID: Final = '{"v":1,"blocks":[{"type":"heading"},{"type":"poem"}]}'
HUGE: Final = json.dumps({"v": 1, "blocks": [{"type": "heading", "x" * 300: 1}] * 50})
CLAIMS: Final = {"aud": "parley-internal", "scope": "blocks.generate"}


async def write(client: parley.Client, prompt: str = PROMPT, **more: Any) -> GenerateBlocksResponse:
    return await client.generation.GenerateBlocks(GenerateBlocksRequest(prompt=prompt, **more))


async def refusal(client: parley.Client, **more: Any) -> parley.ParleyError:
    request = GenerateBlocksRequest(prompt=PROMPT, **more)
    return parley.error_of(await refused(client.generation.GenerateBlocks(request)))


async def service_of(server: Server, name: str = "reports") -> parley.Client:
    return (await server.person(name, **CLAIMS)).client


async def logged(engine: AsyncEngine) -> Sequence[Row[Any]]:
    """Returns the lines of documents that a server wrote, which has stopped."""
    async with engine.connect() as connection:
        rows = await connection.execute(
            text(
                "SELECT owner, conversation_id, turn_id, ai_model, prompt, response, error,"
                " metadata FROM ai_requests WHERE request_type = 'ui_blocks' ORDER BY id"
            )
        )
        return rows.all()


@pytest.mark.parametrize("blocks", [False, True], ids=["texts", "documents"])
async def test_a_document_is_written_whatever_the_replies_are(
    start_server: StartServer, engine: AsyncEngine, *, blocks: bool
) -> None:
    server = await start_server(in_turn([Text(f"```json\n{VALID}\n```")]), blocks=blocks)
    written = await write(await service_of(server), owner="noor")
    (block,) = written.document.blocks
    assert (written.document.v, block.heading.text, written.repaired) == (1, "Sales", False)
    assert [*written.warnings] == []
    assert server.model.calls == [], "no turn ran"
    await server.stop()
    assert [*map(tuple, await logged(engine))] == [
        ("noor", None, None, "scripted-1", PROMPT, VALID, None, None)
    ]


async def test_html_is_off_here_even_where_replies_may_hold_some(start_server: StartServer) -> None:
    html = '{"v":1,"blocks":[{"type":"html","html":"<b>a</b>"}]}'
    server = await start_server(in_turn([Text(html)]), blocks=True, blocks_html=True)
    error = await refusal(await service_of(server), repair=False)
    assert [(fault.path, fault.code) for fault in error.fields] == [("blocks[0]", "HTML_DISABLED")]


async def test_a_document_is_repaired_unless_it_is_not_to_be(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(
        in_turn(*([Text(text)] for text in (INVALID, VALID, INVALID, INVALID, INVALID)))
    )
    service = await service_of(server)
    assert (await write(service)).repaired
    once = await refusal(service, repair=False)
    twice = await refusal(service, repair=True)
    for error in (once, twice):
        assert (error.code, error.reason) == (StatusCode.FAILED_PRECONDITION, "BLOCKS_INVALID")
        assert error.metadata == {
            "error_codes": "MISSING_REQUIRED,INVALID_ENUM",
            "http_status": "422",
        }
        assert [(fault.path, fault.code) for fault in error.fields] == [
            ("blocks[0].text", "MISSING_REQUIRED"),
            ("blocks[1].type", "INVALID_ENUM"),
        ]
        assert all(fault.message and fault.fix for fault in error.fields)
    assert [len(call.prompt.split("\n")) for call in server.model.json_calls] == [1, 5, 1, 1, 5]
    await server.stop()
    codes = {"error_codes": ["MISSING_REQUIRED", "INVALID_ENUM"]}
    lines = await logged(engine)
    assert [(line.owner, line.response, line.metadata) for line in lines] == [
        ("reports", VALID, None),
        ("reports", None, codes),
        ("reports", None, codes),
    ]


async def test_of_very_many_errors_as_many_are_told_as_trailers_carry(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Text(HUGE)]))
    service = await service_of(server)
    error = await refusal(service, repair=False)
    assert error.reason == "BLOCKS_INVALID"
    assert error.metadata["truncated"] == "true"
    assert 0 < len(error.fields) < 50


async def test_a_call_that_fails_is_told_without_the_provider_s_words(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([Fail("server", "the secret pool is empty")]))
    error = await refusal(await service_of(server))
    assert (error.code, error.reason) == (StatusCode.UNAVAILABLE, "BLOCK_GENERATION_FAILED")
    assert error.metadata == {"http_status": "502"}
    assert "secret" not in error.message
    assert len(server.model.json_calls) == 1
    await server.stop()
    (line,) = await logged(engine)
    assert line.error == "BLOCK_GENERATION_FAILED: the secret pool is empty"


async def test_who_leaves_ends_the_model_s_call(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([Text("{"), Hold("never")]))
    service = await service_of(server)
    call = service.generation.GenerateBlocks(GenerateBlocksRequest(prompt=PROMPT))
    async with asyncio.timeout(SOON):
        await server.model.holds.reached("never")
        call.cancel()
        while server.model.streaming:
            await asyncio.sleep(0)
    await server.stop()
    (line,) = await logged(engine)
    assert line.error == "CancelledError"


async def test_a_service_is_limited_alone(start_server: StartServer) -> None:
    held: ScriptedStep = [Hold("writing"), Text(VALID)]
    server = await start_server(in_turn(*[held] * 3), owner_turns=2)
    reports, letters = await service_of(server), await service_of(server, "letters")
    async with asyncio.timeout(SOON):
        writing = [asyncio.ensure_future(write(reports)) for _ in range(2)]
        await server.model.holds.reached("writing", 2)
        error = await refusal(reports, owner="somebody else")
        writing.append(asyncio.ensure_future(write(letters)))
        await server.model.holds.reached("writing", 3)
        server.model.holds.release("writing")
        for each in writing:
            assert (await each).document.blocks
    assert (error.code, error.reason) == (StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED")
    assert error.metadata == {"limit": "2"}


async def test_a_log_that_fails_fails_no_document(start_server: StartServer) -> None:
    class Failing(RequestLog):
        async def log_request(self, request: LoggedRequest) -> None:
            raise ConnectionError(request.owner)

    server = await start_server(in_turn([Text(VALID)]), wrap_log=lambda _: Failing())
    assert (await write(await service_of(server))).document.blocks


@asynccontextmanager
async def running(
    database_url: str, folder: Path, **settings: Any
) -> AsyncGenerator[parley.Client]:
    """Runs a service with the model of its settings; yields a service that calls it."""
    key = DevelopmentKey.in_folder(folder)
    given = {"environment": "development", "port": 0, "data_dir": folder, **settings}
    trusted = authenticator_of(Settings(environment="development", data_dir=folder))
    async with (
        running_service(
            Settings.model_validate(given),
            database_url=database_url,
            replacements=Replacements(authenticator=trusted),
        ) as service,
        parley.connect(service.address, key.issue("reports", LIFETIME, claims=CLAIMS)) as client,
    ):
        yield client


async def test_without_a_model_there_is_none(database_url: str, tmp_path: Path) -> None:
    async with running(database_url, tmp_path, environment="production") as service:
        error = await refusal(service)
    assert (error.code, error.reason) == (StatusCode.UNAVAILABLE, "MODEL_NOT_CONFIGURED")


async def test_the_demo_agent_writes_documents_without_a_key(
    database_url: str, tmp_path: Path
) -> None:
    async with running(database_url, tmp_path) as service:
        sales = await write(service, "Show my sales by month")
        talk = await write(service, "Who are you?", system_instruction="Be brief.")
    assert "chart" in [block.WhichOneof("block") for block in sales.document.blocks]
    assert len(sales.document.datasets) == 1
    assert [block.WhichOneof("block") for block in talk.document.blocks] == ["text", "actions"]
    assert [sales.repaired, talk.repaired] == [False, False]


@pytest.fixture
async def gemini(
    database_url: str, tmp_path: Path
) -> AsyncIterator[tuple[FakeGemini, parley.Client]]:
    fake = FakeGemini()
    async with (
        fake.serving(),
        running(
            database_url,
            tmp_path,
            model="gemini-test",
            gemini_api_key=KEY,
            gemini_base_url=fake.url,
            model_idle_seconds=0.3,
        ) as service,
    ):
        yield fake, service


async def test_gemini_is_asked_for_json_and_told_what_it_did_wrong(
    gemini: tuple[FakeGemini, parley.Client],
) -> None:
    fake, service = gemini
    fake.answer(says(INVALID))
    fake.answer(frame({"text": VALID[:9]}), frame({"text": VALID[9:]}, finish="STOP"))
    written = await write(service)
    assert written.repaired
    assert written.document.blocks[0].heading.text == "Sales"
    first, second = fake.received
    for request in (first, second):
        config = request.body["generationConfig"]
        assert (config["temperature"], config["responseMimeType"]) == (0, "application/json")
        assert config["responseJsonSchema"].keys() <= KEYWORDS
        assert "tools" not in request.body
    assert first.prompt == PROMPT
    assert second.prompt.startswith(f"{PROMPT}\n\nErrors:\nblocks[0].text MISSING_REQUIRED ")


async def test_gemini_that_fails_or_falls_silent_gave_no_document(
    gemini: tuple[FakeGemini, parley.Client],
) -> None:
    fake, service = gemini
    fake.refuse(400, json.dumps(error_frame(400, "INVALID_ARGUMENT", "too many states")))
    fake.answer(frame({"text": VALID[:9]}), then="hang")
    fake.answer(frame({"text": VALID[:9]}, finish="MAX_TOKENS"))
    fake.answer(frame(finish="SAFETY"))
    for _ in range(4):
        error = await refusal(service)
        assert error.reason == "BLOCK_GENERATION_FAILED"
        assert "states" not in error.message
    assert len(fake.received) == 4

"""What is known of files: who has which, what refers to them, and what is swept away."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import JsonValue
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract import limits
from parleyd.contract.answers import accepted
from parleyd.contract.errors import AskNotPending, FileNotFound, NotOwner, Unavailable
from parleyd.contract.events import FileReturned
from parleyd.contract.files import File, FileDraft
from parleyd.contract.messages import Content, MediaContent, TextContent
from parleyd.store.engine import create_engine
from parleyd.store.files import PostgresFileRows
from parleyd.turns.file_store import UploadSeen
from parleyd.turns.ports import OpenedTurn, Opening, PromptOpening
from parleyd.turns.requests import RequestKey
from parleyd.turns.situations import Wanted
from tests.store.chat import OWNER, Chat, answer_opening, ask, prompt_opening
from tests.store.lossy_proxy import lossy_proxy
from tests.store.tool_calls import RESULT, called, place, starts, step_of

DAY = limits.UNUSED_FILE_HOURS * 60
"""How long an unused file is kept, in minutes."""


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@pytest.fixture
def rows(engine: AsyncEngine) -> PostgresFileRows:
    return PostgresFileRows(engine)


def draft(owner: str = OWNER, filename: str = "plan.pdf") -> FileDraft:
    key = uuid4()
    return FileDraft(
        id=key,
        owner=owner,
        filename=filename,
        storage_key=f"uploads/{key}",
        mime_type="application/pdf",
        size=9_007_199_254,
        sha256=bytes(range(32)),
    )


def request_key(digest: bytes = b"\x01") -> RequestKey:
    return RequestKey(uuid4(), digest)


async def do(chat: Chat, statement: str, **values: Any) -> None:
    async with chat.engine.begin() as connection:
        await connection.execute(text(statement), values)


async def age(chat: Chat, file: File, minutes: float) -> None:
    """Lets a file have come so long ago."""
    await do(
        chat,
        "UPDATE files SET create_time = now() - make_interval(secs => :seconds) WHERE id = :id",
        seconds=minutes * 60,
        id=file.id,
    )


async def used(chat: Chat) -> set[UUID]:
    """Returns the files that something refers to."""
    return {key for (key,) in await chat.query("SELECT id FROM files WHERE use_time IS NOT NULL")}


# ---------------------------------------------------------------- files


async def test_a_file_is_found_by_its_owner_as_it_was_added(rows: PostgresFileRows) -> None:
    mine, other = draft(), draft(filename="b\x00d.pdf")
    theirs = await rows.add_file(draft("eve"))

    added = await rows.add_file(mine)
    again = await rows.add_file(other)

    assert FileDraft(**added.model_dump(include=set(FileDraft.model_fields))) == mine
    assert again.filename == "b\ufffdd.pdf"
    ids = [mine.id, other.id, theirs.id, uuid4()]
    assert await rows.find_files(OWNER, ids) == {mine.id: added, other.id: again}
    assert await rows.find_files(OWNER, []) == {}


async def test_no_two_files_have_one_key(rows: PostgresFileRows) -> None:
    first = await rows.add_file(draft())

    with pytest.raises(IntegrityError):
        await rows.add_file(draft().model_copy(update={"storage_key": first.storage_key}))


async def test_a_deleted_file_is_not_found_any_more(rows: PostgresFileRows) -> None:
    file = await rows.add_file(draft())

    assert await rows.delete_file(OWNER, file.id) == file

    assert await rows.find_files(OWNER, [file.id]) == {}
    with pytest.raises(FileNotFound):
        await rows.delete_file(OWNER, file.id)


async def test_only_its_owner_deletes_a_file(rows: PostgresFileRows) -> None:
    file = await rows.add_file(draft())

    with pytest.raises(NotOwner, match="file"):
        await rows.delete_file("eve", file.id)
    with pytest.raises(FileNotFound):
        await rows.delete_file(OWNER, uuid4())
    await rows.delete_file(OWNER, file.id)
    with pytest.raises(FileNotFound):
        await rows.delete_file("eve", file.id)


# ---------------------------------------------------------------- repeats


async def test_a_request_id_makes_one_file(chat: Chat, rows: PostgresFileRows) -> None:
    key, second = request_key(), draft()
    assert await rows.read_upload(OWNER, key) is None

    first = await rows.add_file(draft(), key)
    with pytest.raises(UploadSeen) as seen:
        await rows.add_file(second, RequestKey(key.id, b"\x02"))

    assert (seen.value.file, seen.value.digest) == (first, b"\x01")
    assert await rows.read_upload(OWNER, key) == (first, b"\x01")
    assert await chat.query("SELECT id FROM files") == [(first.id,)]
    await rows.add_file(second, request_key())


async def test_a_request_id_is_its_owners(rows: PostgresFileRows) -> None:
    key = request_key()
    mine = await rows.add_file(draft(), key)

    assert await rows.read_upload("eve", key) is None
    hers = await rows.add_file(draft("eve"), key)

    assert await rows.read_upload("eve", key) == (hers, b"\x01")
    assert await rows.read_upload(OWNER, key) == (mine, b"\x01")


async def test_a_repeat_does_not_bring_back_a_file_that_was_deleted(rows: PostgresFileRows) -> None:
    key = request_key()
    file = await rows.add_file(draft(), key)
    await rows.delete_file(OWNER, file.id)

    with pytest.raises(UploadSeen) as seen:
        await rows.add_file(draft(), key)

    assert seen.value.file == file
    assert await rows.read_upload(OWNER, key) == (file, b"\x01")
    assert await rows.find_files(OWNER, [file.id]) == {}


async def test_a_request_id_counts_for_a_time_and_is_free_then(
    chat: Chat, rows: PostgresFileRows
) -> None:
    key = request_key()
    first = await rows.add_file(draft(), key)
    older = "UPDATE file_requests SET create_time = create_time - make_interval(mins => :mins)"

    await do(chat, older, mins=limits.REQUEST_ID_HOURS * 60 - 1)
    assert await rows.read_upload(OWNER, key) == (first, b"\x01")

    await do(chat, older, mins=1)
    assert await rows.read_upload(OWNER, key) is None
    second = await rows.add_file(draft(), RequestKey(key.id, b"\x02"))
    assert await rows.read_upload(OWNER, key) == (second, b"\x02")
    with pytest.raises(UploadSeen):
        await rows.add_file(draft(), key)


async def test_of_many_first_uploads_at_once_one_makes_the_file(
    chat: Chat, rows: PostgresFileRows
) -> None:
    key = request_key()

    results = await asyncio.gather(
        *(rows.add_file(draft(), key) for _ in range(8)), return_exceptions=True
    )

    (made,) = [result for result in results if isinstance(result, File)]
    seen = [result for result in results if isinstance(result, UploadSeen)]
    assert [each.file for each in seen] == [made] * 7
    assert await chat.query("SELECT id FROM files") == [(made.id,)]


async def test_an_upload_that_failed_has_not_used_its_id(rows: PostgresFileRows) -> None:
    key = request_key()
    with pytest.raises(IntegrityError):
        await rows.add_file(draft(filename=""), key)

    assert await rows.read_upload(OWNER, key) is None
    await rows.add_file(draft(), key)


@pytest.mark.parametrize("named", [False, True], ids=["without an id", "with a request id"])
async def test_a_lost_commit_is_looked_up(chat: Chat, database_url: str, *, named: bool) -> None:
    key = request_key() if named else None
    async with lossy_proxy(database_url) as proxy:
        engine = create_engine(proxy.url, pool_size=3)
        lossy, new = PostgresFileRows(engine), draft()

        proxy.armed = "before"
        with pytest.raises(Unavailable):
            await lossy.add_file(new, key)
        assert await chat.query("SELECT id FROM files") == []

        proxy.armed = "after"
        file = await lossy.add_file(new, key)
        assert await chat.query("SELECT id FROM files") == [(file.id,)]

        proxy.armed = "before"
        with pytest.raises(Unavailable):
            await lossy.delete_file(OWNER, file.id)
        proxy.armed = "after"
        assert await lossy.delete_file(OWNER, file.id) == file
        assert await lossy.find_files(OWNER, [file.id]) == {}
        await engine.dispose()


# ---------------------------------------------------------------- use


async def test_a_message_keeps_its_parts_and_uses_its_files(
    chat: Chat, rows: PostgresFileRows
) -> None:
    first, second, _ = [await rows.add_file(draft()) for _ in range(3)]
    unkept = MediaContent(type="image", file_id=None, mime_type="image/png", filename=None, size=3)
    content = (TextContent(text="See \x00"), _media(first), unkept)
    turn = await chat.open(_attaching(prompt_opening(), *content))
    conversation = turn.lease.conversation_id
    more = (TextContent(text="And"), _media(second), _media(second))
    await chat.open(_attaching(prompt_opening(conversation_id=conversation), *more))

    one, two = await chat.rows(conversation)

    assert await used(chat) == {first.id, second.id}
    assert one.content == (TextContent(text="See \ufffd"), _media(first), unkept)
    assert two.content == more
    assert (await chat.turns.read_chain(turn)).history == (one,)


@pytest.mark.parametrize("looks", [True, False], ids=["as it was seen", "under the lock"])
async def test_an_answer_uses_its_files(chat: Chat, rows: PostgresFileRows, *, looks: bool) -> None:
    first, second, _ = [await rows.add_file(draft()) for _ in range(3)]
    conversation = await _waiting_for_files(chat)
    answer = answer_opening(conversation, "call_files", _answer(first, None, second))

    await Chat(chat.engine, looks=looks).open(answer)

    assert await used(chat) == {first.id, second.id}


async def test_an_answer_that_is_refused_uses_nothing(chat: Chat, rows: PostgresFileRows) -> None:
    file = await rows.add_file(draft())
    conversation = await _waiting_for_files(chat)
    answer = answer_opening(conversation, "call_files", _answer(file))
    seen = await chat.turns.read_situation(OWNER, Wanted(conversation, "call_files"))
    await chat.prompt("Never mind", conversation)

    with pytest.raises(AskNotPending):
        await chat.turns.open_turn(replace(answer, seen=seen))

    assert await used(chat) == set()


async def test_a_message_uses_no_file_of_somebody_else(chat: Chat, rows: PostgresFileRows) -> None:
    hers = await rows.add_file(draft("eve"))

    await chat.open(_attaching(prompt_opening(), _media(hers)))

    assert await used(chat) == set()


async def test_a_file_is_used_since_the_first_time(chat: Chat, rows: PostgresFileRows) -> None:
    file = await rows.add_file(draft())
    await chat.open(_attaching(prompt_opening(), _media(file)))
    first = await chat.query("SELECT use_time FROM files")

    await chat.open(_attaching(prompt_opening(), _media(file)))

    assert await chat.query("SELECT use_time FROM files") == first


async def test_files_are_locked_in_one_order_so_that_no_turns_wait_for_each_other(
    chat: Chat, rows: PostgresFileRows
) -> None:
    low, high = sorted((draft(), draft()), key=lambda each: each.id)
    last, first = await rows.add_file(high), await rows.add_file(low)
    opening = _attaching(prompt_opening(), _media(last), _media(first))
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"

    async with chat.engine.begin() as other:
        held = {"id": last.id}
        await other.execute(text("SELECT 1 FROM files WHERE id = :id FOR UPDATE"), held)
        opened = asyncio.create_task(chat.open(opening))
        async with asyncio.timeout(2):
            while not await chat.query(waits):
                pass
        free = await chat.query("SELECT id FROM files FOR UPDATE SKIP LOCKED")
    await opened

    assert free == []
    assert await used(chat) == {first.id, last.id}


async def _running(chat: Chat) -> OpenedTurn:
    turn = await chat.prompt()
    calls = starts("lookup")
    await chat.turns.journal_step(turn, step_of(calls), called(calls), calls)
    return turn


async def test_what_a_tool_returned_is_used(chat: Chat, rows: PostgresFileRows) -> None:
    file, turn = await rows.add_file(draft()), await _running(chat)
    (call,) = starts("lookup")
    returned = FileReturned(
        tool_call_id=call.tool_call_id,
        filename="pl\x00n.pdf",
        mime_type="application/pdf",
        file_id=file.id,
    )

    events = await chat.turns.store_result(turn, place(call), RESULT, failed=False, file=returned)
    repeated = await chat.turns.store_result(turn, place(call), RESULT, failed=False, file=returned)

    assert await used(chat) == {file.id}
    assert [(event.sequence, event.body.kind) for event in events] == [
        (3, "file"),
        (4, "tool_result"),
    ]
    assert events[0].body == returned.model_copy(update={"filename": "pl\ufffdn.pdf"})
    assert repeated == events


def _media(file: File) -> MediaContent:
    return MediaContent(
        type="file",
        file_id=file.id,
        mime_type=file.mime_type,
        filename=file.filename,
        size=file.size,
    )


def _attaching(opening: Opening, *content: Content) -> Opening:
    return replace(opening, input=PromptOpening("See", content))


def _answer(*files: File | None) -> dict[str, JsonValue]:
    """Returns a stored answer; the bytes of None are not kept."""
    listed: list[JsonValue] = [
        {
            **({"fileId": str(file.id)} if file else {}),
            "filename": "plan.pdf",
            "mimeType": "application/pdf",
            "size": 1,
        }
        for file in files
    ]
    return accepted({"files": listed})


async def _waiting_for_files(chat: Chat) -> UUID:
    turn = await chat.prompt()
    asked: dict[str, JsonValue] = {"prompt": "Which files?", "accept": ["pdf"], "maxFiles": 3}
    await chat.pause(turn, replace(ask("call_files", asked), kind="files"))
    return turn.lease.conversation_id


# ---------------------------------------------------------------- the sweep


async def test_files_that_nothing_refers_to_are_deleted_in_time(
    chat: Chat, rows: PostgresFileRows
) -> None:
    old, young, in_use = [await rows.add_file(draft()) for _ in range(3)]
    await chat.open(_attaching(prompt_opening(), _media(in_use)))
    await age(chat, old, DAY + 1)
    await age(chat, young, DAY - 1)
    await age(chat, in_use, 100 * DAY)

    leftovers = await rows.take_leftovers(10)

    assert [file.id for file in leftovers] == [old.id]
    assert set(await rows.find_files(OWNER, [old.id, young.id, in_use.id])) == {
        young.id,
        in_use.id,
    }


async def test_what_is_deleted_is_told_until_its_bytes_are_gone(
    chat: Chat, rows: PostgresFileRows
) -> None:
    first, second, third, kept = [await rows.add_file(draft()) for _ in range(4)]
    for file in (second, first, third):
        await rows.delete_file(OWNER, file.id)

    assert await rows.take_leftovers(2) == (second, first)
    await rows.forget_bytes([second.id, kept.id])

    assert await rows.take_leftovers(10) == (first, third)
    await rows.forget_bytes([first.id, third.id])
    await rows.forget_bytes([])
    assert await rows.take_leftovers(10) == ()
    assert await rows.find_files(OWNER, [kept.id]) == {kept.id: kept}
    assert await chat.query("SELECT count(*) FROM files WHERE purge_time IS NOT NULL") == [(3,)]


async def test_what_another_process_sweeps_is_left_to_it(
    chat: Chat, rows: PostgresFileRows
) -> None:
    old, older, gone, long_gone = [await rows.add_file(draft()) for _ in range(4)]
    await age(chat, old, DAY + 1)
    await age(chat, older, DAY + 2)
    for file in (long_gone, gone):
        await rows.delete_file(OWNER, file.id)

    async with chat.engine.begin() as other:
        held = {"ids": [older.id, long_gone.id]}
        await other.execute(text("SELECT 1 FROM files WHERE id = ANY(:ids) FOR UPDATE"), held)
        async with asyncio.timeout(2):
            taken = await rows.take_leftovers(10)

    assert [file.id for file in taken] == [gone.id, old.id]


async def test_many_sweeps_at_once_delete_every_file(chat: Chat, rows: PostgresFileRows) -> None:
    files = [await rows.add_file(draft()) for _ in range(30)]
    for file in files:
        await age(chat, file, DAY + 1)
    swept = set[UUID]()

    async def sweep() -> None:
        while taken := await rows.take_leftovers(4):
            swept.update(file.id for file in taken)
            await rows.forget_bytes([file.id for file in taken])

    await asyncio.gather(*(sweep() for _ in range(4)))
    await sweep()

    assert swept == {file.id for file in files}


async def test_a_sweep_reads_by_the_indexes_that_are_there_for_it(
    chat: Chat, rows: PostgresFileRows
) -> None:
    await do(
        chat,
        "INSERT INTO files (owner, filename, storage_key, mime_type, size_bytes, sha256,"
        " use_time, delete_time, purge_time, create_time)"
        " SELECT 'ada', 'f', 'k' || n, 'text/plain', 1, '', now(), gone, gone,"
        " now() - make_interval(hours => 25)"
        " FROM (SELECT n, CASE WHEN n > 9 THEN now() END FROM generate_series(1, 3000) n)"
        " AS file (n, gone)",
    )
    await do(chat, "UPDATE files SET use_time = NULL WHERE storage_key IN ('k1', 'k2')")
    await do(chat, "ANALYZE files")
    indexes = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = ANY(:names)"
    names = ["files_unused", "files_leftover"]
    assert await chat.query(indexes, names=names) == [(0,)] * 2

    assert len(await rows.take_leftovers(10)) == 2

    async with asyncio.timeout(5):
        while any(scans == 0 for (scans,) in await chat.query(indexes, names=names)):
            pass

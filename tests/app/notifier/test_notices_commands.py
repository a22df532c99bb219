"""`parleyd notices` as its users type it."""

import json
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.store.notices import PostgresNoticeStore
from tests.app.processes import environment, run
from tests.store.chat import Chat


@pytest.fixture
def env(tmp_path: Path, database_url: str) -> dict[str, str]:
    return environment(tmp_path, PARLEY_DATABASE_URL=database_url)


async def dead(engine: AsyncEngine, count: int) -> list[str]:
    """Returns the ids of notices that were given up, the newest first."""
    chat, store = Chat(engine), PostgresNoticeStore(engine)
    made: list[str] = []
    for _ in range(count):
        pending = await chat.pending(await chat.waiting())
        assert pending
        await store.note([pending.id])
        (notice,) = await store.claim(10)
        await store.end_dead(notice, "HTTP 410")
        made.insert(0, str(notice.id))
    return made


async def test_dead_notices_are_printed_and_tried_again(
    engine: AsyncEngine, env: dict[str, str]
) -> None:
    first, second, third = await dead(engine, 3)
    ended = await run("notices", "--dead", env=env)
    assert (ended.code, ended.err) == (0, "")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [line["id"] for line in lines] == [first, second, third]
    assert set(lines[0]) == {
        *("id", "state", "kind", "ask_id", "conversation_id", "tool_call_id"),
        *("attempts", "last_error", "create_time", "next_time", "end_time"),
    }
    assert (lines[0]["state"], lines[0]["last_error"]) == ("dead", "HTTP 410")
    retried = await run("notices", "retry", second, env=env)
    assert (retried.code, retried.out) == (0, "1 notice is due.\n")
    ended = await run("notices", "--most", "2", env=env)
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [(line["id"], line["state"]) for line in lines] == [(first, "dead"), (second, "due")]
    retried = await run("notices", "retry", "--all", env=env)
    assert (retried.code, retried.out) == (0, "2 notices are due.\n")
    ended = await run("notices", "--dead", env=env)
    assert (ended.code, ended.out) == (0, "")


async def test_what_is_no_dead_notice_is_named_once_the_others_are_due(
    engine: AsyncEngine, env: dict[str, str]
) -> None:
    (known,) = await dead(engine, 1)
    other = str(uuid4())
    ended = await run("notices", "retry", known, other, "nonsense", env=env)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        f"parleyd: 1 due; of no dead notice: {other}, nonsense. See parleyd notices --dead.\n"
    )


@pytest.mark.parametrize("arguments", [[], ["--all", str(uuid4())]], ids=["nothing", "both"])
async def test_what_to_retry_is_named_or_all(arguments: list[str], tmp_path: Path) -> None:
    ended = await run("notices", "retry", *arguments, env=environment(tmp_path))
    assert ended.code == 2
    assert "Name the notices, or write --all." in ended.err


async def test_without_a_database_it_says_so(tmp_path: Path) -> None:
    gone = environment(tmp_path, PARLEY_DATABASE_URL="postgresql://u:s3cret@127.0.0.1:1/d")
    ended = await run("notices", env=gone)
    assert ended.code == 1
    assert ended.err.startswith("parleyd: The database can't be reached: ")
    assert "s3cret" not in ended.err

"""What a database that can't be reached looks like, and what a lost COMMIT comes to."""

import asyncio
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.errors import Unavailable
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnError
from parleyd.store.engine import SESSION, create_engine
from parleyd.turns.conversations import ConversationChanges
from tests.store.chat import OWNER, Chat, ask, prompt_opening, step
from tests.store.lossy_proxy import Loss, lossy_proxy

COUNTS = """
    SELECT (SELECT count(*) FROM conversations), (SELECT count(*) FROM turns),
           (SELECT count(*) FROM messages), (SELECT count(*) FROM asks),
           (SELECT count(*) FROM turn_steps), (SELECT count(*) FROM turn_events),
           (SELECT count(*) FROM turns WHERE state <> 'running'),
           (SELECT count(*) FROM conversations WHERE title IS NOT NULL OR delete_time IS NOT NULL)
"""


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@asynccontextmanager
async def holding(chat: Chat, conversation: Any) -> AsyncGenerator[None]:
    """Holds a conversation's lock, as another process may."""
    async with chat.engine.begin() as connection:
        await connection.execute(
            text("SELECT 1 FROM conversations WHERE id = :id FOR NO KEY UPDATE"),
            {"id": conversation},
        )
        yield


async def waiting_backend(chat: Chat) -> int:
    """Returns the process of the server that waits for a lock, as soon as there is one."""
    query = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    async with asyncio.timeout(2):
        while not (rows := await chat.query(query)):
            pass
    return rows[0][0]


async def test_a_session_has_limits_below_a_lease(chat: Chat) -> None:
    for name, value in SESSION.items():
        assert await chat.query(f"SHOW {name}") == [(value,)]


async def _write(chat: Chat) -> None:
    await chat.prompt()


async def _read(chat: Chat) -> None:
    await chat.see(uuid4())


@pytest.mark.parametrize("call", [_write, _read], ids=["a write", "a read"])
async def test_without_a_server_every_call_is_unavailable(
    call: Callable[[Chat], Awaitable[Any]], tmp_path: Path
) -> None:
    engine = create_engine(f"postgresql://nobody@/nowhere?host={tmp_path}", pool_size=1)

    with pytest.raises(Unavailable) as fault:
        await call(Chat(engine))

    assert isinstance(fault.value.__cause__, OSError)


async def test_a_wrong_password_is_no_way_in(database_url: str) -> None:
    engine = create_engine(database_url.replace("parley:", "parley:not", 1), pool_size=1)

    with pytest.raises(Unavailable):
        await Chat(engine).see(uuid4())


async def test_connections_that_the_server_closed_are_replaced(chat: Chat) -> None:
    conversation = await chat.waiting()
    await asyncio.gather(*(chat.see(conversation) for _ in range(5)))

    await chat.query(
        "SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )

    seen = await asyncio.gather(*(chat.see(conversation) for _ in range(5)))
    assert len(seen) == 5


async def test_a_connection_lost_in_a_transaction_stores_nothing(chat: Chat) -> None:
    conversation = await chat.waiting()
    before = await chat.query(COUNTS)

    async with holding(chat, conversation):
        answer = asyncio.create_task(chat.answer(conversation, "call_plan"))
        await chat.query("SELECT pg_terminate_backend(:pid)", pid=await waiting_backend(chat))
        with pytest.raises(Unavailable) as fault:
            await answer

    assert isinstance(fault.value.__cause__, asyncpg.ConnectionDoesNotExistError)
    assert await chat.query(COUNTS) == before
    assert await chat.answer(conversation, "call_plan")


async def test_a_statement_that_is_stopped_is_unavailable(chat: Chat) -> None:
    conversation = await chat.waiting()

    async with holding(chat, conversation):
        answer = asyncio.create_task(chat.answer(conversation, "call_plan"))
        await chat.query("SELECT pg_cancel_backend(:pid)", pid=await waiting_backend(chat))
        with pytest.raises(Unavailable):
            await answer


async def test_a_lock_that_others_hold_too_long_is_unavailable(chat: Chat) -> None:
    conversation = await chat.waiting()

    async with holding(chat, conversation):
        with pytest.raises(Unavailable) as fault:
            await chat.answer(conversation, "call_plan")

    assert "lock timeout" in str(fault.value.__cause__)


async def test_a_pool_that_stays_empty_is_unavailable(database_url: str) -> None:
    engine = create_engine(database_url, pool_size=1)

    async with engine.connect():
        with pytest.raises(Unavailable):
            await Chat(engine).prompt()

    await engine.dispose()


async def test_a_fault_of_ours_is_not_called_unavailable(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.reply(turn, title_due=True)

    with pytest.raises(IntegrityError):
        await chat.turns.close_turn(turn, "x" * 201)


async def test_a_fault_does_not_quote_what_people_wrote(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.reply(turn, title_due=True)

    with pytest.raises(IntegrityError) as fault:
        await chat.turns.close_turn(turn, "secret" * 50)

    logged = "".join(traceback.format_exception(fault.value))
    assert "conversations_title_shown_whole" in logged
    assert "secretsecret" not in logged


# ---------------------------------------------------------------- lost COMMITs

Write = Callable[[Chat], Awaitable[Callable[[], Awaitable[Any]]]]
"""Prepares something and returns the write that the network is to lose."""


async def _new_turn(chat: Chat) -> Callable[[], Awaitable[Any]]:
    return chat.prompt


async def _turn(chat: Chat) -> Callable[[], Awaitable[Any]]:
    conversation = await chat.waiting()
    return lambda: chat.prompt("More", conversation)


async def _answer(chat: Chat) -> Callable[[], Awaitable[Any]]:
    conversation = await chat.waiting()
    return lambda: chat.answer(conversation, "call_plan")


async def _step(chat: Chat) -> Callable[[], Awaitable[Any]]:
    turn = await chat.prompt()
    return lambda: chat.turns.journal_step(turn, step(), (), ())


async def _pause(chat: Chat) -> Callable[[], Awaitable[Any]]:
    turn = await chat.prompt()
    return lambda: chat.pause(turn)


async def _reply(chat: Chat) -> Callable[[], Awaitable[Any]]:
    turn = await chat.prompt()
    return lambda: chat.reply(turn, title_due=True)


async def _close(chat: Chat) -> Callable[[], Awaitable[Any]]:
    turn = await chat.prompt()
    await chat.reply(turn, title_due=True)
    return lambda: chat.turns.close_turn(turn, "Trip")


async def _close_at_once(chat: Chat) -> Callable[[], Awaitable[Any]]:
    turn = await chat.prompt()
    committed = (await chat.reply(turn, title_due=True)).committed
    return lambda: chat.turns.close_turn(turn, "Trip", committed)


async def _retry(chat: Chat) -> Callable[[], Awaitable[Any]]:
    failed = await chat.failed()
    return lambda: chat.retry(failed)


async def _fail(chat: Chat) -> Callable[[], Awaitable[Any]]:
    turn = await chat.prompt()
    error = TurnError(reason=Reason.INTERNAL, message="Sorry.")
    return lambda: chat.turns.fail_turn(turn, error, (), "I was")


async def _create(chat: Chat) -> Callable[[], Awaitable[Any]]:
    return lambda: chat.conversations.create_conversation(OWNER, uuid4(), "Trip", None)


async def _rename(chat: Chat) -> Callable[[], Awaitable[Any]]:
    conversation = await chat.waiting()
    changes = ConversationChanges(frozenset({"title"}), title="Trip")
    return lambda: chat.conversations.update_conversation(OWNER, conversation, changes)


async def _delete(chat: Chat) -> Callable[[], Awaitable[Any]]:
    conversation = await chat.waiting()
    return lambda: chat.conversations.delete_conversation(OWNER, conversation)


WRITES = [
    _new_turn,
    _turn,
    _answer,
    _step,
    _pause,
    _reply,
    _close,
    _close_at_once,
    _retry,
    _fail,
    _create,
    _rename,
    _delete,
]


@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__.strip("_"))
@pytest.mark.parametrize("loss", ["before", "after"])
@pytest.mark.parametrize("looks", [True, False], ids=["as seen", "locked"])
async def test_a_commit_that_gets_lost_is_looked_up_and_never_guessed(
    chat: Chat, database_url: str, write: Write, loss: Loss, *, looks: bool
) -> None:
    async with lossy_proxy(database_url) as proxy:
        engine = create_engine(proxy.url, pool_size=3)
        lossy = Chat(engine, looks=looks)
        act = await write(lossy)
        before = await chat.query(COUNTS)

        proxy.armed = loss
        if loss == "before":
            with pytest.raises(Unavailable):
                await act()
            assert await chat.query(COUNTS) == before
            await act()
        else:
            await act()

        assert proxy.lost == 1
        assert await chat.query(COUNTS) != before
        await engine.dispose()


@pytest.mark.parametrize("looks", [True, False], ids=["as seen", "locked"])
async def test_a_lost_commit_that_went_through_is_told_as_usual(
    chat: Chat, database_url: str, *, looks: bool
) -> None:
    async with lossy_proxy(database_url) as proxy:
        engine = create_engine(proxy.url, pool_size=3)
        lossy = Chat(engine, looks=looks)
        opening = prompt_opening()
        proxy.armed = "after"
        turn = await lossy.open(opening)
        proxy.armed = "after"
        ended = await lossy.pause(turn, ask())
        conversation = turn.lease.conversation_id
        proxy.armed = "after"
        answered = await lossy.answer(conversation, "call_plan")
        replied = await lossy.reply(answered, "Hello.", title_due=True)
        proxy.armed = "after"
        closed = await lossy.turns.close_turn(answered, "Trip", replied.committed)

        assert turn.lease.turn_id == opening.turn_id
        assert [event.sequence for event in (*turn.events, *ended.events)] == [1, 2, 3]
        assert ended.result
        assert ended.result.pending_ask
        assert ended.result.pending_ask.create_time == (
            (await chat.ask_named(conversation, "call_plan")).create_time
        )
        assert answered.resolved == await chat.ask_named(conversation, "call_plan")
        assert [event.sequence for event in closed.events] == [4]
        assert closed.result
        assert (closed.result.text, closed.result.title) == ("Hello.", "Trip")
        assert proxy.lost == 4
        await engine.dispose()


async def test_a_statement_whose_session_is_lost_does_not_come_late(
    chat: Chat, database_url: str
) -> None:
    conversation = await chat.waiting()
    before = await chat.query(COUNTS)
    engine = create_engine(database_url, pool_size=3)
    drivers: list[Any] = []

    def note(made: Any, _: object) -> None:
        drivers.append(made.driver_connection)

    event.listen(engine.sync_engine, "connect", note)

    async with holding(chat, conversation):
        answer = asyncio.create_task(Chat(engine).answer(conversation, "call_plan"))
        waiting = await waiting_backend(chat)
        (driver,) = [one for one in drivers if one.get_server_pid() == waiting]
        driver.terminate()
        with pytest.raises(Unavailable):
            await answer

    assert await chat.query("SELECT pid FROM pg_stat_activity WHERE pid = :pid", pid=waiting) == []
    assert await chat.query(COUNTS) == before
    await engine.dispose()

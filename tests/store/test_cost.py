"""What a turn costs the database (spec turns 3.5)."""

from collections.abc import Awaitable, Callable
from statistics import median
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import QueuePool

from parleyd.contract.errors import Reason
from parleyd.contract.turns import TurnError
from parleyd.store.engine import create_engine
from parleyd.turns.ports import ConversationChanges
from tests.store.chat import OWNER, Chat, ask, step


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def _prompt_to_ask(chat: Chat, _: UUID) -> None:
    turn = await chat.prompt()
    await chat.turns.read_chain(turn)
    await chat.pause(turn)


async def _message_instead(chat: Chat, conversation: UUID) -> None:
    turn = await chat.prompt("Never mind", conversation)
    await chat.turns.read_chain(turn)
    await chat.reply(turn)


async def _answer_to_text(chat: Chat, conversation: UUID) -> None:
    await chat.turns.read_asks(OWNER, conversation, "call_plan")
    turn = await chat.answer(conversation, "call_plan")
    await chat.turns.read_chain(turn)
    await chat.reply(turn)


async def _answer_to_text_with_a_title(chat: Chat, conversation: UUID) -> None:
    turn = await chat.answer(conversation, "call_plan")
    await chat.reply(turn, title_due=True)
    await chat.turns.close_turn(turn, "Trip")


async def _answer_to_text_with_a_title_there(chat: Chat, conversation: UUID) -> None:
    turn = await chat.answer(conversation, "call_plan")
    ended = await chat.reply(turn, title_due=True)
    assert ended.result
    assert ended.result.title == "Trip"


async def _answer_to_the_next_ask(chat: Chat, conversation: UUID) -> None:
    turn = await chat.answer(conversation, "call_plan")
    await chat.pause(turn, ask("call_region"), step_no=2)


async def _invalid_ask_first(chat: Chat, _: UUID) -> None:
    turn = await chat.prompt()
    await chat.turns.journal_step(turn, step(), ())
    await chat.pause(turn, step_no=2)


async def _failure(chat: Chat, _: UUID) -> None:
    turn = await chat.prompt()
    error = TurnError(reason=Reason.MODEL_ERROR, message="Sorry.")
    await chat.turns.fail_turn(turn, error, (), "")


async def _refused(chat: Chat, conversation: UUID) -> None:
    with pytest.raises(Exception, match="never asked"):
        await chat.answer(conversation, "call_other")


@pytest.mark.parametrize(
    ("play", "commits"),
    [
        pytest.param(_prompt_to_ask, 2, id="prompt to ask"),
        pytest.param(_message_instead, 2, id="message instead of an answer"),
        pytest.param(_answer_to_text, 2, id="answer to text"),
        pytest.param(_answer_to_text_with_a_title, 3, id="answer to text, title due"),
        pytest.param(_answer_to_the_next_ask, 2, id="answer to the next ask"),
        pytest.param(_invalid_ask_first, 3, id="an invalid ask first"),
        pytest.param(_failure, 2, id="failure"),
        pytest.param(_refused, 0, id="an answer that is refused"),
    ],
)
async def test_p8_a_turn_takes_the_fewest_commits(
    chat: Chat, play: Callable[[Chat, UUID], Awaitable[None]], commits: int
) -> None:
    conversation = await chat.waiting()
    counted: list[object] = []
    event.listen(chat.engine.sync_engine, "commit", counted.append)

    await play(chat, conversation)

    assert len(counted) == commits


async def test_p8_an_answer_takes_two_commits_where_a_title_is_set(chat: Chat) -> None:
    conversation = await chat.waiting()
    changes = ConversationChanges(frozenset({"title"}), "Trip")
    await chat.conversations.update_conversation(OWNER, conversation, changes)
    counted: list[object] = []
    event.listen(chat.engine.sync_engine, "commit", counted.append)

    await _answer_to_text_with_a_title_there(chat, conversation)

    assert len(counted) == 2


async def test_p7_what_a_pause_writes_does_not_depend_on_how_many_came_before(
    chat: Chat,
) -> None:
    turn = await chat.prompt()
    conversation = turn.lease.conversation_id
    written: list[int] = []
    for number in range(1, 27):
        ((before,),) = await chat.query("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
        await chat.pause(turn, ask(f"call_{number:04}"), step_no=number, messages=b"x" * 2000)
        ((after,),) = await chat.query("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
        written.append(int(after - before))
        assert await chat.step_numbers(turn) == list(range(1, number + 1))
        turn = await chat.answer(conversation, f"call_{number:04}")

    early, late = median(written[2:8]), median(written[20:26])
    assert late < early * 1.2


async def test_reading_begins_no_transaction_and_holds_no_connection(database_url: str) -> None:
    engine = create_engine(database_url, pool_size=1)
    chat = Chat(engine)
    conversation = await chat.waiting()
    sent: list[str] = []
    async with engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
    assert isinstance(driver, asyncpg.Connection)
    driver.add_query_logger(lambda record: sent.append(record.query))

    await chat.see(conversation)
    await chat.rows(conversation)

    assert sent == []
    await chat.prompt("More", conversation)
    assert [query.rstrip(";").split()[0] for query in sent] == ["BEGIN", "COMMIT"]
    assert isinstance(engine.pool, QueuePool)
    assert engine.pool.checkedout() == 0
    await engine.dispose()

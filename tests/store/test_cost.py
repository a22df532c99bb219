"""What a turn costs the database (spec turns 3.5)."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from statistics import median
from uuid import UUID

import pytest
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import QueuePool

from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnError
from parleyd.store.engine import create_engine
from parleyd.turns.conversations import ConversationChanges
from tests.store.chat import OWNER, Chat, ask, retry_opening, step
from tests.store.queries import all_told, queries_of


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


COMMITS = re.compile(r"\b(INSERT|UPDATE|DELETE|COMMIT)\b")


class Spent:
    """What an engine has done since it was made.

    `commits` counts transactions that wrote, `trips` whatever was sent to the server and waited
    for.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._alone = queries_of(engine)
        self._within = 0
        event.listen(engine.sync_engine, "before_cursor_execute", self._statement)

    def _statement(self, *_: object) -> None:
        self._within += 1

    @property
    def trips(self) -> int:
        return len(self._alone) + self._within

    @property
    def commits(self) -> int:
        return sum(
            bool(COMMITS.search(query.replace("FOR NO KEY UPDATE", ""))) for query in self._alone
        )


@asynccontextmanager
async def spending(url: str) -> AsyncGenerator[tuple[Chat, Spent]]:
    """Yields a chat over one connection, and what it spends."""
    engine = create_engine(url, pool_size=1)
    spent = Spent(engine)
    try:
        yield Chat(engine), spent
    finally:
        await engine.dispose()


async def _prompt_to_ask(chat: Chat, _: UUID) -> None:
    turn = await chat.prompt()
    await chat.turns.read_chain(turn)
    await chat.pause(turn)


async def _retry_to_text(chat: Chat, conversation: UUID) -> None:
    failed = (await chat.see(conversation)).retryable_turn_id
    assert failed
    turn = await chat.open(retry_opening(conversation, failed))
    await chat.turns.read_chain(turn)
    await chat.reply(turn)


async def _message_instead(chat: Chat, conversation: UUID) -> None:
    turn = await chat.prompt("Never mind", conversation)
    await chat.turns.read_chain(turn)
    await chat.reply(turn)


async def _answer_to_text(chat: Chat, conversation: UUID) -> None:
    turn = await chat.answer(conversation, "call_plan")
    await chat.turns.read_chain(turn)
    await chat.reply(turn)


async def _answer_to_text_with_a_title(chat: Chat, conversation: UUID) -> None:
    turn = await chat.answer(conversation, "call_plan")
    await chat.turns.read_chain(turn)
    ended = await chat.reply(turn, title_due=True)
    await chat.turns.close_turn(turn, "Trip", ended.committed)


async def _answer_to_text_with_a_title_there(chat: Chat, conversation: UUID) -> None:
    turn = await chat.answer(conversation, "call_plan")
    ended = await chat.reply(turn, title_due=True)
    assert ended.result
    assert ended.result.title == "Trip"


async def _answer_to_the_next_ask(chat: Chat, conversation: UUID) -> None:
    turn = await chat.answer(conversation, "call_plan")
    await chat.turns.read_chain(turn)
    await chat.pause(turn, ask("call_region"), step_no=2)


async def _invalid_ask_first(chat: Chat, _: UUID) -> None:
    turn = await chat.prompt()
    await chat.turns.journal_step(turn, step(), (), ())
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
    chat: Chat,
    database_url: str,
    play: Callable[[Chat, UUID], Awaitable[None]],
    commits: int,
) -> None:
    conversation = await chat.waiting()

    async with spending(database_url) as (spender, spent):
        await play(spender, conversation)
        await all_told()

        assert spent.commits == commits


async def test_p8_an_answer_takes_two_commits_where_a_title_is_set(
    chat: Chat, database_url: str
) -> None:
    conversation = await chat.waiting()
    changes = ConversationChanges(frozenset({"title"}), "Trip")
    await chat.conversations.update_conversation(OWNER, conversation, changes)

    async with spending(database_url) as (spender, spent):
        await _answer_to_text_with_a_title_there(spender, conversation)
        await all_told()

        assert spent.commits == 2


@pytest.mark.parametrize(
    ("play", "trips"),
    [
        pytest.param(_prompt_to_ask, 4, id="prompt to ask"),
        pytest.param(_message_instead, 4, id="message instead of an answer"),
        pytest.param(_answer_to_text, 4, id="answer to text"),
        pytest.param(_answer_to_text_with_a_title, 5, id="answer to text, title due"),
        pytest.param(_answer_to_the_next_ask, 4, id="answer to the next ask"),
        pytest.param(_retry_to_text, 6, id="retry to text"),
    ],
)
async def test_a_turn_that_meets_nobody_takes_one_round_trip_for_each_thing_it_does(
    chat: Chat,
    database_url: str,
    play: Callable[[Chat, UUID], Awaitable[None]],
    trips: int,
) -> None:
    """Looking, opening, reading the chain, ending, and closing after a title.

    A retry also reads what the person had said, and here its conversation. In the first turn on a
    new connection the driver learns the types.
    """
    places = [
        (await chat.failed()).lease.conversation_id
        if play is _retry_to_text
        else await chat.waiting()
        for _ in range(2)
    ]

    async with spending(database_url) as (spender, spent):
        await play(spender, places[0])
        await all_told()
        first = spent.trips
        await play(spender, places[1])
        await all_told()

        assert spent.trips - first == trips


async def test_p7_what_a_pause_writes_does_not_depend_on_how_many_came_before(
    chat: Chat,
) -> None:
    turn = await chat.prompt()
    conversation = turn.lease.conversation_id
    written: list[int] = []
    for number in range(1, 31):
        ((before,),) = await chat.query("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
        await chat.pause(turn, ask(f"call_{number:04}"), step_no=number, messages=b"x" * 2000)
        ((after,),) = await chat.query("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
        written.append(int(after - before))
        assert await chat.step_numbers(turn) == list(range(1, number + 1))
        turn = await chat.answer(conversation, f"call_{number:04}")

    early, late = median(written[1:7]), median(written[24:30])
    assert late < early * 1.2


async def test_reading_begins_no_transaction_and_holds_no_connection(database_url: str) -> None:
    engine = create_engine(database_url, pool_size=1)
    chat = Chat(engine)
    conversation = await chat.waiting()
    sent = queries_of(engine)

    await chat.see(conversation)
    await chat.rows(conversation)

    await all_told()
    assert {query.split()[0] for query in sent} == {"SELECT"}
    sent.clear()
    await Chat(engine, looks=False).prompt("More", conversation)
    await all_told()
    assert [query.rstrip(";").split()[0] for query in sent] == ["BEGIN", "COMMIT"]
    assert isinstance(engine.pool, QueuePool)
    assert engine.pool.checkedout() == 0
    await engine.dispose()

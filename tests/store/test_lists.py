"""Lists at the store, page by page: conversations, pending asks, messages."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.errors import InvalidRequest
from parleyd.contract.pages import PageRequest, page_request
from parleyd.turns.conversations import ConversationChanges
from tests.store.chat import OWNER, Chat

FIRST = PageRequest(size=50)


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def test_conversations_are_listed_by_their_last_change(chat: Chat) -> None:
    one, two, three = [await chat.create() for _ in range(3)]
    await chat.create(owner="eve")
    await chat.prompt("Hi", one)

    page = await chat.conversations.list_conversations(OWNER, None, FIRST)

    assert [item.id for item in page.items] == [one, three, two]
    assert page.next_token == ""
    assert page.items[0] == await chat.see(one)


async def test_a_list_shows_what_each_conversation_waits_on_and_runs(chat: Chat) -> None:
    waiting = await chat.waiting()
    running = await chat.prompt()
    later = await chat.prompt("More", running.lease.conversation_id)

    page = await chat.conversations.list_conversations(OWNER, None, FIRST)

    assert [(item.id, item.running_turn_id) for item in page.items] == [
        (running.lease.conversation_id, later.lease.turn_id),
        (waiting, None),
    ]
    assert page.items[1].pending_ask
    assert page.items[1].pending_ask.tool_call_id == "call_plan"


async def test_the_running_turn_is_the_latest_that_is_not_closed(chat: Chat) -> None:
    first = await chat.prompt()
    conversation = first.lease.conversation_id
    second = await chat.prompt("More", conversation)
    seen = [await running(chat, conversation)]

    await chat.reply(second, title_due=True)
    seen.append(await running(chat, conversation))
    await chat.turns.close_turn(second, None)
    seen.append(await running(chat, conversation))
    await chat.reply(first)
    seen.append(await running(chat, conversation))

    one, two = first.lease.turn_id, second.lease.turn_id
    assert seen == [two, two, one, None]


async def running(chat: Chat, conversation: UUID) -> UUID | None:
    """Returns what is shown to run, in both views."""
    seen = await chat.see(conversation)
    page = await chat.conversations.list_conversations(OWNER, None, FIRST)
    assert list(page.items) == [seen]
    return seen.running_turn_id


async def test_a_project_is_a_list_of_its_own(chat: Chat) -> None:
    home = await chat.create(project="home")
    await chat.create(project="work")
    await chat.create()

    page = await chat.conversations.list_conversations(OWNER, "home", FIRST)

    assert [item.id for item in page.items] == [home]


async def _pages(read: Callable[[PageRequest], Awaitable[Any]]) -> list[list[Any]]:
    """Reads a list two by two, following its tokens."""
    pages: list[list[Any]] = []
    token = ""
    while not pages or token:
        page = await read(PageRequest(size=2, after=place_of(token)))
        pages.append(list(page.items))
        token = page.next_token
    return pages


def place_of(token: str) -> tuple[str, ...] | None:
    return page_request(1, token, default=1, most=1, parts=2).after


@pytest.mark.parametrize("same_time", [False, True], ids=["at different times", "at one time"])
async def test_every_conversation_is_on_one_page(chat: Chat, *, same_time: bool) -> None:
    made = [await chat.create() for _ in range(5)]
    if same_time:
        async with chat.engine.begin() as connection:
            await connection.execute(text("UPDATE conversations SET update_time = now()"))

    pages = await _pages(lambda page: chat.conversations.list_conversations(OWNER, None, page))

    assert [len(page) for page in pages] == [2, 2, 1]
    listed = [item.id for page in pages for item in page]
    assert listed == (sorted(made) if same_time else made[::-1])


@pytest.mark.parametrize("same_time", [False, True], ids=["at different times", "at one time"])
async def test_every_pending_ask_is_on_one_page(chat: Chat, *, same_time: bool) -> None:
    waiting = [await chat.waiting(f"call_{number}") for number in range(5)]
    if same_time:
        async with chat.engine.begin() as connection:
            await connection.execute(text("UPDATE asks SET create_time = now()"))

    pages = await _pages(lambda page: chat.conversations.list_pending_asks(OWNER, page))

    assert [len(page) for page in pages] == [2, 2, 1]
    listed = [item.ask for page in pages for item in page]
    assert {ask.conversation_id for ask in listed} == set(waiting)
    assert listed == sorted(listed, key=lambda ask: (-ask.create_time.timestamp(), ask.id))


async def test_every_message_is_on_one_page(chat: Chat) -> None:
    conversation = await chat.waiting()
    turn = await chat.answer(conversation, "call_plan")
    await chat.reply(turn)
    await chat.prompt("More", conversation)

    pages = await _pages(lambda page: chat.conversations.list_messages(OWNER, conversation, page))

    assert [len(page) for page in pages] == [2, 2, 1]
    assert [row for page in pages for row in page] == list(await chat.rows(conversation))


async def test_a_row_that_comes_late_into_an_earlier_turn_moves_no_page(chat: Chat) -> None:
    first = await chat.prompt("One")
    conversation = first.lease.conversation_id
    await chat.reply(await chat.prompt("Two", conversation))
    page = await chat.conversations.list_messages(OWNER, conversation, PageRequest(size=2))

    await chat.reply(first)
    rest = await chat.conversations.list_messages(
        OWNER, conversation, PageRequest(size=2, after=place_of(page.next_token))
    )

    assert [row.text for row in page.items] == ["One", "Two"]
    assert [row.text for row in rest.items] == ["Done."]


async def test_pending_asks_are_the_owners_with_the_titles_of_their_conversations(
    chat: Chat,
) -> None:
    conversation = await chat.waiting()
    changes = ConversationChanges(frozenset({"title"}), "Trip")
    await chat.conversations.update_conversation(OWNER, conversation, changes)
    answered = await chat.waiting()
    await chat.answer(answered, "call_plan")

    page = await chat.conversations.list_pending_asks(OWNER, FIRST)

    assert [(item.ask.conversation_id, item.title) for item in page.items] == [
        (conversation, "Trip")
    ]
    assert (await chat.conversations.list_pending_asks("eve", FIRST)).items == ()


MANY_ASKS = """
    INSERT INTO conversations (owner, last_turn_no)
      SELECT CASE WHEN n % 3 = 0 THEN 'eve' ELSE 'ada' END, 1 FROM generate_series(1, 15000) n;
    INSERT INTO turns (id, conversation_id, turn_no, chain_id, owner, input_kind, state, outcome,
                       close_time, context_max_seq, lease_holder, lease_until)
      SELECT key, id, 1, key, owner, 'prompt', 'closed', 'paused', now(), 1, 'nobody', now()
      FROM (SELECT gen_random_uuid() AS key, * FROM conversations WHERE last_seq = 0) AS new;
    INSERT INTO asks (conversation_id, chain_id, owner, tool_call_id, kind, tool_name, input,
                      simple, status, create_time)
      SELECT conversation_id, id, owner, 'call_1', 'confirm', 'ask_confirm', '{}',
             '{"toolCallId": "call_1", "kind": "confirm", "text": "", "buttons": [],
               "handoff": false}',
             'pending', now() - random() * interval '30 days'
      FROM turns WHERE lease_holder = 'nobody';
    ANALYZE
"""


async def test_a_page_of_ten_thousand_pending_asks_costs_no_more_than_a_page(chat: Chat) -> None:
    async with chat.engine.begin() as connection:
        for statement in MANY_ASKS.split(";"):
            await connection.exec_driver_sql(statement)
    first = await chat.conversations.list_pending_asks(OWNER, FIRST)
    ((time, key),) = await chat.query(
        "SELECT create_time, id FROM asks WHERE owner = 'ada' "
        "ORDER BY create_time DESC, id OFFSET 5000 LIMIT 1"
    )
    far = PageRequest(size=50, after=(time.isoformat(), str(key)))

    for page in (FIRST, far):
        nodes = await plan(chat, partial(chat.conversations.list_pending_asks, OWNER, page))

        indexes = {node["Index Name"] for node in nodes if "Index Name" in node}
        assert indexes == {"asks_pending_by_owner", "conversations_pkey"}
        assert {node["Node Type"] for node in nodes} == {"Limit", "Nested Loop", "Index Scan"}
        assert max(node["Actual Rows"] for node in nodes) == 51
        assert max(node.get("Rows Removed by Filter", 0) for node in nodes) <= 1
    assert len(first.items) == 50


async def plan(chat: Chat, act: Callable[[], Awaitable[object]]) -> list[dict[str, Any]]:
    """Returns the nodes of the plan of the last query, as PostgreSQL runs it."""
    sent: list[tuple[str, Any]] = []

    def keep(connection: object, cursor: object, statement: str, values: Any, *_: object) -> None:
        del connection, cursor
        sent.append((statement, values))

    event.listen(chat.engine.sync_engine, "before_cursor_execute", keep)
    await act()
    event.remove(chat.engine.sync_engine, "before_cursor_execute", keep)
    statement, values = sent[-1]
    async with chat.engine.connect() as connection:
        explain = f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"
        found = (await connection.exec_driver_sql(explain, values)).scalar_one()
    return list(nodes_of(found[0]["Plan"]))


def nodes_of(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from nodes_of(child)


async def test_a_page_of_messages_looks_up_the_retries_of_failed_turns_alone(chat: Chat) -> None:
    turn = await chat.prompt()
    conversation = turn.lease.conversation_id
    await chat.fail(turn, "I was")
    async with chat.engine.begin() as connection:
        for statement in MANY_ASKS.split(";"):
            await connection.exec_driver_sql(statement)

    nodes = await plan(
        chat, lambda: chat.conversations.list_messages(OWNER, conversation, PageRequest(size=1000))
    )

    (lookup,) = [node for node in nodes if node.get("Relation Name") == "turns"]
    assert lookup["Index Name"] == "turns_retry_of_key"
    assert lookup["Actual Loops"] == 1


NO_PLACES = {
    "words": ("here", "there"),
    "a time without a zone": ("2027-03-01T12:00:00", str(UUID(int=1))),
    "a time beyond the calendar": ("9999-12-31T23:59:59-23:00", str(UUID(int=1))),
    "no id": ("2027-03-01T12:00:00+00:00", "1"),
    "one part": ("2027-03-01T12:00:00+00:00",),
    "numbers": ("1", "2"),
}


@pytest.mark.parametrize("place", NO_PLACES.values(), ids=NO_PLACES)
async def test_a_place_that_no_list_of_times_gave_is_refused(
    chat: Chat, place: tuple[str, ...]
) -> None:
    page = PageRequest(size=2, after=place)

    with pytest.raises(InvalidRequest):
        await chat.conversations.list_conversations(OWNER, None, page)
    with pytest.raises(InvalidRequest):
        await chat.conversations.list_pending_asks(OWNER, page)


@pytest.mark.parametrize(
    "place",
    [("a", "b"), ("1",), ("1", "-1"), ("1", "2147483648"), ("1", "²"), ("1 ", "2"), ("", "")],
    ids=repr,
)
async def test_a_place_that_no_list_of_messages_gave_is_refused(
    chat: Chat, place: tuple[str, ...]
) -> None:
    conversation = await chat.create()

    with pytest.raises(InvalidRequest):
        await chat.conversations.list_messages(
            OWNER, conversation, PageRequest(size=2, after=place)
        )

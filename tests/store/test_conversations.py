"""Conversations at the store: made, read, listed, changed, deleted."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.answers import cancelled
from parleyd.contract.errors import ConversationNotFound, InvalidRequest, NotOwner, Reason
from parleyd.contract.pages import PageRequest, page_request
from parleyd.contract.turns import TurnError
from parleyd.turns.conversations import ConversationChanges
from parleyd.turns.ports import RetryOpening
from tests.store.chat import OWNER, Chat, ask, prompt_opening, step

FIRST = PageRequest(size=50)
ERROR = TurnError(reason=Reason.MODEL_ERROR, message="Sorry.")


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def create(
    chat: Chat, title: str | None = None, project: str | None = None, owner: str = OWNER
) -> UUID:
    made = await chat.conversations.create_conversation(owner, uuid4(), title, project)
    return made.id


async def test_a_new_conversation_is_empty_and_its_owners(chat: Chat) -> None:
    key = uuid4()

    made = await chat.conversations.create_conversation(OWNER, key, "Trip", "home")

    assert made == await chat.see(key)
    assert (made.id, made.title, made.project) == (key, "Trip", "home")
    assert (made.pending_ask, made.running_turn_id, made.retryable_turn_id) == (None, None, None)
    assert made.create_time == made.update_time
    assert await chat.rows(key) == ()


async def test_a_turn_makes_its_conversation_in_a_project(chat: Chat) -> None:
    opening = prompt_opening()

    await chat.turns.open_turn(chat.within("work", opening))

    assert (await chat.see(opening.new_conversation_id)).project == "work"


async def test_a_turn_leaves_the_project_of_its_conversation_alone(chat: Chat) -> None:
    conversation = await create(chat, project="home")

    turn = await chat.turns.open_turn(chat.within("work", prompt_opening("Hi", conversation)))

    assert turn.project == "home"
    assert (await chat.see(conversation)).project == "home"


# ---------------------------------------------------------------- changing


@pytest.mark.parametrize(
    ("changes", "title", "project"),
    [
        pytest.param(ConversationChanges(frozenset(), "T", "P"), "Trip", "home", id="nothing"),
        pytest.param(
            ConversationChanges(frozenset({"title"}), "T", "P"), "T", "home", id="the title"
        ),
        pytest.param(
            ConversationChanges(frozenset({"project"}), "T", "P"), "Trip", "P", id="the project"
        ),
        pytest.param(
            ConversationChanges(frozenset({"title", "project"}), "T", None), "T", None, id="both"
        ),
    ],
)
async def test_an_update_changes_what_it_names(
    chat: Chat, changes: ConversationChanges, title: str | None, project: str | None
) -> None:
    key = await create(chat, "Trip", "home")
    before = await chat.see(key)

    after = await chat.conversations.update_conversation(OWNER, key, changes)

    assert (after.title, after.project) == (title, project)
    assert after == await chat.see(key)
    assert (after.update_time > before.update_time) is bool(changes.fields)


async def test_a_rename_while_a_turn_runs_wins_over_its_title(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.reply(turn, title_due=True)
    changes = ConversationChanges(frozenset({"title"}), "Mine")
    await chat.conversations.update_conversation(OWNER, turn.lease.conversation_id, changes)

    closed = await chat.turns.close_turn(turn, "The model's")

    assert closed.result
    assert closed.result.title == "Mine"
    assert (await chat.see(turn.lease.conversation_id)).title == "Mine"


# ---------------------------------------------------------------- whose it is


async def _read(chat: Chat, owner: str, key: UUID) -> Any:
    return await chat.conversations.read_conversation(owner, key)


async def _update(chat: Chat, owner: str, key: UUID) -> Any:
    changes = ConversationChanges(frozenset({"title"}), "Taken")
    return await chat.conversations.update_conversation(owner, key, changes)


async def _delete(chat: Chat, owner: str, key: UUID) -> Any:
    return await chat.conversations.delete_conversation(owner, key)


async def _messages(chat: Chat, owner: str, key: UUID) -> Any:
    return await chat.conversations.list_messages(owner, key, FIRST)


CALLS = pytest.mark.parametrize(
    "call", [_read, _update, _delete, _messages], ids=["read", "update", "delete", "messages"]
)
Call = Callable[[Chat, str, UUID], Awaitable[Any]]


@CALLS
async def test_an_unknown_conversation_is_not_found(chat: Chat, call: Call) -> None:
    with pytest.raises(ConversationNotFound):
        await call(chat, OWNER, uuid4())


@CALLS
async def test_a_conversation_is_its_owners_alone(chat: Chat, call: Call) -> None:
    key = await chat.waiting()
    before = await chat.see(key)

    with pytest.raises(NotOwner):
        await call(chat, "eve", key)

    assert await chat.see(key) == before


@CALLS
@pytest.mark.parametrize("owner", [OWNER, "eve"])
async def test_a_deleted_conversation_is_not_found_whoever_asks(
    chat: Chat, call: Call, owner: str
) -> None:
    key = await create(chat)
    await chat.conversations.delete_conversation(OWNER, key)

    with pytest.raises(ConversationNotFound):
        await call(chat, owner, key)


# ---------------------------------------------------------------- deleting


async def test_deleting_cancels_the_pending_ask_and_forgets_its_steps(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.pause(turn)

    await chat.conversations.delete_conversation(OWNER, turn.lease.conversation_id)

    assert (await chat.conversations.list_pending_asks(OWNER, FIRST)).items == ()
    assert (await chat.conversations.list_conversations(OWNER, None, FIRST)).items == ()
    assert await chat.query("SELECT status, answer, resolved_by_turn FROM asks") == [
        ("cancelled", cancelled("conversation_deleted"), None)
    ]
    assert await chat.step_numbers(turn) == []


async def test_a_turn_of_a_deleted_conversation_ends_but_never_pauses(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.conversations.delete_conversation(OWNER, turn.lease.conversation_id)

    ended = await chat.pause(turn, ask("call_a"), ask("call_b"))

    assert ended.result
    assert (ended.result.state, ended.result.pending_ask) == ("completed", None)
    assert [event.body.kind for event in ended.events] == ["done"]
    rows = await chat.query("SELECT type, result FROM messages ORDER BY position")
    assert [kind for kind, _ in rows] == [
        *("user", "tool_call", "tool_call", "tool_result", "tool_result")
    ]
    assert rows[3][1] == cancelled("conversation_deleted")
    assert await chat.step_numbers(turn) == []


async def test_a_turn_of_a_deleted_conversation_closes_without_a_title(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.conversations.delete_conversation(OWNER, turn.lease.conversation_id)

    ended = await chat.reply(turn, "Hello.", title_due=True)

    assert ended.result
    assert (ended.result.text, ended.result.title) == ("Hello.", None)


async def test_deleting_keeps_the_steps_of_a_turn_that_runs(chat: Chat) -> None:
    running = await chat.prompt()
    await chat.turns.journal_step(running, step(), (), ())
    other = await chat.prompt("Other", running.lease.conversation_id)
    await chat.pause(other)

    await chat.conversations.delete_conversation(OWNER, running.lease.conversation_id)

    assert await chat.step_numbers(running) == [1]
    assert await chat.step_numbers(other) == []


async def test_deleting_one_conversation_leaves_the_others_alone(chat: Chat) -> None:
    kept, gone = await chat.prompt("Keep"), await chat.prompt("Go")
    await chat.pause(kept)
    await chat.pause(gone)

    await chat.conversations.delete_conversation(OWNER, gone.lease.conversation_id)

    assert await chat.pending(kept.lease.conversation_id)
    assert await chat.step_numbers(kept) == [1]


# ---------------------------------------------------------------- lists


async def test_conversations_are_listed_by_their_last_change(chat: Chat) -> None:
    one, two, three = [await create(chat) for _ in range(3)]
    await create(chat, owner="eve")
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


async def test_f6_a_failed_turn_may_be_retried_until_a_newer_one(chat: Chat) -> None:
    turn = await chat.prompt()
    conversation = turn.lease.conversation_id
    await chat.turns.fail_turn(turn, ERROR, (), "")
    failed = await chat.see(conversation)

    await chat.prompt("Again", conversation)
    later = await chat.see(conversation)

    assert (failed.retryable_turn_id, failed.running_turn_id) == (turn.lease.turn_id, None)
    assert later.retryable_turn_id is None


async def test_f14_what_is_left_of_a_failed_turn_is_superseded_once_it_is_retried(
    chat: Chat,
) -> None:
    conversation = await chat.waiting()
    answered = await chat.answer(conversation, "call_plan")
    await chat.turns.fail_turn(answered, ERROR, (), "I was")
    before = [row.superseded for row in await chat.rows(conversation)]

    retry = RetryOpening(answered.lease.turn_id)
    opening = prompt_opening(conversation_id=conversation)
    retried = await chat.turns.open_turn(replace(opening, input=retry))
    await chat.reply(retried)
    rows = await chat.rows(conversation)

    assert before == [False] * 4
    assert [(row.type, row.status, row.superseded) for row in rows] == [
        ("user", None, False),
        ("tool_call", None, False),
        ("tool_result", None, False),
        ("assistant", "error", True),
        ("assistant", "complete", False),
    ]


async def test_the_text_of_a_failed_turn_that_nobody_retried_stays(chat: Chat) -> None:
    failed, other = await chat.prompt(), await chat.prompt()
    await chat.turns.fail_turn(failed, ERROR, (), "I was")
    await chat.turns.fail_turn(other, ERROR, (), "I too")
    opening = prompt_opening(conversation_id=other.lease.conversation_id)
    await chat.turns.open_turn(replace(opening, input=RetryOpening(other.lease.turn_id)))
    await chat.prompt("Never mind", failed.lease.conversation_id)

    rows = await chat.rows(failed.lease.conversation_id)

    assert [row.superseded for row in rows] == [False, False, False]


async def test_a_project_is_a_list_of_its_own(chat: Chat) -> None:
    home = await create(chat, project="home")
    await create(chat, project="work")
    await create(chat)

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
    made = [await create(chat) for _ in range(5)]
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
    await chat.turns.fail_turn(turn, ERROR, (), "I was")
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
    conversation = await create(chat)

    with pytest.raises(InvalidRequest):
        await chat.conversations.list_messages(
            OWNER, conversation, PageRequest(size=2, after=place)
        )

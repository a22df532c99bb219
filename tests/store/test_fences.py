"""A process that lost its turn writes nothing, and failed turns leave what they have."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.messages import MessageDraft
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnError
from parleyd.turns.ports import Ending, Fenced, OpenedTurn
from tests.store.chat import OWNER, Chat, ask, step
from tests.store.tool_calls import start

TABLES = (
    "conversations",
    "turns",
    "messages",
    "asks",
    "turn_steps",
    "tool_executions",
    "turn_events",
)
ERROR = TurnError(reason=Reason.MODEL_ERROR, message="The model could not answer.")


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def everything(chat: Chat) -> list[list[tuple[Any, ...]]]:
    return [await chat.query(f"SELECT * FROM {table} ORDER BY 1, 2") for table in TABLES]


async def take_over(chat: Chat, turn: OpenedTurn, holder: str, epoch: int) -> OpenedTurn:
    """Does what a process does that goes on with a turn."""
    async with chat.engine.begin() as connection:
        await connection.execute(
            text("UPDATE turns SET lease_epoch = :epoch, lease_holder = :holder WHERE id = :turn"),
            {"turn": turn.lease.turn_id, "holder": holder, "epoch": epoch},
        )
    return replace(turn, lease=replace(turn.lease, holder=holder, epoch=epoch))


async def _journal(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.journal_step(turn, step(), (), (start(),))


async def _start_tool(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.start_tool(turn, start(step_no=9), again=False)


async def _keep_partial_text(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.keep_partial_text(turn, "I am")


async def _send_text(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.send_text(turn, "v: 1")


async def _pause(chat: Chat, turn: OpenedTurn) -> None:
    await chat.pause(turn, ask("call_a"), ask("call_b"))


async def _reply(chat: Chat, turn: OpenedTurn) -> None:
    await chat.reply(turn, "Hello.", title_due=True)


async def _fail(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.fail_turn(turn, ERROR, (), "I was")


async def _close(chat: Chat, turn: OpenedTurn) -> None:
    await chat.turns.close_turn(turn, "Trip")


Write = Callable[[Chat, OpenedTurn], Awaitable[None]]
NAMES: dict[str, Write] = {
    "journal": _journal,
    "start a tool": _start_tool,
    "keep the text": _keep_partial_text,
    "send the text": _send_text,
    "pause": _pause,
    "reply": _reply,
    "fail": _fail,
    "close": _close,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("holder", "epoch"),
    [
        pytest.param("process-2", 2, id="by another process"),
        pytest.param("process-1", 2, id="by the same process once more"),
        pytest.param("process-2", 1, id="of its name"),
    ],
)
async def test_after_a_takeover_the_old_runner_writes_nothing(
    chat: Chat, name: str, holder: str, epoch: int
) -> None:
    turn = await chat.prompt()
    if name == "close":
        await chat.reply(turn, title_due=True)
    await take_over(chat, turn, holder, epoch)
    before = await everything(chat)

    with pytest.raises(Fenced):
        await NAMES[name](chat, turn)

    assert await everything(chat) == before


@pytest.mark.parametrize("name", [name for name in NAMES if name != "close"])
async def test_the_old_runner_is_fenced_where_the_new_one_has_written_the_same(
    chat: Chat, name: str
) -> None:
    turn = await chat.prompt()
    new = await take_over(chat, turn, "process-2", 2)
    await chat.turns.journal_step(new, step(), (), ())
    await chat.pause(new, step_no=2)
    before = await everything(chat)

    with pytest.raises(Fenced):
        await NAMES[name](chat, turn)

    assert await everything(chat) == before


@pytest.mark.parametrize("name", NAMES)
async def test_a_closed_turn_takes_no_more_writes(chat: Chat, name: str) -> None:
    turn = await chat.prompt()
    await chat.reply(turn)
    before = await everything(chat)

    with pytest.raises(Fenced):
        await NAMES[name](chat, turn)

    assert await everything(chat) == before


@pytest.mark.parametrize("name", [name for name in NAMES if name != "close"])
async def test_a_turn_that_waits_for_its_title_can_only_be_closed(chat: Chat, name: str) -> None:
    turn = await chat.prompt()
    await chat.reply(turn, title_due=True)
    before = await everything(chat)

    with pytest.raises(Fenced):
        await NAMES[name](chat, turn)

    assert await everything(chat) == before
    await _close(chat, turn)


async def test_a_running_turn_is_not_closed_before_its_rows_are_stored(chat: Chat) -> None:
    turn = await chat.prompt()

    with pytest.raises(Fenced):
        await chat.turns.close_turn(turn, "Trip")

    assert (await chat.see(turn.lease.conversation_id)).title is None


async def test_every_write_renews_the_lease(chat: Chat) -> None:
    turn = await chat.prompt()
    async with chat.engine.begin() as connection:
        await connection.execute(text("UPDATE turns SET lease_until = now()"))

    await chat.turns.journal_step(turn, step(), (), ())

    (left,) = await chat.query("SELECT lease_until > now() + interval '5 s' FROM turns")
    assert left == (True,)


# ---------------------------------------------------------------- TX2f


async def test_a_turn_that_fails_at_once_keeps_its_message_and_may_be_retried(chat: Chat) -> None:
    turn = await chat.prompt()

    ended = await chat.turns.fail_turn(turn, ERROR, (), "")

    assert [event.body.kind for event in ended.events] == ["error", "done"]
    assert ended.result
    assert (ended.result.state, ended.result.error, ended.result.retryable) == (
        "failed",
        ERROR,
        True,
    )
    seen = await chat.see(turn.lease.conversation_id)
    assert (seen.retryable_turn_id, seen.running_turn_id) == (turn.lease.turn_id, None)
    assert [row.type for row in await chat.rows(turn.lease.conversation_id)] == ["user"]
    assert await chat.query("SELECT outcome, error_reason, error_message FROM turns") == [
        ("failed", "MODEL_ERROR", "The model could not answer.")
    ]


async def test_a_turn_that_fails_midway_keeps_its_rows_its_text_and_its_steps(chat: Chat) -> None:
    conversation = await chat.waiting()
    turn = await chat.answer(conversation, "call_plan")
    await chat.turns.journal_step(turn, step(step_no=2), (), ())
    called = MessageDraft(type="tool_call", tool_call_id="c", tool_name="lookup", args={})

    await chat.turns.fail_turn(turn, ERROR, (called,), "I was about to")

    rows = await chat.rows(conversation)
    assert [(row.type, row.status, row.text) for row in rows[3:]] == [
        ("tool_call", None, ""),
        ("assistant", "error", "I was about to"),
    ]
    assert await chat.step_numbers(turn) == [1, 2]
    assert (await chat.ask_named(conversation, "call_plan")).status == "answered"


async def test_the_next_turn_ends_the_right_to_retry_and_the_steps(chat: Chat) -> None:
    conversation = await chat.waiting()
    failed = await chat.answer(conversation, "call_plan")
    await chat.turns.fail_turn(failed, ERROR, (), "")

    await chat.prompt("Something else", conversation)

    assert (await chat.see(conversation)).retryable_turn_id is None
    assert await chat.step_numbers(failed) == []


async def test_a_turn_that_is_not_the_latest_fails_for_good(chat: Chat) -> None:
    conversation = await chat.waiting()
    turn = await chat.answer(conversation, "call_plan")
    await chat.prompt("Something else", conversation)

    ended = await chat.turns.fail_turn(turn, ERROR, (), "")

    assert ended.result
    assert ended.result.retryable is False
    assert (await chat.see(conversation)).retryable_turn_id is None
    assert await chat.step_numbers(turn) == []


async def test_a_service_turn_after_it_leaves_a_failed_turn_the_latest(chat: Chat) -> None:
    turn = await chat.prompt()
    later = await chat.prompt("Later", turn.lease.conversation_id)
    async with chat.engine.begin() as connection:
        await connection.execute(
            text("UPDATE turns SET input_kind = 'service' WHERE id = :turn"),
            {"turn": later.lease.turn_id},
        )

    ended = await chat.turns.fail_turn(turn, ERROR, (), "")

    assert ended.result
    assert ended.result.retryable is True


async def test_an_older_turn_that_ends_leaves_the_right_to_retry_alone(chat: Chat) -> None:
    older = await chat.prompt()
    latest = await chat.prompt("Later", older.lease.conversation_id)
    await chat.turns.fail_turn(latest, ERROR, (), "")

    await chat.reply(older)

    seen = await chat.see(older.lease.conversation_id)
    assert seen.retryable_turn_id == latest.lease.turn_id


async def test_a_failed_turn_of_a_deleted_conversation_leaves_no_step(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.turns.journal_step(turn, step(), (), ())
    await chat.conversations.delete_conversation(OWNER, turn.lease.conversation_id)

    ended = await chat.turns.fail_turn(turn, ERROR, (), "")

    assert ended.result
    assert ended.result.retryable is False
    assert await chat.step_numbers(turn) == []


async def test_an_ending_without_a_step_leaves_an_answered_chain_over(chat: Chat) -> None:
    conversation = await chat.waiting()
    turn = await chat.answer(conversation, "call_plan")

    await chat.turns.end_turn(turn, Ending())

    assert await chat.step_numbers(turn) == []
    assert (await chat.see(conversation)).running_turn_id is None

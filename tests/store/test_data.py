"""What people and models write is data, and comes back as it was written."""

from typing import Any

import pytest
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.answers import accepted, cancelled
from parleyd.contract.errors import AskNotPending
from parleyd.contract.events import Asked
from parleyd.contract.executions import ToolStart
from parleyd.contract.messages import MessageDraft
from parleyd.contract.pages import PageRequest
from parleyd.contract.steps import StepCall
from parleyd.turns.conversations import ConversationChanges
from parleyd.turns.ports import Ending
from tests.store.chat import OWNER, Chat, approval, ask, choice, step

STRINGS = {
    "a mongo field": "$prompts",
    "a mongo variable": "$$ROOT",
    "a JSON path": "$.a",
    "a place for a value": "{x} :name %s %(x)s $1 ?",
    "an injection": "'; DROP TABLE turns; --",
    "an escape of a null": "\\u0000",
    "backslashes and quotes": "\\ \\' \" \\\\x00",
    "lines": "\r\n\t\x01\x7f",
    "beyond the first plane": "👩‍👩‍👧 \U0001f600",
    "arabic, right to left": "\u202eمرحبا",
}
CHANGED = {
    "a null": ("a\x00b", "a\ufffdb"),
    "half a pair": ("a\ud83d", "a\ufffd"),
    "halves the wrong way round": ("\ude00\ud83d", "\ufffd\ufffd"),
}
WRITTEN = [
    *(pytest.param(written, written, id=name) for name, written in STRINGS.items()),
    *(pytest.param(*pair, id=name) for name, pair in CHANGED.items()),
]


@pytest.fixture(params=[True, False], ids=["as seen", "locked"])
def chat(engine: AsyncEngine, request: pytest.FixtureRequest) -> Chat:
    return Chat(engine, looks=request.param)


@pytest.mark.parametrize(("written", "stored"), WRITTEN)
async def test_every_string_is_data(chat: Chat, written: str, stored: str) -> None:
    turn = await chat.prompt(written)
    conversation = turn.lease.conversation_id
    asked = choice(written)
    paused = await chat.pause(turn, ask(written, asked))

    (said, call) = await chat.rows(conversation)
    assert said.text == stored
    assert (call.tool_call_id, call.args) == (stored, choice(stored))
    pending = await chat.pending(conversation)
    assert pending
    assert (pending.tool_call_id, pending.provider_call_id) == (stored, stored)
    assert (pending.input, pending.simple.text) == (choice(stored), stored)
    assert paused.result
    assert paused.result.pending_ask == pending
    assert await chat.ask_named(conversation, written) == pending

    answered = await chat.answer(conversation, written, cancelled(written))
    assert (await chat.rows(conversation))[-1].result == cancelled(stored)
    with pytest.raises(AskNotPending):
        await chat.answer(conversation, written)

    ended = await chat.reply(answered, written, title_due=True)
    closed = await chat.turns.close_turn(answered, written, ended.committed)
    assert (await chat.rows(conversation))[-1].text == stored
    assert ended.events[0].body.model_dump()["text"] == stored
    assert closed.result
    assert (closed.result.text, closed.result.title) == (stored, stored)
    assert (await chat.see(conversation)).title == stored


@pytest.mark.parametrize(("written", "stored"), WRITTEN)
async def test_titles_and_projects_are_data(chat: Chat, written: str, stored: str) -> None:
    turn = await chat.prompt()
    changes = ConversationChanges(frozenset({"title", "project"}), written, written)

    seen = await chat.conversations.update_conversation(OWNER, turn.lease.conversation_id, changes)
    page = await chat.conversations.list_conversations(OWNER, written, PageRequest(size=5))

    assert (seen.title, seen.project) == (stored, stored)
    assert [item.id for item in page.items] == [turn.lease.conversation_id]


VALUES: dict[str, JsonValue] = {
    "a number beyond a double": 9007199254740993,
    "a number beyond 64 bits": -(2**200) + 1,
    "a real number that is whole": 3.0,
    "a small real number": 0.1,
    "nothing": None,
    "empty": {"": {}, "list": []},
    "a key with a null": {"k\x00": "v\x00"},
    "nested": [[[[{"a": [True, False, None, 1.5, "x"]}]]]],
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
async def test_arguments_come_back_to_the_digit(chat: Chat, value: JsonValue) -> None:
    call = MessageDraft(
        type="tool_call", tool_call_id="c", tool_name="lookup", args={"value": value}
    )
    bad = StepCall(
        tool_call_id="c",
        provider_call_id=None,
        tool_name="lookup",
        args={"value": value},
        role="invalid",
        error="no",
    )
    turn = await chat.prompt()
    journaled = step().model_copy(update={"calls": (bad,)})

    await chat.turns.journal_step(turn, journaled, (), ())
    (read,) = (await chat.turns.read_chain(turn)).steps
    await chat.turns.end_turn(turn, Ending(rows=(call,)))
    row = (await chat.rows(turn.lease.conversation_id))[-1]

    expected = plain(value)
    for args in (row.args, read.calls[0].args):
        assert args == {"value": expected}
        assert isinstance(args, dict)
        assert type(args["value"]) is type(expected)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
async def test_what_an_approval_lets_run_comes_back_to_the_digit(
    chat: Chat, value: JsonValue
) -> None:
    guard = approval(args=plain(value))
    turn = await chat.prompt()
    start = ToolStart(
        step_no=1,
        call_index=0,
        tool_call_id=guard.call.tool_call_id,
        tool_name=guard.call.tool_name,
        args=guard.call.args,
        approval_ask_id=guard.ask_id,
    )

    paused = await chat.pause(turn, guard)
    stored = await chat.ask_named(turn.lease.conversation_id, "apr_call_delete")
    answer = accepted({"confirmed": True})
    answered = await chat.answer(turn.lease.conversation_id, "apr_call_delete", answer)
    assert await chat.turns.start_tool(answered, start, again=False)
    chain = await chat.turns.read_chain(answered)

    assert paused.result
    assert paused.result.pending_ask
    expected = plain(value)
    told = [event.body.tool_args for event in paused.events if isinstance(event.body, Asked)]
    for args in (
        stored.tool_args,
        paused.result.pending_ask.tool_args,
        *told,
        chain.steps[0].calls[0].args,
        chain.executions[0].args,
    ):
        assert args == expected
        assert type(args) is type(expected)
    assert chain.executions[0].approval_ask_id == guard.ask_id
    assert [asked.tool_call_id for asked in chain.asks] == ["apr_call_delete"]


async def test_only_an_approval_has_arguments(chat: Chat) -> None:
    turn = await chat.prompt()
    asks = (ask("call_plan"), approval("call_nothing"), approval("call_some", {}))

    await chat.pause(turn, *asks)

    assert await chat.query(
        "SELECT origin, tool_args IS NULL, tool_args::text FROM asks ORDER BY tool_call_id"
    ) == [
        ("approval", False, "null"),
        ("approval", False, "{}"),
        ("model", True, None),
    ]


def plain(value: JsonValue) -> JsonValue:
    """Returns a value as it is stored, written out for the one that changes."""
    return {"k\ufffd": "v\ufffd"} if value == {"k\x00": "v\x00"} else value


@pytest.mark.parametrize(
    "messages",
    [b"\x00\xff", bytes(range(256)), b'{"args":{}}', b"x" * 1_000_000],
    ids=["no text", "every byte", "an empty object", "a megabyte"],
)
async def test_a_provider_gets_its_own_bytes_back(chat: Chat, messages: bytes) -> None:
    turn = await chat.prompt()
    await chat.pause(turn, messages=messages)

    resumed = await chat.answer(turn.lease.conversation_id, "call_plan")

    (read,) = (await chat.turns.read_chain(resumed)).steps
    assert read.messages == messages


async def test_no_view_of_a_conversation_holds_what_the_provider_sent(chat: Chat) -> None:
    turn = await chat.prompt()
    await chat.pause(turn, messages=b"opaque-signature")

    shown: list[Any] = [
        await chat.see(turn.lease.conversation_id),
        *await chat.rows(turn.lease.conversation_id),
    ]

    assert "opaque-signature" not in repr(shown)


async def test_a_system_instruction_is_kept_for_whoever_goes_on(chat: Chat) -> None:
    await chat.open(chat.told("Be brief.\x00"))

    assert await chat.query("SELECT options FROM turns") == [
        ({"system_instruction": "Be brief.\ufffd"},)
    ]

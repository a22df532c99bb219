"""Turns at the store: opened, paused, answered, ended."""

from uuid import uuid4

import pytest
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.answers import AskAction, cancelled, declined
from parleyd.contract.errors import AskNotPending, ConversationNotFound, NotOwner
from parleyd.contract.events import AskResolved, Started, ToolCalled, ToolReturned
from parleyd.contract.messages import MessageDraft
from parleyd.turns.ports import Ending, PromptOpening
from tests.store.chat import (
    OWNER,
    TEAM,
    Chat,
    answer_opening,
    ask,
    choice,
    prompt_opening,
    step,
)


@pytest.fixture(params=[True, False], ids=["as seen", "locked"])
def chat(engine: AsyncEngine, request: pytest.FixtureRequest) -> Chat:
    return Chat(engine, looks=request.param)


async def test_a_message_opens_a_turn_in_a_conversation_of_its_own(chat: Chat) -> None:
    opening = prompt_opening("Set me up")

    turn = await chat.open(opening)

    assert turn.lease.conversation_id == opening.new_conversation_id
    assert (turn.turn_no, turn.chain_id, turn.context_max_seq) == (1, opening.turn_id, 1)
    assert [(event.sequence, event.body.kind) for event in turn.events] == [(1, "started")]
    (row,) = await chat.rows(turn.lease.conversation_id)
    assert (row.type, row.text, row.turn_id) == ("user", "Set me up", opening.turn_id)
    seen = await chat.see(turn.lease.conversation_id)
    assert seen.running_turn_id == opening.turn_id


async def test_a_turn_keeps_what_it_was_asked_for(chat: Chat) -> None:
    opening = prompt_opening()
    turn = await chat.open(opening)

    rows = await chat.query(
        "SELECT owner, input_kind, surface, model, options, state, lease_holder, lease_epoch,"
        " lease_until - now() <= interval '10 s', lease_until > now() FROM turns"
    )

    assert rows == [
        (OWNER, "prompt", "full", "scripted-1", {}, "running", "process-1", 1, True, True)
    ]
    assert turn.lease.epoch == 1


async def test_a_turn_that_asks_pauses(chat: Chat) -> None:
    turn = await chat.prompt()

    ended = await chat.pause(turn)

    assert [(event.sequence, event.body.kind) for event in ended.events] == [
        (2, "ask"),
        (3, "done"),
    ]
    assert ended.result
    assert ended.result.state == "paused"
    seen = await chat.see(turn.lease.conversation_id)
    assert seen.pending_ask == ended.result.pending_ask
    assert seen.running_turn_id is None
    assert [row.type for row in await chat.rows(turn.lease.conversation_id)] == [
        "user",
        "tool_call",
    ]
    assert await chat.step_numbers(turn) == [1]


async def test_the_row_of_an_ask_shows_where_it_stands(chat: Chat) -> None:
    conversation = await chat.waiting()

    _, asked = await chat.rows(conversation)

    assert (asked.tool_name, asked.text) == ("ask_choice", "Tool call: ask_choice")
    assert (asked.tool_call_id, asked.args) == ("call_plan", choice())
    assert asked.ask
    assert (asked.ask.status, asked.ask.input) == ("pending", choice())

    await chat.answer(conversation, "call_plan")

    _, asked, answered = await chat.rows(conversation)
    assert asked.ask
    assert (asked.ask.status, asked.ask.answer) == ("answered", TEAM)
    assert (answered.result, answered.text) == (TEAM, "Tool result: ask_choice")
    assert answered.ask == asked.ask


@pytest.mark.parametrize(
    ("envelope", "status", "action"),
    [
        pytest.param(TEAM, "answered", "accept", id="accepted"),
        pytest.param(declined(), "answered", "decline", id="declined"),
        pytest.param(cancelled("closed the card"), "cancelled", "cancel", id="cancelled"),
    ],
)
async def test_an_answer_is_a_fact_as_soon_as_its_turn_is_open(
    chat: Chat, envelope: dict[str, JsonValue], status: str, action: AskAction
) -> None:
    first = await chat.prompt()
    await chat.pause(first)

    turn = await chat.answer(first.lease.conversation_id, "call_plan", envelope)

    assert [event.body for event in turn.events] == [
        Started(conversation_id=first.lease.conversation_id, conversation_created=False),
        AskResolved(tool_call_id="call_plan", action=action),
    ]
    assert (turn.chain_id, turn.context_max_seq) == (first.chain_id, 1)
    assert await chat.pending(first.lease.conversation_id) is None
    named = await chat.ask_named(first.lease.conversation_id, "call_plan")
    assert (named.status, named.answer, named.resolved_by_turn) == (
        status,
        envelope,
        turn.lease.turn_id,
    )


async def test_an_answered_turn_goes_on_from_the_stored_bytes(chat: Chat) -> None:
    raw = bytes(range(256))
    first = await chat.prompt()
    await chat.pause(first, messages=raw)

    turn = await chat.answer(first.lease.conversation_id, "call_plan")
    chain = await chat.turns.read_chain(turn)

    assert [row.type for row in chain.history] == ["user"]
    assert [each.messages for each in chain.steps] == [raw]
    (call,) = chain.steps[0].calls
    assert [(each.id, each.answer) for each in chain.asks] == [(call.ask_id, TEAM)]


async def test_a_reply_ends_the_chain(chat: Chat) -> None:
    conversation = await chat.waiting()
    turn = await chat.answer(conversation, "call_plan")

    ended = await chat.reply(turn, "The team plan, then.")

    assert [event.body.kind for event in ended.events] == ["text", "done"]
    assert [event.sequence for event in ended.events] == [3, 4]
    assert [row.type for row in await chat.rows(conversation)] == [
        "user",
        "tool_call",
        "tool_result",
        "assistant",
    ]
    reply = (await chat.rows(conversation))[-1]
    assert (reply.text, reply.model, reply.status) == (
        "The team plan, then.",
        "scripted-1",
        "complete",
    )
    assert await chat.step_numbers(turn) == []


async def test_a_chain_of_asks_keeps_each_step_and_shows_each_answer(chat: Chat) -> None:
    conversation = await chat.waiting()
    second = await chat.answer(conversation, "call_plan")
    await chat.pause(second, ask("call_region"), step_no=2, messages=b"second")

    third = await chat.answer(conversation, "call_region")
    chain = await chat.turns.read_chain(third)

    assert [(each.step_no, each.messages) for each in chain.steps] == [(1, b"raw"), (2, b"second")]
    assert [each.id for each in chain.asks] == [
        call.ask_id for each in chain.steps for call in each.calls
    ]
    assert [each.answer for each in chain.asks] == [TEAM, TEAM]
    assert (third.turn_no, third.chain_id) == (3, second.chain_id)


async def test_a_journaled_step_is_there_before_its_results_are(chat: Chat) -> None:
    turn = await chat.prompt()
    told = (
        ToolCalled(tool_call_id="c", tool_name="lookup", args={}),
        ToolReturned(tool_call_id="c", tool_name="lookup", result={"error": "no"}, is_error=True),
    )

    events = await chat.turns.journal_step(turn, step(), told, ())
    silent = await chat.turns.journal_step(turn, step(step_no=2), (), ())

    assert [(event.sequence, event.body) for event in events] == [(2, told[0]), (3, told[1])]
    assert silent == ()
    assert (await chat.turns.read_chain(turn)).steps == (step(), step(step_no=2))
    ended = await chat.pause(turn, step_no=3)
    assert [event.sequence for event in ended.events] == [4, 5]


async def test_rows_of_other_calls_come_first_and_keep_their_arguments(chat: Chat) -> None:
    turn = await chat.prompt()
    args: JsonValue = {"big": 9007199254740993 * 10**20, "real": 3.0, "none": None, "": []}
    rows = (
        MessageDraft(type="tool_call", tool_call_id="c", tool_name="lookup", args=args),
        MessageDraft(type="tool_result", tool_call_id="c", tool_name="lookup", result=2**70),
    )

    await chat.turns.end_turn(turn, Ending(rows=rows, text="Done."))

    stored = await chat.rows(turn.lease.conversation_id)
    assert [row.type for row in stored] == ["user", "tool_call", "tool_result", "assistant"]
    assert [row.position for row in stored] == [0, 1, 2, 3]
    assert stored[1].args == args
    assert isinstance(stored[1].args, dict)
    assert type(stored[1].args["real"]) is float
    assert stored[2].result == 2**70


async def test_a_message_instead_of_an_answer_cancels_the_ask(chat: Chat) -> None:
    first = await chat.prompt()
    await chat.pause(first)

    turn = await chat.prompt("Something else", first.lease.conversation_id)

    assert [event.body.kind for event in turn.events] == ["started", "ask_resolved"]
    assert await chat.step_numbers(first) == []
    rows = await chat.rows(first.lease.conversation_id)
    assert [row.type for row in rows] == ["user", "tool_call", "tool_result", "user"]
    assert rows[2].result == cancelled("user_sent_message")
    assert rows[2].ask
    assert rows[2].ask.status == "cancelled"
    chain = await chat.turns.read_chain(turn)
    assert chain.history == rows
    assert (chain.steps, chain.asks) == ((), ())


async def test_a_chain_shows_the_conversation_as_it_was_when_it_began(chat: Chat) -> None:
    first = await chat.prompt("One")
    second = await chat.prompt("Two", first.lease.conversation_id)
    await chat.reply(second)
    await chat.pause(first)

    resumed = await chat.answer(first.lease.conversation_id, "call_plan")

    assert [row.text for row in (await chat.turns.read_chain(resumed)).history] == ["One"]
    third = await chat.prompt("Three", first.lease.conversation_id)
    assert [row.text for row in (await chat.turns.read_chain(third)).history] == [
        "One",
        "Tool call: ask_choice",
        "Two",
        "Done.",
        "Tool result: ask_choice",
        "Three",
    ]


async def test_an_id_that_the_provider_gives_twice_becomes_a_new_public_id(chat: Chat) -> None:
    conversation = await chat.waiting("call_1")
    turn = await chat.answer(conversation, "call_1")
    again = ask("call_1")

    ended = await chat.pause(turn, again, step_no=2)

    assert ended.result
    assert ended.result.pending_ask
    assert ended.result.pending_ask.tool_call_id == again.spare_call_id
    assert ended.result.pending_ask.provider_call_id == "call_1"
    with pytest.raises(AskNotPending) as refused:
        await chat.answer(conversation, "call_1")
    assert refused.value.current == again.spare_call_id
    resumed = await chat.answer(conversation, again.spare_call_id)
    (_, stored) = (await chat.turns.read_chain(resumed)).steps
    assert [(call.tool_call_id, call.provider_call_id) for call in stored.calls] == [
        (again.spare_call_id, "call_1")
    ]


async def test_two_asks_of_one_step_show_as_one_waiting_and_one_dropped(chat: Chat) -> None:
    turn = await chat.prompt()

    await chat.pause(turn, ask("call_plan"), ask("call_region"))

    rows = await chat.rows(turn.lease.conversation_id)
    assert [(row.type, row.tool_call_id) for row in rows[1:]] == [
        ("tool_call", "call_plan"),
        ("tool_call", "call_region"),
        ("tool_result", "call_region"),
    ]
    assert rows[3].result == cancelled("one_ask_at_a_time")
    resumed = await chat.answer(turn.lease.conversation_id, "call_plan")
    asks = (await chat.turns.read_chain(resumed)).asks
    assert {each.id: each.answer for each in asks} == {
        rows[1].ask_id: TEAM,
        rows[2].ask_id: cancelled("one_ask_at_a_time"),
    }


@pytest.mark.parametrize("deleted", [False, True], ids=["there", "deleted"])
async def test_a_stranger_learns_only_that_it_is_not_theirs(chat: Chat, *, deleted: bool) -> None:
    conversation = await chat.waiting()
    if deleted:
        await chat.conversations.delete_conversation(OWNER, conversation)
    fault = ConversationNotFound if deleted else NotOwner
    before = await chat.query("SELECT count(*) FROM turns")

    for opening in (
        prompt_opening("Mine", conversation),
        answer_opening(conversation, "call_plan"),
    ):
        with pytest.raises(fault):
            await chat.open(chat.by("eve", opening))

    assert await chat.query("SELECT count(*) FROM turns") == before


async def test_there_is_no_turn_in_an_unknown_conversation(chat: Chat) -> None:
    with pytest.raises(ConversationNotFound):
        await chat.prompt("Hello?", uuid4())
    with pytest.raises(ConversationNotFound):
        await chat.answer(uuid4(), "call_plan")


async def test_a_late_answer_learns_who_was_first(chat: Chat) -> None:
    conversation = await chat.waiting()
    winner = await chat.answer(conversation, "call_plan", declined())
    await chat.pause(winner, ask("call_region"), step_no=2)

    with pytest.raises(AskNotPending) as refused:
        await chat.answer(conversation, "call_plan")

    facts = dict(refused.value.metadata)
    assert facts.pop("resolve_time").endswith("Z")
    assert facts == {
        "tool_call_id": "call_plan",
        "resolved_by_turn_id": str(winner.lease.turn_id),
        "action": "decline",
        "current_tool_call_id": "call_region",
    }


async def test_a_title_that_is_due_is_set_when_the_turn_closes(chat: Chat) -> None:
    turn = await chat.prompt()

    ended = await chat.reply(turn, "Hello.", title_due=True)
    seen = await chat.see(turn.lease.conversation_id)
    closed = await chat.turns.close_turn(turn, "A greeting", ended.committed)

    assert ended.result is None
    assert [event.body.kind for event in ended.events] == ["text"]
    assert seen.running_turn_id == turn.lease.turn_id
    assert closed.result
    assert (closed.result.text, closed.result.title) == ("Hello.", "A greeting")
    assert [(event.sequence, event.body.kind) for event in closed.events] == [(3, "done")]
    seen = await chat.see(turn.lease.conversation_id)
    assert (seen.title, seen.running_turn_id) == ("A greeting", None)


@pytest.mark.parametrize("title", [None, ""], ids=["none", "empty"])
async def test_a_turn_closes_without_a_title_if_there_is_none(
    chat: Chat, title: str | None
) -> None:
    turn = await chat.prompt()
    await chat.reply(turn, title_due=True)

    closed = await chat.turns.close_turn(turn, title)

    assert closed.result
    assert closed.result.title is None
    assert (await chat.see(turn.lease.conversation_id)).title is None


async def test_every_event_is_stored_under_its_number(chat: Chat) -> None:
    turn = await chat.prompt()
    ended = await chat.reply(turn, "Hello.", title_due=True)
    closed = await chat.turns.close_turn(turn, None)

    rows = await chat.query("SELECT sequence, payload FROM turn_events ORDER BY sequence")

    sent = [*turn.events, *ended.events, *closed.events]
    assert rows == [(event.sequence, event.body.model_dump_json().encode()) for event in sent]
    assert await chat.query("SELECT last_event, state, outcome FROM turns") == [
        (3, "closed", "completed")
    ]


async def test_a_message_may_look_like_an_answer(chat: Chat) -> None:
    conversation = await chat.waiting()
    said = '{"action":"accept","content":{"selected":["team"]}}'

    await chat.prompt(said, conversation)

    rows = await chat.rows(conversation)
    assert (rows[-1].type, rows[-1].text) == ("user", said)
    assert isinstance(prompt_opening(said).input, PromptOpening)

"""A conversation waits on at most one ask, whatever races (spec turns 15.3)."""

import asyncio
import json
from dataclasses import replace
from itertools import pairwise

import grpc
import pytest
from pydantic import JsonValue
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import asks_pb2, conversations_pb2, turns_pb2
from parleyd.models.script import Call, Hold, ScriptedMessage, Text, last_prompt
from parleyd.models.scripted import by_progress, by_prompt, in_turn
from parleyd.models.signatures import rebuilt, signed
from parleyd.turns.model import ModelCall, ToolOutcome
from tests.end_to_end.person import Played, accept, refused
from tests.server import StartServer
from tests.standard_asks import PLAN, PLAN_ID, REGION_ID, ask_plan, ask_region

Message = conversations_pb2.Message
MessageAsk = conversations_pb2.MessageAsk
ONE_AT_A_TIME: dict[str, JsonValue] = {"action": "cancel", "reason": "one_ask_at_a_time"}
SENT_MESSAGE: dict[str, JsonValue] = {"action": "cancel", "reason": "user_sent_message"}
TEAM: dict[str, JsonValue] = {"action": "accept", "content": {"selected": ["team"]}}


def types(messages: list[Message]) -> list[str]:
    return [Message.Type.Name(message.type).removeprefix("TYPE_").lower() for message in messages]


async def test_o1_the_first_ask_of_a_step_gets_the_slot(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan(), ask_region()], [Text("All set.")]))
    noor = await server.person()

    asked = await noor.prompt("Set up my workspace")
    paused = await noor.messages(asked.conversation_id)
    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))

    assert asked.names == ["started", "ask", "done"]
    assert asked.ask.tool_call_id == PLAN_ID
    assert types(paused) == ["user", "tool_call", "tool_call", "tool_result"]
    assert [message.tool_call_id for message in paused] == ["", PLAN_ID, REGION_ID, REGION_ID]
    assert paused[2].ask.status == MessageAsk.STATUS_CANCELLED
    assert json.loads(paused[3].result_json) == ONE_AT_A_TIME
    assert answered.text == "All set."
    assert server.model.calls[1].messages[1:] == (
        ScriptedMessage("model", (signed(ask_plan()), ask_region())),
        ScriptedMessage(
            "tool",
            (
                ToolOutcome(PLAN_ID, "ask_choice", value=TEAM),
                ToolOutcome(REGION_ID, "ask_choice", value=ONE_AT_A_TIME),
            ),
        ),
    )


async def test_o1_a_later_turn_sees_both_asks_as_one_step(start_server: StartServer) -> None:
    server = await start_server(
        in_turn([ask_plan(), ask_region()], [Text("All set.")], [Text("Bye.")])
    )
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    await noor.prompt("Thanks", asked.conversation_id)
    question, answers = server.model.calls[2].messages[1:3]
    assert question == ScriptedMessage("model", (rebuilt(ask_plan()), ask_region()))
    assert answers == server.model.calls[1].messages[2]


async def test_o2_a_double_tap_counts_once(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Done.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")

    outcomes = await asyncio.gather(
        *[noor.answer(asked.conversation_id, PLAN_ID, accept("team")) for _ in range(8)],
        return_exceptions=True,
    )

    won = [outcome for outcome in outcomes if isinstance(outcome, Played)]
    lost = [outcome for outcome in outcomes if isinstance(outcome, grpc.aio.AioRpcError)]
    assert (len(won), len(lost)) == (1, 7)
    assert {error.code() for error in lost} == {grpc.StatusCode.ABORTED}
    assert {error_of(error).metadata["resolved_by_turn_id"] for error in lost} == {won[0].turn_id}
    assert len(server.model.calls) == 2
    messages = await noor.messages(asked.conversation_id)
    assert types(messages) == ["user", "tool_call", "tool_result", "assistant"]


async def test_o5_what_turns_said_at_once_is_a_history_that_a_vendor_takes(
    start_server: StartServer,
) -> None:
    server = await start_server(
        by_prompt(
            {
                "first": in_turn([Hold("one"), ask_plan()], [ask_region()], [Text("All set.")]),
                "second": in_turn([Text("Noon.")]),
                "third": in_turn([Text("You are welcome.")]),
            }
        )
    )
    noor = await server.person()
    first = asyncio.create_task(noor.prompt("first"))
    await server.model.holds.reached("one")
    (begun,) = await noor.conversations()
    await noor.prompt("second", begun.conversation_id)
    server.model.holds.release("one")
    await first
    await noor.answer(begun.conversation_id, PLAN_ID, accept("team"))
    await noor.answer(begun.conversation_id, REGION_ID, accept("eu"))

    thanked = await noor.prompt("third", begun.conversation_id)

    assert thanked.text == "You are welcome."


async def test_o4_of_two_turns_that_pause_the_first_keeps_the_slot(
    start_server: StartServer,
) -> None:
    server = await start_server(
        by_prompt(
            {
                "first": in_turn([Text("Hello.")], [Hold("one"), ask_plan()]),
                "second": in_turn([Hold("two"), ask_region()]),
            }
        )
    )
    noor = await server.person()
    opened = await noor.prompt("first")
    conversation_id = opened.conversation_id
    first = asyncio.create_task(noor.prompt("first", conversation_id))
    await server.model.holds.reached("one")
    second = asyncio.create_task(noor.prompt("second", conversation_id))
    await server.model.holds.reached("two")

    server.model.holds.release("one")
    kept = await first
    server.model.holds.release("two")
    lost = await second
    error = await refused(noor.answer(conversation_id, REGION_ID, accept("eu")))

    assert kept.names == ["started", "ask", "done"]
    assert lost.names == ["started", "done"]
    assert lost.done.pending_tool_call_id == ""
    assert lost.done.state == turns_pb2.Turn.STATE_COMPLETED
    rows = [each for each in await noor.messages(conversation_id) if each.turn_id == lost.turn_id]
    assert types(rows) == ["user", "tool_call", "tool_result"]
    assert rows[1].ask.status == MessageAsk.STATUS_CANCELLED
    assert json.loads(rows[2].result_json) == ONE_AT_A_TIME
    assert error.code() == grpc.StatusCode.ABORTED
    assert error_of(error).metadata["current_tool_call_id"] == PLAN_ID
    assert error_of(error).metadata["resolved_by_turn_id"] == lost.turn_id


async def test_o5_a_pausing_and_a_replying_turn_keep_apart(start_server: StartServer) -> None:
    server = await start_server(
        by_prompt(
            {
                "hello": in_turn([Text("Hello.")]),
                "set up": in_turn([Hold("pausing"), ask_plan()], [Text("Done.")]),
                "news": in_turn([Hold("replying"), Text("No news.")]),
            }
        )
    )
    noor = await server.person()
    conversation_id = (await noor.prompt("hello")).conversation_id
    pausing = asyncio.create_task(noor.prompt("set up", conversation_id))
    await server.model.holds.reached("pausing")
    replying = asyncio.create_task(noor.prompt("news", conversation_id))
    await server.model.holds.reached("replying")
    server.model.holds.release("replying")
    await replying
    server.model.holds.release("pausing")
    await pausing

    await noor.answer(conversation_id, PLAN_ID, accept("team"))

    rows = await noor.messages(conversation_id)
    # The answer's turn comes after both, the pausing turn's rows stand together before "news".
    assert [(row.text if row.type in (1, 2) else row.tool_call_id) for row in rows] == [
        "hello",
        "Hello.",
        "set up",
        PLAN_ID,
        "news",
        "No news.",
        PLAN_ID,
        "Done.",
    ]
    resumed = server.model.calls[-1].messages
    assert resumed[:3] == (
        ScriptedMessage("user", (Text("hello"),)),
        ScriptedMessage("model", (Text("Hello."),)),
        ScriptedMessage("user", (Text("set up"),)),
    )
    assert [message.role for message in resumed[3:] if isinstance(message, ScriptedMessage)] == [
        "model",
        "tool",
    ]


async def test_o6_each_reply_follows_its_own_message(start_server: StartServer) -> None:
    server = await start_server(
        by_prompt(
            {
                "hello": in_turn([Text("Hello.")]),
                "slow": in_turn([Hold("slow"), Text("Slow reply.")]),
                "fast": in_turn([Text("Fast reply.")]),
            }
        )
    )
    noor = await server.person()
    conversation_id = (await noor.prompt("hello")).conversation_id
    slow = asyncio.create_task(noor.prompt("slow", conversation_id))
    await server.model.holds.reached("slow")
    await noor.prompt("fast", conversation_id)
    server.model.holds.release("slow")
    await slow
    rows = await noor.messages(conversation_id)
    assert [row.text for row in rows][2:] == ["slow", "Slow reply.", "fast", "Fast reply."]


@pytest.mark.parametrize("seen", [False, True], ids=["not seen", "seen"])
async def test_o7_a_resume_shows_what_the_turn_saw(
    start_server: StartServer, *, seen: bool
) -> None:
    server = await start_server(
        by_prompt(
            {
                "hello": in_turn([Text("Hello.")]),
                "set up": in_turn([Hold("a"), ask_plan()], [Text("Done.")]),
                "news": in_turn([Text("No news.")]),
            }
        )
    )
    noor = await server.person()
    conversation_id = (await noor.prompt("hello")).conversation_id
    if seen:
        await noor.prompt("news", conversation_id)
    pausing = asyncio.create_task(noor.prompt("set up", conversation_id))
    await server.model.holds.reached("a")
    if not seen:
        await noor.prompt("news", conversation_id)
    server.model.holds.release("a")
    await pausing
    await noor.answer(conversation_id, PLAN_ID, accept("team"))

    first = next(call for call in server.model.calls if last_prompt(call.messages) == "set up")
    resumed = server.model.calls[-1]
    assert resumed.messages[: len(first.messages)] == first.messages
    assert (ScriptedMessage("user", (Text("news"),)) in resumed.messages) == seen


async def test_o8_a_message_cancels_the_ask(start_server: StartServer, engine: AsyncEngine) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Fine.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")

    played = await noor.prompt("Wait, what does it cost?", asked.conversation_id)

    assert played.names == ["started", "ask_resolved", "text", "done"]
    assert played.resolved.action == asks_pb2.ASK_ACTION_CANCEL
    messages = await noor.messages(asked.conversation_id)
    assert types(messages) == ["user", "tool_call", "tool_result", "user", "assistant"]
    assert messages[1].ask.status == MessageAsk.STATUS_CANCELLED
    assert json.loads(messages[2].result_json) == SENT_MESSAGE
    assert server.model.calls[1].messages == (
        ScriptedMessage("user", (Text("Set up my workspace"),)),
        ScriptedMessage("model", (rebuilt(ask_plan()),)),
        ScriptedMessage("tool", (ToolOutcome(PLAN_ID, "ask_choice", value=SENT_MESSAGE),)),
        ScriptedMessage("user", (Text("Wait, what does it cost?"),)),
    )
    async with engine.connect() as connection:
        assert await connection.scalar(text("SELECT count(*) FROM turn_steps")) == 0


async def test_o9_of_two_messages_one_cancels(start_server: StartServer) -> None:
    server = await start_server(by_progress([Text("Fine.")]))
    asking = await start_server(in_turn([ask_plan()]))
    asked = await (await asking.person()).prompt("Set up my workspace")
    noor = await server.person()

    played = await asyncio.gather(
        noor.prompt("one", asked.conversation_id), noor.prompt("two", asked.conversation_id)
    )

    assert [each.text for each in played] == ["Fine.", "Fine."]
    assert sum("ask_resolved" in each.names for each in played) == 1
    messages = await noor.messages(asked.conversation_id)
    assert types(messages).count("tool_result") == 1
    assert types(messages).count("assistant") == 2


async def test_o10_a_message_against_an_answer(start_server: StartServer) -> None:
    server = await start_server(_ask_then_reply)
    noor = await server.person()
    wins = {"answer": 0, "prompt": 0}
    for _ in range(50):
        asked = await noor.prompt("Set up my workspace")
        prompt, answer = await asyncio.gather(
            noor.prompt("something else", asked.conversation_id),
            noor.answer(asked.conversation_id, PLAN_ID, accept("team")),
            return_exceptions=True,
        )
        assert isinstance(prompt, Played)
        assert "text" in prompt.names
        messages = await noor.messages(asked.conversation_id)
        results = [message for message in messages if message.type == Message.TYPE_TOOL_RESULT]
        assert len(results) == 1
        if isinstance(answer, Played):
            wins["answer"] += 1
            assert "ask_resolved" not in prompt.names
            assert results[0].ask.answer == accept("team")
        else:
            wins["prompt"] += 1
            assert isinstance(answer, grpc.aio.AioRpcError)
            assert answer.code() == grpc.StatusCode.ABORTED
            assert error_of(answer).metadata["resolved_by_turn_id"] == prompt.turn_id
            assert json.loads(results[0].result_json) == SENT_MESSAGE
    assert sum(wins.values()) == 50


async def test_o11_a_message_that_looks_like_an_answer_is_a_message(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Fine.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    written = json.dumps(TEAM)
    played = await noor.prompt(written, asked.conversation_id)
    messages = await noor.messages(asked.conversation_id)
    assert played.resolved.action == asks_pb2.ASK_ACTION_CANCEL
    assert messages[1].ask.status == MessageAsk.STATUS_CANCELLED
    assert messages[3].text == written


async def test_o12_a_message_cancels_the_ask_with_asks_switched_off(
    start_server: StartServer,
) -> None:
    asking = await start_server(in_turn([ask_plan()]))
    asked = await (await asking.person()).prompt("Set up my workspace")
    await asking.stop()
    server = await start_server(in_turn([Text("Fine.")]), asks=())
    noor = await server.person()

    error = await refused(noor.answer(asked.conversation_id, PLAN_ID, accept("team")))
    unlisted = await refused(noor.pending())
    played = await noor.prompt("Never mind", asked.conversation_id)

    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert error_of(error).reason == "ASKS_DISABLED"
    assert unlisted.code() == grpc.StatusCode.UNIMPLEMENTED
    assert played.names == ["started", "ask_resolved", "text", "done"]
    assert server.model.calls[0].tools == ()
    assert server.model.calls[0].system is None


async def test_a_conversation_never_has_two_pending_asks(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    """Ten turns pause at once, round after round, each cancelling the last one's ask."""
    server = await start_server(by_progress([ask_plan()]))
    noor = await server.person()
    conversation_id = (await noor.prompt("Set up my workspace")).conversation_id
    for _ in range(5):
        played = await asyncio.gather(
            *[noor.prompt("Set up my workspace", conversation_id) for _ in range(4)]
        )
        async with engine.connect() as connection:
            pending = await connection.scalar(
                text("SELECT count(*) FROM asks WHERE status = 'pending'")
            )
        assert pending == 1
        assert sum("ask" in each.names for each in played) >= 1
    messages = await noor.messages(conversation_id)
    numbers = [int(message.message_id) for message in messages]
    assert len(set(numbers)) == len(numbers)
    turns = [message.turn_id for message in messages]
    assert len(set(turns)) == 1 + sum(one != two for one, two in pairwise(turns))


def _ask_then_reply(call: ModelCall) -> list[Text | Call]:
    """Asks on the first prompt of a conversation, replies to everything after it."""
    if len(call.messages) == 1:
        return [replace(ask_plan(), args=PLAN)]
    return [Text("Fine.")]

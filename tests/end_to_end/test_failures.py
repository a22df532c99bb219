"""What a failed turn shows and what it leaves (spec turns 3.7.1, 15.5)."""

import json
from pathlib import Path

import grpc
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import asks_pb2, conversations_pb2, turns_pb2
from parleyd.models.script import Fail, Raise, ScriptedMessage, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.failing import ANSWERED_BEFORE, SET_UP, TEAM, answer_that_fails
from tests.end_to_end.person import accept, refused
from tests.end_to_end.rows import Message, MessageAsk, types
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan, ask_region
from tests.standard_tools import LOOKUP_ID, PLANS, StandardTools, look_up

FAILED = turns_pb2.Turn.STATE_FAILED
SECRET = "key=SECRET"


async def test_f1_an_answer_is_final_although_its_turn_fails(start_server: StartServer) -> None:
    failed = await answer_that_fails(start_server, [Fail("other")], [Text("Gladly.")])
    conversation = await failed.noor.conversation(failed.conversation_id)
    rows = await failed.noor.messages(failed.conversation_id)

    again = await refused(failed.noor.answer(failed.conversation_id, PLAN_ID, accept("team")))
    prompted = await failed.noor.prompt("What did I pick?", failed.conversation_id)

    assert failed.played.names == ["started", "ask_resolved", "error", "done"]
    assert failed.played.resolved.action == asks_pb2.ASK_ACTION_ACCEPT
    assert failed.played.error.reason == "MODEL_ERROR"
    assert failed.played.done == turns_pb2.TurnDone(
        conversation_id=failed.conversation_id, state=FAILED, retryable=True
    )
    assert not conversation.HasField("pending_ask")
    assert conversation.retryable_turn_id == failed.turn_id
    assert types(rows) == ["user", "tool_call", "tool_result"]
    assert rows[1].ask.status == MessageAsk.STATUS_ANSWERED
    assert rows[2].turn_id == failed.turn_id
    assert json.loads(rows[2].result_json) == TEAM
    assert again.code() == grpc.StatusCode.ABORTED
    assert error_of(again).reason == "ASK_NOT_PENDING"
    assert error_of(again).metadata["resolved_by_turn_id"] == failed.turn_id
    assert prompted.names == ["started", "text", "done"]
    assert failed.server.model.calls[2].messages == (
        *ANSWERED_BEFORE,
        ScriptedMessage("user", (Text("What did I pick?"),)),
    )


async def test_f2_text_that_was_streamed_before_a_failure_is_kept_as_such(
    start_server: StartServer,
) -> None:
    half = Text("Setting up the")
    failed = await answer_that_fails(start_server, [half, Fail("server")])
    rows = await failed.noor.messages(failed.conversation_id)
    again = await refused(failed.noor.answer(failed.conversation_id, PLAN_ID, accept("team")))

    assert failed.played.names == ["started", "ask_resolved", "error", "done"]
    assert (failed.played.done.state, failed.played.done.retryable) == (FAILED, True)
    assert types(rows) == ["user", "tool_call", "tool_result", "assistant"]
    assert (rows[3].text, rows[3].status) == (half.text, Message.STATUS_ERROR)
    assert (rows[3].turn_id, rows[3].superseded) == (failed.turn_id, False)
    assert error_of(again).metadata["resolved_by_turn_id"] == failed.turn_id
    turn = await failed.noor.turn(failed.conversation_id, failed.turn_id)
    assert (turn.result.text, turn.partial_text) == ("", "")


async def test_f4_an_ask_of_a_model_call_that_failed_leaves_no_trace(
    start_server: StartServer,
) -> None:
    failed = await answer_that_fails(
        start_server, [ask_region(), Fail("server")], [Text("Gladly.")]
    )
    conversation = await failed.noor.conversation(failed.conversation_id)
    error = await refused(failed.noor.answer(failed.conversation_id, "call_region", accept("eu")))
    rows = await failed.noor.messages(failed.conversation_id)

    assert failed.played.names == ["started", "ask_resolved", "error", "done"]
    assert failed.played.done.state == FAILED
    assert failed.played.done.pending_tool_call_id == ""
    assert not conversation.HasField("pending_ask")
    assert await failed.noor.pending() == []
    assert types(rows) == ["user", "tool_call", "tool_result"]
    assert set(error_of(error).metadata) == {"tool_call_id"}
    assert (await failed.retry()).names == ["started", "text", "done"]
    assert failed.server.model.calls[2].messages == failed.server.model.calls[1].messages


async def test_f6_a_first_message_whose_turn_fails_makes_a_conversation(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Fail("other")]))
    noor = await server.person()

    played = await noor.prompt("Hello?")

    conversation = await noor.conversation(played.conversation_id)
    listed = await noor.client.conversations.ListConversations(
        conversations_pb2.ListConversationsRequest()
    )
    assert played.names == ["started", "error", "done"]
    assert played.events[0].started.conversation_created
    assert (played.done.state, played.done.retryable) == (FAILED, True)
    rows = await noor.messages(played.conversation_id)
    assert [(row.type, row.text) for row in rows] == [(Message.TYPE_USER, "Hello?")]
    assert conversation.retryable_turn_id == played.turn_id
    assert [each.conversation_id for each in listed.conversations] == [played.conversation_id]
    assert server.model.text_calls == []


async def test_f7_a_message_that_cancelled_an_ask_has_done_so_although_its_turn_fails(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([ask_plan()], [Fail("other")]))
    noor = await server.person()
    asked = await noor.prompt(SET_UP)

    played = await noor.prompt("Never mind", asked.conversation_id)

    assert played.names == ["started", "ask_resolved", "error", "done"]
    assert played.resolved.action == asks_pb2.ASK_ACTION_CANCEL
    assert played.done.state == FAILED
    assert not (await noor.conversation(asked.conversation_id)).HasField("pending_ask")
    rows = await noor.messages(asked.conversation_id)
    assert types(rows) == ["user", "tool_call", "tool_result", "user"]
    assert rows[1].ask.status == MessageAsk.STATUS_CANCELLED
    assert json.loads(rows[2].result_json) == {"action": "cancel", "reason": "user_sent_message"}
    assert rows[3].text == "Never mind"
    error = await refused(noor.answer(asked.conversation_id, PLAN_ID, accept("team")))
    assert error_of(error).metadata["resolved_by_turn_id"] == played.turn_id


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        ([Fail("other")], []),
        ([Text("There are"), Fail("other")], [("There are", Message.STATUS_ERROR)]),
        ([Text(" \n"), Fail("other")], []),
        ([Text("Let me ask."), ask_plan(), Fail("other")], []),
    ],
    ids=["nothing said", "half a reply", "blanks", "no reply"],
)
async def test_f8_what_a_turn_did_before_it_failed_is_kept(
    start_server: StartServer,
    tmp_path: Path,
    step: ScriptedStep,
    kept: list[tuple[str, Message.Status.ValueType]],
) -> None:
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(in_turn([look_up()], step), tools=tools.hosted)
    noor = await server.person()

    played = await noor.prompt("How many plans are there?")

    assert played.names == ["started", "tool_call", "tool_result", "error", "done"]
    rows = await noor.messages(played.conversation_id)
    assert types(rows)[:3] == ["user", "tool_call", "tool_result"]
    assert [row.tool_call_id for row in rows[1:3]] == [LOOKUP_ID, LOOKUP_ID]
    assert json.loads(rows[2].result_json) == PLANS
    assert [(row.text, row.status) for row in rows[3:]] == kept
    assert {row.turn_id for row in rows} == {played.turn_id}


async def test_f9_a_call_without_a_stream_tells_of_the_failure_in_its_result(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([ask_plan()], [Fail("other")]))
    noor = await server.person()
    asked = await noor.prompt(SET_UP)

    result = await noor.run(
        turns_pb2.TurnRequest(
            conversation_id=asked.conversation_id,
            answer=turns_pb2.AnswerInput(tool_call_id=PLAN_ID, answer=accept("team")),
        )
    )

    assert result == turns_pb2.TurnResult(
        conversation_id=asked.conversation_id,
        turn_id=result.turn_id,
        state=FAILED,
        error=turns_pb2.TurnError(
            reason="MODEL_ERROR", message="The model could not answer. Try again in a moment."
        ),
        retryable=True,
    )
    assert (await noor.turn(asked.conversation_id, result.turn_id)).result == result


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fail("other", SECRET), "MODEL_ERROR"),
        (Fail("refused", SECRET), "MODEL_REFUSED"),
        (Raise(SECRET), "INTERNAL"),
    ],
    ids=["a failure", "a refusal", "a fault nobody knows"],
)
async def test_f26_the_providers_words_reach_the_request_log_alone(
    start_server: StartServer, engine: AsyncEngine, fault: Fail | Raise, reason: str
) -> None:
    failed = await answer_that_fails(start_server, [Text("I was"), fault])
    noor, conversation_id = failed.noor, failed.conversation_id
    told = [
        *failed.played.events,
        *(await noor.watch(conversation_id, failed.turn_id)).events,
        await noor.turn(conversation_id, failed.turn_id),
        await noor.conversation(conversation_id),
        *await noor.messages(conversation_id),
    ]
    assert failed.played.error.reason == reason
    assert failed.played.error.message
    assert not [each for each in told if b"SECRET" in each.SerializeToString()]

    await failed.server.stop()  # which writes what the log still holds
    async with engine.connect() as connection:
        lines = await connection.execute(
            text("SELECT error, response FROM ai_requests WHERE turn_id::text = :turn"),
            {"turn": failed.turn_id},
        )
        ((error, response),) = lines.all()
    assert SECRET in error
    assert response is None


async def test_f26_a_call_without_a_stream_says_nothing_of_the_provider_either(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Text("Hello.")], [Fail("other", SECRET)]))
    noor = await server.person()
    conversation_id = (await noor.prompt("Hello?")).conversation_id
    result = await noor.run(
        turns_pb2.TurnRequest(
            conversation_id=conversation_id, prompt=turns_pb2.PromptInput(text="And now?")
        )
    )
    assert result.error.reason == "MODEL_ERROR"
    assert b"SECRET" not in result.SerializeToString()

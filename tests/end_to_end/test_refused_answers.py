"""What is refused changes nothing (spec turns 15.2)."""

from collections.abc import Awaitable
from dataclasses import replace
from uuid import uuid4

import grpc
import pytest

from parley import error_of
from parley.v1 import asks_pb2, conversations_pb2, turns_pb2
from parleyd.models.script import Fail, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.paused import Paused
from tests.end_to_end.person import Person, accept, cancel, decline, refused
from tests.server import StartServer
from tests.standard_asks import PLAN, PLAN_ID, REGION_ID, ask_plan, ask_region


async def test_a8_a_button_that_is_not_on_the_card_changes_nothing(paused: Paused) -> None:
    error = await refused(paused.noor.press(paused.conversation_id, PLAN_ID, "option:gold"))

    fault = error_of(error)
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert fault.reason == "UNKNOWN_BUTTON"
    assert [(field.path, field.code) for field in fault.fields] == [("buttonId", "UNKNOWN_BUTTON")]
    assert "option:team" in fault.fields[0].fix
    await paused.untouched()


def _choice(*selected: str, **fields: str) -> asks_pb2.AskAnswer:
    choice = asks_pb2.ChoiceAnswer(selected=selected, **fields)
    return asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer(choice=choice))


INVALID_ANSWERS = {
    "unknown option": (_choice("gold"), [("content.selected[0]", "OPTION_NOT_OFFERED")]),
    "two options": (_choice("team", "starter"), [("content.selected", "SELECTION_COUNT")]),
    "nothing selected": (_choice(), [("content.selected", "SELECTION_COUNT")]),
    "missing content": (
        asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer()),
        [("content", "MISSING_REQUIRED")],
    ),
    "extra key": (_choice("team", other="mine"), [("content.other", "OTHER_NOT_ALLOWED")]),
    "no action": (asks_pb2.AskAnswer(), [("action", "MISSING_REQUIRED")]),
    "another kind": (
        accept(confirmed=True),
        [("content.confirmed", "UNKNOWN_KEY"), ("content.selected", "MISSING_REQUIRED")],
    ),
    "a blank reason": (cancel(" "), [("reason", "TOO_SHORT")]),
    "a long reason": (cancel("x" * 201), [("reason", "TOO_LONG")]),
}


@pytest.mark.parametrize(("answer", "faults"), INVALID_ANSWERS.values(), ids=[*INVALID_ANSWERS])
async def test_a9_an_invalid_answer_changes_nothing(
    paused: Paused, answer: asks_pb2.AskAnswer, faults: list[tuple[str, str]]
) -> None:
    error = await refused(paused.noor.answer(paused.conversation_id, PLAN_ID, answer))

    fault = error_of(error)
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert fault.reason == "INVALID_ANSWER"
    assert [(field.path, field.code) for field in fault.fields] == faults
    assert all(field.message and field.fix for field in fault.fields)
    await paused.untouched()


async def test_a9_a_skip_is_refused_where_the_ask_must_be_answered(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([replace(ask_plan(), args=PLAN | {"allowDecline": False})]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    error = await refused(noor.answer(asked.conversation_id, PLAN_ID, decline()))
    fields = error_of(error).fields
    assert [(field.path, field.code) for field in fields] == [("action", "DECLINE_NOT_ALLOWED")]


async def test_a10_a_stale_id_is_refused(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [ask_region()], [Text("Well then.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    never = await refused(noor.answer(asked.conversation_id, "call_never", accept("team")))
    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    again = await refused(noor.answer(asked.conversation_id, PLAN_ID, accept("starter")))
    dropped = await noor.prompt("Never mind", asked.conversation_id)
    late = await refused(noor.press(asked.conversation_id, REGION_ID, "option:eu"))

    calls = len(server.model.calls)
    for error in (never, again, late):
        assert error.code() == grpc.StatusCode.ABORTED
        assert error_of(error).reason == "ASK_NOT_PENDING"
    assert error_of(never).metadata == {
        "tool_call_id": "call_never",
        "current_tool_call_id": PLAN_ID,
    }
    known = error_of(again).metadata
    assert known["resolved_by_turn_id"] == answered.turn_id
    assert known["action"] == "accept"
    assert known["current_tool_call_id"] == REGION_ID
    assert known["resolve_time"].endswith("Z")
    known = error_of(late).metadata
    assert known["resolved_by_turn_id"] == dropped.turn_id
    assert known["action"] == "cancel"
    assert "current_tool_call_id" not in known
    assert calls == 3


def attempts(
    person: Person, conversation_id: str, turn_id: str, message_id: str
) -> dict[str, Awaitable[object]]:
    """Returns everything that can be tried with a conversation."""
    return {
        "answer": person.answer(conversation_id, PLAN_ID, accept("team")),
        "prompt": person.prompt("Hello", conversation_id),
        "button": person.press(conversation_id, PLAN_ID, "option:team"),
        "retry": person.retry(conversation_id, turn_id),
        "get": person.conversation(conversation_id),
        "messages": person.messages(conversation_id),
        "turn": person.turn(conversation_id, turn_id),
        "watch": person.watch(conversation_id, turn_id),
        "rename": person.rename(conversation_id, "Mine now"),
        "rate": person.rate(conversation_id, message_id, conversations_pb2.RATING_UP),
        "delete": person.delete(conversation_id),
    }


async def test_a11_another_person_can_do_nothing(paused: Paused) -> None:
    own, turn_id = paused.conversation_id, paused.asked.turn_id
    before = await paused.noor.conversation(own), await paused.noor.messages(own)
    for stranger in (
        await paused.server.person("ivo"),
        await paused.server.person("root", admin=True, roles=["admin"]),
    ):
        for name, attempt in attempts(stranger, own, turn_id, before[1][0].message_id).items():
            error = await refused(attempt)
            assert error.code() == grpc.StatusCode.PERMISSION_DENIED, name
            assert error_of(error).reason == "NOT_OWNER"
        assert await stranger.pending() == []
        assert await stranger.conversations() == []
    await paused.untouched()
    assert before == (await paused.noor.conversation(own), await paused.noor.messages(own))


async def test_a11_nobody_else_can_retry_what_failed(start_server: StartServer) -> None:
    server = await start_server(in_turn([Fail("other")], [Text("Hello.")]))
    noor, ivo = await server.person(), await server.person("ivo", admin=True)
    failed = await noor.prompt("Hello")
    error = await refused(ivo.retry(failed.conversation_id, failed.turn_id))
    assert error.code() == grpc.StatusCode.PERMISSION_DENIED
    assert len(server.model.calls) == 1
    assert (await noor.retry(failed.conversation_id, failed.turn_id)).text == "Hello."


async def test_a12_a_conversation_that_is_not_there_is_named_so(paused: Paused) -> None:
    noor, turn_id = paused.noor, paused.asked.turn_id
    (message, _) = await noor.messages(paused.conversation_id)
    unknown = str(uuid4())
    await noor.delete(paused.conversation_id)
    for conversation_id in (unknown, paused.conversation_id):
        tried = attempts(noor, conversation_id, turn_id, message.message_id)
        for name, attempt in tried.items():
            error = await refused(attempt)
            assert error.code() == grpc.StatusCode.NOT_FOUND, name
            assert error_of(error).reason == "CONVERSATION_NOT_FOUND"
    for malformed in ("42", unknown.replace("-", ""), f"{{{unknown}}}", unknown + "\n"):
        for name, attempt in attempts(noor, malformed, turn_id, message.message_id).items():
            error = await refused(attempt)
            assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, name
            assert error_of(error).reason == "INVALID_REQUEST"
            assert [field.path for field in error_of(error).fields] == ["conversationId"]
    assert len(paused.server.model.calls) == 1


async def test_a12_a_turn_or_message_that_is_not_there_is_named_so(paused: Paused) -> None:
    noor, own = paused.noor, paused.conversation_id
    elsewhere = await noor.prompt("Set up another one")
    calls = len(paused.server.model.calls)
    for turn_id in (str(uuid4()), elsewhere.turn_id):
        for attempt in (
            noor.turn(own, turn_id),
            noor.watch(own, turn_id),
            noor.retry(own, turn_id),
        ):
            error = await refused(attempt)
            assert error.code() == grpc.StatusCode.NOT_FOUND
            assert error_of(error).reason == "TURN_NOT_FOUND"
    for malformed in ("42", f"{{{uuid4()}}}"):
        for attempt in (
            noor.turn(own, malformed),
            noor.watch(own, malformed),
            noor.retry(own, malformed),
        ):
            error = await refused(attempt)
            assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
            assert error_of(error).reason == "INVALID_REQUEST"
    assert len(paused.server.model.calls) == calls
    assert len(await noor.messages(own)) == 2


SHAPES = {
    "no input": (turns_pb2.StreamTurnRequest(), "PROMPT_REQUIRED", "prompt"),
    "empty prompt": (
        turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput()),
        "PROMPT_REQUIRED",
        "prompt",
    ),
    "answer without conversation": (
        turns_pb2.StreamTurnRequest(
            answer=turns_pb2.AnswerInput(tool_call_id=PLAN_ID, answer=accept("team"))
        ),
        "CONVERSATION_REQUIRED",
        "conversationId",
    ),
    "button without conversation": (
        turns_pb2.StreamTurnRequest(
            button=turns_pb2.ButtonInput(tool_call_id=PLAN_ID, button_id="option:team")
        ),
        "CONVERSATION_REQUIRED",
        "conversationId",
    ),
    "answer without ask": (
        turns_pb2.StreamTurnRequest(
            conversation_id=str(uuid4()), answer=turns_pb2.AnswerInput(answer=accept("team"))
        ),
        "TOOL_CALL_ID_REQUIRED",
        "toolCallId",
    ),
    "button without ask": (
        turns_pb2.StreamTurnRequest(
            conversation_id=str(uuid4()), button=turns_pb2.ButtonInput(button_id="option:team")
        ),
        "TOOL_CALL_ID_REQUIRED",
        "toolCallId",
    ),
    "button without its id": (
        turns_pb2.StreamTurnRequest(
            conversation_id=str(uuid4()), button=turns_pb2.ButtonInput(tool_call_id=PLAN_ID)
        ),
        "BUTTON_ID_REQUIRED",
        "buttonId",
    ),
    "retry without conversation": (
        turns_pb2.StreamTurnRequest(retry=turns_pb2.RetryInput(turn_id=str(uuid4()))),
        "CONVERSATION_REQUIRED",
        "conversationId",
    ),
    "retry without its turn": (
        turns_pb2.StreamTurnRequest(conversation_id=str(uuid4()), retry=turns_pb2.RetryInput()),
        "TURN_ID_REQUIRED",
        "turnId",
    ),
    "unknown surface": (
        turns_pb2.StreamTurnRequest(
            prompt=turns_pb2.PromptInput(text="Hello"),
            surface=7,  # pyright: ignore[reportArgumentType] -- a value that no enum has
        ),
        "UNKNOWN_SURFACE",
        "surface",
    ),
}


@pytest.mark.parametrize(("request_", "reason", "path"), SHAPES.values(), ids=[*SHAPES])
async def test_a13_a_malformed_request_makes_nothing(
    start_server: StartServer, request_: turns_pb2.StreamTurnRequest, reason: str, path: str
) -> None:
    server = await start_server(in_turn([ask_plan()]))
    noor = await server.person()

    error = await refused(noor.play(request_))

    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert error_of(error).reason == reason
    assert [field.path for field in error_of(error).fields] == [path]
    listed = await noor.client.conversations.ListConversations(
        conversations_pb2.ListConversationsRequest()
    )
    assert list(listed.conversations) == []
    assert server.model.calls == []


async def test_a13_a_unary_turn_needs_a_conversation(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()]))
    noor = await server.person()
    request = turns_pb2.TurnRequest(prompt=turns_pb2.PromptInput(text="Hello"))
    error = await refused(noor.client.turns.Turn(request))
    assert error_of(error).reason == "CONVERSATION_REQUIRED"
    assert server.model.calls == []

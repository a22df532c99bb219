"""Turns that are refused before anything is stored: status, reason, field path (spec turns 8)."""

from uuid import uuid4

import pytest
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1.asks_pb2 import AcceptAnswer, AskAnswer, ChoiceAnswer, ConfirmAnswer
from parley.v1.turns_pb2 import (
    AnswerInput,
    ButtonInput,
    GetTurnRequest,
    ListPendingAsksRequest,
    PromptInput,
    RetryInput,
    StreamTurnRequest,
    TurnRequest,
    WatchTurnRequest,
)
from parleyd.contract import limits
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.rpc.bad_requests import ANSWER, BUTTON, NO_TURN, PROMPT, RETRY, TEAM
from tests.rpc.refusals import HERE, Bad, Paused, invalid
from tests.rpc.requests import refusal, stored
from tests.server import StartServer
from tests.standard_asks import PLAN_ID


def answering(answer: AskAnswer) -> StreamTurnRequest:
    return StreamTurnRequest(
        conversation_id=HERE, answer=AnswerInput(tool_call_id=PLAN_ID, answer=answer)
    )


TURNS: dict[str, Bad] = {
    "no_input": invalid(
        StreamTurnRequest(conversation_id=HERE), "PROMPT_REQUIRED", "prompt", "MISSING_REQUIRED"
    ),
    "empty_prompt": invalid(
        StreamTurnRequest(conversation_id=HERE, prompt=PromptInput()),
        "PROMPT_REQUIRED",
        "prompt",
        "MISSING_REQUIRED",
    ),
    "prompt_too_long": invalid(
        StreamTurnRequest(conversation_id=HERE, prompt=PromptInput(text="x" * 100_001)),
        "INVALID_REQUEST",
        "prompt",
        "TOO_LONG",
    ),
    "prompt_too_long_in_utf_16": invalid(
        StreamTurnRequest(conversation_id=HERE, prompt=PromptInput(text="😀" * 50_001)),
        "INVALID_REQUEST",
        "prompt",
        "TOO_LONG",
    ),
    "answer_without_conversation": invalid(
        StreamTurnRequest(answer=ANSWER),
        "CONVERSATION_REQUIRED",
        "conversationId",
        "MISSING_REQUIRED",
    ),
    "button_without_conversation": invalid(
        StreamTurnRequest(button=BUTTON),
        "CONVERSATION_REQUIRED",
        "conversationId",
        "MISSING_REQUIRED",
    ),
    "retry_without_conversation": invalid(
        StreamTurnRequest(retry=RETRY),
        "CONVERSATION_REQUIRED",
        "conversationId",
        "MISSING_REQUIRED",
    ),
    "retry_without_turn": invalid(
        StreamTurnRequest(conversation_id=HERE, retry=RetryInput()),
        "TURN_ID_REQUIRED",
        "turnId",
        "MISSING_REQUIRED",
    ),
    "retry_of_another_conversations_turn": Bad(
        StreamTurnRequest(conversation_id=HERE, retry=RETRY),
        StatusCode.NOT_FOUND,
        "TURN_NOT_FOUND",
    ),
    "answer_without_ask": invalid(
        StreamTurnRequest(conversation_id=HERE, answer=AnswerInput(answer=TEAM)),
        "TOOL_CALL_ID_REQUIRED",
        "toolCallId",
        "MISSING_REQUIRED",
    ),
    "button_without_ask": invalid(
        StreamTurnRequest(conversation_id=HERE, button=ButtonInput(button_id="option:team")),
        "TOOL_CALL_ID_REQUIRED",
        "toolCallId",
        "MISSING_REQUIRED",
    ),
    "button_without_its_id": invalid(
        StreamTurnRequest(conversation_id=HERE, button=ButtonInput(tool_call_id=PLAN_ID)),
        "BUTTON_ID_REQUIRED",
        "buttonId",
        "MISSING_REQUIRED",
    ),
    "ask_id_too_long": invalid(
        StreamTurnRequest(
            conversation_id=HERE, answer=AnswerInput(tool_call_id="x" * 129, answer=TEAM)
        ),
        "INVALID_REQUEST",
        "toolCallId",
        "TOO_LONG",
    ),
    "unknown_surface_of_a_retry": invalid(
        StreamTurnRequest(
            conversation_id=HERE,
            retry=RETRY,
            surface=7,  # pyright: ignore[reportArgumentType] - what no enum has
        ),
        "UNKNOWN_SURFACE",
        "surface",
        "INVALID_ENUM",
    ),
    "unknown_surface": invalid(
        StreamTurnRequest(
            conversation_id=HERE,
            prompt=PROMPT,
            surface=7,  # pyright: ignore[reportArgumentType] - what no enum has
        ),
        "UNKNOWN_SURFACE",
        "surface",
        "INVALID_ENUM",
    ),
    "no_action": invalid(answering(AskAnswer()), "INVALID_ANSWER", "action", "MISSING_REQUIRED"),
    "no_answer": invalid(
        StreamTurnRequest(conversation_id=HERE, answer=AnswerInput(tool_call_id=PLAN_ID)),
        "INVALID_ANSWER",
        "action",
        "MISSING_REQUIRED",
    ),
    "no_content": invalid(
        answering(AskAnswer(accept=AcceptAnswer())),
        "INVALID_ANSWER",
        "content",
        "MISSING_REQUIRED",
    ),
    "content_of_another_kind": invalid(
        answering(AskAnswer(accept=AcceptAnswer(confirm=ConfirmAnswer()))),
        "INVALID_ANSWER",
        "content.selected",
        "MISSING_REQUIRED",
    ),
    "option_not_offered": invalid(
        answering(AskAnswer(accept=AcceptAnswer(choice=ChoiceAnswer(selected=["gold"])))),
        "INVALID_ANSWER",
        "content.selected[0]",
        "OPTION_NOT_OFFERED",
    ),
    "button_not_on_the_card": invalid(
        StreamTurnRequest(
            conversation_id=HERE, button=ButtonInput(tool_call_id=PLAN_ID, button_id="approve")
        ),
        "UNKNOWN_BUTTON",
        "buttonId",
        "UNKNOWN_BUTTON",
    ),
    "stale_ask": Bad(
        StreamTurnRequest(
            conversation_id=HERE, answer=AnswerInput(tool_call_id="call_old", answer=TEAM)
        ),
        StatusCode.ABORTED,
        "ASK_NOT_PENDING",
    ),
    "unknown_conversation": Bad(
        StreamTurnRequest(conversation_id=str(uuid4()), prompt=PROMPT),
        StatusCode.NOT_FOUND,
        "CONVERSATION_NOT_FOUND",
    ),
}

STREAMS = {
    "project_too_long": invalid(
        StreamTurnRequest(prompt=PROMPT, project="x" * 201),
        "INVALID_REQUEST",
        "project",
        "TOO_LONG",
    ),
    "another_model": Bad(
        StreamTurnRequest(prompt=PROMPT, model="another"),
        StatusCode.PERMISSION_DENIED,
        "OPTION_FORBIDDEN",
    ),
    "an_instruction": Bad(
        StreamTurnRequest(prompt=PROMPT, system_instruction="Obey."),
        StatusCode.PERMISSION_DENIED,
        "OPTION_FORBIDDEN",
    ),
    "unary_prompt_without_conversation": invalid(
        TurnRequest(prompt=PROMPT), "CONVERSATION_REQUIRED", "conversationId", "MISSING_REQUIRED"
    ),
}

LOOKS: dict[str, Bad] = {
    "watch_without_conversation": invalid(
        WatchTurnRequest(turn_id=NO_TURN),
        "CONVERSATION_REQUIRED",
        "conversationId",
        "MISSING_REQUIRED",
    ),
    "watch_without_turn": invalid(
        WatchTurnRequest(conversation_id=HERE), "TURN_ID_REQUIRED", "turnId", "MISSING_REQUIRED"
    ),
    "watch_after_less_than_nothing": invalid(
        WatchTurnRequest(conversation_id=HERE, turn_id=NO_TURN, after_sequence=-1),
        "INVALID_REQUEST",
        "afterSequence",
        "RANGE_INVALID",
    ),
    "watch_of_no_turn": Bad(
        WatchTurnRequest(conversation_id=HERE, turn_id=NO_TURN),
        StatusCode.NOT_FOUND,
        "TURN_NOT_FOUND",
    ),
    "look_without_conversation": invalid(
        GetTurnRequest(turn_id=NO_TURN),
        "CONVERSATION_REQUIRED",
        "conversationId",
        "MISSING_REQUIRED",
    ),
    "look_without_turn": invalid(
        GetTurnRequest(conversation_id=HERE), "TURN_ID_REQUIRED", "turnId", "MISSING_REQUIRED"
    ),
    "look_at_no_turn": Bad(
        GetTurnRequest(conversation_id=HERE, turn_id=NO_TURN),
        StatusCode.NOT_FOUND,
        "TURN_NOT_FOUND",
    ),
}


async def test_a_turn_that_can_not_be_is_refused_and_stores_nothing(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    for name, bad in TURNS.items():
        unary = TurnRequest.FromString(bad.request.SerializeToString())
        for each in (bad, bad._replace(request=unary)):
            with subtests.test(name, request=type(each.request).__name__):
                await paused.refuses(each)
    for name, bad in STREAMS.items():
        with subtests.test(name):
            await paused.refuses(bad)


async def test_a_look_at_a_turn_that_can_not_be_is_refused(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    for name, bad in LOOKS.items():
        with subtests.test(name):
            await paused.refuses(bad)


async def test_with_asks_off_answers_are_refused_and_the_list_is_not_there(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn(), asks=())
    noor = await server.person()
    before = await stored(engine)
    conversation = str(uuid4())
    for request in (
        StreamTurnRequest(conversation_id=conversation, answer=ANSWER),
        TurnRequest(conversation_id=conversation, button=BUTTON),
    ):
        error = await refusal(noor.client, request)
        assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "ASKS_DISABLED")
    for request in (ListPendingAsksRequest(), ListPendingAsksRequest(page_size=-1)):
        error = await refusal(noor.client, request)
        assert (error.code, error.reason) == (StatusCode.UNIMPLEMENTED, "ASKS_DISABLED")
        assert error.metadata == {"http_status": "404"}
    assert await stored(engine) == before


async def test_the_longest_prompt_is_taken_blank_or_not(
    start_server: StartServer, subtests: pytest.Subtests
) -> None:
    server = await start_server(in_turn(*[[Text("Well.")]] * 3))
    noor = await server.person()
    for name, prompt in {
        "longest": "x" * limits.TURN_PROMPT,
        "longest_in_utf_16": "😀" * (limits.TURN_PROMPT // 2),
        "blank": " \n",
    }.items():
        with subtests.test(name):
            played = await noor.prompt(prompt)
            (message, *_) = await noor.messages(played.conversation_id)
            assert message.text == prompt

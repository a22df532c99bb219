"""What is refused before anything is stored: status, reason and field path (spec turns 8)."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parley.v1.ask_contract_pb2 import (
    DeriveCardRequest,
    ValidateAnswerRequest,
    ValidateAskRequest,
)
from parley.v1.asks_pb2 import AcceptAnswer, AskAnswer, ChoiceAnswer, ConfirmAnswer
from parley.v1.conversations_pb2 import (
    Conversation,
    CreateConversationRequest,
    DeleteConversationRequest,
    GetConversationRequest,
    ListConversationsRequest,
    ListMessagesRequest,
    RateMessageRequest,
    UpdateConversationRequest,
)
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
from tests.rpc.refusals import HERE, Bad, Paused, invalid
from tests.rpc.requests import Request, refusal, stored
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

HOUR = timedelta(hours=1)

PROMPT = PromptInput(text="Hello")
TEAM = AskAnswer(accept=AcceptAnswer(choice=ChoiceAnswer(selected=["team"])))
ANSWER = AnswerInput(tool_call_id=PLAN_ID, answer=TEAM)
BUTTON = ButtonInput(tool_call_id=PLAN_ID, button_id="option:team")
NO_TURN = "7e57ab1e-0000-4000-8000-000000000000"
RETRY = RetryInput(turn_id=NO_TURN)


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

NO_IDS = {
    "number": "42",
    "no_hyphens": "0" * 32,
    "braces": "{00000000-0000-0000-0000-000000000000}",
    "urn": "urn:uuid:00000000-0000-0000-0000-000000000000",
    "newline": "00000000-0000-0000-0000-000000000000\n",
    "space": " 00000000-0000-0000-0000-00000000000",
    "not_hexadecimal": "0000000g-0000-0000-0000-000000000000",
    "hyphens_elsewhere": "0000-00000000-0000-0000-000000000000",
    "other_digits": "٠0000000-0000-0000-0000-000000000000",
    "nul": "\x00",
    "sql": "'; DROP TABLE conversations; --",
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

RATINGS: dict[str, Bad] = {
    "unknown_rating": invalid(
        RateMessageRequest(
            conversation_id=HERE,
            message_id="1",
            rating=7,  # pyright: ignore[reportArgumentType] - what no enum has
        ),
        "INVALID_RATING",
        "rating",
        "INVALID_ENUM",
    ),
    "no_message": Bad(
        RateMessageRequest(conversation_id=HERE, message_id="1000"),
        StatusCode.NOT_FOUND,
        "MESSAGE_NOT_FOUND",
    ),
    "the_largest_message": Bad(
        RateMessageRequest(conversation_id=HERE, message_id=str(2**63 - 1)),
        StatusCode.NOT_FOUND,
        "MESSAGE_NOT_FOUND",
    ),
    "message_nought": Bad(
        RateMessageRequest(conversation_id=HERE, message_id="0"),
        StatusCode.NOT_FOUND,
        "MESSAGE_NOT_FOUND",
    ),
    **{
        f"message_{name}": invalid(
            RateMessageRequest(conversation_id=HERE, message_id=text),
            "INVALID_REQUEST",
            "messageId",
            "INVALID_FORMAT",
        )
        for name, text in {
            "missing": "",
            "negative": "-1",
            "signed": "+1",
            "padded": "01",
            "spaced": " 1",
            "with_newline": "1\n",
            "hexadecimal": "0x1",
            "fraction": "1.0",
            "underscored": "1_0",
            "other_digits": "١",
            "too_large": str(2**63),
            "huge": "9" * 5000,
        }.items()
    },
}


def asking_for(turn_id: str) -> list[Request]:
    """Returns a request of every kind that names a turn."""
    return [
        StreamTurnRequest(conversation_id=HERE, retry=RetryInput(turn_id=turn_id)),
        TurnRequest(conversation_id=HERE, retry=RetryInput(turn_id=turn_id)),
        WatchTurnRequest(conversation_id=HERE, turn_id=turn_id),
        GetTurnRequest(conversation_id=HERE, turn_id=turn_id),
    ]


def repeatable(request_id: str) -> list[Request]:
    """Returns a request of every kind that takes a request id."""
    return [
        StreamTurnRequest(prompt=PROMPT, request_id=request_id),
        StreamTurnRequest(conversation_id=HERE, answer=ANSWER, request_id=request_id),
        TurnRequest(conversation_id=HERE, prompt=PROMPT, request_id=request_id),
        CreateConversationRequest(request_id=request_id),
    ]


def naming(conversation_id: str) -> list[Request]:
    """Returns a request of every kind that names a conversation."""
    return [
        StreamTurnRequest(conversation_id=conversation_id, prompt=PROMPT),
        StreamTurnRequest(conversation_id=conversation_id, answer=ANSWER),
        TurnRequest(conversation_id=conversation_id, prompt=PROMPT),
        TurnRequest(conversation_id=conversation_id, button=BUTTON),
        StreamTurnRequest(conversation_id=conversation_id, retry=RETRY),
        WatchTurnRequest(conversation_id=conversation_id, turn_id=NO_TURN),
        GetTurnRequest(conversation_id=conversation_id, turn_id=NO_TURN),
        RateMessageRequest(conversation_id=conversation_id, message_id="1"),
        GetConversationRequest(conversation_id=conversation_id),
        UpdateConversationRequest(
            conversation=Conversation(conversation_id=conversation_id, title="Mine")
        ),
        DeleteConversationRequest(conversation_id=conversation_id),
        ListMessagesRequest(conversation_id=conversation_id),
    ]


def changing(*paths: str, title: str = "", project: str = "") -> UpdateConversationRequest:
    return UpdateConversationRequest(
        conversation=Conversation(conversation_id=HERE, title=title, project=project),
        update_mask=FieldMask(paths=paths),
    )


CHANGES = {
    **{
        f"mask_{path or 'empty_path'}": invalid(
            changing(path), "INVALID_REQUEST", "updateMask", "INVALID_ENUM"
        )
        for path in ("pending_ask", "owner", "conversation_id", "titles", "")
    },
    "mask_with_one_path_too_many": invalid(
        changing("title", "create_time", title="New"),
        "INVALID_REQUEST",
        "updateMask",
        "INVALID_ENUM",
    ),
    "mask_of_all_and_one": invalid(
        changing("*", "title", title="New"), "INVALID_REQUEST", "updateMask", "INVALID_ENUM"
    ),
    "title_too_long": invalid(
        changing("title", title="x" * 201), "INVALID_REQUEST", "title", "TOO_LONG"
    ),
    "title_too_long_without_mask": invalid(
        changing(title="x" * 201), "INVALID_REQUEST", "title", "TOO_LONG"
    ),
    "project_too_long": invalid(
        changing("project", project="x" * 201), "INVALID_REQUEST", "project", "TOO_LONG"
    ),
    "new_title_too_long": invalid(
        CreateConversationRequest(conversation=Conversation(title="x" * 201)),
        "INVALID_REQUEST",
        "title",
        "TOO_LONG",
    ),
    "new_project_too_long": invalid(
        CreateConversationRequest(conversation=Conversation(project="x" * 201)),
        "INVALID_REQUEST",
        "project",
        "TOO_LONG",
    ),
}


@pytest.fixture
async def paused(start_server: StartServer, engine: AsyncEngine) -> Paused:
    server = await start_server(in_turn([ask_plan()]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    return Paused(server, engine, noor.client, asked.conversation_id)


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


async def test_what_is_no_id_is_refused_everywhere(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    for name, text in NO_IDS.items():
        for request in naming(text):
            with subtests.test(name, request=type(request).__name__):
                await paused.refuses(
                    invalid(request, "INVALID_REQUEST", "conversationId", "INVALID_FORMAT")
                )
        for request in asking_for(text):
            with subtests.test(name, request=type(request).__name__):
                await paused.refuses(
                    invalid(request, "INVALID_REQUEST", "turnId", "INVALID_FORMAT")
                )
        for request in repeatable(text):
            with subtests.test(name, request=type(request).__name__):
                await paused.refuses(
                    invalid(request, "INVALID_REQUEST", "requestId", "INVALID_FORMAT")
                )


async def test_a_look_at_a_turn_that_can_not_be_is_refused(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    for name, bad in LOOKS.items():
        with subtests.test(name):
            await paused.refuses(bad)


async def test_a_rating_that_can_not_be_is_refused(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    for name, bad in RATINGS.items():
        with subtests.test(name):
            await paused.refuses(bad)


NO_TOKENS = ("nonsense", "WyJhIl0", "WyJhIiwiYiJd", "bnVsbA", "=", "\x00", "é")
"""No base64, lists of one string and of two that name no place, null, and no text at all."""


def bad_pages() -> Iterator[Bad]:
    """Yields every list with a page size and page tokens that can't be."""
    for size, token in ((-1, ""), *((0, token) for token in NO_TOKENS)):
        path, code = ("pageToken", "INVALID_FORMAT") if token else ("pageSize", "RANGE_INVALID")
        for request in (
            ListPendingAsksRequest(page_size=size, page_token=token),
            ListConversationsRequest(page_size=size, page_token=token),
            ListMessagesRequest(conversation_id=HERE, page_size=size, page_token=token),
        ):
            yield invalid(request, "INVALID_REQUEST", path, code)


async def test_a_page_that_can_not_be_is_refused(paused: Paused, subtests: pytest.Subtests) -> None:
    for bad in bad_pages():
        with subtests.test(type(bad.request).__name__, request=str(bad.request)):
            await paused.refuses(bad)


async def test_a_change_that_can_not_be_is_refused(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    for name, bad in CHANGES.items():
        with subtests.test(name):
            await paused.refuses(bad)


async def test_what_is_somebody_elses_is_refused(paused: Paused, subtests: pytest.Subtests) -> None:
    ivo = await paused.server.person("ivo")
    theirs = Paused(paused.server, paused.engine, ivo.client, paused.conversation_id)
    for request in naming(HERE):
        with subtests.test(type(request).__name__):
            await theirs.refuses(Bad(request, StatusCode.PERMISSION_DENIED, "NOT_OWNER"))


async def test_a_conversation_that_is_not_there_is_named_so(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    for request in naming(str(uuid4())):
        with subtests.test(type(request).__name__):
            await paused.refuses(Bad(request, StatusCode.NOT_FOUND, "CONVERSATION_NOT_FOUND"))


def tokens(server: Server) -> dict[str, str]:
    """Returns tokens that count for nothing."""
    key = server.key
    now = {"iat": 0, "exp": 1}
    return {
        "none": "",
        "malformed": "nonsense",
        "expired": key.issue("noor", -HOUR),
        "expired_long_ago": key.issue("noor", HOUR, claims=now),
        "wrong_audience": key.issue("noor", HOUR, audience="parley-internal"),
        "wrong_issuer": key.issue("noor", HOUR, claims={"iss": "https://elsewhere.example"}),
        "no_subject": key.issue("", HOUR),
        "algorithm_none": "eyJhbGciOiJub25lIn0." + key.issue("noor", HOUR).split(".")[1] + ".",
    }


async def test_h9_without_a_valid_token_nothing_is_done(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    requests = [
        StreamTurnRequest(prompt=PROMPT),
        CreateConversationRequest(),
        ListConversationsRequest(),
        ListPendingAsksRequest(),
        ValidateAskRequest(),
        ValidateAnswerRequest(),
        DeriveCardRequest(),
        *naming(HERE),
    ]
    for name, token in tokens(paused.server).items():
        async with parley.connect(paused.server.address, token) as client:
            nobody = Paused(paused.server, paused.engine, client, paused.conversation_id)
            for request in requests:
                with subtests.test(name, request=type(request).__name__):
                    await nobody.refuses(
                        Bad(request, StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
                    )


async def test_the_token_is_looked_at_before_the_request(paused: Paused) -> None:
    async with parley.connect(paused.server.address, "nonsense") as client:
        error = await refusal(client, StreamTurnRequest())
    assert error.reason == "UNAUTHENTICATED"


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

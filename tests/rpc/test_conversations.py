"""Conversations over the wire: made, changed, deleted (spec turns 7.3, 15.10)."""

from uuid import uuid4

from google.protobuf.field_mask_pb2 import FieldMask
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import asks_pb2
from parley.v1.conversations_pb2 import (
    Conversation,
    CreateConversationRequest,
    DeleteConversationRequest,
    ListMessagesRequest,
    Message,
    PendingAskView,
    UpdateConversationRequest,
)
from parley.v1.turns_pb2 import AnswerInput, StreamTurnRequest
from tests.end_to_end.person import Person, accept
from tests.rpc.conversation_calls import create, delete, listed, update
from tests.rpc.requests import Request, refusal, stored
from tests.server import Server
from tests.standard_asks import PLAN_ID

# ---------------------------------------------------------------- creating and changing


async def test_a_conversation_can_be_made_without_a_body(noor: Person) -> None:
    made = await noor.client.conversations.CreateConversation(CreateConversationRequest())
    conversation = made.conversation
    assert await noor.conversation(conversation.conversation_id) == conversation
    assert (conversation.title, conversation.project) == ("", "")
    assert conversation.create_time == conversation.update_time
    assert conversation.create_time.seconds > 1_700_000_000
    assert {field.name for field, _ in conversation.ListFields()} == {
        "conversation_id",
        "create_time",
        "update_time",
    }


async def test_a_repeat_without_a_request_id_makes_another(noor: Person) -> None:
    ids = {(await create(noor, title="Trip")).conversation_id for _ in range(2)}
    assert len(ids) == 2


async def test_a_repeat_with_a_request_id_gets_the_first_conversation_as_it_is_now(
    server: Server, noor: Person
) -> None:
    request = CreateConversationRequest(
        conversation=Conversation(title=" Trip ", project="home"), request_id=str(uuid4())
    )
    same = CreateConversationRequest(
        conversation=Conversation(title="Trip", project="home"),
        request_id=request.request_id.upper(),
    )
    create_one = noor.client.conversations.CreateConversation
    made = (await create_one(request)).conversation
    assert (await create_one(same)).conversation == made
    renamed = await update(noor, made.conversation_id, title="Journey")
    assert (await create_one(request)).conversation == renamed
    assert await listed(noor) == [made.conversation_id]
    ivo = await server.person("ivo")
    theirs = await ivo.client.conversations.CreateConversation(request)
    assert theirs.conversation.conversation_id != made.conversation_id


async def test_another_request_with_a_request_id_of_before_is_refused(
    noor: Person, engine: AsyncEngine
) -> None:
    request_id = str(uuid4())
    trip = Conversation(title="Trip")
    await noor.client.conversations.CreateConversation(
        CreateConversationRequest(conversation=trip, request_id=request_id)
    )
    before = await stored(engine)
    for other in (Conversation(title="Walk"), Conversation(title="Trip", project="home"), None):
        error = await refusal(
            noor.client, CreateConversationRequest(conversation=other, request_id=request_id)
        )
        assert (error.code, error.reason) == (StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED")
        assert error.metadata == {"request_id": request_id}
    assert await stored(engine) == before


async def test_a_title_is_trimmed_and_both_texts_are_data(noor: Person) -> None:
    for text in ("$prompts", "$$ROOT", "'; DROP TABLE conversations; --", "長い😀", "x" * 200):
        made = await create(noor, title=f" \t{text}\u3000\n", project=text)
        assert (made.title, made.project) == (text, text)
    made = await create(noor, title="a\x00b", project="a\x00b")
    assert (made.title, made.project) == ("a\ufffdb", "a\ufffdb")


async def test_h2_a_body_can_not_set_what_is_the_servers(noor: Person, engine: AsyncEngine) -> None:
    body = Conversation(
        conversation_id="11111111-1111-4111-8111-111111111111",
        title="Mine",
        pending_ask=PendingAskView(tool_call_id="call_made_up", kind=asks_pb2.ASK_KIND_CONFIRM),
        running_turn_id="11111111-1111-4111-8111-111111111111",
        retryable_turn_id="11111111-1111-4111-8111-111111111111",
    )
    body.create_time.seconds = body.update_time.seconds = 1
    unknown = Message(text="a message made up").SerializeToString()
    body.MergeFromString(b"\xba\x06" + bytes([len(unknown)]) + unknown)  # a field of no number
    response = await noor.client.conversations.CreateConversation(
        CreateConversationRequest(conversation=body)
    )
    made = response.conversation
    assert made.title == "Mine"
    assert made.conversation_id != body.conversation_id
    assert not made.HasField("pending_ask")
    assert (made.running_turn_id, made.retryable_turn_id) == ("", "")
    assert made.create_time.seconds > 1
    assert await noor.pending() == []
    assert await noor.messages(made.conversation_id) == []

    before = await stored(engine)
    body.conversation_id = made.conversation_id
    for paths in (["pending_ask"], ["title", "pending_ask"], ["messages"]):
        error = await refusal(
            noor.client,
            UpdateConversationRequest(conversation=body, update_mask=FieldMask(paths=paths)),
        )
        assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
        assert [field.path for field in error.fields] == ["updateMask"]
    assert await stored(engine) == before


async def test_a_mask_says_what_changes(noor: Person) -> None:
    made = await create(noor, title="Old", project="home")
    own = made.conversation_id
    steps: list[tuple[list[str], dict[str, str], tuple[str, str]]] = [
        (["title"], {"title": " New ", "project": "not named"}, ("New", "home")),
        (["project"], {"title": "not named", "project": "work"}, ("New", "work")),
        (["title", "project"], {"title": "Both", "project": "both"}, ("Both", "both")),
        ([], {"title": "Bare", "project": "not with a bare one"}, ("Bare", "both")),
        (["*"], {"title": "Star", "project": "not with a star"}, ("Star", "both")),
        ([], {}, ("Star", "both")),
        (["*"], {"title": " "}, ("Star", "both")),
        (["title"], {}, ("", "both")),
        (["project"], {}, ("", "")),
        (["title"], {"title": "Again"}, ("Again", "")),
        (["title"], {"title": "\u3000\t"}, ("", "")),
    ]
    for paths, values, expected in steps:
        changed = await update(noor, own, *paths, **values)
        assert (changed.title, changed.project) == expected, (paths, values)
        assert await noor.conversation(own) == changed
        assert changed.create_time == made.create_time


async def test_an_update_that_changes_nothing_does_not_move_the_conversation(
    noor: Person,
) -> None:
    first, second = await create(noor, title="First"), await create(noor, title="Second")
    await update(noor, first.conversation_id)
    assert await listed(noor) == [second.conversation_id, first.conversation_id]
    await update(noor, first.conversation_id, title="Moved")
    assert await listed(noor) == [first.conversation_id, second.conversation_id]


async def test_a_change_is_refused_to_others_and_for_what_is_gone(
    server: Server, noor: Person
) -> None:
    made = await create(noor, title="Mine")
    ivo = await server.person("ivo")
    request = UpdateConversationRequest(
        conversation=Conversation(conversation_id=made.conversation_id, title="Stolen")
    )
    nothing = UpdateConversationRequest(
        conversation=Conversation(conversation_id=made.conversation_id)
    )
    for attempt in (request, nothing):
        error = await refusal(ivo.client, attempt)
        assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "NOT_OWNER")
    assert (await noor.conversation(made.conversation_id)).title == "Mine"
    await delete(noor, made.conversation_id)
    for attempt in (request, nothing):
        error = await refusal(noor.client, attempt)
        assert (error.code, error.reason) == (StatusCode.NOT_FOUND, "CONVERSATION_NOT_FOUND")


# ---------------------------------------------------------------- deleting


async def test_h3_deleting_a_conversation_ends_its_ask(noor: Person, engine: AsyncEngine) -> None:
    asked = await noor.prompt("Set up my workspace")
    own = asked.conversation_id
    assert (await stored(engine))["turn_steps"] != []
    await delete(noor, own)
    assert await noor.pending() == []
    answers: list[Request] = [
        StreamTurnRequest(
            conversation_id=own,
            answer=AnswerInput(tool_call_id=PLAN_ID, answer=accept("team")),
        ),
        DeleteConversationRequest(conversation_id=own),
        ListMessagesRequest(conversation_id=own),
    ]
    for request in answers:
        error = await refusal(noor.client, request)
        assert (error.code, error.reason) == (StatusCode.NOT_FOUND, "CONVERSATION_NOT_FOUND")
    assert await listed(noor) == []
    assert (await stored(engine))["turn_steps"] == []


async def test_nobody_else_can_delete_a_conversation(server: Server, noor: Person) -> None:
    asked = await noor.prompt("Set up my workspace")
    ivo = await server.person("ivo", admin=True)
    request = DeleteConversationRequest(conversation_id=asked.conversation_id)
    error = await refusal(ivo.client, request)
    assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "NOT_OWNER")
    assert [ask.tool_call_id for ask in await noor.pending()] == [PLAN_ID]
    assert (await noor.conversation(asked.conversation_id)).pending_ask.simple == asked.ask.simple

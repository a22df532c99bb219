"""Conversations and the list of pending asks, over the wire (spec turns 7.2, 7.3, 15.10)."""

from uuid import uuid4

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import asks_pb2
from parley.v1.conversations_pb2 import (
    Conversation,
    CreateConversationRequest,
    DeleteConversationRequest,
    ListConversationsRequest,
    ListMessagesRequest,
    Message,
    MessageAsk,
    PendingAskView,
    RateMessageRequest,
    Rating,
    UpdateConversationRequest,
)
from parley.v1.turns_pb2 import AnswerInput, ListPendingAsksRequest, StreamTurnRequest
from parleyd.models.script import Call, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import Person, accept
from tests.rpc.requests import Request, refusal, stored
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, REGION, REGION_ID, ask_plan, ask_region

REPLIES = 20


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    """A server whose agent asks PLAN for a start and then says little."""
    return await start_server(in_turn([ask_plan()], *[[Text("Well.")]] * REPLIES))


@pytest.fixture
async def noor(server: Server) -> Person:
    return await server.person()


async def create(person: Person, title: str = "", project: str = "") -> Conversation:
    request = CreateConversationRequest(conversation=Conversation(title=title, project=project))
    return (await person.client.conversations.CreateConversation(request)).conversation


async def update(
    person: Person, conversation_id: str, *paths: str, title: str = "", project: str = ""
) -> Conversation:
    request = UpdateConversationRequest(
        conversation=Conversation(conversation_id=conversation_id, title=title, project=project),
        update_mask=FieldMask(paths=paths) if paths else None,
    )
    return (await person.client.conversations.UpdateConversation(request)).conversation


async def delete(person: Person, conversation_id: str) -> None:
    request = DeleteConversationRequest(conversation_id=conversation_id)
    await person.client.conversations.DeleteConversation(request)


async def listed(person: Person, page_size: int = 0, project: str = "") -> list[str]:
    """Returns the ids of all conversations, a page after the other."""
    ids: list[str] = []
    request = ListConversationsRequest(page_size=page_size, project=project)
    while True:
        page = await person.client.conversations.ListConversations(request)
        ids += [conversation.conversation_id for conversation in page.conversations]
        if not page.next_page_token:
            return ids
        assert len(page.conversations) == request.page_size
        request.page_token = page.next_page_token


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


# ---------------------------------------------------------------- listing


async def test_conversations_are_listed_the_last_changed_first_page_by_page(
    server: Server, noor: Person
) -> None:
    ivo = await server.person("ivo")
    await create(ivo, title="Not noor's")
    made = [(await create(noor, title=f"{n}")).conversation_id for n in range(5)]
    await update(noor, made[1], title="changed last")
    await delete(noor, made[3])
    expected = [made[1], made[4], made[2], made[0]]
    assert await listed(noor) == expected
    for size in (1, 2, 3, 4, 5):
        assert await listed(noor, page_size=size) == expected
    assert await listed(await server.person("nobody")) == []


async def test_conversations_of_one_project_are_listed_alone(noor: Person) -> None:
    home = [(await create(noor, project="home")).conversation_id for _ in range(3)]
    await create(noor, project="homework")
    await create(noor)
    assert await listed(noor, project="home") == home[::-1]
    assert await listed(noor, project="home", page_size=2) == home[::-1]
    assert await listed(noor, project="nowhere") == []
    assert len(await listed(noor)) == 5


async def test_a_page_has_fifty_conversations_and_at_most_two_hundred(noor: Person) -> None:
    for _ in range(203):
        await create(noor)
    for asked, given in ((0, 50), (200, 200), (201, 200), (2**31 - 1, 200)):
        page = await noor.client.conversations.ListConversations(
            ListConversationsRequest(page_size=asked)
        )
        assert len(page.conversations) == given
        assert page.next_page_token


async def test_messages_are_listed_the_oldest_first_page_by_page(noor: Person) -> None:
    asked = await noor.prompt("Set up my workspace")
    own = asked.conversation_id
    await noor.answer(own, PLAN_ID, accept("team"))
    for n in range(3):
        await noor.prompt(f"Say {n}", own)
    whole = await noor.messages(own)
    assert [(m.type, m.text) for m in whole if m.type <= Message.TYPE_ASSISTANT] == [
        (Message.TYPE_USER, "Set up my workspace"),
        (Message.TYPE_ASSISTANT, "Well."),
        *(
            line
            for n in range(3)
            for line in ((Message.TYPE_USER, f"Say {n}"), (Message.TYPE_ASSISTANT, "Well."))
        ),
    ]
    assert len({m.message_id for m in whole}) == len(whole) == 10
    assert {m.conversation_id for m in whole} == {own}
    for size in (1, 3, 5, 10, 11):
        pages: list[Message] = []
        request = ListMessagesRequest(conversation_id=own, page_size=size)
        while True:
            page = await noor.client.conversations.ListMessages(request)
            pages += page.messages
            if not page.next_page_token:
                break
            assert len(page.messages) == size
            request.page_token = page.next_page_token
        assert pages == whole


async def test_an_ask_and_its_answer_are_two_messages(noor: Person) -> None:
    asked = await noor.prompt("Set up my workspace")
    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    _, call, result, _ = await noor.messages(asked.conversation_id)
    assert (call.type, result.type) == (Message.TYPE_TOOL_CALL, Message.TYPE_TOOL_RESULT)
    for row in (call, result):
        assert (row.tool_call_id, row.tool_name) == (PLAN_ID, "ask_choice")
        assert row.ask.kind == asks_pb2.ASK_KIND_CHOICE
        assert row.ask.status == MessageAsk.STATUS_ANSWERED
        assert row.ask.origin == asks_pb2.ASK_ORIGIN_MODEL
    assert call.ask.input == asked.ask.input
    assert not call.ask.HasField("answer")
    assert result.ask.answer == accept("team")
    assert not result.ask.HasField("input")
    assert result.result_json == '{"action":"accept","content":{"selected":["team"]}}'


# ---------------------------------------------------------------- ratings


async def rate(person: Person, of: Message, rating: Rating.ValueType) -> None:
    request = RateMessageRequest(
        conversation_id=of.conversation_id, message_id=of.message_id, rating=rating
    )
    await person.client.conversations.RateMessage(request)


async def test_h4_any_message_can_be_rated_and_the_rating_taken_back(noor: Person) -> None:
    asked = await noor.prompt("Set up my workspace")
    own = asked.conversation_id
    await noor.answer(own, PLAN_ID, accept("team"))
    before, conversation = await noor.messages(own), await noor.conversation(own)
    steps = (Rating.RATING_UP, Rating.RATING_UP, Rating.RATING_DOWN, Rating.RATING_UNSPECIFIED)
    for place, message in enumerate(before):
        for rating in steps:
            await rate(noor, message, rating)
            now = await noor.messages(own)
            assert now[place].rating == rating
            now[place].rating = Rating.RATING_UNSPECIFIED
            assert now == before
    assert await noor.conversation(own) == conversation


async def test_h4_a_rating_is_refused_to_others_and_for_what_is_gone(
    server: Server, noor: Person, engine: AsyncEngine
) -> None:
    asked = await noor.prompt("Set up my workspace")
    (message, *_) = await noor.messages(asked.conversation_id)
    before = await stored(engine)
    ivo = await server.person("ivo")
    request = RateMessageRequest(
        conversation_id=message.conversation_id, message_id=message.message_id
    )
    error = await refusal(ivo.client, request)
    assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "NOT_OWNER")
    assert await stored(engine) == before
    await delete(noor, message.conversation_id)
    error = await refusal(noor.client, request)
    assert (error.code, error.reason) == (StatusCode.NOT_FOUND, "CONVERSATION_NOT_FOUND")


# ---------------------------------------------------------------- pending asks


async def test_h1_pending_asks_are_listed_newest_first_and_show_cards_alone(
    start_server: StartServer,
) -> None:
    titled = Call("ask_choice", {**REGION, "title": "Secret of the input"}, "call_3")
    server = await start_server(in_turn([ask_plan()], [ask_region()], [titled], [ask_plan()]))
    noor, ivo = await server.person(), await server.person("ivo")
    assert await noor.pending() == []
    plan = await noor.prompt("Set up my workspace")
    region = await noor.prompt("Where?")
    gone = await noor.prompt("And this?")
    theirs = await ivo.prompt("Set up my workspace")
    await delete(noor, gone.conversation_id)

    pending = await noor.pending()

    assert [(p.conversation_id, p.tool_call_id) for p in pending] == [
        (region.conversation_id, REGION_ID),
        (plan.conversation_id, PLAN_ID),
    ]
    assert [p.simple for p in pending] == [region.ask.simple, plan.ask.simple]
    assert [p.kind for p in pending] == [asks_pb2.ASK_KIND_CHOICE] * 2
    assert [p.create_time.ToNanoseconds() for p in pending] == sorted(
        (p.create_time.ToNanoseconds() for p in pending), reverse=True
    )
    assert {field.name for p in pending for field, _ in p.ListFields()} == {
        "conversation_id",
        "tool_call_id",
        "kind",
        "simple",
        "create_time",
    }
    assert [p.conversation_id for p in await ivo.pending()] == [theirs.conversation_id]
    assert await (await server.person("nobody")).pending() == []


async def test_h1_pending_asks_have_pages_and_the_titles_of_their_conversations(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn(*[[ask_plan()]] * 5))
    noor = await server.person()
    conversations = [(await noor.prompt("Set up")).conversation_id for _ in range(5)]
    await update(noor, conversations[2], title="The third")
    for size in (1, 2, 4, 5, 6):
        found: list[tuple[str, str]] = []
        request = ListPendingAsksRequest(page_size=size)
        while True:
            page = await noor.client.turns.ListPendingAsks(request)
            found += [(ask.conversation_id, ask.title) for ask in page.pending_asks]
            if not page.next_page_token:
                break
            assert len(page.pending_asks) == size
            request.page_token = page.next_page_token
        assert found == [
            (each, "The third" if each == conversations[2] else "") for each in conversations[::-1]
        ]


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

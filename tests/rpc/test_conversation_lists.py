"""Lists of conversations, messages and pending asks, over the wire (spec turns 7.2, 7.3, 15.10)."""

from parley.v1 import asks_pb2
from parley.v1.conversations_pb2 import (
    ListConversationsRequest,
    ListMessagesRequest,
    Message,
    MessageAsk,
)
from parley.v1.turns_pb2 import ListPendingAsksRequest
from parleyd.models.script import Call
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import Person, accept
from tests.rpc.conversation_calls import create, delete, listed, update
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, REGION, REGION_ID, ask_plan, ask_region


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

"""Asks of services that run an agent of their own (spec turns 16.4, X1, X2)."""

import asyncio
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

import pytest
from grpc import StatusCode

from parley import error_of
from parley.v1 import asks_pb2, conversations_pb2, service_asks_pb2
from parleyd.contract import limits
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import in_turn
from parleyd.turns.tools import ToolSet, TurnContext
from tests.end_to_end.asking_service import (
    Ask,
    AskingService,
    asking_service,
    empty_conversation,
    plan_input,
)
from tests.end_to_end.person import COMPACT, Person, accept, cancel, decline, refused
from tests.end_to_end.rows import types
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

AT_ONCE: Final = timedelta()
TEAM: Final = "option:team"
Message = conversations_pb2.Message


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn([ask_plan()], [Text("Welcome.")], [Text("Again.")]))


@pytest.fixture
async def noor(server: Server) -> Person:
    return await server.person()


@pytest.fixture
async def service(server: Server) -> AskingService:
    return await asking_service(server)


@pytest.fixture
async def conversation_id(noor: Person) -> str:
    return await empty_conversation(noor)


# ---------------------------------------------------------------- asking and answering


async def test_x1_a_service_ask_is_pending_like_any_other(
    noor: Person, service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    assert (ask.status, ask.creator) == (Ask.STATUS_PENDING, "errands")
    assert ask.input == plan_input()
    assert not ask.HasField("answer")
    (pending,) = await noor.pending()
    assert (pending.conversation_id, pending.tool_call_id) == (conversation_id, ask.tool_call_id)
    assert pending.simple == ask.simple
    view = (await noor.conversation(conversation_id)).pending_ask
    assert view.origin == asks_pb2.ASK_ORIGIN_SERVICE
    assert view.input == ask.input
    assert not view.tool_name
    (row,) = await noor.messages(conversation_id)
    assert (row.type, row.tool_name) == (Message.TYPE_TOOL_CALL, "service:errands")


async def test_x1_a_button_answer_reaches_who_waits_and_no_model_runs(
    server: Server, noor: Person, service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    waiting = asyncio.ensure_future(service.wait(ask.ask_id))
    result = await noor.press(conversation_id, ask.tool_call_id, TEAM)
    assert (result.text, result.title) == ("", "")
    answered = await waiting
    assert answered.status == Ask.STATUS_ANSWERED
    assert answered.answer == accept("team")
    assert answered.resolved_by_turn_id == result.turn_id
    assert answered.resolve_time.ToDatetime() > ask.create_time.ToDatetime()
    assert await service.read(ask.ask_id) == answered
    assert server.model.calls == []
    watched = await noor.watch(conversation_id, result.turn_id)
    assert watched.names == ["started", "ask_resolved", "done"]
    assert types(await noor.messages(conversation_id)) == ["tool_call", "tool_result"]


async def test_x1_an_answer_by_stream_sends_three_events(
    server: Server, noor: Person, service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    played = await noor.answer(conversation_id, ask.tool_call_id, decline())
    assert played.names == ["started", "ask_resolved", "done"]
    assert played.resolved.action == asks_pb2.ASK_ACTION_DECLINE
    assert (await service.read(ask.ask_id)).answer == decline()
    assert server.model.calls == []


@pytest.mark.parametrize("answer", [accept("team"), decline(), cancel("no time")])
async def test_what_a_person_answers_is_what_the_service_gets(
    noor: Person, service: AskingService, conversation_id: str, answer: asks_pb2.AskAnswer
) -> None:
    ask = await service.ask(conversation_id)
    await noor.answer(conversation_id, ask.tool_call_id, answer)
    resolved = await service.wait(ask.ask_id)
    assert resolved.answer == answer
    cancelled = answer.HasField("cancel")
    assert resolved.status == (Ask.STATUS_CANCELLED if cancelled else Ask.STATUS_ANSWERED)


async def test_an_invalid_answer_leaves_a_service_ask_pending(
    noor: Person, service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    error = await refused(noor.answer(conversation_id, ask.tool_call_id, accept("none")))
    assert error_of(error).reason == "INVALID_ANSWER"
    assert (await service.read(ask.ask_id)).status == Ask.STATUS_PENDING


async def test_an_answer_needs_no_model(
    start_server: StartServer, service: AskingService, conversation_id: str
) -> None:
    """Nor tools: what is told to a model is not even put together."""

    async def no_tools(_: TurnContext) -> ToolSet:
        raise RuntimeError("no tools for you")

    ask = await service.ask(conversation_id)
    broken = await start_server(in_turn(), request_tools=no_tools)
    there = await broken.person()
    result = await there.press(conversation_id, ask.tool_call_id, "option:starter")
    assert (await service.read(ask.ask_id)).resolved_by_turn_id == result.turn_id


async def test_x1_the_slot_is_one_whoever_asks(
    noor: Person, service: AskingService, server: Server, conversation_id: str
) -> None:
    first = await service.ask(conversation_id)
    error = error_of(await refused(service.ask(conversation_id)))
    assert (error.code, error.reason) == (StatusCode.ABORTED, "ASK_ALREADY_PENDING")
    assert error.metadata["current_tool_call_id"] == first.tool_call_id
    other = await asking_service(server, "other")
    assert error_of(await refused(other.ask(conversation_id))).reason == "ASK_ALREADY_PENDING"
    await noor.press(conversation_id, first.tool_call_id, TEAM)
    assert (await service.ask(conversation_id)).status == Ask.STATUS_PENDING


async def test_x1_a_service_finds_the_slot_taken_by_the_model(
    noor: Person, service: AskingService
) -> None:
    asked = await noor.prompt("Set up my workspace")
    error = error_of(await refused(service.ask(asked.conversation_id)))
    assert error.reason == "ASK_ALREADY_PENDING"
    assert error.metadata["current_tool_call_id"] == PLAN_ID
    assert len(await noor.messages(asked.conversation_id)) == 2


async def test_x1_a_model_that_asks_meanwhile_loses_the_slot(start_server: StartServer) -> None:
    server = await start_server(in_turn([Hold("before"), ask_plan()]))
    noor, service = await server.person(), await asking_service(server)
    conversation_id = await empty_conversation(noor)
    playing = asyncio.ensure_future(noor.prompt("Set up my workspace", conversation_id))
    await server.model.holds.reached("before")
    ask = await service.ask(conversation_id)
    server.model.holds.release("before")
    played = await playing
    assert played.names == ["started", "done"]
    (pending,) = await noor.pending()
    assert pending.tool_call_id == ask.tool_call_id
    rows = await noor.messages(conversation_id)
    (lost,) = [row for row in rows if row.type == Message.TYPE_TOOL_RESULT]
    assert lost.result_json == '{"action":"cancel","reason":"one_ask_at_a_time"}'


async def test_x1_a_prompt_cancels_it_and_the_waiter_is_told(
    noor: Person, service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    waiting = asyncio.ensure_future(service.wait(ask.ask_id))
    played = await noor.prompt("Never mind", conversation_id)
    assert played.names == ["started", "ask_resolved", "ask", "done"]
    told = await waiting
    assert told.status == Ask.STATUS_CANCELLED
    assert told.answer == cancel("user_sent_message")
    assert told.resolved_by_turn_id == played.turn_id


# ---------------------------------------------------------------- waiting and watching


async def test_a_wait_that_is_over_returns_the_pending_ask(
    service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    assert await service.wait(ask.ask_id, AT_ONCE) == ask
    assert await service.wait(ask.ask_id, timedelta(milliseconds=50)) == ask


async def test_a_watch_shows_the_ask_now_and_as_it_is_resolved(
    noor: Person, service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    request = service_asks_pb2.WatchAskRequest(ask_id=ask.ask_id)
    seen: list[Ask] = []
    async for response in service.client.asks.WatchAsk(request):
        if response.HasField("ask"):
            seen.append(response.ask)
        if len(seen) == 1:
            await noor.press(conversation_id, ask.tool_call_id, TEAM)
    assert [each.status for each in seen] == [Ask.STATUS_PENDING, Ask.STATUS_ANSWERED]
    watched = [response async for response in service.client.asks.WatchAsk(request)]
    assert [response.ask for response in watched] == seen[1:]


async def test_an_answer_given_on_another_server_wakes_who_waits_here(
    start_server: StartServer, service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    waiting = asyncio.ensure_future(service.wait(ask.ask_id))
    elsewhere = await (await start_server(in_turn())).person()
    await elsewhere.press(conversation_id, ask.tool_call_id, TEAM)
    async with asyncio.timeout(limits.QUIET_SECONDS / 3):
        assert (await waiting).answer == accept("team")


# ---------------------------------------------------------------- repeats


async def test_x2_the_same_request_makes_the_same_ask(
    noor: Person, service: AskingService, conversation_id: str
) -> None:
    request_id = str(uuid4())
    first = await service.ask(conversation_id, request_id=request_id)
    assert await service.ask(conversation_id, request_id=request_id) == first
    await noor.press(conversation_id, first.tool_call_id, TEAM)
    again = await service.ask(conversation_id, request_id=request_id)
    assert (again.ask_id, again.answer) == (first.ask_id, accept("team"))
    assert len(await noor.messages(conversation_id)) == 2


async def test_x2_another_request_with_the_same_id_is_told_so(
    noor: Person, service: AskingService, server: Server, conversation_id: str
) -> None:
    request_id = str(uuid4())
    await service.ask(conversation_id, request_id=request_id)
    other = plan_input()
    other.prompt = "Another?"
    error = error_of(
        await refused(service.ask(conversation_id, ask_input=other, request_id=request_id))
    )
    assert (error.code, error.reason) == (StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED")
    # Ids are each service's own.
    second = await empty_conversation(noor)
    somebody = await asking_service(server, "somebody")
    assert (await somebody.ask(second, request_id=request_id)).status == Ask.STATUS_PENDING


async def test_x2_of_many_first_requests_with_one_id_one_asks(
    noor: Person, service: AskingService, conversation_id: str
) -> None:
    request_id = str(uuid4())
    asks = await asyncio.gather(
        *(service.ask(conversation_id, request_id=request_id) for _ in range(20))
    )
    assert len({ask.ask_id for ask in asks}) == 1
    assert len(await noor.messages(conversation_id)) == 1


# ---------------------------------------------------------------- whose it is


async def test_x2_another_services_ask_is_none(
    service: AskingService, server: Server, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    other = await asking_service(server, "other")
    for call in (other.read(ask.ask_id), other.wait(ask.ask_id), other.cancel(ask.ask_id)):
        error = error_of(await refused(call))
        assert (error.code, error.reason) == (StatusCode.NOT_FOUND, "ASK_NOT_FOUND")
    error = error_of(await refused(service.read(str(uuid4()))))
    assert error.reason == "ASK_NOT_FOUND"
    assert (await service.read(ask.ask_id)).status == Ask.STATUS_PENDING


async def test_x2_users_are_refused(server: Server, noor: Person, conversation_id: str) -> None:
    person = AskingService(noor.client)
    error = error_of(await refused(person.ask(conversation_id)))
    assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "SERVICE_ONLY")
    unscoped = await server.person("errands", aud="parley-internal", scope="blocks.generate")
    error = error_of(await refused(AskingService(unscoped.client).ask(conversation_id)))
    assert (error.reason, error.metadata["scope"]) == ("SCOPE_REQUIRED", "asks.write")
    assert await noor.pending() == []


async def test_the_owner_has_to_be_the_conversations(
    noor: Person, service: AskingService, conversation_id: str
) -> None:
    error = error_of(await refused(service.ask(conversation_id, owner="ada")))
    assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "NOT_OWNER")
    error = error_of(await refused(service.ask(str(uuid4()))))
    assert (error.code, error.reason) == (StatusCode.NOT_FOUND, "CONVERSATION_NOT_FOUND")
    assert await noor.pending() == []


# ---------------------------------------------------------------- withdrawing


async def test_x2_a_withdrawn_ask_is_withdrawn_once(
    noor: Person, service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    waiting = asyncio.ensure_future(service.wait(ask.ask_id))
    first = await service.cancel(ask.ask_id)
    assert (first.status, first.answer) == (Ask.STATUS_CANCELLED, cancel("service_cancelled"))
    assert first.resolved_by_turn_id
    assert await service.cancel(ask.ask_id, "another reason") == first
    assert await waiting == first
    assert await noor.pending() == []
    call, result = await noor.messages(conversation_id)
    assert (call.ask.status, result.result_json) == (
        conversations_pb2.MessageAsk.STATUS_CANCELLED,
        '{"action":"cancel","reason":"service_cancelled"}',
    )
    error = error_of(await refused(noor.press(conversation_id, ask.tool_call_id, TEAM)))
    assert error.reason == "ASK_NOT_PENDING"
    assert error.metadata["resolved_by_turn_id"] == first.resolved_by_turn_id


async def test_a_service_says_why_it_withdraws(
    service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    withdrawn = await service.cancel(ask.ask_id, "the order is gone")
    assert withdrawn.answer == cancel("the order is gone")


async def test_an_answered_ask_is_not_withdrawn(
    noor: Person, service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    await noor.press(conversation_id, ask.tool_call_id, TEAM)
    assert (await service.cancel(ask.ask_id)).answer == accept("team")


async def test_a_quiet_turn_has_no_events_and_can_be_looked_at(
    noor: Person, service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    withdrawn = await service.cancel(ask.ask_id)
    turn = await noor.turn(conversation_id, withdrawn.resolved_by_turn_id)
    assert turn.last_event_sequence == 0
    assert turn.state == turn.STATE_COMPLETED
    assert turn.result.turn_id == withdrawn.resolved_by_turn_id
    assert (await noor.watch(conversation_id, turn.turn_id)).names == []


# ---------------------------------------------------------------- what may be asked


def _destructive(prompt: str) -> asks_pb2.AskInput:
    return asks_pb2.AskInput(prompt=prompt, confirm=asks_pb2.ConfirmInput(destructive=True))


@pytest.mark.parametrize(
    ("values", "reason", "path"),
    [
        ({"ask_input": asks_pb2.AskInput(prompt="?")}, "INVALID_REQUEST", "kind"),
        ({"ask_input": asks_pb2.AskInput(choice=asks_pb2.ChoiceInput())}, "INVALID_ASK", "options"),
        ({"owner": ""}, "INVALID_REQUEST", "owner"),
        ({"owner": "n" * 256}, "INVALID_REQUEST", "owner"),
        ({"ttl": AT_ONCE}, "INVALID_REQUEST", "ttl"),
        ({"ttl": timedelta(days=367)}, "INVALID_REQUEST", "ttl"),
        ({"ttl": timedelta(seconds=-5)}, "INVALID_REQUEST", "ttl"),
        ({"request_id": "7"}, "INVALID_REQUEST", "requestId"),
        ({"surface": 7}, "UNKNOWN_SURFACE", "surface"),
        ({"surface": COMPACT, "ask_input": _destructive("x" * 141)}, "INVALID_ASK", "prompt"),
        ({"surface": COMPACT, "ask_input": _destructive("a\u202eb")}, "INVALID_ASK", "prompt"),
        (
            {
                "surface": COMPACT,
                "ask_input": asks_pb2.AskInput(prompt="?", form=asks_pb2.FormInput()),
            },
            "INVALID_REQUEST",
            "input",
        ),
    ],
)
async def test_what_is_malformed_is_told_and_asks_nothing(
    noor: Person,
    service: AskingService,
    conversation_id: str,
    values: dict[str, Any],
    reason: str,
    path: str,
) -> None:
    error = error_of(await refused(service.ask(conversation_id, **values)))
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, reason)
    assert path in [field.path for field in error.fields]
    assert all(field.message and field.fix for field in error.fields)
    assert await noor.pending() == []


async def test_what_can_not_be_seen_whole_is_not_approved_on_a_card(
    service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id, ask_input=_destructive("x" * 141))
    assert [button.id for button in ask.simple.buttons] == ["deny"]
    assert ask.simple.handoff


async def test_images_of_other_places_are_taken_out(
    service: AskingService, conversation_id: str
) -> None:
    spying = plan_input()
    spying.prompt = "Which? ![a](https://spy.example/a.png)"
    ask = await service.ask(conversation_id, ask_input=spying)
    assert "spy.example" not in str(ask)


async def test_a_service_asks_nothing_where_asks_are_off(
    start_server: StartServer, noor: Person, conversation_id: str
) -> None:
    bare = await start_server(in_turn(), asks=())
    error = error_of(await refused((await asking_service(bare)).ask(conversation_id)))
    assert (error.code, error.reason) == (StatusCode.UNIMPLEMENTED, "ASKS_DISABLED")
    some = await start_server(in_turn(), asks=("confirm",))
    error = error_of(await refused((await asking_service(some)).ask(conversation_id)))
    assert error.reason == "INVALID_REQUEST"
    assert await noor.pending() == []


# ---------------------------------------------------------------- the conversation's own model


async def test_the_model_is_not_told_of_a_service_ask(
    server: Server, noor: Person, service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id)
    await noor.press(conversation_id, ask.tool_call_id, TEAM)
    await noor.prompt("Hello", conversation_id)
    (call,) = server.model.calls
    assert "plan" not in str(call.messages)


async def test_the_model_reads_a_visible_ask_as_texts(
    server: Server, noor: Person, service: AskingService, conversation_id: str
) -> None:
    ask = await service.ask(conversation_id, visible_to_model=True)
    await noor.press(conversation_id, ask.tool_call_id, TEAM)
    await noor.prompt("Hello", conversation_id)
    (call,) = server.model.calls
    said = str(call.messages)
    assert "errands asked: Which plan do you want?" in said
    assert 'Answer to errands: {"action":"accept","content":{"selected":["team"]}}' in said
    assert "ask_choice" not in said

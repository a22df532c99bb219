"""The Kotlin client against real servers, through a real gateway."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pool

from parleyd.models.script import Hold, Text
from parleyd.models.scripted import in_turn
from parleyd.rpc.server import SERVICES
from tests.clients.cutting_proxy import cutting_proxy
from tests.clients.kotlin.scenes import maven, played, scene
from tests.clients.scenes import stop_and_cut
from tests.end_to_end.documents import document, heading
from tests.gateway.conftest import StartGateway
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import DELETE, StandardTools, delete

TEAM = [Text("Team it is.")]
pytestmark = pytest.mark.timeout(600)
"""The first test compiles the client, and gets what it is built with."""
EXPIRED = "rubbish"


def numbered(words: list[Any]) -> list[tuple[int, str]]:
    """Returns the numbers and names of the stored events."""
    return [(word["sequence"], word["name"]) for word in words if word.get("sequence")]


def names(words: list[Any]) -> list[str]:
    """Returns the names of the stored events."""
    return [name for _, name in numbered(words)]


def test_its_own_tests_pass(built: str) -> None:
    assert built
    maven("surefire:test")


def test_every_request_that_can_have_an_id_gets_one() -> None:
    """The small messages of Kotlin can't be asked, so `Calls.kt` names these."""
    identified = {
        method.input_type.name
        for service in SERVICES
        for method in descriptor_pool.Default().FindServiceByName(service).methods
        if "request_id" in method.input_type.fields_by_name and not method.server_streaming
    }
    assert identified == {"TurnRequest", "CreateConversationRequest", "CreateAskRequest"}


async def test_a_question_is_answered(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM), web=True)
    words = await played(built, "answer", await url(start_gateway, server), server.token())
    asked, replied = ["STARTED", "ASK", "DONE"], ["STARTED", "ASK_RESOLVED", "TEXT", "DONE"]
    assert names(words) == asked + replied
    assert words[-2]["text"] == "Team it is."
    noor = await server.person()
    (conversation,) = await noor.conversations()
    messages = await noor.messages(conversation.conversation_id)
    (answer,) = [each.ask.answer for each in messages if each.ask.HasField("answer")]
    assert list(answer.accept.choice.selected) == ["starter"]


async def test_a_button_of_the_card_is_pressed(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM), web=True)
    words = await played(built, "press", await url(start_gateway, server), server.token())
    assert words[-1] == {"state": "STATE_COMPLETED", "text": "Team it is."}


async def test_a_button_of_the_card_is_pressed_by_who_does_not_know_the_kind(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM), web=True)
    words = await played(built, "press-older", await url(start_gateway, server), server.token())
    assert words[-2] == {"knows": "KIND_NOT_SET", "kind": "UNRECOGNIZED"}
    assert words[-1] == {"state": "STATE_COMPLETED", "text": "Team it is."}


async def test_a_call_is_approved(
    built: str, start_server: StartServer, start_gateway: StartGateway, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    script = in_turn([delete(keep=["a", "b"])], [Text("Gone.")])
    server = await start_server(script, tools=tools.all_hosted, web=True)
    words = await played(built, "approve", await url(start_gateway, server), server.token())
    (approval,) = [word for word in words if "toolName" in word]
    assert approval == {
        "origin": "ASK_ORIGIN_APPROVAL",
        "toolName": DELETE,
        "toolArgsJson": '{"keep":["a","b"]}',
    }
    assert names(words)[-5:] == ["STARTED", "ASK_RESOLVED", "TOOL_RESULT", "TEXT", "DONE"]
    assert len(tools.runs(DELETE)) == 1


async def test_a_document_comes_typed(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    reply = document(heading("Loans"), {"type": "divider"})
    server = await start_server(in_turn([Text(reply)]), blocks=True, web=True)
    words = await played(built, "document", await url(start_gateway, server), server.token())
    assert [word["block"] for word in words] == ["HEADING", "DIVIDER"]
    assert words[0]["heading"] == "Loans"


async def test_an_error_has_its_reason_facts_and_fixes(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM), web=True)
    words = await played(built, "refused", await url(start_gateway, server), server.token())
    unfit, unnamed, late, streamed = [word for word in words if "reason" in word]
    assert (unfit["code"], unfit["reason"]) == ("INVALID_ARGUMENT", "INVALID_ANSWER")
    assert unfit["fields"] == [
        {
            "path": "content.selected[0]",
            "code": "OPTION_NOT_OFFERED",
            "message": '`content.selected[0]` is "no-such-option", which is the id of no option.',
            "fix": 'Set `content.selected[0]` to one of "starter", "team", "enterprise".',
        }
    ]
    assert (unnamed["code"], unnamed["reason"]) == ("INVALID_ARGUMENT", "INVALID_REQUEST")
    assert [fault["path"] for fault in unnamed["fields"]] == ["conversationId"]
    for refusal in (late, streamed):
        assert (refusal["code"], refusal["reason"]) == ("ABORTED", "ASK_NOT_PENDING")
        assert refusal["metadata"]["tool_call_id"] == PLAN_ID
        assert refusal["metadata"]["action"] == "accept"


async def test_a_turn_is_watched_from_a_place(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn(TEAM), web=True)
    words = await played(built, "again", await url(start_gateway, server), server.token())
    assert numbered(words) == [(2, "TEXT"), (3, "DONE")]


async def test_files_are_sent_and_got(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn(), web=True)
    words = await played(built, "files", await url(start_gateway, server), server.token())
    assert words[0] == {"filename": "plan.csv", "type": "text/csv", "same": True}
    assert [word["reason"] for word in words[1:]] == ["FILE_NOT_FOUND"]


async def test_a_token_is_renewed_between_two_calls(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn(), web=True)
    base_url = await url(start_gateway, server)
    words = await played(built, "renewed", base_url, EXPIRED, server.token())
    assert [word.get("reason") for word in words] == ["UNAUTHENTICATED", None]
    assert words[1] == {"conversations": 0}


async def test_more_turns_run_at_once_than_okhttp_calls_a_host_by_itself(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn(*[[Hold("all"), Text("Well.")]] * 8), web=True)
    base_url = await url(start_gateway, server)
    async with scene(built, "many", base_url, server.token()) as playing:
        async with asyncio.timeout(30):
            while len(server.model.calls) < 8:
                await asyncio.sleep(0.05)
        server.model.holds.release("all")
        assert await playing.words() == [{"done": True}]


async def test_w1_a_turn_is_followed_on_another_server_when_the_connection_breaks(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    here = await start_server(in_turn([Hold("long"), Text("Well.")]), web=True)
    elsewhere = await start_server(in_turn(), web=True)
    there = (await url(start_gateway, elsewhere)).removeprefix("http://")
    target = (await url(start_gateway, here)).removeprefix("http://")
    async with (
        cutting_proxy(target) as (proxy, address),
        scene(built, "follow", f"http://{address}", here.token()) as playing,
    ):
        started = await playing.word()
        await here.model.holds.reached("long")
        proxy.target = there
        proxy.cut()
        here.model.holds.release("long")
        words = [started, *await playing.words()]
    assert numbered(words) == [(1, "STARTED"), (2, "TEXT"), (3, "DONE")]
    assert len({word["turn"] for word in words}) == 1
    assert len(here.model.calls) == 1


async def test_w1_a_turn_is_followed_to_the_server_that_goes_on_when_its_own_stops(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    here = await start_server(in_turn([Text("He"), Hold("for ever"), Text("Never")]), web=True)
    elsewhere = await start_server(in_turn([Text("Well.")]), web=True)
    there = (await url(start_gateway, elsewhere)).removeprefix("http://")
    target = (await url(start_gateway, here)).removeprefix("http://")
    async with (
        cutting_proxy(target) as (proxy, address),
        scene(built, "follow", f"http://{address}", here.token()) as playing,
        asyncio.TaskGroup() as tasks,
    ):
        words = [await playing.word(), await playing.word()]
        await here.model.holds.reached("for ever")
        proxy.target = there
        tasks.create_task(stop_and_cut(here, proxy))
        words += await playing.words()
    names = [word["name"] for word in words]
    assert names[:3] == ["STARTED", "TEXT_PREVIEW", "PREVIEW_DISCARDED"]
    assert numbered(words) == [(1, "STARTED"), (2, "RESUMED"), (3, "TEXT"), (4, "DONE")]
    assert words[-2]["text"] == "Well."


async def test_a_unary_turn_whose_connection_breaks_is_sent_again_and_runs_once(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn([ask_plan()], [Hold("long"), *TEAM]), web=True)
    target = (await url(start_gateway, server)).removeprefix("http://")
    async with (
        cutting_proxy(target) as (proxy, address),
        scene(built, "press", f"http://{address}", server.token()) as playing,
    ):
        await playing.hear_of("DONE")
        await server.model.holds.reached("long")
        proxy.cut()
        server.model.holds.release("long")
        (result,) = await playing.words()
    assert result["text"] == "Team it is."
    assert len(server.model.calls) == 2


async def url(start_gateway: StartGateway, server: Server) -> str:
    """Starts a gateway in front of a server, and returns where it is."""
    return f"http://{(await start_gateway(server)).address}"

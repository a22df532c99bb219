"""The TypeScript client against real servers, straight and through a real gateway."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from parleyd.models.script import Hold, Text
from parleyd.models.scripted import in_turn
from tests.certificates import Authority
from tests.clients.cutting_proxy import cutting_proxy
from tests.clients.scenes import stop_and_cut
from tests.clients.typescript.scenes import npm, played, scene
from tests.end_to_end.documents import document, heading
from tests.gateway.conftest import StartGateway
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import DELETE, StandardTools, delete

pytestmark = pytest.mark.usefixtures("built")

TEAM = [Text("Team it is.")]
PROTOCOLS = ["grpc", "connect-binary", "connect-json"]
EXPIRED = "rubbish"

BaseUrl: TypeAlias = Callable[[Server], Awaitable[str]]


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def base_url(protocol: str, start_gateway: StartGateway) -> BaseUrl:
    """Tells where a client of the protocol finds a server that was started with `web=True`."""

    async def where(server: Server) -> str:
        if protocol == "grpc":
            return f"http://{server.address}"
        return f"http://{(await start_gateway(server)).address}"

    return where


def numbered(words: list[Any]) -> list[tuple[int, str]]:
    """Returns the numbers and names of the stored events."""
    events = [(word["event"].get("sequence"), word["name"]) for word in words if "event" in word]
    return [(sequence, name) for sequence, name in events if sequence]


def names(words: list[Any]) -> list[str]:
    """Returns the names of the stored events."""
    return [name for _, name in numbered(words)]


def test_its_own_tests_pass() -> None:
    npm("run", "test:built")


async def test_a_question_is_answered(
    start_server: StartServer, protocol: str, base_url: BaseUrl
) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM), web=True)
    words = await played("answer", protocol, await base_url(server), server.token())
    asked, replied = ["started", "ask", "done"], ["started", "askResolved", "text", "done"]
    assert names(words) == asked + replied
    assert words[-2]["event"]["text"] == {"text": "Team it is."}
    noor = await server.person()
    (conversation,) = await noor.conversations()
    messages = await noor.messages(conversation.conversation_id)
    (answer,) = [each.ask.answer for each in messages if each.ask.HasField("answer")]
    assert list(answer.accept.choice.selected) == ["starter"]


@pytest.mark.parametrize("name", ["press", "press-older"])
async def test_a_button_of_the_card_is_pressed_by_who_knows_the_kind_and_who_does_not(
    start_server: StartServer, protocol: str, base_url: BaseUrl, name: str
) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM), web=True)
    words = await played(name, protocol, await base_url(server), server.token())
    asked, *known, result = words[1], *words[3:]
    assert ("choice" in asked["event"]["ask"]["input"]) is (name == "press")
    assert known == ([{"knows": None}] if name == "press-older" else [])
    assert result["state"] == "STATE_COMPLETED"
    assert result["text"] == "Team it is."


async def test_a_call_is_approved(
    start_server: StartServer, protocol: str, base_url: BaseUrl, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    script = in_turn([delete(keep=["a", "b"])], [Text("Gone.")])
    server = await start_server(script, tools=tools.all_hosted, web=True)
    words = await played("approve", protocol, await base_url(server), server.token())
    (approval,) = [word for word in words if "toolName" in word]
    assert approval == {
        "origin": "APPROVAL",
        "toolName": DELETE,
        "toolArgsJson": '{"keep":["a","b"]}',
    }
    assert names(words)[-5:] == ["started", "askResolved", "toolResult", "text", "done"]
    assert len(tools.runs(DELETE)) == 1


async def test_a_document_comes_typed(
    start_server: StartServer, protocol: str, base_url: BaseUrl
) -> None:
    reply = document(heading("Loans"), {"type": "divider"})
    server = await start_server(in_turn([Text(reply)]), blocks=True, web=True)
    words = await played("document", protocol, await base_url(server), server.token())
    assert words == [{"heading": "Loans"}, {"other": "divider"}]


async def test_an_error_has_its_reason_facts_and_fixes(
    start_server: StartServer, protocol: str, base_url: BaseUrl
) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM), web=True)
    words = await played("refused", protocol, await base_url(server), server.token())
    unfit, unnamed, late = [word for word in words if "reason" in word]
    assert (unfit["code"], unfit["reason"]) == ("InvalidArgument", "INVALID_ANSWER")
    assert unfit["fields"] == [
        {
            "path": "content.selected[0]",
            "code": "OPTION_NOT_OFFERED",
            "message": '`content.selected[0]` is "no-such-option", which is the id of no option.',
            "fix": 'Set `content.selected[0]` to one of "starter", "team", "enterprise".',
        }
    ]
    assert (unnamed["code"], unnamed["reason"]) == ("InvalidArgument", "INVALID_REQUEST")
    assert [fault["path"] for fault in unnamed["fields"]] == ["conversationId"]
    assert (late["code"], late["reason"]) == ("Aborted", "ASK_NOT_PENDING")
    assert late["metadata"]["tool_call_id"] == PLAN_ID
    assert late["metadata"]["action"] == "accept"


async def test_files_are_sent_and_got(start_server: StartServer) -> None:
    server = await start_server(in_turn())
    words = await played("files", "grpc", f"http://{server.address}", server.token())
    assert words[0] == {"filename": "plan.csv", "type": "text/csv", "same": True}
    assert [word["reason"] for word in words[1:]] == [
        "MIME_MISMATCH",
        "FILE_TOO_LARGE",
        "FILE_NOT_FOUND",
    ]


async def test_a_connection_is_encrypted_with_an_authority_of_ones_own(
    start_server: StartServer, tmp_path: Path
) -> None:
    authority = Authority(tmp_path, "ca")
    pair = authority.issue("service")
    server = await start_server(in_turn(TEAM), tls_cert=pair.cert, tls_key=pair.key)
    words = await played(
        *("follow", "grpc", f"https://{server.address}", server.token()),
        CA_FILE=str(authority.cert),
    )
    assert names(words) == ["started", "text", "done"]


async def test_a_token_is_renewed_between_two_calls(
    start_server: StartServer, protocol: str, base_url: BaseUrl
) -> None:
    server = await start_server(in_turn(), web=True)
    words = await played("renewed", protocol, await base_url(server), EXPIRED, server.token())
    assert [word.get("reason") for word in words] == ["UNAUTHENTICATED", None]
    assert words[1] == {"conversations": 0}


async def test_w1_a_turn_is_followed_on_another_server_when_the_connection_breaks(
    start_server: StartServer, protocol: str, base_url: BaseUrl
) -> None:
    here = await start_server(in_turn([Hold("long"), Text("Well.")]), web=True)
    elsewhere = await start_server(in_turn(), web=True)
    there = (await base_url(elsewhere)).removeprefix("http://")
    async with (
        cutting_proxy((await base_url(here)).removeprefix("http://")) as (proxy, address),
        scene("follow", protocol, f"http://{address}", here.token()) as playing,
    ):
        started = await playing.word()
        await here.model.holds.reached("long")
        proxy.target = there
        proxy.cut()
        here.model.holds.release("long")
        words = [started, *await playing.words()]
    assert numbered(words) == [(1, "started"), (2, "text"), (3, "done")]
    assert len({word["event"]["turnId"] for word in words}) == 1
    assert len(here.model.calls) == 1


async def test_w1_a_turn_is_followed_to_the_server_that_goes_on_when_its_own_stops(
    start_server: StartServer, protocol: str, base_url: BaseUrl
) -> None:
    here = await start_server(in_turn([Text("He"), Hold("for ever"), Text("Never")]), web=True)
    elsewhere = await start_server(in_turn([Text("Well.")]), web=True)
    there = (await base_url(elsewhere)).removeprefix("http://")
    async with (
        cutting_proxy((await base_url(here)).removeprefix("http://")) as (proxy, address),
        scene("follow", protocol, f"http://{address}", here.token()) as playing,
        asyncio.TaskGroup() as tasks,
    ):
        words = [await playing.word(), await playing.word()]
        assert [word["name"] for word in words] == ["started", "textPreview"]
        await here.model.holds.reached("for ever")
        proxy.target = there
        tasks.create_task(stop_and_cut(here, proxy))
        words += await playing.words()
    assert [word["name"] for word in words][:3] == ["started", "textPreview", "previewDiscarded"]
    assert numbered(words) == [(1, "started"), (2, "resumed"), (3, "text"), (4, "done")]
    assert words[-2]["event"]["text"] == {"text": "Well."}


async def test_a_unary_turn_whose_connection_breaks_is_sent_again_and_runs_once(
    start_server: StartServer, protocol: str, base_url: BaseUrl
) -> None:
    server = await start_server(in_turn([ask_plan()], [Hold("long"), *TEAM]), web=True)
    async with (
        cutting_proxy((await base_url(server)).removeprefix("http://")) as (proxy, address),
        scene("press", protocol, f"http://{address}", server.token()) as playing,
    ):
        await playing.hear_of("done")
        await server.model.holds.reached("long")
        proxy.cut()
        server.model.holds.release("long")
        (result,) = await playing.words()
    assert result["text"] == "Team it is."
    assert len(server.model.calls) == 2

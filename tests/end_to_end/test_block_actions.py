"""Host actions that a client calls for buttons of documents (spec blocks 22, turns 12.4)."""

import asyncio
import json
from typing import Final

import pytest
from grpc import StatusCode
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs

from parley.v1.turns_pb2 import RunBlockActionResponse
from parleyd.app.faults import ConfigurationError
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests import loan_actions
from tests.end_to_end.person import Person
from tests.end_to_end.pressed import (
    ACTIONS,
    LOAN,
    begun,
    heading_of,
    logged,
    press,
    pressing,
    refusal,
)
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

DEADLINE: Final = 30


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    loan_actions.forget()


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn(), blocks=True, host_actions=ACTIONS)


@pytest.fixture
async def noor(server: Server) -> Person:
    return await server.person()


# ---------------------------------------------------------------- what runs


async def test_an_action_is_told_where_it_is_called_from_and_what_for(noor: Person) -> None:
    own = await begun(noor)

    response = await press(noor, own, "repay", {"loan_id": "L-1", "parts": [{"cents": 3.0}]})

    assert (response.text, heading_of(response)) == ("Paid.", "L-1: 3")
    assert response.replace == RunBlockActionResponse.REPLACE_BLOCK
    [(_, context)] = loan_actions.calls
    assert context is not None
    assert (context.owner, str(context.conversation_id)) == ("noor", own)
    assert (context.message_id, context.block_id, context.element_id) == (12, "actions", "pay")
    assert context.project is None
    assert await noor.messages(own) == []


async def test_an_action_that_is_no_coroutine_runs_in_a_thread_and_a_repeat_runs_it_again(
    noor: Person,
) -> None:
    own = await begun(noor)

    assert await press(noor, own, "remind", {"any": "thing"}) == RunBlockActionResponse()
    assert await press(noor, own, "remind") == RunBlockActionResponse()

    assert [name for name, _ in loan_actions.calls] == ["remind", "remind"]


async def test_a_document_may_be_yaml_and_take_the_place_of_the_message(noor: Person) -> None:
    response = await press(noor, await begun(noor), "showTerms")

    assert heading_of(response) == "Terms"
    assert response.replace == RunBlockActionResponse.REPLACE_MESSAGE
    assert not response.text


async def test_html_is_cleaned_and_images_are_those_of_the_deployments_hosts(
    start_server: StartServer,
) -> None:
    server = await start_server(
        in_turn(),
        blocks=True,
        blocks_html=True,
        blocks_image_hosts=("img.example",),
        host_actions=ACTIONS,
    )
    noor = await server.person()
    own = await begun(noor)

    response = await press(noor, own, "letter")
    assert [block.html.html for block in response.blocks.blocks] == ["<p>Dear Noor</p>"]
    response = await press(noor, own, "photo")
    assert [block.image.src for block in response.blocks.blocks] == ["https://img.example/a.png"]


@pytest.mark.parametrize(
    ("action", "payload", "codes"),
    [
        pytest.param("letter", None, ("HTML_DISABLED",), id="html where there is none"),
        pytest.param("photo", None, ("IMAGE_HOST_NOT_ALLOWED",), id="an image of any host"),
        pytest.param("gives", {"blocks": {"v": 1}}, ("MISSING_REQUIRED",), id="no blocks"),
        pytest.param("gives", {"blocks": "Hello"}, ("NOT_A_DOCUMENT",), id="a text"),
        pytest.param("gives", {"blocks": [1]}, ("NOT_A_DOCUMENT",), id="a list"),
        pytest.param("gives", {"replace": "page"}, ("INVALID_RESULT",), id="an odd place"),
        pytest.param(
            "gives", {"replace": "page", "blocks": "?"}, ("INVALID_RESULT",), id="the place first"
        ),
        pytest.param("gives", {"text": 3}, ("INVALID_RESULT",), id="a number for a text"),
    ],
)
async def test_a_result_that_nobody_can_show_is_a_fault_of_ours_logged_by_its_codes(
    noor: Person,
    server: Server,
    engine: AsyncEngine,
    action: str,
    payload: JsonValue,
    codes: tuple[str, ...],
) -> None:
    own = await begun(noor)

    with capture_logs() as logs:
        error = await refusal(noor, pressing(own, action, payload))

    assert (error.code, error.reason) == (StatusCode.INTERNAL, "INTERNAL")
    assert error.fields == ()
    [line] = [line for line in logs if line["event"] == "action_result_unusable"]
    assert (line["action"], line["codes"]) == (action, codes)
    [row] = await logged(server, engine)
    assert (row.response, row.error) == (None, f"ActionResultUnusable: {', '.join(codes)}")


@pytest.mark.parametrize("action", ["fail", "number"])
async def test_what_an_action_raises_is_not_told_and_not_in_the_services_log(
    noor: Person, action: str
) -> None:
    with capture_logs() as logs:
        error = await refusal(noor, pressing(await begun(noor), action))

    assert (error.code, error.reason) == (StatusCode.INTERNAL, "INTERNAL")
    assert "call_broke" in [line["event"] for line in logs]
    assert loan_actions.SECRET not in f"{error.message}{logs}"


async def test_an_error_of_the_services_that_an_action_raises_is_told(noor: Person) -> None:
    error = await refusal(noor, pressing(await begun(noor), "too_often"))

    assert (error.code, error.reason) == (StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED")


async def test_an_action_that_takes_too_long_is_cancelled(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(
        in_turn(), blocks=True, host_actions=ACTIONS, block_action_seconds=0.05
    )
    noor = await server.person()
    own = await begun(noor)

    async with asyncio.timeout(DEADLINE):
        error = await refusal(noor, pressing(own, "hang"))

    assert (error.code, error.reason) == (StatusCode.DEADLINE_EXCEEDED, "ACTION_TIMEOUT")
    assert loan_actions.cancelled == ["hang"]
    [row] = await logged(server, engine)
    assert row.error.startswith("ACTION_TIMEOUT: ")
    assert "longer than 0.05 s" in row.error
    assert row.response is None
    assert row.response_time_ms >= 50


async def test_an_action_whose_client_leaves_is_cancelled_and_logged(
    noor: Person, server: Server, engine: AsyncEngine
) -> None:
    own = await begun(noor)
    running = asyncio.Event()
    loan_actions.started.append(running)

    call = asyncio.ensure_future(press(noor, own, "hang"))
    async with asyncio.timeout(DEADLINE):
        await running.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while not loan_actions.cancelled:
            await asyncio.sleep(0.01)

    [row] = await logged(server, engine)
    assert (row.response, row.error) == (None, "CancelledError")


# ---------------------------------------------------------------- documents, and pending asks


def with_callback(name: str) -> list[Text]:
    button = {
        "type": "button",
        "id": "pay",
        "text": "Pay",
        "action": {"kind": "callback", "name": name, "payload": {"loan_id": "L-1"}},
    }
    block = {"type": "actions", "id": "actions", "elements": [button]}
    return [Text(json.dumps({"v": 1, "blocks": [block]}))]


async def test_bc_133_a_document_runs_nothing_and_an_action_only_by_its_owners_call(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn(with_callback("repay")), blocks=True, host_actions=ACTIONS)
    noor = await server.person()

    played = await noor.prompt("Show my loan")
    assert played.events[-2].blocks.ok
    [_, reply] = await noor.messages(played.conversation_id)
    assert loan_actions.calls == []
    [element] = reply.blocks.blocks[0].actions.elements
    callback = element.button.action.callback
    request = pressing(
        played.conversation_id,
        callback.name,
        message_id=reply.message_id,
        element_id=element.id,
        payload_json=callback.payload_json,
    )
    eve = await server.person("eve")
    assert (await refusal(eve, request)).reason == "NOT_OWNER"
    assert loan_actions.calls == []

    response = await noor.client.turns.RunBlockAction(request)

    assert heading_of(response) == "L-1: 0"

    [(name, context)] = loan_actions.calls
    assert context is not None
    assert (name, str(context.message_id)) == ("repay", reply.message_id)
    assert [each.text for each in await noor.messages(played.conversation_id)] == [
        "Show my loan",
        reply.text,
    ]


@pytest.mark.parametrize(
    ("name", "actions", "ok"),
    [
        ("repay", ACTIONS, True),
        ("openCamera", ACTIONS, True),
        ("Repay", ACTIONS, False),
        ("steal", ACTIONS, False),
        ("repay", (), False),
        ("repay", ("tests.loan_actions:remind",), False),
    ],
)
async def test_a_document_with_a_callback_is_valid_for_names_of_host_actions_alone(
    start_server: StartServer, name: str, actions: tuple[str, ...], *, ok: bool
) -> None:
    server = await start_server(in_turn(with_callback(name)), blocks=True, host_actions=actions)
    noor = await server.person()

    checked = (await noor.prompt("Show my loan")).events[-2].blocks

    assert checked.ok == ok
    codes = {error.code for error in checked.errors}
    assert codes <= ({"INVALID_FORMAT"} if name == "Repay" else {"UNKNOWN_HOST_ACTION"})


@pytest.mark.parametrize("path", ["tests.loan_actions:Part", "tests.no_actions"])
async def test_what_is_no_action_stops_the_start(start_server: StartServer, path: str) -> None:
    with pytest.raises(ConfigurationError, match=path):
        await start_server(in_turn(), blocks=True, host_actions=(path,))


async def test_a_result_may_name_the_deployments_own_actions(start_server: StartServer) -> None:
    both = ("tests.loan_actions:offer", "tests.loan_actions:remind")
    server = await start_server(in_turn(), blocks=True, host_actions=both)
    noor = await server.person()
    response = await press(noor, await begun(noor), "offer")
    assert response.blocks.blocks[0].id == "next"
    alone = await start_server(in_turn(), blocks=True, host_actions=both[:1])
    noor = await alone.person()
    error = await refusal(noor, pressing(await begun(noor), "offer"))
    assert error.code == StatusCode.INTERNAL


async def test_a_pending_ask_waits_on_while_an_action_runs(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()]), blocks=True, host_actions=ACTIONS)
    noor = await server.person()
    own = (await noor.prompt("Set up my workspace")).conversation_id
    before = await noor.messages(own)

    await press(noor, own, "repay", LOAN)

    conversation = await noor.conversation(own)
    assert conversation.pending_ask.tool_call_id == PLAN_ID
    assert await noor.messages(own) == before

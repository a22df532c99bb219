"""What action tokens may not press, and who learns of them (spec turns 16.7, X5)."""

import asyncio
import hashlib
import secrets
from typing import Any, Final

import pytest
from grpc import StatusCode
from pydantic import JsonValue
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.asking_service import Ask, asking_service, empty_conversation
from tests.end_to_end.guarded import Guarded, wait_on_approval
from tests.end_to_end.person import accept, refused
from tests.end_to_end.tokens import notification, token_for
from tests.failpoints import kill
from tests.server import Processes, Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import DELETE, StandardTools

TEAM: Final = "option:team"
Words = dict[str, JsonValue]

# ---------------------------------------------------------------- what does harm


def worded(words: Words) -> dict[str, Any]:
    async def word(_: JsonValue) -> object:
        return words

    return {"approval_wordings": {DELETE: word}}


async def _token(guarded: Guarded, *button_ids: str) -> Any:
    return await token_for(guarded.noor, guarded.own, guarded.approval_id, *button_ids)


async def test_x5_the_token_of_a_guarded_card_can_not_name_approve(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools, **worded({"prompt": "p" * 141}))
    error = error_of(await refused(_token(guarded, "approve")))
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "UNKNOWN_BUTTON")
    assert [field.path for field in error.fields] == ["buttonIds[0]"]
    token = await _token(guarded)
    assert list(token.button_ids) == ["deny"]
    async with notification(guarded.server.address) as phone:
        error = error_of(await refused(phone.press(token, "approve")))
        assert error.reason == "TOKEN_INVALID"
        assert (await phone.press(token, "deny")).result.text == "Done."
    assert guarded.runs == 0


async def test_a_token_may_approve_what_does_no_harm(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools)
    token = await _token(guarded, "approve")
    async with notification(guarded.server.address) as phone:
        assert (await phone.press(token, "approve")).result.text == "Done."
    assert guarded.runs == 1


HARM: Final[Words] = {"prompt": "Delete them?", "destructive": True}


async def test_a_token_may_deny_what_does_harm_but_not_approve_it(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools, **worded(HARM))
    error = error_of(await refused(_token(guarded, "deny", "approve")))
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "DESTRUCTIVE_BUTTON")
    assert [field.path for field in error.fields] == ["buttonIds[1]"]
    assert list((await _token(guarded)).button_ids) == ["deny"]
    await guarded.untouched()


async def test_a_deployment_may_let_tokens_approve_what_does_harm(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(
        start_server, tools, tokens_for_destructive_buttons=True, **worded(HARM)
    )
    token = await _token(guarded)
    assert list(token.button_ids) == ["approve", "deny"]
    async with notification(guarded.server.address) as phone:
        await phone.press(token, "approve")
    assert guarded.runs == 1


# ---------------------------------------------------------------- what is known of them


async def _all_rows(engine: AsyncEngine) -> str:
    """Returns all that the database holds, as text."""
    async with engine.connect() as connection:
        names = await connection.execute(
            text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        )
        found = [
            str((await connection.execute(text(f'SELECT t::text FROM "{name}" AS t'))).all())
            for (name,) in names
        ]
    return "\n".join(found)


async def test_no_token_is_stored_or_logged(start_server: StartServer, engine: AsyncEngine) -> None:
    with capture_logs() as lines:
        server = await start_server(in_turn([ask_plan()], [Text("Done.")]))
        noor = await server.person()
        asked = await noor.prompt("Set up my workspace")
        token = await token_for(noor, asked.conversation_id, PLAN_ID, TEAM)
        wrong = secrets.token_urlsafe(32)
        async with notification(server.address) as phone:
            await refused(phone.press(wrong, TEAM))
            await refused(phone.press(token, "no button"))
            await phone.press(token, TEAM)
            await refused(phone.press(token, "no button"))
    logged, stored = str(lines), await _all_rows(engine)
    digest = hashlib.sha256(token.token.encode()).digest()
    assert digest.hex() in stored
    assert token.token not in stored
    for secret in (token.token, wrong, digest.hex(), str(digest)):
        assert secret not in logged
    redeemed = [line for line in lines if "RedeemActionToken" in str(line.get("method"))]
    assert len(redeemed) == 4


async def test_256_bits_are_told_once(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    made = [await token_for(noor, asked.conversation_id, PLAN_ID) for _ in range(5)]
    assert len({token.token for token in made}) == 5
    assert {len(token.token) for token in made} == {43}


# ---------------------------------------------------------------- crashes


async def test_a_press_whose_server_dies_is_the_same_turn_elsewhere(processes: Processes) -> None:
    dying = await processes.start("ASK", kill("after_tx1", kind="action_token"))
    noor = await dying.person()
    asked = await noor.prompt("Set up my workspace")
    token = await token_for(noor, asked.conversation_id, PLAN_ID, TEAM)
    async with notification(dying.address) as phone:
        error = await refused(phone.press(token, TEAM))
    assert error.code() == StatusCode.UNAVAILABLE
    assert await dying.wait() == -9
    other = await processes.start("ASK")
    async with notification(other.address) as phone:
        pressed = await phone.press(token, TEAM)
    assert pressed.result.text == "Setting up the Team plan."
    elsewhere = await other.person()
    turn = await elsewhere.turn(asked.conversation_id, pressed.turn_id)
    assert turn.state == turns_pb2.Turn.STATE_COMPLETED
    assert len(await elsewhere.messages(asked.conversation_id)) == 4


async def test_a_press_whose_server_dies_before_it_is_stored_can_be_sent_again(
    processes: Processes,
) -> None:
    dying = await processes.start("ASK", kill("before_tx1", kind="action_token"))
    noor = await dying.person()
    asked = await noor.prompt("Set up my workspace")
    token = await token_for(noor, asked.conversation_id, PLAN_ID, TEAM)
    async with notification(dying.address) as phone:
        await refused(phone.press(token, TEAM))
    other = await processes.start("ASK")
    async with notification(other.address) as phone:
        assert (await phone.press(token, TEAM)).result.text == "Setting up the Team plan."


# ---------------------------------------------------------------- asks of services


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn())


async def test_a_token_answers_the_ask_of_a_service(server: Server) -> None:
    noor, errands = await server.person(), await asking_service(server)
    conversation_id = await empty_conversation(noor)
    ask = await errands.ask(conversation_id)
    waiting = asyncio.ensure_future(errands.wait(ask.ask_id))
    token = await token_for(noor, conversation_id, ask.tool_call_id, TEAM)
    async with notification(server.address) as phone:
        first = await phone.press(token, TEAM)
        assert await phone.press(token, TEAM) == first
    answered = await waiting
    assert (answered.status, answered.answer) == (Ask.STATUS_ANSWERED, accept("team"))
    assert answered.resolved_by_turn_id == first.turn_id
    assert server.model.calls == []

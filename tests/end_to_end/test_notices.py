"""The notifier: a webhook that is told of asks (spec turns 16.6, 16.7)."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue, SecretStr
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parleyd.app.settings import Settings
from parleyd.contract import limits
from parleyd.models.script import Call, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.asking_service import asking_service, empty_conversation
from tests.end_to_end.notified import (
    asking,
    become,
    let_be_due,
    rows,
)
from tests.end_to_end.person import accept, refused
from tests.end_to_end.tokens import notification
from tests.receiver import SECRET, Receiver, Reply
from tests.server import Processes, StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import DELETE, StandardTools, delete

pytestmark = pytest.mark.usefixtures("often_polled")
TEAM = "option:team"
FORM: dict[str, JsonValue] = {
    "prompt": "Where do you live?",
    "allowDecline": False,
    "fields": [{"id": "street", "label": "Street", "type": "text", "required": True}],
}


async def test_an_ask_is_told_once_signed_with_its_card_as_it_is_stored(
    start_server: StartServer, receiver: Receiver, engine: AsyncEngine
) -> None:
    before = datetime.now(UTC) - timedelta(seconds=5)
    server, asked = await asking(start_server, receiver)
    (post,) = await receiver.posts(1)
    told = post.payload
    async with engine.connect() as connection:
        stored = await connection.execute(text("SELECT simple FROM asks"))
        assert told["simple"] == stored.scalar_one()
    assert told["simple"]["buttons"][0]["label"] == "Team"
    assert {name: told[name] for name in ("type", "owner", "conversationId", "toolCallId")} == {
        "type": "ask.asked",
        "owner": "noor",
        "conversationId": asked.conversation_id,
        "toolCallId": PLAN_ID,
    }
    assert (told["kind"], told["origin"], told["title"]) == ("choice", "model", None)
    assert (told["expireTime"], told["resolution"]) == (None, None)
    assert before < datetime.fromisoformat(told["time"]) < datetime.now(UTC)
    row = await become(engine, state="sent")
    assert (row.id, row.kind, row.attempts, row.last_error) == (post.id, "asked", 1, None)
    await server.stop()
    assert receiver.received == [post]


async def test_the_token_that_is_told_presses_a_button_without_a_session(
    start_server: StartServer, receiver: Receiver
) -> None:
    server, asked = await asking(start_server, receiver)
    (post,) = await receiver.posts(1)
    token = post.payload["actionToken"]
    assert token["buttonIds"] == [each["id"] for each in post.payload["simple"]["buttons"]]
    lasts = datetime.fromisoformat(token["expireTime"]) - datetime.now(UTC)
    assert timedelta(hours=23) < lasts <= timedelta(hours=24)
    async with notification(server.address) as phone:
        redeemed = await phone.press(token["token"], TEAM)
    assert redeemed.conversation_id == asked.conversation_id
    assert redeemed.result.text == "Done."


async def test_that_an_ask_is_resolved_is_told_to_whom_it_was_told(
    start_server: StartServer, receiver: Receiver, engine: AsyncEngine
) -> None:
    server, asked = await asking(start_server, receiver)
    await become(engine, kind="resolved", state="waiting")
    noor = await server.person()
    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    _, post = await receiver.posts(2)
    told = post.payload
    assert (told["type"], told["toolCallId"], told["owner"]) == ("ask.resolved", PLAN_ID, "noor")
    assert told["resolution"] == {"action": "accept", "reason": None}
    assert told["actionToken"] is None
    assert "team" not in str(told["resolution"])
    assert datetime.fromisoformat(told["time"]) <= datetime.now(UTC)
    assert post.id != receiver.received[0].id
    await become(engine, kind="resolved", state="sent")


async def test_an_ask_of_a_service_and_its_expiry_are_told(
    start_server: StartServer,
    receiver: Receiver,
    engine: AsyncEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "REAPER_SECONDS", 0.05)
    server = await start_server(in_turn(), **receiver.settings)
    noor, service = await server.person(), await asking_service(server)
    ask = await service.ask(await empty_conversation(noor), ttl=timedelta(hours=1))
    (post,) = await receiver.posts(1)
    assert post.payload["origin"] == "service"
    assert datetime.fromisoformat(post.payload["expireTime"]) == ask.expire_time.ToDatetime(UTC)
    assert post.payload["actionToken"]["expireTime"] == post.payload["expireTime"]
    await become(engine, kind="resolved", state="waiting")
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE asks SET expire_time = now()"))
    _, end = await receiver.posts(2)
    assert end.payload["resolution"] == {"action": "cancel", "reason": "expired"}


async def test_an_approval_that_does_harm_is_told_with_a_token_for_its_harmless_button(
    start_server: StartServer, receiver: Receiver, tools: StandardTools
) -> None:
    async def word(_: JsonValue) -> object:
        return {"prompt": "Delete them?", "destructive": True}

    server = await start_server(
        in_turn([delete()], [Text("Done.")]),
        tools=tools.all_hosted,
        approval_wordings={DELETE: word},
        **receiver.settings,
    )
    noor = await server.person()
    await noor.prompt("Clean up")
    (post,) = await receiver.posts(1)
    styles = {each["id"]: each["style"] for each in post.payload["simple"]["buttons"]}
    assert styles == {"approve": "destructive", "deny": "cancel"}
    assert post.payload["actionToken"]["buttonIds"] == ["deny"]


async def test_a_card_without_buttons_is_told_without_a_token(
    start_server: StartServer, receiver: Receiver
) -> None:
    form = Call("ask_form", FORM, "call_form")
    server = await start_server(in_turn([form], [Text("Done.")]), **receiver.settings)
    noor = await server.person()
    await noor.prompt("Send it")
    (post,) = await receiver.posts(1)
    assert post.payload["simple"]["handoff"] is True
    assert [each["id"] for each in post.payload["simple"]["buttons"]] == []
    assert post.payload["actionToken"] is None


async def test_an_ask_that_is_answered_first_is_not_told(
    start_server: StartServer, receiver: Receiver, engine: AsyncEngine
) -> None:
    receiver.reply(500)
    server, asked = await asking(start_server, receiver)
    await become(engine, attempts=1, claimed=False, last_error="HTTP 500")
    noor = await server.person()
    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    await become(engine, kind="asked", state="dropped")
    assert len(receiver.received) == 1
    assert [row.kind for row in await rows(engine)] == ["asked"]


async def test_an_ask_that_was_answered_while_notices_were_off_is_not_told(
    start_server: StartServer, receiver: Receiver, engine: AsyncEngine
) -> None:
    receiver.reply(500)
    server, asked = await asking(start_server, receiver)
    await become(engine, attempts=1, claimed=False, last_error="HTTP 500")
    await server.stop()
    silent = await start_server(in_turn([Text("Done.")]))
    noor = await silent.person()
    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    await silent.stop()
    await let_be_due(engine)
    await start_server(in_turn(), asks=(), **receiver.settings)
    await become(engine, kind="asked", state="dropped")
    assert len(receiver.received) == 1


async def test_an_ask_that_is_answered_while_it_is_told_is_told_to_be_resolved(
    start_server: StartServer, receiver: Receiver
) -> None:
    held = threading.Event()
    receiver.reply(Reply(held=held))
    server, asked = await asking(start_server, receiver)
    await receiver.posts(1)
    noor = await server.person()
    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    held.set()
    _, post = await receiver.posts(2)
    assert post.payload["type"] == "ask.resolved"


async def test_what_was_asked_while_nobody_listened_is_told_later(
    start_server: StartServer, receiver: Receiver, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Done.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    assert await rows(engine) == [], "it is off unless a deployment says else"
    await server.stop()
    await start_server(in_turn(), **receiver.settings)
    (post,) = await receiver.posts(1)
    assert post.payload["conversationId"] == asked.conversation_id


async def test_what_has_waited_for_long_is_not_told_when_notices_are_switched_on(
    start_server: StartServer, receiver: Receiver, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([ask_plan()], [ask_plan()]))
    noor = await server.person()
    await noor.prompt("Set up my workspace")
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE asks SET create_time = now() - interval '25 h'"))
    young = await noor.prompt("Set up the other one")
    await server.stop()
    await start_server(in_turn(), **receiver.settings)
    await become(engine, state="sent")
    assert [post.payload["conversationId"] for post in receiver.received] == [young.conversation_id]
    assert len([row for row in await rows(engine) if row.kind == "asked"]) == 1


async def test_no_log_line_and_no_setting_that_is_printed_shows_address_secret_or_token(
    processes: Processes,
    receiver: Receiver,
    engine: AsyncEngine,
    capfd: pytest.CaptureFixture[str],
) -> None:
    receiver.reply(500, 404)
    server = await processes.start("ASK", log_level="debug", **receiver.settings)
    noor = await server.person()
    await noor.prompt("Set up my workspace")
    await become(engine, attempts=1, claimed=False, last_error="HTTP 500")
    await let_be_due(engine)
    await become(engine, state="dead")
    server.terminate()
    await server.wait()
    told = capfd.readouterr().err
    assert "notice_dead" in told
    assert "notice_put_off" in told
    tokens = [post.payload["actionToken"]["token"] for post in receiver.received]
    settings = repr(
        Settings(
            environment="development",
            webhook_url=SecretStr(receiver.url),
            webhook_secret=SecretStr(SECRET),
        )
    )
    for secret in (*tokens, SECRET, SECRET.removeprefix("whsec_"), "s3cret-path", "hooks/parley"):
        assert secret not in told
        assert secret not in settings


async def test_a_used_token_of_a_notice_is_over_for_another_button(
    start_server: StartServer, receiver: Receiver
) -> None:
    server, _ = await asking(start_server, receiver)
    (post,) = await receiver.posts(1)
    token = post.payload["actionToken"]["token"]
    async with notification(server.address) as phone:
        await phone.press(token, TEAM)
        error = error_of(await refused(phone.press(token, "option:starter")))
    assert error.reason == "TOKEN_USED"

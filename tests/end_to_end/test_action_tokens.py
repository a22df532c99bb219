"""Buttons of a notification, which work once without a session (spec turns 16.7, X5; BC-082)."""

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import pytest
from grpc import StatusCode, aio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.models.script import Fail, Hold, ScriptedStep, Text
from parleyd.models.scripted import by_progress, by_prompt, in_turn
from tests.end_to_end.person import COMPACT, Person, Played, accept, refused
from tests.end_to_end.test_expiry import pass_time
from tests.end_to_end.tokens import Notification, Token, notification, token_for
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

TEAM: Final = "option:team"
STARTER: Final = "option:starter"
ENTERPRISE: Final = "option:enterprise"
DONE: Final[ScriptedStep] = [Text("Done.")]
State = turns_pb2.Turn.State


class Scene:
    """A conversation that waits on PLAN, and a phone that nobody has unlocked."""

    def __init__(self, server: Server, noor: Person, asked: Played, phone: Notification) -> None:
        self.server = server
        self.noor = noor
        self.conversation_id = asked.conversation_id
        self.phone = phone

    async def token(self, *button_ids: str, ttl: timedelta | None = None) -> Token:
        return await token_for(self.noor, self.conversation_id, PLAN_ID, *button_ids, ttl=ttl)


async def scene_of(
    start_server: StartServer, phone_stack: list[Any], *steps: ScriptedStep, **settings: Any
) -> Scene:
    server = await start_server(in_turn([ask_plan()], *(steps or (DONE, DONE))), **settings)
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    entered = notification(server.address)
    phone_stack.append(entered)
    return Scene(server, noor, asked, await entered.__aenter__())


@pytest.fixture
async def phones() -> AsyncIterator[list[Any]]:
    opened: list[Any] = []
    yield opened
    for each in opened:
        await each.__aexit__(None, None, None)


@pytest.fixture
async def scene(start_server: StartServer, phones: list[Any]) -> Scene:
    return await scene_of(start_server, phones)


async def turns_of(engine: AsyncEngine, conversation_id: str) -> list[tuple[Any, ...]]:
    async with engine.connect() as connection:
        found = await connection.execute(
            text(
                "SELECT input_kind, surface FROM turns WHERE conversation_id = :id ORDER BY turn_no"
            ),
            {"id": conversation_id},
        )
        return [tuple(row) for row in found]


# ---------------------------------------------------------------- redeemed


async def test_x5_a_token_presses_its_button_and_the_turn_runs(
    scene: Scene, engine: AsyncEngine
) -> None:
    token = await scene.token(TEAM)
    pressed = await scene.phone.press(token, TEAM)
    assert pressed.conversation_id == pressed.result.conversation_id == scene.conversation_id
    assert pressed.turn_id == pressed.result.turn_id
    assert (pressed.result.state, pressed.result.text) == (State.STATE_COMPLETED, "Done.")
    watched = await scene.noor.watch(scene.conversation_id, pressed.turn_id)
    assert watched.names == ["started", "ask_resolved", "text", "done"]
    _, _, answer, _ = await scene.noor.messages(scene.conversation_id)
    assert answer.result_json == '{"action":"accept","content":{"selected":["team"]}}'
    assert await turns_of(engine, scene.conversation_id) == [
        ("prompt", "full"),
        ("action_token", "compact"),
    ]


async def test_x5_without_waiting_the_turn_is_named_once_it_is_stored(
    start_server: StartServer, phones: list[Any]
) -> None:
    scene = await scene_of(start_server, phones, [Hold("thinking"), Text("Done.")])
    token = await scene.token(TEAM)
    pressed = await scene.phone.press(token, TEAM, wait=False)
    assert not pressed.HasField("result")
    turn = await scene.noor.turn(scene.conversation_id, pressed.turn_id)
    assert turn.state == State.STATE_RUNNING
    assert await scene.noor.pending() == []
    again = asyncio.ensure_future(scene.phone.press(token, TEAM))
    scene.server.model.holds.release("thinking")
    assert (await again).turn_id == pressed.turn_id
    assert (await again).result.text == "Done."


async def test_x5_the_same_button_again_gets_the_same_turn(scene: Scene) -> None:
    token = await scene.token(TEAM, STARTER)
    first = await scene.phone.press(token, TEAM)
    assert [await scene.phone.press(token, TEAM) for _ in range(3)] == [first] * 3
    without = await scene.phone.press(token, TEAM, wait=False)
    assert (without.turn_id, without.HasField("result")) == (first.turn_id, False)
    assert len(scene.server.model.calls) == 2


async def test_x5_the_same_button_again_gets_the_same_turn_also_when_it_failed(
    start_server: StartServer, phones: list[Any]
) -> None:
    scene = await scene_of(start_server, phones, [Fail("other")], DONE)
    token = await scene.token(TEAM)
    first = await scene.phone.press(token, TEAM)
    assert (first.result.state, first.result.error.reason) == (State.STATE_FAILED, "MODEL_ERROR")
    assert await scene.phone.press(token, TEAM) == first
    retried = await scene.noor.retry(scene.conversation_id, first.turn_id)
    assert retried.text == "Done."
    assert await scene.phone.press(token, TEAM) == first
    assert len(scene.server.model.calls) == 3


async def test_x5_another_button_is_told_that_the_token_is_used(scene: Scene) -> None:
    token = await scene.token(TEAM, STARTER)
    await scene.phone.press(token, TEAM)
    for other in (STARTER, ENTERPRISE, "no button"):
        error = error_of(await refused(scene.phone.press(token, other)))
        assert (error.code, error.reason) == (StatusCode.ABORTED, "TOKEN_USED")
        assert error.metadata == {}
    assert len(scene.server.model.calls) == 2


async def test_a_used_token_names_its_turn_when_its_own_time_is_over(
    scene: Scene, engine: AsyncEngine
) -> None:
    token = await scene.token(TEAM)
    first = await scene.phone.press(token, TEAM)
    await _end(engine)
    assert await scene.phone.press(token, TEAM) == first


async def test_whatever_bearer_token_comes_along_is_not_looked_at(scene: Scene) -> None:
    token = await scene.token(TEAM)
    stranger = scene.server.token("somebody else")
    service = scene.server.token("errands", aud="parley-internal", scope="")
    for bearer in ("nonsense", f"Bearer {stranger}", f"Bearer {service}"):
        pressed = await scene.phone.press(token, TEAM, metadata=(("authorization", bearer),))
        assert pressed.result.text == "Done."


# ---------------------------------------------------------------- bc-082


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "one after the other"])
async def test_bc_082_one_press_with_a_token_that_is_sent_five_times_is_one_turn(
    scene: Scene, engine: AsyncEngine, *, at_once: bool
) -> None:
    token = await scene.token(TEAM)
    if at_once:
        presses = await asyncio.gather(*(scene.phone.press(token, TEAM) for _ in range(5)))
    else:
        presses = [await scene.phone.press(token, TEAM) for _ in range(5)]
    assert all(pressed == presses[0] for pressed in presses)
    assert len(scene.server.model.calls) == 2
    assert len(await turns_of(engine, scene.conversation_id)) == 2


async def test_bc_082_one_press_of_the_owner_that_is_sent_five_times_is_one_turn(
    scene: Scene, engine: AsyncEngine
) -> None:
    request = _press_request(scene.conversation_id)
    results = await asyncio.gather(*(scene.noor.run(request) for _ in range(5)))
    assert all(result == results[0] for result in results)
    assert results[0].text == "Done."
    assert len(scene.server.model.calls) == 2
    assert len(await turns_of(engine, scene.conversation_id)) == 2


async def test_bc_082_one_press_of_a_stranger_that_is_sent_five_times_has_no_effect(
    scene: Scene, engine: AsyncEngine
) -> None:
    stranger = await scene.server.person("somebody else")
    request = _press_request(scene.conversation_id)
    errors = await asyncio.gather(*(refused(stranger.run(request)) for _ in range(5)))
    assert {error_of(error).reason for error in errors} == {"NOT_OWNER"}
    assert len(await turns_of(engine, scene.conversation_id)) == 1
    assert (await scene.noor.run(request)).text == "Done."


def _press_request(conversation_id: str) -> turns_pb2.TurnRequest:
    return turns_pb2.TurnRequest(
        conversation_id=conversation_id,
        button=turns_pb2.ButtonInput(tool_call_id=PLAN_ID, button_id=TEAM),
        surface=COMPACT,
        request_id=str(uuid4()),
    )


# ---------------------------------------------------------------- dead tokens


async def _end(engine: AsyncEngine) -> None:
    """Lets the time of all tokens be over."""
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE action_tokens SET expire_time = now()"))


async def _refusal(press: Any) -> tuple[Any, ...]:
    """Returns all that a client can tell of a refusal."""
    error = await refused(press)
    assert isinstance(error, aio.AioRpcError)
    return error.code(), error.details(), tuple(error.trailing_metadata() or ())


async def test_x5_whatever_is_wrong_with_a_token_the_error_is_the_same(
    start_server: StartServer, engine: AsyncEngine, phones: list[Any]
) -> None:
    server = await start_server(
        by_prompt({"Set up": by_progress([ask_plan()], DONE), "Never mind": by_progress(DONE)})
    )
    noor, phone = await server.person(), notification(server.address)
    phones.append(phone)
    there = await phone.__aenter__()

    async def waiting() -> tuple[str, Token]:
        asked = await noor.prompt("Set up")
        return asked.conversation_id, await token_for(noor, asked.conversation_id, PLAN_ID, TEAM)

    answered, dropped, deleted, expired, expired_ask, living = [await waiting() for _ in range(6)]
    await noor.answer(answered[0], PLAN_ID, accept("team"))
    await noor.prompt("Never mind", dropped[0])
    await noor.delete(deleted[0])
    async with engine.begin() as connection:
        await connection.execute(
            text("UPDATE asks SET expire_time = now() WHERE conversation_id = :id"),
            {"id": expired_ask[0]},
        )
        await connection.execute(
            text("UPDATE action_tokens SET expire_time = now() WHERE token_hash = :hash"),
            {"hash": hashlib.sha256(expired[1].token.encode()).digest()},
        )
    dead = {
        "random": secrets.token_urlsafe(32),
        "no token": "nonsense",
        "resolved by an answer": answered[1].token,
        "dropped by a message": dropped[1].token,
        "of a deleted conversation": deleted[1].token,
        "expired": expired[1].token,
        "of an expired ask": expired_ask[1].token,
    }
    told = {name: await _refusal(there.press(token, TEAM)) for name, token in dead.items()}
    told["not for this button"] = await _refusal(there.press(living[1], STARTER))
    told["for no button"] = await _refusal(there.press(living[1], "no button"))
    assert len(set(told.values())) == 1, told
    error = error_of(await refused(there.press(dead["random"], TEAM)))
    assert (error.code, error.reason, error.metadata) == (StatusCode.NOT_FOUND, "TOKEN_INVALID", {})
    assert (await there.press(living[1], TEAM)).result.text == "Done."


async def test_x5_tokens_that_another_token_was_faster_than_are_dead(scene: Scene) -> None:
    first, second = await scene.token(TEAM), await scene.token(TEAM)
    assert first.token != second.token
    await scene.phone.press(first, TEAM)
    assert error_of(await refused(scene.phone.press(second, TEAM))).reason == "TOKEN_INVALID"


@pytest.mark.parametrize("attempt", range(5))
async def test_of_a_token_and_an_answer_at_once_one_resolves_the_ask(
    scene: Scene, engine: AsyncEngine, attempt: int
) -> None:
    token = await scene.token(TEAM)
    pressing = scene.phone.press(token, TEAM)
    answering = scene.noor.answer(scene.conversation_id, PLAN_ID, accept("starter"))
    if attempt % 2:
        outcomes = await asyncio.gather(pressing, answering, return_exceptions=True)
    else:
        outcomes = [*await asyncio.gather(answering, pressing, return_exceptions=True)][::-1]
    told = [error_of(each).reason if isinstance(each, aio.AioRpcError) else "" for each in outcomes]
    assert told in (["TOKEN_INVALID", ""], ["", "ASK_NOT_PENDING"])
    assert len(await turns_of(engine, scene.conversation_id)) == 2


# ---------------------------------------------------------------- made


async def test_a_token_is_for_all_buttons_unless_it_says_which(scene: Scene) -> None:
    assert list((await scene.token()).button_ids) == [TEAM, STARTER, ENTERPRISE]
    assert list((await scene.token(STARTER, TEAM, STARTER)).button_ids) == [TEAM, STARTER]


async def test_a_token_lives_for_a_day_and_no_longer_than_it_is_meant_to(scene: Scene) -> None:
    for ttl in (None, timedelta(hours=24), timedelta(hours=1), timedelta(seconds=1)):
        span = ttl or timedelta(days=1)
        before = datetime.now(UTC) - timedelta(seconds=5)
        token = await scene.token(ttl=ttl)
        expires = token.expire_time.ToDatetime(UTC)
        assert before + span < expires < datetime.now(UTC) + span + timedelta(seconds=5)


@pytest.mark.parametrize(
    "ttl", [timedelta(), timedelta(seconds=-1), timedelta(hours=24, seconds=1)]
)
async def test_another_time_is_refused(scene: Scene, ttl: timedelta) -> None:
    error = error_of(await refused(scene.token(ttl=ttl)))
    assert (error.reason, error.fields[0].path) == ("INVALID_REQUEST", "ttl")


async def test_a_token_never_outlives_its_ask(
    start_server: StartServer, engine: AsyncEngine, phones: list[Any]
) -> None:
    scene = await scene_of(start_server, phones, ask_ttl_seconds={"choice": 3600})
    pending = (await scene.noor.pending())[0]
    assert (await scene.token()).expire_time == pending.expire_time
    assert (await scene.token(ttl=timedelta(minutes=1))).expire_time != pending.expire_time
    await pass_time(engine, scene.conversation_id, timedelta(hours=1))
    error = error_of(await refused(scene.token()))
    assert (error.code, error.reason) == (StatusCode.ABORTED, "ASK_EXPIRED")


async def test_there_is_no_token_for_what_is_not_pending(scene: Scene) -> None:
    never = token_for(scene.noor, scene.conversation_id, "call_none")
    error = error_of(await refused(never))
    assert (error.reason, error.metadata["current_tool_call_id"]) == ("ASK_NOT_PENDING", PLAN_ID)
    result = await scene.noor.press(scene.conversation_id, PLAN_ID, TEAM)
    error = error_of(await refused(scene.token()))
    assert (error.code, error.reason) == (StatusCode.ABORTED, "ASK_NOT_PENDING")
    assert error.metadata["resolved_by_turn_id"] == result.turn_id


async def test_there_is_no_token_for_what_the_card_does_not_have(scene: Scene) -> None:
    error = error_of(await refused(scene.token(TEAM, "option:gold")))
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "UNKNOWN_BUTTON")
    assert [field.path for field in error.fields] == ["buttonIds[1]"]
    error = error_of(await refused(scene.token(TEAM, TEAM, TEAM, TEAM)))
    assert (error.reason, error.fields[0].path) == ("INVALID_REQUEST", "buttonIds")


async def test_only_the_owner_and_services_that_may_make_tokens(scene: Scene) -> None:
    stranger = await scene.server.person("somebody else")
    made = token_for(stranger, scene.conversation_id, PLAN_ID)
    assert error_of(await refused(made)).reason == "NOT_OWNER"
    missing = token_for(scene.noor, str(uuid4()), PLAN_ID)
    assert error_of(await refused(missing)).reason == "CONVERSATION_NOT_FOUND"
    pushes = await scene.server.person("pushes", aud="parley-internal", scope="asks.tokens")
    missing = token_for(pushes, str(uuid4()), PLAN_ID)
    assert error_of(await refused(missing)).reason == "CONVERSATION_NOT_FOUND"
    token = await token_for(pushes, scene.conversation_id, PLAN_ID, TEAM)
    assert (await scene.phone.press(token, TEAM)).result.text == "Done."
    errands = await scene.server.person("pushes", aud="parley-internal", scope="asks.write")
    error = error_of(await refused(token_for(errands, scene.conversation_id, PLAN_ID)))
    assert (error.reason, error.metadata) == ("SCOPE_REQUIRED", {"scope": "asks.tokens"})


async def test_with_asks_off_there_are_no_tokens(scene: Scene, start_server: StartServer) -> None:
    token = await scene.token(TEAM)
    silent = await start_server(in_turn(), asks=())
    noor = await silent.person()
    error = error_of(await refused(token_for(noor, scene.conversation_id, PLAN_ID)))
    assert (error.code, error.reason) == (StatusCode.UNIMPLEMENTED, "ASKS_DISABLED")
    async with notification(silent.address) as phone:
        error = error_of(await refused(phone.press(token, TEAM)))
    assert (error.code, error.reason) == (StatusCode.UNIMPLEMENTED, "ASKS_DISABLED")
    assert (await scene.phone.press(token, TEAM)).result.text == "Done."

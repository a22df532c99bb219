"""Action tokens on the wire: what is malformed, what is too often, and the ways of HTTP."""

from collections.abc import AsyncIterator
from typing import Any, Final

import httpx2
import pytest
from grpc import StatusCode, aio

from parley import error_of
from parley.v1 import turns_pb2 as pb
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import Person, refused
from tests.end_to_end.tokens import Notification, Token, notification, token_for
from tests.rpc.web.connect_client import ConnectClient, ConnectFault
from tests.rpc.web.http import body, http_front, reason
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

REDEEM: Final = "/v1/actionTokens:redeem"
TEAM: Final = "option:team"
UNKNOWN: Final = "u" * 43
FEW: Final = 3
"""How many attempts an address has in these tests; where a window ends meanwhile, one more."""


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn([ask_plan()], [Text("Done.")]), web=True)


@pytest.fixture
async def phone(server: Server) -> AsyncIterator[Notification]:
    async with notification(server.address) as there:
        yield there


@pytest.fixture
async def http(server: Server) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(
        base_url=f"http://{server.web_address}", timeout=20, trust_env=False
    ) as client:
        yield client


async def a_token(server: Server) -> tuple[Person, str, Token]:
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    made = await token_for(noor, asked.conversation_id, PLAN_ID, TEAM)
    return noor, asked.conversation_id, made


@pytest.mark.parametrize(
    ("token", "button_id", "fault", "path"),
    [
        ("", TEAM, "INVALID_REQUEST", "token"),
        ("u" * 44, TEAM, "INVALID_REQUEST", "token"),
        (UNKNOWN, "", "BUTTON_ID_REQUIRED", "buttonId"),
    ],
)
async def test_a_malformed_press_is_told_so(
    phone: Notification, token: str, button_id: str, fault: str, path: str
) -> None:
    error = error_of(await refused(phone.press(token, button_id)))
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, fault)
    assert [field.path for field in error.fields] == [path]


@pytest.mark.parametrize("token", ["u", "\0", "\u00fc" * 43, "a b", "../.."])
async def test_any_text_that_is_no_token_is_unknown(phone: Notification, token: str) -> None:
    assert error_of(await refused(phone.press(token, TEAM))).reason == "TOKEN_INVALID"


# ---------------------------------------------------------------- over HTTP


async def test_a_token_is_redeemed_over_http_without_a_session(
    server: Server, http: httpx2.AsyncClient
) -> None:
    noor, conversation_id, token = await a_token(server)
    press = {"token": token.token, "buttonId": TEAM, "wait": True}
    answer = await http.post(REDEEM, json=press)
    assert answer.status_code == 200
    told = body(answer)
    assert told["conversationId"] == conversation_id
    assert told["result"]["text"] == "Done."
    turn = await noor.turn(conversation_id, told["turnId"])
    assert turn.state == turn.STATE_COMPLETED
    used = await http.post(REDEEM, json=press | {"buttonId": "option:starter"})
    assert (used.status_code, reason(used)) == (409, "TOKEN_USED")
    unknown = await http.post(REDEEM, json={"token": UNKNOWN, "buttonId": TEAM})
    assert (unknown.status_code, reason(unknown)) == (404, "TOKEN_INVALID")


async def test_a_token_is_made_over_http(server: Server) -> None:
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    path = f"/v1/conversations/{asked.conversation_id}/actionTokens"
    async with http_front(server.address, server.token()) as client:
        made = await client.post(path, json={"toolCallId": PLAN_ID, "ttl": "60s"})
        late = await client.post(path, json={"toolCallId": PLAN_ID, "ttl": "86401s"})
    assert body(made)["buttonIds"] == [TEAM, "option:starter", "option:enterprise"]
    assert len(body(made)["token"]) == 43
    assert (late.status_code, reason(late)) == (400, "INVALID_REQUEST")
    async with http_front(server.address) as nobody:
        refused = await nobody.post(path, json={"toolCallId": PLAN_ID})
    assert (refused.status_code, reason(refused)) == (401, "UNAUTHENTICATED")


async def test_nobody_who_follows_links_redeems_a_token(
    server: Server, http: httpx2.AsyncClient
) -> None:
    """As previews of messages and scanners of mail do."""
    noor, conversation_id, token = await a_token(server)
    query = {"token": token.token, "buttonId": TEAM}
    for verb in ("GET", "HEAD", "PUT"):
        refused = await http.request(verb, REDEEM, params=query)
        assert refused.status_code == 405
        assert refused.headers["allow"] == "POST"
    assert (await http.post(REDEEM, params=query)).status_code == 400
    method = "/parley.v1.TurnService/RedeemActionToken"
    message = f'{{"token":"{token.token}","buttonId":"{TEAM}"}}'
    connect = {"connect": "v1", "encoding": "json", "message": message}
    assert (await http.get(method, params=connect)).status_code == 405
    assert len(await noor.pending()) == 1
    assert len(await noor.messages(conversation_id)) == 2


async def test_a_token_is_redeemed_over_connect(server: Server, http: httpx2.AsyncClient) -> None:
    _, _, token = await a_token(server)
    client = ConnectClient(http, "proto")
    request = pb.RedeemActionTokenRequest(token=token.token, button_id=TEAM, wait=True)
    pressed = await client.call("RedeemActionToken", request, pb.RedeemActionTokenResponse)
    assert pressed.result.text == "Done."
    request.token = UNKNOWN
    with pytest.raises(ConnectFault) as raised:
        await client.call("RedeemActionToken", request, pb.RedeemActionTokenResponse)
    assert (raised.value.code, raised.value.reason) == ("not_found", "TOKEN_INVALID")


# ---------------------------------------------------------------- too often


async def until_refused(attempt: Any) -> aio.AioRpcError:
    """Makes attempts until one is refused for being one too many."""
    for number in range(FEW + 2):
        error = await refused(attempt())
        if error.code() is StatusCode.RESOURCE_EXHAUSTED:
            assert number >= FEW
            return error
        assert error_of(error).reason == "TOKEN_INVALID"
    raise AssertionError("it may try as often as it likes")


def by(address: str) -> tuple[tuple[str, str], ...]:
    return (("x-forwarded-for", address),)


async def test_an_address_that_tries_too_often_is_refused(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Done.")]), redemptions_per_minute=FEW)
    _, _, token = await a_token(server)
    async with notification(server.address) as phone:

        def guess() -> Any:
            return phone.press(UNKNOWN, TEAM, metadata=by("203.0.113.7"))

        error = error_of(await until_refused(guess))
        assert (error.reason, error.metadata) == ("RATE_LIMITED", {"limit": str(FEW)})
        late = phone.press(token, TEAM, metadata=by("203.0.113.7"))
        assert error_of(await refused(late)).reason == "RATE_LIMITED"
        elsewhere = await phone.press(token, TEAM, metadata=by("203.0.113.8"))
        assert elsewhere.result.text == "Done."


async def test_over_http_each_client_has_an_address_of_its_own(start_server: StartServer) -> None:
    """What a proxy on this machine says of them is believed."""
    server = await start_server(in_turn(), web=True, redemptions_per_minute=FEW)
    request = pb.RedeemActionTokenRequest(token=UNKNOWN, button_id=TEAM)
    async with httpx2.AsyncClient(
        base_url=f"http://{server.web_address}", timeout=20, trust_env=False
    ) as http:

        async def over_json(address: str) -> int:
            press = {"token": UNKNOWN, "buttonId": TEAM}
            answer = await http.post(REDEEM, json=press, headers=dict(by(address)))
            return answer.status_code

        async def over_connect(address: str) -> int:
            client = ConnectClient(http, "json", x_forwarded_for=address)
            with pytest.raises(ConnectFault) as raised:
                await client.call("RedeemActionToken", request, pb.RedeemActionTokenResponse)
            return raised.value.status

        for attempt, subnet in ((over_json, "203.0.113"), (over_connect, "198.51.100")):
            statuses = [await attempt(f"1.1.1.1, {subnet}.7") for _ in range(FEW + 2)]
            assert statuses[:FEW] == [404] * FEW
            assert statuses[-1] == 429
            assert await attempt(f"{subnet}.8") == 404

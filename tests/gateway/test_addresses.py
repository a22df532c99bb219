"""Whose call it is that comes through the gateway: told by who tries action tokens too often."""

from ipaddress import ip_address
from socket import AF_INET
from typing import Final

import grpc
import httpx2
import psutil
import pytest

from parley import error_of
from parley.v1 import turns_pb2 as pb
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import refused
from tests.end_to_end.tokens import notification
from tests.gateway.conftest import StartGateway
from tests.rpc.web.connect_client import ConnectClient, ConnectFault
from tests.server import StartServer

UNKNOWN: Final = "u" * 43
TEAM: Final = "option:team"
FEW: Final = 2
ATTEMPTS: Final = FEW + 2
"""Where a window ends in the middle of them, one more is let in."""
REFUSED: Final = "RATE_LIMITED"


async def test_over_each_protocol_the_service_learns_the_clients_address(
    start_server: StartServer, start_gateway: StartGateway, http: httpx2.AsyncClient
) -> None:
    """The client is itself a proxy here that is believed: all clients have one address else."""
    server = await start_server(
        in_turn(), web=True, redemptions_per_minute=FEW, trust_forwarded_for=True
    )
    gateway = await start_gateway(server)
    base = f"http://{gateway.address}"
    request = pb.RedeemActionTokenRequest(token=UNKNOWN, button_id=TEAM)

    async with notification(str(gateway.address)) as phone:

        async def native(address: str) -> str:
            metadata = (("x-forwarded-for", address),)
            error = await refused(phone.press(UNKNOWN, TEAM, metadata=metadata))
            assert isinstance(error, grpc.aio.AioRpcError)
            return error_of(error).reason

        async def json(address: str) -> str:
            answer = await http.post(
                f"{base}/v1/actionTokens:redeem",
                json={"token": UNKNOWN, "buttonId": TEAM},
                headers={"x-forwarded-for": address},
            )
            return answer.json()["details"][0]["reason"]

        async def connect(address: str) -> str:
            async with httpx2.AsyncClient(base_url=base, timeout=30) as client:
                caller = ConnectClient(client, x_forwarded_for=address)
                try:
                    await caller.call("RedeemActionToken", request, pb.RedeemActionTokenResponse)
                except ConnectFault as fault:
                    return fault.reason
            raise AssertionError("a token that nobody has was redeemed")

        for number, attempt in enumerate((native, json, connect)):
            told = [await attempt(f"198.51.100.{number}") for _ in range(ATTEMPTS)]
            assert told[:FEW] == ["TOKEN_INVALID"] * FEW
            assert told[-1] == REFUSED
            assert await attempt(f"203.0.113.{number}") == "TOKEN_INVALID"


def is_connected() -> bool:
    """Tells whether this machine has an address that others could reach."""
    listed = [each for found in psutil.net_if_addrs().values() for each in found]
    return any(
        each.family == AF_INET and not ip_address(each.address).is_loopback for each in listed
    )


@pytest.mark.skipif(not is_connected(), reason="everybody here is on this machine, and believed")
async def test_nobody_makes_up_an_address(
    start_server: StartServer, start_gateway: StartGateway, http: httpx2.AsyncClient
) -> None:
    """The gateway puts an address behind what the client says, and that one counts.

    In place of loopback it is one that others could reach.
    """
    server = await start_server(in_turn(), web=True, redemptions_per_minute=FEW)
    gateway = await start_gateway(server)
    seen: list[int] = []
    for number in range(ATTEMPTS):
        answer = await http.post(
            f"http://{gateway.address}/v1/actionTokens:redeem",
            json={"token": UNKNOWN, "buttonId": TEAM},
            headers={"x-forwarded-for": f"198.51.100.{number}"},
        )
        seen.append(answer.status_code)
    assert seen[:FEW] == [404] * FEW
    assert seen[-1] == 429

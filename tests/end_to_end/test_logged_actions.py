"""What the request log holds of host actions (spec blocks 22, turns 12.4)."""

import json
from typing import Final

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs

from parleyd.models.scripted import in_turn
from parleyd.turns.request_log import LoggedRequest, RequestLog
from tests import loan_actions
from tests.end_to_end.person import Person
from tests.end_to_end.pressed import ACTIONS, LOAN, begun, logged, press, pressing, refusal
from tests.server import Server, StartServer

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


async def test_the_request_log_has_the_ids_and_the_result_but_not_the_payload(
    noor: Person, server: Server, engine: AsyncEngine
) -> None:
    own = await begun(noor)
    await press(noor, own, "repay", {"loan_id": "L-secret"})
    await press(noor, own, "remind", {"value": 3})
    await refusal(noor, pressing(own, "fail"))

    paid, reminded, failed = await logged(server, engine)

    assert paid[:4] == ("noor", own, None, "host-action")
    assert json.loads(paid.prompt) == {
        "conversationId": own,
        "messageId": "12",
        "blockId": "actions",
        "elementId": "pay",
        "name": "repay",
    }
    assert json.loads(paid.response) == {
        "text": "Paid.",
        "blocks": {"v": 1, "blocks": [{"type": "heading", "text": "L-secret: 0"}]},
        "replace": "block",
    }
    assert 0 <= paid.response_time_ms < DEADLINE * 1000
    assert (paid.error, paid.tokens_used, paid.metadata) == (None, None, None)
    assert (reminded.response, reminded.error, reminded.metadata) == ("{}", None, None)
    assert (failed.response, failed.error) == (None, f"ValueError: {loan_actions.SECRET}")


async def test_of_an_action_that_is_not_to_be_logged_only_ids_and_a_numeric_value_are(
    noor: Person, server: Server, engine: AsyncEngine
) -> None:
    own = await begun(noor)
    await press(noor, own, "quiet", {"value": 4.5, "name": "N"})
    await press(noor, own, "quiet", {"value": "4"})
    await press(noor, own, "quiet", {"value": True})
    shown = await press(noor, own, "quiet")
    assert shown.text == loan_actions.SECRET
    await refusal(noor, pressing(own, "quiet", {"fail": 1, "value": 7}))

    *rows, failed = await logged(server, engine)

    assert [row.metadata for row in rows] == [{"value": 4.5}, None, None, None]
    assert {(row.response, row.error) for row in rows} == {(None, None)}
    assert (failed.response, failed.error, failed.metadata) == (None, "ValueError", {"value": 7})
    assert {json.loads(row.prompt)["name"] for row in rows} == {"quiet"}


class BrokenLog:
    """A request log that can't be written."""

    async def log_request(self, request: LoggedRequest) -> None:
        raise OSError(request.prompt)


async def test_a_log_that_fails_never_fails_the_call(start_server: StartServer) -> None:
    def broken(request_log: RequestLog) -> RequestLog:
        del request_log
        return BrokenLog()

    server = await start_server(in_turn(), blocks=True, host_actions=ACTIONS, wrap_log=broken)
    noor = await server.person()

    with capture_logs() as logs:
        response = await press(noor, await begun(noor), "repay", LOAN)

    assert response.text == "Paid."
    assert "request_not_logged" in [line["event"] for line in logs]

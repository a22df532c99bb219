"""Asks of services over plain HTTP."""

from typing import Any, Final

import httpx2
import pytest

from parleyd.models.scripted import in_turn
from tests.end_to_end.asking_service import empty_conversation
from tests.rpc.web.http import body, events_of, faults, http_front, reason
from tests.server import Server, StartServer

QUESTION: Final[dict[str, Any]] = {
    "prompt": "Which plan do you want?",
    "choice": {
        "select": "SELECT_ONE",
        "options": [{"id": "starter", "label": "Starter"}, {"id": "team", "label": "Team"}],
    },
}


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn())


def front_of(server: Server, subject: str = "noor", **claims: Any) -> Any:
    return http_front(server.address, server.token(subject, **claims))


def service_front(server: Server) -> Any:
    return front_of(server, "errands", aud="parley-internal", scope="asks.write")


async def asked(service: httpx2.AsyncClient, conversation_id: str, **more: Any) -> Any:
    """Asks the owner of a conversation, and returns the reply."""
    wish = {"owner": "noor", "input": QUESTION, **more}
    return await service.post(f"/v1/conversations/{conversation_id}/asks", json=wish)


async def test_a_service_asks_waits_and_reads_the_answer_over_http(server: Server) -> None:
    noor = await server.person()
    own = await empty_conversation(noor)
    async with service_front(server) as service, front_of(server) as person:
        ask = body(await asked(service, own, ttl="300s"))["ask"]
        assert (ask["status"], ask["creator"]) == ("STATUS_PENDING", "errands")
        assert "expireTime" in ask
        waited = await service.get(f"/v1/asks/{ask['askId']}:wait?timeout=0s")
        assert body(waited)["ask"] == ask
        pressed = await person.post(
            f"/v1/conversations/{own}/turns:run",
            json={"button": {"toolCallId": ask["toolCallId"], "buttonId": "option:team"}},
        )
        turn_id = body(pressed)["result"]["turnId"]
        answered = body(await service.get(f"/v1/asks/{ask['askId']}"))["ask"]
    assert answered["status"] == "STATUS_ANSWERED"
    assert answered["answer"] == {"accept": {"choice": {"selected": ["team"]}}}
    assert answered["resolvedByTurnId"] == turn_id


async def test_a_watched_ask_is_a_stream_of_events(server: Server) -> None:
    noor = await server.person()
    own = await empty_conversation(noor)
    async with service_front(server) as service:
        ask = body(await asked(service, own))["ask"]
        seen: list[str] = []
        async with service.stream("GET", f"/v1/asks/{ask['askId']}:watch") as response:
            async for event in events_of(response):
                if event is None:
                    continue
                seen.append(event.data["ask"]["status"])
                if len(seen) == 1:
                    withdrawn = await service.post(f"/v1/asks/{ask['askId']}:cancel", json={})
                    assert withdrawn.status_code == 200
    assert seen == ["STATUS_PENDING", "STATUS_CANCELLED"]


async def test_faults_have_their_http_status(server: Server) -> None:
    noor = await server.person()
    own = await empty_conversation(noor)
    async with service_front(server) as service, front_of(server) as person:
        malformed = await asked(service, own, input={**QUESTION, "prompt": ""})
        assert (malformed.status_code, reason(malformed)) == (400, "INVALID_ASK")
        assert [path for path, *_ in faults(malformed)] == ["prompt"]
        assert (await asked(service, own)).status_code == 200
        taken = await asked(service, own)
        assert (taken.status_code, reason(taken)) == (409, "ASK_ALREADY_PENDING")
        elsewhere = await asked(service, own, owner="ada")
        assert (elsewhere.status_code, reason(elsewhere)) == (403, "NOT_OWNER")
        refused = await asked(person, own)
        assert (refused.status_code, reason(refused)) == (403, "SERVICE_ONLY")
        nothing = await service.get("/v1/asks/7e57ab1e-0000-4000-8000-000000000000")
        assert (nothing.status_code, reason(nothing)) == (404, "ASK_NOT_FOUND")
        late = await service.get("/v1/asks/7e57ab1e-0000-4000-8000-000000000000:wait?timeout=61s")
        assert (late.status_code, reason(late)) == (400, "INVALID_REQUEST")

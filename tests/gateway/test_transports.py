"""One conversation over every transport: the same events, the same rows, the same refusals."""

import re
from base64 import b64decode
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
from google.protobuf import json_format
from google.rpc.error_details_pb2 import ErrorInfo
from pydantic import JsonValue

from parley.v1 import turns_pb2 as pb
from parleyd.models.script import Fail, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.documents import LOANS
from tests.end_to_end.person import Person, accept
from tests.gateway.conftest import StartGateway
from tests.gateway.transports import SERVICE, TRANSPORTS, Refused, Transport
from tests.scripts import HELLO, SET_UP
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import DELETE, StandardTools, delete, look_up

STEPS = (
    [ask_plan()],
    [look_up(), delete()],
    [Text(LOANS)],
    [Text("Hel"), Fail("refused")],
)


async def test_one_conversation_is_the_same_over_every_transport(
    start_server: StartServer, start_gateway: StartGateway, tmp_path: Path
) -> None:
    told: dict[str, list[list[JsonValue]]] = {}
    rows: dict[str, list[JsonValue]] = {}
    for name, connects in TRANSPORTS.items():
        tools = StandardTools(tmp_path / f"{name}.jsonl")
        server = await start_server(in_turn(*STEPS), web=True, blocks=True, tools=tools.all_hosted)
        gateway = await start_gateway(server)
        async with connects(gateway.address, server.token()) as transport:
            told[name], rows[name] = await held(transport, await server.person())
        assert len(tools.runs(DELETE)) == 1

    names = [[next(iter(as_object(shape))) for shape in turn] for turn in told["gRPC"]]
    assert names == [
        ["started", "ask", "done"],
        ["started", "askResolved", "toolCall", "toolCall", "toolResult", "ask", "done"],
        ["started", "askResolved", "toolResult", "text", "blocks", "done"],
        ["started", "error", "done"],
    ]
    for name in TRANSPORTS:
        assert told[name] == told["gRPC"], name
        assert rows[name] == rows["gRPC"], name


async def held(transport: Transport, noor: Person) -> tuple[list[list[JsonValue]], list[JsonValue]]:
    """Holds the conversation; returns its events by turn, and its rows, without ids and times."""
    asked = await played(transport, prompt=pb.PromptInput(text="Set up my plan"))
    conversation_id = str(as_object(asked[0])["historyId"])

    async def goes_on(**said: pb.PromptInput | pb.AnswerInput) -> list[JsonValue]:
        return await played(transport, conversation_id=conversation_id, **said)

    team = pb.AnswerInput(tool_call_id=PLAN_ID, answer=accept("team"))
    gated = await goes_on(answer=team)
    approval_id = str(as_object(as_object(gated[-2])["ask"])["toolCallId"])
    allowed = pb.AnswerInput(tool_call_id=approval_id, answer=accept(confirmed=True))
    approved = await goes_on(answer=allowed)
    failed = await goes_on(prompt=pb.PromptInput(text="Go on"))
    messages = [json_format.MessageToDict(each) for each in await noor.messages(conversation_id)]
    return (
        [[plain(shape) for shape in turn] for turn in (asked, gated, approved, failed)],
        [plain(message) for message in messages],
    )


async def played(transport: Transport, **request: object) -> list[JsonValue]:
    """Runs a turn to its end, and returns what came of it but previews."""
    stream = transport.stream(pb.StreamTurnRequest(**request))  # pyright: ignore[reportArgumentType] - fields by name
    events = [event async for event in stream if event and event.sequence]
    assert [event.sequence for event in events] == [*range(1, len(events) + 1)]
    return [event.shape for event in events]


_OWN = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26}|\d{4}-\d\d-\d\dT[\d:.]+Z"
)
"""Ids and times, which every conversation has of its own."""


def plain(value: JsonValue) -> JsonValue:
    """Returns a value without ids and times."""
    match value:
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case list():
            return [plain(each) for each in value]
        case str():
            return _OWN.sub("…", value)
        case _:
            return value


def as_object(value: JsonValue) -> dict[str, JsonValue]:
    assert isinstance(value, dict)
    return value


# ---------------------------------------------------------------- refusals

REFUSALS = [
    ("no prompt", 400, "INVALID_ARGUMENT", "PROMPT_REQUIRED"),
    ("no such conversation", 404, "NOT_FOUND", "CONVERSATION_NOT_FOUND"),
    ("another's conversation", 403, "PERMISSION_DENIED", "NOT_OWNER"),
    ("an ask that is answered", 409, "ABORTED", "ASK_NOT_PENDING"),
    ("a request id of another request", 409, "ALREADY_EXISTS", "REQUEST_ID_REUSED"),
    ("a turn that has not failed", 400, "FAILED_PRECONDITION", "TURN_NOT_RETRYABLE"),
]


@pytest.mark.parametrize("name", TRANSPORTS)
async def test_an_error_before_the_first_event_has_the_right_status(
    name: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn([ask_plan()], [SET_UP], [HELLO], [HELLO]), web=True)
    gateway = await start_gateway(server)
    noor, ari = await server.person(), await server.person("ari")
    asked = await noor.prompt("Set up my plan")
    mine, turn_id = asked.conversation_id, asked.turn_id
    await noor.answer(mine, PLAN_ID, accept("team"))
    theirs = (await ari.prompt("Hello?")).conversation_id
    hello, request_id = pb.PromptInput(text="Hello?"), str(uuid4())
    await noor.client.turns.Turn(
        pb.TurnRequest(conversation_id=mine, prompt=hello, request_id=request_id)
    )
    answer = pb.AnswerInput(tool_call_id=PLAN_ID, answer=accept("team"))
    requests = {
        "no prompt": pb.StreamTurnRequest(prompt=pb.PromptInput()),
        "no such conversation": pb.StreamTurnRequest(conversation_id=str(uuid4()), prompt=hello),
        "another's conversation": pb.StreamTurnRequest(conversation_id=theirs, prompt=hello),
        "an ask that is answered": pb.StreamTurnRequest(conversation_id=mine, answer=answer),
        "a request id of another request": pb.StreamTurnRequest(
            prompt=pb.PromptInput(text="Bye"), request_id=request_id
        ),
        "a turn that has not failed": pb.StreamTurnRequest(
            conversation_id=mine, retry=pb.RetryInput(turn_id=turn_id)
        ),
    }
    over_http = name in {"server-sent events", "JSON lines"}
    async with TRANSPORTS[name](gateway.address, server.token()) as transport:
        for case, status, code, reason in REFUSALS:
            expected = Refused(status if over_http else 200, code, reason)
            assert await refused(transport, requests[case]) == expected, case
    async with TRANSPORTS[name](gateway.address, "a.b.c") as stranger:
        expected = Refused(401 if over_http else 200, "UNAUTHENTICATED", "UNAUTHENTICATED")
        assert await refused(stranger, requests["no prompt"]) == expected


async def refused(transport: Transport, request: pb.StreamTurnRequest) -> Refused:
    """Returns why a call failed that must, and before it had an event."""
    with pytest.raises(Refused) as caught:
        await anext(aiter(transport.stream(request)))
    return caught.value


UNARY = [
    ("no prompt", 400, "PROMPT_REQUIRED"),
    ("another's conversation", 403, "NOT_OWNER"),
    ("no such conversation", 404, "CONVERSATION_NOT_FOUND"),
    ("no ask that waits", 409, "ASK_NOT_PENDING"),
]


async def test_an_error_of_a_call_with_one_reply_has_the_right_status_too(
    start_server: StartServer, start_gateway: StartGateway, http: httpx2.AsyncClient
) -> None:
    server = await start_server(in_turn([HELLO]), web=True)
    gateway = await start_gateway(server)
    theirs = (await (await server.person("ari")).prompt("Hello?")).conversation_id
    hello: JsonValue = {"text": "Hello?"}
    answer: JsonValue = {"toolCallId": PLAN_ID, "answer": {"decline": {}}}
    requests: dict[str, dict[str, JsonValue]] = {
        "no prompt": {"conversationId": theirs, "prompt": {}},
        "another's conversation": {"conversationId": theirs, "prompt": hello},
        "no such conversation": {"conversationId": str(uuid4()), "prompt": hello},
        "no ask that waits": {"conversationId": theirs, "answer": answer},
    }
    for case, status, reason in UNARY:
        owner = "ari" if case == "no ask that waits" else "noor"
        headers = {"authorization": f"Bearer {server.token(owner)}"}
        request = requests[case]
        connect = await http.post(f"{gateway.url}{SERVICE}/Turn", json=request, headers=headers)
        conversation_id = request.pop("conversationId")
        path = f"/v1/conversations/{conversation_id}/turns:run"
        plain_json = await http.post(f"{gateway.url}{path}", json=request, headers=headers)
        assert connect.status_code == plain_json.status_code == status, case
        assert plain_json.json()["details"][0]["reason"] == reason
        (info,) = (
            ErrorInfo.FromString(b64decode(detail["value"] + "=="))
            for detail in connect.json()["details"]
            if detail["type"] == "google.rpc.ErrorInfo"
        )
        assert info.reason == reason

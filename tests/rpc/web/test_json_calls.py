import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.rpc.web.http import body, faults, http_front, reason
from tests.rpc.wire import HOUR, Wire
from tests.server import StartServer
from tests.server_process import LIFETIME
from tests.standard_asks import ask_plan

ID = "7e57ab1e-0000-4000-8000-000000000000"
RUN = f"/v1/conversations/{ID}/turns:run"
JSON = {"content-type": "application/json"}
TURN = f"/v1/conversations/{ID}/turns/{ID}"


async def test_a_person_asks_answers_and_reads_over_plain_http(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Well.")]))
    async with http_front(server.address, server.key.issue("noor", LIFETIME)) as http:
        made = body(await http.post("/v1/conversations", json={"title": "Plans"}))
        conversation_id = made["conversation"]["conversationId"]
        turns = f"/v1/conversations/{conversation_id}/turns:run"
        asked = body(await http.post(turns, json={"prompt": {"text": "Set up my plan"}}))
        button = {
            "toolCallId": asked["result"]["pendingAsk"]["toolCallId"],
            "buttonId": asked["result"]["pendingAsk"]["simple"]["buttons"][0]["id"],
        }
        pending = body(await http.get("/v1/pendingAsks?page_size=1"))
        said = body(await http.post(turns, json={"button": button}))
        listed = body(await http.get(f"/v1/conversations/{conversation_id}/messages"))
        message_id = listed["messages"][0]["messageId"]
        rate = f"/v1/conversations/{conversation_id}/messages/{message_id}:rate"
        rated = await http.post(rate, json={"rating": "RATING_UP"})
        renamed = await http.patch(
            f"/v1/conversations/{conversation_id}?updateMask=title,project",
            json={"title": "Plan", "project": "p", "conversationId": conversation_id},
        )
        found = body(await http.get("/v1/conversations", params={"project": "p"}))
        gone = await http.delete(f"/v1/conversations/{conversation_id}")
        missing = await http.get(f"/v1/conversations/{conversation_id}")
    assert asked["result"]["state"] == "STATE_PAUSED"
    assert [each["toolCallId"] for each in pending["pendingAsks"]] == ["call_plan"]
    assert said["result"]["text"] == "Well."
    assert said["result"]["retryable"] is False, "defaults are there"
    assert listed["messages"][0]["type"] == "TYPE_USER"
    assert listed["nextPageToken"] == ""
    assert rated.status_code == 200
    assert body(renamed)["conversation"]["title"] == "Plan"
    assert [each["title"] for each in found["conversations"]] == ["Plan"]
    assert body(gone) == {}
    assert (missing.status_code, reason(missing)) == (404, "CONVERSATION_NOT_FOUND")


async def test_names_may_be_spelled_as_in_the_protos(http: httpx2.AsyncClient) -> None:
    told = await http.post(RUN, json={"request_id": ID, "button": {"tool_call_id": "a"}})
    assert body(told)["result"]["text"] == "ada"


async def test_a_body_that_is_not_there_is_an_empty_object(http: httpx2.AsyncClient) -> None:
    assert (await http.post(RUN)).status_code == 200
    assert (await http.post(RUN, content=b" \n")).status_code == 200


BAD_BODIES: dict[str, tuple[Any, str, list[tuple[str, str]]]] = {
    "an unknown key": ({"promt": {}}, "INVALID_REQUEST", [("promt", "UNKNOWN_KEY")]),
    "unknown keys within": (
        {"prompt": {"text": "a", "attachments": [{"fileID": "x"}], "b": 1}},
        "INVALID_REQUEST",
        [("prompt.attachments[0].fileID", "UNKNOWN_KEY"), ("prompt.b", "UNKNOWN_KEY")],
    ),
    "two inputs": ({"prompt": {}, "retry": {}}, "ONE_INPUT_ONLY", [("retry", "TOO_MANY")]),
    "two of another oneof": (
        {"answer": {"answer": {"accept": {}, "decline": {}}}},
        "INVALID_REQUEST",
        [("answer.answer.decline", "TOO_MANY")],
    ),
    "two spellings": (
        {"requestId": ID, "request_id": ID},
        "INVALID_REQUEST",
        [("request_id", "TOO_MANY")],
    ),
    "no text": ({"prompt": {"text": 5}}, "INVALID_REQUEST", [("prompt.text", "INVALID_TYPE")]),
    "no object": ({"prompt": []}, "INVALID_REQUEST", [("prompt", "INVALID_TYPE")]),
    "no list": (
        {"prompt": {"attachments": {}}},
        "INVALID_REQUEST",
        [("prompt.attachments", "INVALID_TYPE")],
    ),
    "null in a list": (
        {"prompt": {"attachments": [None]}},
        "INVALID_REQUEST",
        [("prompt.attachments[0]", "INVALID_TYPE")],
    ),
    "no base64": (
        {"prompt": {"attachments": [{"data": "ä!"}]}},
        "INVALID_REQUEST",
        [("prompt.attachments[0].data", "INVALID_FORMAT")],
    ),
    "an unknown surface": ({"surface": "WATCH"}, "UNKNOWN_SURFACE", [("surface", "INVALID_ENUM")]),
    "an unknown word": (
        {"prompt": {"attachments": [{"type": "VIDEO"}]}},
        "INVALID_REQUEST",
        [("prompt.attachments[0].type", "INVALID_ENUM")],
    ),
    "another conversation than the path's": (
        {"conversationId": "another"},
        "INVALID_REQUEST",
        [("conversationId", "TOO_MANY")],
    ),
    "no map": (
        {"answer": {"answer": {"accept": {"form": {"values": []}}}}},
        "INVALID_REQUEST",
        [("answer.answer.accept.form.values", "INVALID_TYPE")],
    ),
}


@pytest.mark.parametrize("name", BAD_BODIES)
async def test_what_is_wrong_with_a_body_is_told_by_its_path(
    wire: Wire, http: httpx2.AsyncClient, name: str
) -> None:
    content, why, where = BAD_BODIES[name]
    refused = await http.post(RUN, json=content)
    assert (refused.status_code, reason(refused)) == (400, why)
    assert faults(refused) == where
    assert wire.servicer.calls == 0


BAD_TEXTS: dict[str, tuple[bytes, str]] = {
    "no JSON": (b'{"a": }', "INVALID_FORMAT"),
    "a single quote": (b"{'a': 1}", "INVALID_FORMAT"),
    "half of it": (b'{"prompt": {"te', "INVALID_FORMAT"),
    "two values": (b"{} {}", "INVALID_FORMAT"),
    "no object": (b"[1]", "INVALID_TYPE"),
    "null": (b"null", "INVALID_TYPE"),
    "no UTF-8": (b'{"prompt": "\xff"}', "INVALID_FORMAT"),
    "UTF-16": ('{"prompt": {}}'.encode("utf-16"), "INVALID_FORMAT"),
    "NaN": (b'{"surface": NaN}', "INVALID_FORMAT"),
    "a huge number": (b'{"surface": ' + b"9" * 5000 + b"}", "INVALID_FORMAT"),
    "a key twice": (b'{"prompt": {"text": "a", "text": "b"}}', "DUPLICATE_ID"),
    "nested too deep": (b'{"a":' * 100_000, "INVALID_FORMAT"),
    "values too deep": (
        b'{"answer":{"answer":{"accept":{"form":{"values":{"a":'
        + b"[" * 500
        + b"]" * 500
        + b"}" * 6,
        "INVALID_FORMAT",
    ),
    "too many values": (b"[" + b"[]," * 1_100_000 + b"[]]", "TOO_MANY"),
}


@pytest.mark.parametrize("name", BAD_TEXTS)
async def test_a_body_that_is_no_json_object_is_refused_with_a_reason(
    wire: Wire, http: httpx2.AsyncClient, name: str
) -> None:
    content, code = BAD_TEXTS[name]
    json_type = {"content-type": "application/json"}
    refused = await http.post(RUN, content=content, headers=json_type)
    assert (refused.status_code, reason(refused)) == (400, "INVALID_REQUEST")
    assert faults(refused) == [("", code)]
    assert wire.servicer.calls == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("content-type", "application/x-www-form-urlencoded"),
        ("content-type", "text/plain"),
        ("content-encoding", "gzip"),
    ],
)
async def test_a_body_that_is_not_said_to_be_plain_json_is_refused(
    wire: Wire, http: httpx2.AsyncClient, name: str, value: str
) -> None:
    headers = {"content-type": "application/json", name: value}
    refused = await http.post(RUN, content=b"{}", headers=headers)
    assert (refused.status_code, reason(refused)) == (400, "INVALID_REQUEST")
    assert [path.lower() for path, _ in faults(refused)] == [name]
    assert wire.servicer.calls == 0


async def test_a_body_may_say_its_character_set_or_nothing(http: httpx2.AsyncClient) -> None:
    for headers in ({"content-type": "application/json; charset=utf-8"}, {}):
        told = await http.post(RUN, content=b'{"prompt": {"text": "a"}}', headers=headers)
        assert told.status_code == 200


async def test_what_a_body_can_not_say_in_protobuf_is_replaced_and_not_refused(
    http: httpx2.AsyncClient,
) -> None:
    told = await http.post(
        RUN, content=rb'{"prompt": {"text": "a\ud83d b \ud83d\ude00"}}', headers=JSON
    )
    assert told.status_code == 200


async def test_a_body_over_the_limit_is_413_whether_it_says_so_or_not(
    wire: Wire, http: httpx2.AsyncClient
) -> None:
    async def unsaid() -> AsyncIterator[bytes]:
        for _ in range(17):
            yield b"a" * 1024 * 1024

    for content in (b"a" * (16 * 1024 * 1024 + 1), unsaid()):
        refused = await http.post(RUN, content=content, headers=JSON)
        assert (refused.status_code, body(refused)["status"]) == (413, "RESOURCE_EXHAUSTED")
    assert wire.servicer.calls == 0


BAD_QUERIES = {
    "/v1/pendingAsks?pageSise=1": [("pageSise", "UNKNOWN_KEY")],
    "/v1/pendingAsks?pageSize=1&page_size=2": [("pageSize", "TOO_MANY")],
    "/v1/pendingAsks?pageSize=many": [("pageSize", "INVALID_TYPE")],
    "/v1/pendingAsks?pageSize=99999999999": [("pageSize", "OUT_OF_RANGE")],
    "/v1/pendingAsks?pageSize": [("pageSize", "INVALID_TYPE")],
    f"{TURN}?turnId={ID}": [("turnId", "UNKNOWN_KEY")],
    f"{TURN}?a.b.c=1": [("a.b.c", "UNKNOWN_KEY")],
}


@pytest.mark.parametrize("path", BAD_QUERIES)
async def test_a_query_is_as_strict_as_a_body(
    wire: Wire, http: httpx2.AsyncClient, path: str
) -> None:
    refused = await http.get(path)
    assert (refused.status_code, reason(refused)) == (400, "INVALID_REQUEST")
    assert faults(refused) == BAD_QUERIES[path]
    assert wire.servicer.calls == 0


async def test_where_the_body_is_the_whole_request_nothing_is_read_from_the_query(
    wire: Wire, http: httpx2.AsyncClient
) -> None:
    refused = await http.post(f"{RUN}?requestId={ID}", json={})
    assert faults(refused) == [("requestId", "UNKNOWN_KEY")]
    assert wire.servicer.calls == 0


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/v1/conversations?conversation.title=a", ("conversation.title", "UNKNOWN_KEY")),
        ("/v1/conversations?conversation=a", ("conversation", "UNKNOWN_KEY")),
        ("/v1/conversations?requestId=a&requestId=b", ("requestId", "TOO_MANY")),
    ],
)
async def test_what_the_body_holds_is_not_for_the_query(
    http: httpx2.AsyncClient, path: str, fault: tuple[str, str]
) -> None:
    assert faults(await http.post(path, json={})) == [fault]


async def test_a_method_without_a_body_takes_none(wire: Wire, http: httpx2.AsyncClient) -> None:
    refused = await http.request("GET", TURN, json={"turnId": ID})
    assert (refused.status_code, faults(refused)) == (400, [("", "TOO_MANY")])
    assert wire.servicer.calls == 0


async def test_an_unknown_path_and_a_wrong_verb_are_told_in_the_shape_of_all_errors(
    wire: Wire, http: httpx2.AsyncClient
) -> None:
    unknown = [await http.get(path) for path in ("/v1/", "/v1/nothing", f"{TURN}/", f"{TURN}:a")]
    wrong = [await http.put(TURN), await http.get(RUN), await http.post("/v1/pendingAsks")]
    assert {(each.status_code, body(each)["status"]) for each in unknown} == {(404, "NOT_FOUND")}
    assert {(each.status_code, body(each)["status"]) for each in wrong} == {(405, "UNIMPLEMENTED")}
    assert [each.headers["allow"] for each in wrong] == ["GET", "POST", "GET"]
    updates = await http.put(f"/v1/conversations/{ID}")
    assert updates.headers["allow"] == "DELETE, GET, PATCH"
    assert wire.servicer.calls == 0


async def test_a_call_without_a_valid_token_is_401_and_says_which_it_wants(wire: Wire) -> None:
    async with http_front(wire.target) as http:
        none = await http.get(TURN)
        bad = await http.get(TURN, headers={"authorization": "Bearer a.b.c"})
        token = ("authorization", f"Bearer {wire.key.issue('ada', HOUR)}")
        two = await http.get(TURN, headers=[token, token])
        strange = await http.get(TURN, headers=[(b"authorization", "Bearer ä".encode())])
    for refused in (none, bad, two, strange):
        assert (refused.status_code, reason(refused)) == (401, "UNAUTHENTICATED")
        assert refused.headers["www-authenticate"] == "Bearer"
    assert wire.servicer.calls == 0


async def test_the_request_is_logged_under_the_id_that_the_client_gave_it(
    http: httpx2.AsyncClient,
) -> None:
    with capture_logs(processors=[merge_contextvars]) as lines:
        await http.get(TURN, headers={"x-request-id": "abc-7", "cookie": "a=b"})
    (line,) = lines
    assert (line["event"], line["status"], line["request_id"]) == ("call", "OK", "abc-7")


async def test_f23_a_deadline_that_passes_is_504_and_the_call_ends(
    wire: Wire, http: httpx2.AsyncClient
) -> None:
    wire.servicer.act = wire.servicer.hang
    late = await http.post(RUN, json={}, headers={"x-timeout-ms": "300"})
    assert (late.status_code, body(late)["status"]) == (504, "DEADLINE_EXCEEDED")
    await asyncio.wait_for(wire.servicer.left.wait(), 10)


@pytest.mark.parametrize("value", ["0", "-5", "1.5", "soon", "99999999999"])
async def test_a_deadline_that_is_none_is_refused(
    wire: Wire, http: httpx2.AsyncClient, value: str
) -> None:
    refused = await http.post(RUN, json={}, headers={"x-timeout-ms": value})
    assert faults(refused) == [("x-timeout-ms", "INVALID_FORMAT")]
    assert wire.servicer.calls == 0


async def test_a_client_that_leaves_ends_the_call_within_a_second(
    wire: Wire, http: httpx2.AsyncClient
) -> None:
    wire.servicer.act = wire.servicer.hang
    calling = asyncio.create_task(http.post(RUN, json={}))
    await asyncio.wait_for(wire.servicer.entered.wait(), 10)
    calling.cancel()
    await asyncio.wait_for(wire.servicer.left.wait(), 1)


async def test_a_server_that_is_not_there_is_503_without_a_word_of_where_it_would_be() -> None:
    async with http_front("127.0.0.1:1", "token") as http:
        refused = await http.get(TURN, headers={"x-timeout-ms": "5000"})
    assert (refused.status_code, body(refused)["status"]) == (503, "UNAVAILABLE")
    assert "127.0.0.1" not in refused.text


async def test_an_answer_may_be_kept_by_nobody(http: httpx2.AsyncClient) -> None:
    told = await http.get(TURN)
    assert told.headers["cache-control"] == "no-store"
    assert json.loads(told.content)["turn"]["turnId"] == "ada"

"""Requests for documents: their shape, and the documents as they are sent."""

from typing import Any, Final

import pytest
from grpc import StatusCode, aio
from hypothesis import given
from pydantic import JsonValue

import parley
from parley.v1.block_generation_pb2 import GenerateBlocksRequest
from parleyd.contract import limits
from parleyd.contract.blocks.issues import BlockCode, BlockIssue
from parleyd.contract.field_errors import Code
from parleyd.models.scripted import in_turn
from parleyd.rpc.block_generation import wish_from_proto, written_to_proto
from parleyd.rpc.blocks import document_from_proto
from parleyd.turns.block_generation import DocumentWish, WrittenDocument
from tests.contract.blocks.documents import document, valid_documents
from tests.server import Server, StartServer

SHIP: Final = "\U0001f6a2"
MOST: Final = limits.TURN_PROMPT


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn())


@pytest.mark.parametrize(
    ("values", "reason", "path", "code"),
    [
        ({"prompt": ""}, "PROMPT_REQUIRED", "prompt", Code.MISSING_REQUIRED),
        ({"prompt": "x" * (MOST + 1)}, "INVALID_REQUEST", "prompt", Code.TOO_LONG),
        ({"prompt": SHIP * (MOST // 2) + "x"}, "INVALID_REQUEST", "prompt", Code.TOO_LONG),
        (
            {"system_instruction": "x" * (MOST + 1)},
            "INVALID_REQUEST",
            "systemInstruction",
            Code.TOO_LONG,
        ),
        ({"owner": "x" * 256}, "INVALID_REQUEST", "owner", Code.TOO_LONG),
    ],
    ids=["no prompt", "a long prompt", "a prompt of ships", "a long instruction", "a long owner"],
)
async def test_a_malformed_request_is_refused(
    server: Server, values: dict[str, Any], reason: str, path: str, code: Code
) -> None:
    service = await server.person("reports", aud="parley-internal", scope="blocks.generate")
    valid: dict[str, Any] = {"prompt": "Draw."}
    request = GenerateBlocksRequest(**valid | values)
    with pytest.raises(aio.AioRpcError) as raised:
        await service.client.generation.GenerateBlocks(request)
    error = parley.error_of(raised.value)
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, reason)
    assert [(fault.path, fault.code) for fault in error.fields] == [(path, code)]
    assert all(fault.message and fault.fix for fault in error.fields)
    assert server.model.json_calls == []


def test_what_is_left_out_has_its_default() -> None:
    wish = wish_from_proto("reports", GenerateBlocksRequest(prompt=" "))
    assert wish == DocumentWish("reports", "reports", " ", None, repair=True)


def test_what_is_there_is_taken() -> None:
    request = GenerateBlocksRequest(
        prompt=SHIP * (MOST // 2),
        system_instruction="x" * MOST,
        repair=False,
        owner="n" * 254 + "\0",
    )
    assert wish_from_proto("reports", request) == DocumentWish(
        "reports", "n" * 254 + "\ufffd", SHIP * (MOST // 2), "x" * MOST, repair=False
    )
    assert wish_from_proto("reports", GenerateBlocksRequest(prompt="a", repair=True)).repair


@given(valid_documents())
def test_a_document_comes_back_the_same(value: dict[str, JsonValue]) -> None:
    sent = written_to_proto(WrittenDocument(value))
    assert document_from_proto(sent.document) == value
    assert [*sent.warnings] == []
    assert sent.repaired is False


def test_warnings_are_sent_with_all_their_parts() -> None:
    issue = BlockIssue(
        path="blocks[0]", code=BlockCode.LINE_SINGLE_POINT, message="One point.", fix="Add one."
    )
    sent = written_to_proto(WrittenDocument(document({"type": "divider"}), (issue,), repaired=True))
    (told,) = sent.warnings
    assert (told.path, told.code, told.message, told.fix) == (
        "blocks[0]",
        "LINE_SINGLE_POINT",
        "One point.",
        "Add one.",
    )
    assert sent.repaired

"""Ids that are none, are not there or are somebody else's (spec turns 8)."""

from uuid import uuid4

import pytest
from grpc import StatusCode

from parley.v1.conversations_pb2 import (
    CreateConversationRequest,
)
from parley.v1.turns_pb2 import (
    GetTurnRequest,
    RetryInput,
    StreamTurnRequest,
    TurnRequest,
    WatchTurnRequest,
)
from tests.rpc.bad_requests import ANSWER, PROMPT, naming
from tests.rpc.refusals import HERE, Bad, Paused, invalid
from tests.rpc.requests import Request

NO_IDS = {
    "number": "42",
    "no_hyphens": "0" * 32,
    "braces": "{00000000-0000-0000-0000-000000000000}",
    "urn": "urn:uuid:00000000-0000-0000-0000-000000000000",
    "newline": "00000000-0000-0000-0000-000000000000\n",
    "space": " 00000000-0000-0000-0000-00000000000",
    "not_hexadecimal": "0000000g-0000-0000-0000-000000000000",
    "hyphens_elsewhere": "0000-00000000-0000-0000-000000000000",
    "other_digits": "٠0000000-0000-0000-0000-000000000000",
    "nul": "\x00",
    "sql": "'; DROP TABLE conversations; --",
}


def asking_for(turn_id: str) -> list[Request]:
    """Returns a request of every kind that names a turn."""
    return [
        StreamTurnRequest(conversation_id=HERE, retry=RetryInput(turn_id=turn_id)),
        TurnRequest(conversation_id=HERE, retry=RetryInput(turn_id=turn_id)),
        WatchTurnRequest(conversation_id=HERE, turn_id=turn_id),
        GetTurnRequest(conversation_id=HERE, turn_id=turn_id),
    ]


def repeatable(request_id: str) -> list[Request]:
    """Returns a request of every kind that takes a request id."""
    return [
        StreamTurnRequest(prompt=PROMPT, request_id=request_id),
        StreamTurnRequest(conversation_id=HERE, answer=ANSWER, request_id=request_id),
        TurnRequest(conversation_id=HERE, prompt=PROMPT, request_id=request_id),
        CreateConversationRequest(request_id=request_id),
    ]


async def test_what_is_no_id_is_refused_everywhere(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    for name, text in NO_IDS.items():
        for request in naming(text):
            with subtests.test(name, request=type(request).__name__):
                await paused.refuses(
                    invalid(request, "INVALID_REQUEST", "conversationId", "INVALID_FORMAT")
                )
        for request in asking_for(text):
            with subtests.test(name, request=type(request).__name__):
                await paused.refuses(
                    invalid(request, "INVALID_REQUEST", "turnId", "INVALID_FORMAT")
                )
        for request in repeatable(text):
            with subtests.test(name, request=type(request).__name__):
                await paused.refuses(
                    invalid(request, "INVALID_REQUEST", "requestId", "INVALID_FORMAT")
                )


async def test_what_is_somebody_elses_is_refused(paused: Paused, subtests: pytest.Subtests) -> None:
    ivo = await paused.server.person("ivo")
    theirs = Paused(paused.server, paused.engine, ivo.client, paused.conversation_id)
    for request in naming(HERE):
        with subtests.test(type(request).__name__):
            await theirs.refuses(Bad(request, StatusCode.PERMISSION_DENIED, "NOT_OWNER"))


async def test_a_conversation_that_is_not_there_is_named_so(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    for request in naming(str(uuid4())):
        with subtests.test(type(request).__name__):
            await paused.refuses(Bad(request, StatusCode.NOT_FOUND, "CONVERSATION_NOT_FOUND"))

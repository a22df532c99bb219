"""Tokens that count for nothing (spec turns 8)."""

from datetime import timedelta

import pytest
from grpc import StatusCode

import parley
from parley.v1.ask_contract_pb2 import (
    DeriveCardRequest,
    ValidateAnswerRequest,
    ValidateAskRequest,
)
from parley.v1.conversations_pb2 import (
    CreateConversationRequest,
    ListConversationsRequest,
)
from parley.v1.turns_pb2 import (
    ListPendingAsksRequest,
    StreamTurnRequest,
)
from tests.rpc.bad_requests import PROMPT, naming
from tests.rpc.refusals import HERE, Bad, Paused
from tests.rpc.requests import refusal
from tests.server import Server

HOUR = timedelta(hours=1)


def tokens(server: Server) -> dict[str, str]:
    """Returns tokens that count for nothing."""
    key = server.key
    now = {"iat": 0, "exp": 1}
    return {
        "none": "",
        "malformed": "nonsense",
        "expired": key.issue("noor", -HOUR),
        "expired_long_ago": key.issue("noor", HOUR, claims=now),
        "wrong_audience": key.issue("noor", HOUR, audience="elsewhere"),
        "wrong_issuer": key.issue("noor", HOUR, claims={"iss": "https://elsewhere.example"}),
        "no_subject": key.issue("", HOUR),
        "algorithm_none": "eyJhbGciOiJub25lIn0." + key.issue("noor", HOUR).split(".")[1] + ".",
    }


async def test_h9_without_a_valid_token_nothing_is_done(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    requests = [
        StreamTurnRequest(prompt=PROMPT),
        CreateConversationRequest(),
        ListConversationsRequest(),
        ListPendingAsksRequest(),
        ValidateAskRequest(),
        ValidateAnswerRequest(),
        DeriveCardRequest(),
        *naming(HERE),
    ]
    for name, token in tokens(paused.server).items():
        async with parley.connect(paused.server.address, token) as client:
            nobody = Paused(paused.server, paused.engine, client, paused.conversation_id)
            for request in requests:
                with subtests.test(name, request=type(request).__name__):
                    await nobody.refuses(
                        Bad(request, StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
                    )


async def test_the_token_is_looked_at_before_the_request(paused: Paused) -> None:
    async with parley.connect(paused.server.address, "nonsense") as client:
        error = await refusal(client, StreamTurnRequest())
    assert error.reason == "UNAUTHENTICATED"

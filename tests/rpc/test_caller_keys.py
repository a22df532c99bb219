"""Keys of model providers that callers bring (spec turns 3.9)."""

import pytest
from grpc import StatusCode, aio
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

import parley
from parley.v1 import turns_pb2 as pb
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.server import Server, StartServer

PROMPT = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello"))
SECRET = "AIza-a-secret-of-noors"


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn([Text("Hello.")]))


async def refusal(server: Server, *keys: str) -> parley.ParleyError:
    """Returns why a turn with these keys was refused; checks that no log line tells them."""
    noor = await server.person()
    metadata = [("x-ai-api-key", key) for key in keys]
    with capture_logs([merge_contextvars]) as lines, pytest.raises(aio.AioRpcError) as raised:
        await noor.client.turns.StreamTurn(PROMPT, metadata=metadata).read()
    error = parley.error_of(raised.value)
    assert SECRET not in f"{lines} {error}"
    return error


async def test_a_key_is_refused_where_the_deployment_does_not_take_any(server: Server) -> None:
    error = await refusal(server, SECRET)
    assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "OPTION_FORBIDDEN")
    assert not server.model.calls


async def test_two_keys_are_refused(server: Server) -> None:
    error = await refusal(server, SECRET, SECRET)
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert [(fault.path, fault.code) for fault in error.fields] == [("x-ai-api-key", "TOO_MANY")]


async def test_an_empty_key_is_none(server: Server) -> None:
    noor = await server.person()
    call = noor.client.turns.StreamTurn(PROMPT, metadata=[("x-ai-api-key", "")])
    assert [each.event async for each in call][-1].done.state == pb.Turn.STATE_COMPLETED

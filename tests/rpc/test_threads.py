import asyncio
import threading

import pytest

from parley.v1.turns_pb2 import PromptInput
from parleyd.contract.errors import InvalidRequest
from parleyd.rpc.threads import LOOP_BYTES, work_on

SMALL, LARGE = PromptInput(text="x"), PromptInput(text="x" * LOOP_BYTES)


async def test_work_on_a_small_request_is_done_at_once() -> None:
    assert await work_on(SMALL, lambda _: threading.get_ident()) == threading.get_ident()


async def test_the_event_loop_goes_on_while_a_large_request_is_worked_on() -> None:
    went_on = threading.Event()
    asyncio.get_running_loop().call_soon(went_on.set)
    assert await work_on(LARGE, lambda _: went_on.wait(10)), "it would wait for itself"


@pytest.mark.parametrize("request_", [SMALL, LARGE], ids=["small", "large"])
async def test_the_request_arrives_and_errors_come_back(request_: PromptInput) -> None:
    def refuse(request: PromptInput) -> None:
        raise InvalidRequest(f"It has {len(request.text)} characters.")

    with pytest.raises(InvalidRequest, match=f"has {len(request_.text)} "):
        await work_on(request_, refuse)

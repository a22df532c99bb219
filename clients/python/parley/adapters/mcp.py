"""Elicitations of MCP servers, answered by a person through Parley.

```python
async with mcp.Client(server, elicitation_callback=elicitation_callback(asker)) as client:
    await client.call_tool("book_table", {})
```
"""

import asyncio
from contextlib import suppress
from typing import Final, assert_never
from uuid import uuid4

from anyio import get_cancelled_exc_class, move_on_after
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
)

from parley.adapters.asker import Accepted, Asker, Cancelled, Declined, Expired, outcome_of
from parley.adapters.elicited_asks import ElicitedAsk, elicited_ask
from parley.adapters.elicited_schemas import Unaskable, requested_schema
from parley.errors import ParleyError
from parley.v1.asks_pb2 import AskInput
from parley.v1.service_asks_pb2 import Ask

_WITHDRAWAL_SECONDS: Final = 5


def elicitation_callback(asker: Asker) -> ElicitationFnT:
    """Returns what answers the elicitations of an MCP server: the person of `asker` does.

    A form becomes an ask, and the answer is told in the terms of its schema: `accept` with the
    content, `decline` where the person skipped, `cancel` where they did something else or did not
    answer in time. A form that can't be asked whole, and an address to be opened, is refused with
    an error that says why. Elicitations at the same time are asked one after the other.

    The callback may be given to several sessions. An elicitation belongs to its session: when the
    session ends, or the server no longer waits, the ask is withdrawn.
    """
    one_at_a_time = asyncio.Lock()

    async def answered(
        context: ClientRequestContext,  # noqa: ARG001 - its request id is of its session alone
        params: ElicitRequestParams,
    ) -> ElicitResult | ErrorData:
        try:
            elicited = _elicited(params)
        except Unaskable as unaskable:
            return ErrorData(code=INVALID_PARAMS, message=str(unaskable))
        try:
            async with one_at_a_time:
                ask = await _asked(asker, elicited.input)
        except ParleyError as error:
            return _told(error)
        return _result(elicited, ask)

    return answered


async def _asked(asker: Asker, question: AskInput) -> Ask:
    """Returns the ask once it is resolved; withdraws it where nobody waits for it any more."""
    request_id = str(uuid4())
    try:
        return await asker.ask(question, request_id=request_id)
    except get_cancelled_exc_class():
        with move_on_after(_WITHDRAWAL_SECONDS, shield=True), suppress(ParleyError):
            # A repeat returns the same ask, at whatever point this was cancelled.
            await asker.cancel(await asker.create(question, request_id=request_id))
        raise


def _result(elicited: ElicitedAsk, ask: Ask) -> ElicitResult:
    outcome = outcome_of(ask)
    match outcome:
        case Accepted(answer):
            content = elicited.content(answer)
            if content is None:
                return ElicitResult(action="decline")
            return ElicitResult(action="accept", content=content)
        case Declined():
            return ElicitResult(action="decline")
        case Cancelled() | Expired():
            return ElicitResult(action="cancel")
        case _:
            assert_never(outcome)


def _elicited(params: ElicitRequestParams) -> ElicitedAsk:
    match params:
        case ElicitRequestFormParams():
            return elicited_ask(params.message, requested_schema(params.requested_schema))
        case _:
            raise Unaskable(
                "Opening a URL can't be asked of this client's person: only the form mode is "
                "supported."
            )


def _told(error: ParleyError) -> ErrorData:
    """Returns what a server may know: of its own question all, of the rest the reason alone."""
    if error.reason == "INVALID_ASK":
        faults = " ".join(f"{fault.message} {fault.fix}" for fault in error.fields)
        return ErrorData(code=INVALID_PARAMS, message=f"The form can't be asked: {faults}")
    return ErrorData(
        code=INTERNAL_ERROR,
        message=f"Nobody could be asked ({error.reason or error.code.name}).",
    )

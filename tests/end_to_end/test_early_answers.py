"""An answer comes the instant its ask can be seen, by way of another process."""

import asyncio
from typing import Final

from parley.v1 import conversations_pb2
from parleyd.models.scripted import by_progress
from tests.end_to_end.person import Person, accept
from tests.end_to_end.rows import types
from tests.failpoints import Failpoints, block
from tests.scripts import SET_UP
from tests.server import Processes, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

ROUNDS: Final = 100
AT_ONCE: Final = 5
DEADLINE: Final = 60
ANSWERED: Final = ["started", "ask_resolved", "text", "done"]


async def test_bc_018_of_a_hundred_answers_at_the_first_instant_none_is_lost(
    processes: Processes,
) -> None:
    asking, answering = await asyncio.gather(processes.start("ASK"), processes.start("ASK"))
    rounds = iter(range(ROUNDS))

    async def play() -> list[bool]:
        here, there = await asking.person(), await answering.person()
        return [await _answered_early(here, there) for _ in rounds]

    async with asyncio.timeout(DEADLINE):
        early = await asyncio.gather(*[play() for _ in range(AT_ONCE)])
    assert sum(map(len, early)) == ROUNDS
    assert any(map(any, early)), "no answer came before the stream of its ask had ended"
    assert len(processes.folder.model_calls()) == 2 * ROUNDS


async def _answered_early(here: Person, there: Person) -> bool:
    """Asks here, answers there as soon as the ask is stored; tells if the stream still ran."""
    made = await here.client.conversations.CreateConversation(
        conversations_pb2.CreateConversationRequest()
    )
    conversation_id = made.conversation.conversation_id
    asking = asyncio.create_task(here.prompt("Set up my workspace", conversation_id))
    while not (await there.conversation(conversation_id)).HasField("pending_ask"):
        pass
    early = not asking.done()
    answered = await there.answer(conversation_id, PLAN_ID, accept("team"))
    assert answered.names == ANSWERED
    assert (await asking).names == ["started", "ask", "done"]
    lines = await here.messages(conversation_id)
    assert types(lines) == ["user", "tool_call", "tool_result", "assistant"]
    return early


async def test_bc_018_an_answer_counts_before_its_asks_process_knows_that_it_asked(
    start_server: StartServer,
) -> None:
    points = Failpoints(block("after_tx2", kind="prompt"))
    script = by_progress([ask_plan()], [SET_UP])
    asking = await start_server(script, wrap_store=points.store)
    answering = await start_server(script)
    here, there = await asking.person(), await answering.person()
    async with asyncio.timeout(DEADLINE):
        stream = asyncio.create_task(here.prompt("Set up my workspace"))
        await points.holds.reached("after_tx2")
        (pending,) = await there.pending()
        answered = await there.answer(pending.conversation_id, PLAN_ID, accept("team"))
        assert answered.names == ANSWERED
        points.holds.release("after_tx2")
        assert (await stream).names == ["started", "ask", "done"]
    conversation = await here.conversation(pending.conversation_id)
    assert not conversation.HasField("pending_ask")

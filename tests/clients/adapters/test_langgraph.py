"""A graph of LangGraph is interrupted, and a person answers through Parley."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig

import parley
from parley.adapters.asker import Asker
from parley.adapters.langgraph import Graph, run
from parley.adapters.question_json import Malformed
from parley.v1.asks_pb2 import AcceptAnswer, AskAnswer, AskInput, ConfirmInput, MarkdownAnswer
from parley.v1.conversations_pb2 import MessageAsk
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.clients.adapters.asking import Asked, asked
from tests.clients.adapters.errands import errand_process, home
from tests.clients.adapters.planner_graph import (
    NAME,
    PLANS,
    Plan,
    ask_nonsense,
    choose,
    graph_of,
    in_memory,
    name_it,
)
from tests.end_to_end.person import cancel, decline
from tests.server import Processes, StartServer

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
PROCESS = "tests.clients.adapters.planner_graph"


def text_answer(text: str) -> AskAnswer:
    markdown = MarkdownAnswer(markdown=text, changed=True)
    return AskAnswer(accept=AcceptAnswer(markdown=markdown))


def running(graph: Graph[Plan], here: Asked, **more: Any) -> asyncio.Task[Plan]:
    """Runs a graph anew on its thread."""
    return asyncio.create_task(run(graph, Plan(log=[]), THREAD, here.asker, **more))


async def test_x1_a_node_is_told_what_the_person_picked(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn())) as here:
        state = running(in_memory(choose), here)
        assert await here.question() == PLANS
        await here.press("option:team")
        assert (await state)["log"] == ["team"]


@pytest.mark.parametrize(
    ("answer", "log"),
    [(decline(), "declined"), (cancel("not_now"), "cancelled: not_now")],
    ids=["declined", "cancelled"],
)
async def test_a_node_is_told_that_there_is_no_answer(
    start_server: StartServer, answer: AskAnswer, log: str
) -> None:
    async with asked(await start_server(in_turn())) as here:
        state = running(in_memory(choose), here)
        await here.answer(answer)
        assert (await state)["log"] == [log]


async def test_x1_a_message_instead_cancels_the_question(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn([Text("Hello!")]))) as here:
        state = running(in_memory(choose), here)
        await here.pending()
        await here.noor.prompt("What is this?", here.conversation_id)
        assert (await state)["log"] == ["cancelled: user_sent_message"]


async def test_x3_a_question_that_expires_is_told_as_expired(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn()), timedelta(seconds=1)) as here:
        assert (await running(in_memory(choose), here))["log"] == ["expired"]


async def test_interrupts_of_a_graph_that_knows_no_parley_are_asked_too(
    start_server: StartServer,
) -> None:
    async with asked(await start_server(in_turn())) as here:
        state = running(in_memory(name_it), here)
        assert (await here.question()).prompt == NAME
        first = await here.answer(text_answer("Winter"))
        second = await here.pending(first.tool_call_id)
        assert [button.label for button in second.simple.buttons] == ["Set up", "Cancel"]
        await here.press("deny", after=first.tool_call_id)
        assert (await state)["log"] == ["Winter", "False"]


async def test_interrupts_at_the_same_time_are_asked_one_after_the_other(
    start_server: StartServer,
) -> None:
    async with asked(await start_server(in_turn())) as here:
        state = running(in_memory(choose, name_it), here)
        first = await here.press("option:starter")
        await here.pending(first.tool_call_id)
        second = await here.answer(text_answer("Winter"))
        await here.press("approve", after=second.tool_call_id)
        assert (await state)["log"] == ["starter", "Winter", "True"]


async def test_an_interrupt_within_a_subgraph_is_asked(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn())) as here:
        inner = graph_of(choose)

        async def outer(state: Plan) -> Plan:
            return Plan(log=(await inner.ainvoke(state, version="v2")).value["log"])

        graph = in_memory(outer)
        first = running(graph, here)
        await here.pending()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        state = asyncio.create_task(run(graph, None, THREAD, here.asker))
        await here.press("option:team")
        assert (await state)["log"] == ["team"]


async def test_each_run_of_a_graph_asks_anew(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn())) as here:
        graph = in_memory(choose)
        state = running(graph, here)
        first = await here.press("option:team")
        await state
        state = running(graph, here)
        await here.press("option:starter", after=first.tool_call_id)
        assert (await state)["log"] == ["team", "starter"]


async def test_a_run_from_an_old_checkpoint_asks_anew(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn())) as here:
        graph = in_memory(choose)
        state = running(graph, here)
        first = await here.pending()
        interrupted = (await graph.aget_state(THREAD)).config
        await here.press("option:team")
        await state

        state = asyncio.create_task(run(graph, None, interrupted, here.asker))
        await here.press("option:starter", after=first.tool_call_id)
        assert (await state)["log"] == ["starter"]
        assert (await graph.aget_state(THREAD)).values == {"log": ["starter"]}


async def test_a_graph_that_has_ended_asks_nothing(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn())) as here:
        graph = in_memory(choose)
        state = running(graph, here)
        await here.press("option:team")
        assert await run(graph, None, THREAD, here.asker) == await state
        assert await here.noor.pending() == []


async def test_what_is_no_question_is_asked_of_nobody(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn())) as here:
        with pytest.raises(Malformed, match="`kind` is missing"):
            await running(in_memory(ask_nonsense), here)
        with pytest.raises(ValueError, match="checkpointer"):
            await running(graph_of(choose), here)
        assert await here.noor.pending() == []


async def test_x1_a_graph_waits_for_the_slot_as_long_as_it_is_told_to(
    start_server: StartServer,
) -> None:
    async with asked(await start_server(in_turn())) as here:
        sure = AskInput(prompt="Sure?", confirm=ConfirmInput())
        other = await here.asker.create(sure, request_id="7e0e3d1c-6a3c-4b7e-9a37-6a51b6a3b0c1")
        graph = in_memory(choose)
        with pytest.raises(parley.ParleyError, match="ASK_ALREADY_PENDING"):
            await running(graph, here)

        patient = Asker(here.asker.client, here.conversation_id, "noor", slot_patience=30)
        state = asyncio.create_task(run(graph, None, THREAD, patient))
        await here.press("approve")
        await here.press("option:team", after=other.tool_call_id)
        assert (await state)["log"] == ["team"]


async def test_a_graph_in_its_own_process_waits_out_a_restart_of_parley(
    processes: Processes,
) -> None:
    async with home(processes) as (here, errand), errand_process(PROCESS, errand) as planner:
        ask = await here.pending()
        await here.restart()
        await here.noor.press(errand.conversation_id, ask.tool_call_id, "option:team")
        assert await planner.printed() == "team"


async def test_x2_a_graph_whose_process_dies_goes_on_with_what_was_answered(
    processes: Processes,
) -> None:
    async with home(processes) as (here, errand):
        async with errand_process(PROCESS, errand) as planner:
            ask = await here.pending()
            await planner.kill()
        again = errand.model_copy(update={"begins": False})
        async with errand_process(PROCESS, again) as planner:
            await here.noor.press(errand.conversation_id, ask.tool_call_id, "option:team")
            assert await planner.printed() == "team"
        assert await here.noor.pending() == []
        messages = await here.noor.messages(errand.conversation_id)
        asked_for = {
            (each.tool_call_id, each.ask.status) for each in messages if each.HasField("ask")
        }
        assert asked_for == {(ask.tool_call_id, MessageAsk.STATUS_ANSWERED)}

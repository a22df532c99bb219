"""An agent of pydantic-ai asks a person, and has them allow its calls."""

import asyncio
import re
from datetime import timedelta
from typing import Any

import pytest
from pydantic_ai import Agent, Conversation, DeferredToolRequests, ExternalToolset, ToolDefinition
from pydantic_ai.messages import TextPart, ToolCallPart
from pydantic_ai.models.test import TestModel

import parley
from parley.adapters.asker import Asker
from parley.adapters.pydantic_ai import parley_toolset, resume, run
from parley.v1.asks_pb2 import (
    ASK_KIND_CONFIRM,
    AcceptAnswer,
    AskAnswer,
    AskInput,
    ConfirmInput,
    MarkdownAnswer,
)
from parley.v1.turns_pb2 import SURFACE_COMPACT
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.clients.adapters.asking import Asked, asked
from tests.clients.adapters.errands import errand_process, home
from tests.clients.adapters.planner_agent import PLANS, Planner, Plans, ask, delete
from tests.end_to_end.person import cancel, decline
from tests.server import Processes, StartServer

DONE = [TextPart("Done.")]
PROCESS = "tests.clients.adapters.planner_agent"


def running(agent: Planner, here: Asked, **more: Any) -> asyncio.Task[Any]:
    return asyncio.create_task(run(agent, "Clean up", here.asker, **more))


async def test_x1_the_model_is_told_what_the_person_picked(start_server: StartServer) -> None:
    plans = Plans()
    async with asked(await start_server(in_turn())) as here:
        result = running(plans.agent([ask("choice", PLANS)], DONE), here)
        question = await here.question()
        assert [option.label for option in question.choice.options] == ["Starter", "Team"]
        await here.press("option:team")
        assert (await result).output == "Done."
    assert plans.told == [{"action": "accept", "content": {"selected": ["team"]}}]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (decline(), {"action": "decline"}),
        (cancel("not_now"), {"action": "cancel", "reason": "not_now"}),
    ],
    ids=["declined", "cancelled"],
)
async def test_the_model_is_told_that_there_is_no_answer(
    start_server: StartServer, answer: AskAnswer, told: object
) -> None:
    plans = Plans()
    async with asked(await start_server(in_turn())) as here:
        result = running(plans.agent([ask("choice", PLANS)], DONE), here)
        await here.answer(answer)
        await result
    assert plans.told == [told]


async def test_x1_a_message_instead_cancels_what_the_agent_waits_on(
    start_server: StartServer,
) -> None:
    plans = Plans()
    async with asked(await start_server(in_turn([Text("Hello!")], [Text("Hello!")]))) as here:
        result = running(plans.agent([ask("choice", PLANS)], [delete("Winter")], DONE), here)
        first = await here.pending()
        await here.noor.prompt("What is this?", here.conversation_id)
        await here.pending(first.tool_call_id)
        await here.noor.prompt("And this?", here.conversation_id)
        await result
    assert plans.deleted == []
    assert plans.told == [
        {"action": "cancel", "reason": "user_sent_message"},
        "The tool was not run: the person wrote a message instead of allowing it.",
    ]


async def test_x3_what_expires_is_told_as_expired_and_is_no_denial(
    start_server: StartServer,
) -> None:
    plans = Plans()
    async with asked(await start_server(in_turn()), timedelta(seconds=1)) as here:
        await running(plans.agent([ask("choice", PLANS)], [delete("Winter")], DONE), here)
    answer, refusal = plans.told
    assert answer == {"action": "cancel", "reason": "expired"}
    assert "expired; nobody denied the call" in str(refusal)
    assert plans.deleted == []


async def test_a_call_runs_where_it_is_allowed_and_not_where_it_is_denied(
    start_server: StartServer,
) -> None:
    plans = Plans()
    agent = plans.agent([delete("Winter", "call-1"), delete("Summer", "call-2")], DONE)
    async with asked(await start_server(in_turn())) as here:
        result = running(agent, here)
        first = await here.press("deny")
        assert (first.kind, plans.deleted) == (ASK_KIND_CONFIRM, [])
        assert first.simple.text == 'Allow delete_plan?\n{"name": "Winter"}'
        second = await here.press("approve", after=first.tool_call_id)
        assert "Summer" in second.simple.text
        await result
    assert plans.deleted == ["Summer"]
    assert plans.told == ["The tool was not run: the person denied the call.", "Summer is gone."]


async def test_questions_of_a_step_are_asked_before_its_approvals(
    start_server: StartServer,
) -> None:
    plans = Plans()
    draft = ask("markdown", {"prompt": "Look at this.", "initial": "Hi"}, "call-2")
    agent = plans.agent([delete("Winter"), draft], DONE)
    edited = MarkdownAnswer(markdown="Hello", changed=True)
    async with asked(await start_server(in_turn())) as here:
        result = running(agent, here)
        assert (await here.question()).markdown.initial == "Hi"
        first = await here.answer(AskAnswer(accept=AcceptAnswer(markdown=edited)))
        await here.press("approve", after=first.tool_call_id)
        await result
    assert plans.deleted == ["Winter"]
    assert {"action": "accept", "content": {"markdown": "Hello", "changed": True}} in plans.told


@pytest.mark.parametrize(
    ("kind", "arguments", "why"),
    [
        ("choice", {**PLANS, "options": []}, "options: .* 2"),
        ("choice", {**PLANS, "colour": "red"}, "no key 'colour'"),
        ("form", {"prompt": "?", "fields": [{"id": "a"}]}, "`type` of a field"),
        ("confirm", {}, "prompt"),
    ],
)
async def test_a_question_that_breaks_the_rules_is_told_to_the_model_alone(
    start_server: StartServer, kind: str, arguments: dict[str, object], why: str
) -> None:
    plans = Plans()
    async with asked(await start_server(in_turn())) as here:
        agent = plans.agent([ask(kind, arguments)], [ask("choice", PLANS)], DONE)
        result = running(agent, here)
        await here.press("option:team")
        await result
    wrong, answer = plans.told
    assert answer == {"action": "accept", "content": {"selected": ["team"]}}
    assert re.search(f"Nobody was asked.*{why}", str(wrong), re.DOTALL)


async def test_a_kind_that_a_small_screen_has_not_is_told_to_the_model_alone(
    start_server: StartServer,
) -> None:
    plans = Plans()
    agent = plans.agent([ask("markdown", {"prompt": "Write."})], DONE)
    async with asked(await start_server(in_turn())) as here:
        small = Asker(here.asker.client, here.conversation_id, "noor", surface=SURFACE_COMPACT)
        await run(agent, "Go", small)
    assert "not asked here on the compact surface" in str(plans.told[0])


async def test_each_run_asks_anew_whatever_its_calls_are_named(start_server: StartServer) -> None:
    plans = Plans()
    async with asked(await start_server(in_turn())) as here:
        result = running(plans.agent([delete("Winter")], DONE), here)
        first = await here.press("approve")
        await result
        result = running(plans.agent([delete("Winter")], DONE), here)
        await here.press("deny", after=first.tool_call_id)
        await result
    assert plans.deleted == ["Winter"]


async def test_a_conversation_goes_on_with_what_was_said_before(start_server: StartServer) -> None:
    plans = Plans()
    async with asked(await start_server(in_turn())) as here:
        agent = plans.agent([delete("Winter")], DONE, [delete("Summer")], DONE)
        result = running(agent, here)
        first = await here.press("approve")
        before = (await result).conversation
        result = running(agent, here, conversation=before)
        await here.press("approve", after=first.tool_call_id)
        after = (await result).conversation
    assert plans.deleted == ["Winter", "Summer"]
    assert after.conversation_id == before.conversation_id
    assert after.usage.requests == 4


async def test_a_call_is_put_in_words_of_the_agents_own(start_server: StartServer) -> None:
    plans = Plans()

    def wording(call: ToolCallPart) -> AskInput:
        plan = call.args_as_dict()["name"]
        return AskInput(prompt=f"Delete {plan}?", confirm=ConfirmInput(destructive=True))

    async with asked(await start_server(in_turn())) as here:
        result = running(plans.agent([delete("Winter")], DONE), here, wording=wording)
        assert (await here.press("approve")).simple.text == "Delete Winter?"
        await result
    assert plans.deleted == ["Winter"]


async def test_arguments_that_nobody_can_be_shown_whole_are_not_asked_for(
    start_server: StartServer,
) -> None:
    plans = Plans()
    async with asked(await start_server(in_turn())) as here:
        await running(plans.agent([delete("x" * 500)], DONE), here)
    assert plans.deleted == []
    assert "too long to be shown" in str(plans.told[0])


async def test_a_run_that_nobody_can_be_asked_for_ends_and_runs_nothing(
    start_server: StartServer,
) -> None:
    plans = Plans()
    kept: list[Conversation] = []

    async def keep(waiting: Conversation) -> None:
        kept.append(waiting)

    async with asked(await start_server(in_turn())) as here:
        sure = AskInput(prompt="Sure?", confirm=ConfirmInput())
        other = await here.asker.create(sure, request_id="7e0e3d1c-6a3c-4b7e-9a37-6a51b6a3b0c1")
        agent = plans.agent([delete("Winter")], DONE)
        with pytest.raises(parley.ParleyError, match="ASK_ALREADY_PENDING"):
            await running(agent, here, keep=keep)
        assert plans.deleted == []

        await here.press("deny")
        result = asyncio.create_task(resume(agent, kept[0], here.asker))
        await here.press("approve", after=other.tool_call_id)
        assert (await result).output == "Done."
    assert plans.deleted == ["Winter"]


async def test_a_call_that_asks_nobody_is_left_to_the_agent(start_server: StartServer) -> None:
    other = ExternalToolset([ToolDefinition(name="print_plan")])
    agent = Agent(TestModel(), output_type=[str, DeferredToolRequests], toolsets=[other])
    async with asked(await start_server(in_turn())) as here:
        with pytest.raises(ValueError, match="waits on calls of print_plan, which ask nobody"):
            await run(agent, "Go", here.asker)
        with pytest.raises(ValueError, match="waits on nothing"):
            await resume(agent, Conversation(), here.asker)
        assert await here.noor.pending() == []


def test_an_agent_may_have_some_kinds_alone() -> None:
    names = [tool.name for tool in parley_toolset("files", "choice").tool_defs]
    assert names == ["ask_choice", "ask_files"]
    assert len(parley_toolset().tool_defs) == 5
    with pytest.raises(ValueError, match="no kind 'slider'"):
        parley_toolset("slider")


async def test_an_agent_in_its_own_process_waits_out_a_restart_of_parley(
    processes: Processes,
) -> None:
    async with home(processes) as (here, errand), errand_process(PROCESS, errand) as planner:
        first = await here.pending()
        await here.restart()
        await here.noor.press(errand.conversation_id, first.tool_call_id, "option:team")
        second = await here.pending()
        await here.noor.press(errand.conversation_id, second.tool_call_id, "approve")
        assert await planner.printed() == "Winter is gone."


async def test_x2_an_agent_whose_process_dies_goes_on_with_what_was_answered(
    processes: Processes,
) -> None:
    async with home(processes) as (here, errand):
        async with errand_process(PROCESS, errand) as planner:
            first = await here.pending()
            await here.noor.press(errand.conversation_id, first.tool_call_id, "option:team")
            second = await here.pending()
            await planner.kill()
        await here.noor.press(errand.conversation_id, second.tool_call_id, "approve")
        again = errand.model_copy(update={"begins": False})
        async with errand_process(PROCESS, again) as planner:
            assert await planner.printed() == "Winter is gone."
        assert await here.noor.pending() == []

"""Tools of the OpenAI Agents SDK run once a person allows it, and not before."""

import asyncio
import json
from datetime import timedelta
from typing import Any, cast

import pytest
from agents import Agent, RunConfig, RunContextWrapper, RunResult, function_tool
from agents.items import ToolApprovalItem
from agents.testing import ScriptedModel, assistant_message, function_call

import parley
from parley.adapters.openai_agents import PausedRun, resume, run
from parley.v1.asks_pb2 import ASK_KIND_CONFIRM, AskInput, ConfirmInput
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.clients.adapters.asking import Asked, asked
from tests.clients.cutting_proxy import cutting_proxy
from tests.end_to_end.person import accept, cancel
from tests.server import StartServer

UNTRACED = RunConfig(tracing_disabled=True)
DONE = [assistant_message("Done.")]


class Plans:
    """Plans that an agent may delete where a person allows it."""

    def __init__(self) -> None:
        self.deleted: list[str] = []

    def agent(self, *steps: Any) -> Agent[Any]:
        """Returns an agent that plays a script."""

        @function_tool(needs_approval=True)
        def delete_plan(name: str) -> str:
            """Deletes a plan."""
            self.deleted.append(name)
            return f"{name} is gone."

        return Agent(name="Planner", model=ScriptedModel(steps), tools=[delete_plan])


def delete(name: str, call_id: str = "call-1") -> Any:
    return function_call("delete_plan", {"name": name}, call_id=call_id)


def told(agent: Agent[Any]) -> list[str]:
    """What the model was told of its calls, in order."""
    call = cast("ScriptedModel", agent.model).last_call
    assert call
    return [item["output"] for item in call.input if item.get("type") == "function_call_output"]


async def decided(here: Asked, agent: Agent[Any], *, allowed: bool) -> RunResult:
    running = asyncio.create_task(run(agent, "Clean up", here.asker, run_config=UNTRACED))
    await here.press("approve" if allowed else "deny")
    return await running


async def test_an_allowed_call_runs(start_server: StartServer) -> None:
    plans = Plans()
    agent = plans.agent([delete("Winter")], DONE)
    async with asked(await start_server(in_turn())) as here:
        running = asyncio.create_task(run(agent, "Clean up", here.asker, run_config=UNTRACED))
        ask = await here.pending()
        assert (ask.kind, plans.deleted) == (ASK_KIND_CONFIRM, [])
        assert ask.simple.text == 'Allow delete_plan?\n{"name": "Winter"}'
        assert [button.label for button in ask.simple.buttons] == ["Allow", "Deny"]
        await here.press("approve")
        result = await running
    assert (result.final_output, plans.deleted) == ("Done.", ["Winter"])
    assert told(agent) == ["Winter is gone."]


async def test_a_denied_call_does_not_run_and_the_model_is_told_so(
    start_server: StartServer,
) -> None:
    plans = Plans()
    agent = plans.agent([delete("Winter")], DONE)
    async with asked(await start_server(in_turn())) as here:
        result = await decided(here, agent, allowed=False)
    assert (result.final_output, plans.deleted) == ("Done.", [])
    assert told(agent) == ["The tool was not run: the person denied the call."]


async def test_a_message_instead_of_an_answer_is_told_apart(start_server: StartServer) -> None:
    plans = Plans()
    agent = plans.agent([delete("Winter")], DONE)
    async with asked(await start_server(in_turn([Text("Hello!")]))) as here:
        running = asyncio.create_task(run(agent, "Clean up", here.asker, run_config=UNTRACED))
        await here.pending()
        await here.noor.prompt("What is this?", here.conversation_id)
        await running
    assert plans.deleted == []
    assert told(agent) == [
        "The tool was not run: the person wrote a message instead of allowing it."
    ]


async def test_a_cancelled_question_is_told_apart(start_server: StartServer) -> None:
    plans = Plans()
    agent = plans.agent([delete("Winter")], DONE)
    async with asked(await start_server(in_turn())) as here:
        running = asyncio.create_task(run(agent, "Clean up", here.asker, run_config=UNTRACED))
        await here.answer(cancel("not_now"))
        await running
    assert plans.deleted == []
    assert told(agent) == [
        "The tool was not run: the question whether it may was cancelled (not_now)."
    ]


async def test_x3_a_question_that_expires_is_no_denial(start_server: StartServer) -> None:
    plans = Plans()
    agent = plans.agent([delete("Winter")], DONE)
    async with asked(await start_server(in_turn()), timedelta(seconds=1)) as here:
        await run(agent, "Clean up", here.asker, run_config=UNTRACED)
    assert plans.deleted == []
    (why,) = told(agent)
    assert "expired; nobody denied the call" in why


async def test_two_calls_of_one_step_are_decided_one_after_the_other(
    start_server: StartServer,
) -> None:
    plans = Plans()
    agent = plans.agent([delete("Winter", "call-1"), delete("Summer", "call-2")], DONE)
    async with asked(await start_server(in_turn())) as here:
        running = asyncio.create_task(run(agent, "Clean up", here.asker, run_config=UNTRACED))
        first = await here.press("deny")
        second = await here.press("approve", after=first.tool_call_id)
        await running
    assert ["Winter" in first.simple.text, "Summer" in second.simple.text] == [True, True]
    assert plans.deleted == ["Summer"]
    assert told(agent) == ["The tool was not run: the person denied the call.", "Summer is gone."]


async def test_a_yes_counts_for_its_run_alone(start_server: StartServer) -> None:
    """Some models count their calls anew in every run."""
    plans = Plans()
    async with asked(await start_server(in_turn())) as here:
        await decided(here, plans.agent([delete("Winter")], DONE), allowed=True)
        await decided(here, plans.agent([delete("Winter")], DONE), allowed=False)
    assert plans.deleted == ["Winter"]


async def test_a_restart_of_the_server_is_waited_out(start_server: StartServer) -> None:
    plans = Plans()
    agent = plans.agent([delete("Winter")], DONE)
    first = await start_server(in_turn())
    async with (
        cutting_proxy(first.address) as (proxy, address),
        asked(first, address=address) as here,
    ):
        running = asyncio.create_task(run(agent, "Clean up", here.asker, run_config=UNTRACED))
        ask = await here.pending()
        await first.stop()
        proxy.cut()
        second = await start_server(in_turn())
        noor = await second.person()
        await noor.press(here.conversation_id, ask.tool_call_id, "approve")
        proxy.target = second.address
        await running
    assert plans.deleted == ["Winter"]


async def test_an_agent_that_died_while_it_waited_goes_on_with_what_was_answered(
    start_server: StartServer,
) -> None:
    plans = Plans()
    kept: list[str] = []

    async def keep(paused: PausedRun) -> None:
        kept.append(paused.to_json())

    calls = [delete("Winter", "call-1"), delete("Summer", "call-2")]
    async with asked(await start_server(in_turn())) as here:
        dying = asyncio.create_task(
            run(plans.agent(calls), "Clean up", here.asker, keep=keep, run_config=UNTRACED)
        )
        first = await here.press("deny")
        second = await here.pending(first.tool_call_id)
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)
        await here.press("approve", after=first.tool_call_id)
        assert (len(kept), plans.deleted) == (1, [])

        agent = plans.agent(DONE)
        paused = PausedRun.from_json(kept[0])
        result = await resume(agent, paused, here.asker, run_config=UNTRACED)

        assert await here.noor.pending() == []
    assert (result.final_output, plans.deleted) == ("Done.", ["Summer"])
    assert told(agent) == ["The tool was not run: the person denied the call.", "Summer is gone."]
    assert "Summer" in second.simple.text


async def test_a_resumed_run_pauses_and_is_kept_again(start_server: StartServer) -> None:
    plans = Plans()
    kept: list[PausedRun] = []

    async def keep(paused: PausedRun) -> None:
        kept.append(paused)

    async with asked(await start_server(in_turn())) as here:
        agent = plans.agent([delete("Winter")])
        dying = asyncio.create_task(
            run(agent, "Clean up", here.asker, keep=keep, run_config=UNTRACED)
        )
        first = await here.pending()
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)
        agent = plans.agent([delete("Summer", "call-2")], DONE)
        running = asyncio.create_task(
            resume(agent, kept[0], here.asker, keep=keep, run_config=UNTRACED)
        )
        await here.press("approve")
        await here.press("approve", after=first.tool_call_id)
        await running
    assert plans.deleted == ["Winter", "Summer"]
    assert [paused.pauses for paused in kept] == [1, 1, 2]
    assert len({paused.run_id for paused in kept}) == 1


async def test_the_context_of_a_run_is_the_resumed_ones_too(
    start_server: StartServer, caplog: pytest.LogCaptureFixture
) -> None:
    class Tenant:
        def __init__(self, name: str) -> None:
            self.name = name

    seen: list[str] = []

    @function_tool(needs_approval=True)
    def delete_all(context: RunContextWrapper[Tenant]) -> str:
        """Deletes all."""
        seen.append(context.context.name)
        return "Gone."

    def agent(*steps: Any) -> Agent[Tenant]:
        return Agent(name="Planner", model=ScriptedModel(steps), tools=[delete_all])

    kept: list[PausedRun] = []

    async def keep(paused: PausedRun) -> None:
        kept.append(paused)

    async with asked(await start_server(in_turn())) as here:
        first = agent([function_call("delete_all", {}, call_id="call-1")])
        dying = asyncio.create_task(
            run(first, "Go", here.asker, keep=keep, context=Tenant("a"), run_config=UNTRACED)
        )
        await here.pending()
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)
        caplog.clear()
        running = asyncio.create_task(
            resume(agent(DONE), kept[0], here.asker, context=Tenant("b"), run_config=UNTRACED)
        )
        await here.press("approve")
        await running
    assert seen == ["b"]
    assert not [record for record in caplog.records if record.name.startswith("openai")]


async def test_arguments_that_nobody_can_be_shown_whole_are_not_asked_for(
    start_server: StartServer,
) -> None:
    plans = Plans()
    agent = plans.agent([delete("x" * 500)], DONE)
    async with asked(await start_server(in_turn())) as here:
        await run(agent, "Clean up", here.asker, run_config=UNTRACED)
        assert plans.deleted == []
        assert "too long to be shown" in told(agent)[0]

        agent = plans.agent([delete("x" * 130)], DONE)
        running = asyncio.create_task(run(agent, "Clean up", here.asker, run_config=UNTRACED))
        ask = await here.pending()
        assert [button.id for button in ask.simple.buttons] == ["deny"]
        await here.answer(accept(confirmed=True))
        await running
    assert plans.deleted == ["x" * 130]


async def test_a_call_is_put_in_words_of_the_agents_own(start_server: StartServer) -> None:
    plans = Plans()
    agent = plans.agent([delete("Winter")], DONE)

    def wording(call: ToolApprovalItem) -> AskInput:
        plan = json.loads(call.arguments or "{}")["name"]
        confirm = ConfirmInput(confirm_label="Delete", destructive=True)
        return AskInput(prompt=f"Delete the plan {plan} for good?", confirm=confirm)

    async with asked(await start_server(in_turn())) as here:
        running = asyncio.create_task(
            run(agent, "Clean up", here.asker, wording=wording, run_config=UNTRACED)
        )
        ask = await here.press("approve")
        await running
    assert ask.simple.text == "Delete the plan Winter for good?"
    assert plans.deleted == ["Winter"]


def test_what_was_not_kept_of_a_run_is_refused() -> None:
    for text in ("[]", "{}", '{"state": "", "other": 1}', "no JSON"):
        with pytest.raises(ValueError):  # noqa: PT011 - of several texts
            PausedRun.from_json(text)


async def test_a_question_that_is_refused_ends_the_run_and_runs_nothing(
    start_server: StartServer,
) -> None:
    plans = Plans()
    async with asked(await start_server(in_turn())) as here:
        await here.noor.delete(here.conversation_id)
        with pytest.raises(parley.ParleyError, match="CONVERSATION_NOT_FOUND"):
            await run(plans.agent([delete("Winter")]), "Clean up", here.asker, run_config=UNTRACED)
    assert plans.deleted == []

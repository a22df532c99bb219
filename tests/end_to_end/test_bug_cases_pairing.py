"""Faults of other systems with calls and their results, tried on a model that insists on pairs."""

import asyncio
from pathlib import Path

import grpc
import pytest
from pydantic import JsonValue

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.contract.executions import UNKNOWN_OUTCOME
from parleyd.models.script import Call, Fail, ScriptedMessage, Text
from parleyd.models.scripted import by_progress, by_prompt, in_turn
from parleyd.models.signatures import rebuilt, signed
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.person import accept, refused
from tests.scripts import Script
from tests.server import Processes, StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import LOOKUP_ID, UPSERT_ID, StandardTools, look_up, upsert

HELLO = "never mind, hello"
CONFIRM_ID = "call_confirm"
CONFIRM = Call("ask_confirm", {"prompt": "Delete every file?", "destructive": True}, CONFIRM_ID)
SENT_MESSAGE: dict[str, JsonValue] = {"action": "cancel", "reason": "user_sent_message"}
TEAM: dict[str, JsonValue] = {"action": "accept", "content": {"selected": ["team"]}}

HELD_LOOKUP = Script(
    by_prompt(
        {
            "How many plans are there?": by_progress(
                [look_up(hold="inside"), upsert()], [Text("I can't tell.")]
            ),
            HELLO: by_progress([Text("Hello.")]),
        }
    )
)


async def test_bc_021_a_tool_stopped_by_the_wall_time_leaves_no_call_without_result(
    start_server: StartServer, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(HELD_LOOKUP.pick, tools=tools.hosted, turn_seconds=2)
    noor = await server.person()

    failed = await noor.prompt("How many plans are there?")
    retried = await noor.retry(failed.conversation_id, failed.turn_id)
    hello = await noor.prompt(HELLO, failed.conversation_id)

    assert failed.names[-2:] == ["error", "done"]
    assert failed.error.reason == "TURN_TIMEOUT"
    assert [(each.tool_call_id, each.is_error) for each in failed.results] == [
        (UPSERT_ID, False),
        (LOOKUP_ID, True),
    ]
    assert retried.text == "I can't tell."
    results = server.model.calls[1].messages[-1]
    assert isinstance(results, ScriptedMessage)
    looked_up, upserted = results.parts
    assert looked_up == ToolOutcome(LOOKUP_ID, "lookup", error=UNKNOWN_OUTCOME)
    assert isinstance(upserted, ToolOutcome)
    assert upserted.error is None
    assert hello.text == "Hello."
    assert [run.tool for run in tools.runs()] == ["lookup", "upsert"]


async def test_bc_021_a_tool_whose_process_died_leaves_no_call_without_result(
    processes: Processes,
) -> None:
    script = "tests.end_to_end.test_bug_cases_pairing:HELD_LOOKUP"
    server, other = await asyncio.gather(processes.start(script), processes.start(script))
    noor, far_noor = await server.person(), await other.person()
    started: asyncio.Future[turns_pb2.TurnEvent] = asyncio.get_running_loop().create_future()

    async def play() -> None:
        request = turns_pb2.StreamTurnRequest(
            prompt=turns_pb2.PromptInput(text="How many plans are there?")
        )
        async for event in noor.stream(request):
            if event.HasField("started"):
                started.set_result(event)

    playing = asyncio.create_task(refused(play()))
    turn = await started
    await server.holds.reached("inside")
    server.kill()
    await playing
    conversation_id = turn.started.conversation_id
    ended = await far_noor.watch(conversation_id, turn.turn_id)
    hello = await far_noor.prompt(HELLO, conversation_id)

    assert ended.text == "I can't tell."
    told = processes.folder.model_calls()[1].messages[-1]
    assert [(part.call_id, part.error) for part in told.parts if isinstance(part, ToolOutcome)] == [
        (LOOKUP_ID, UNKNOWN_OUTCOME),
        (UPSERT_ID, None),
    ]
    assert hello.text == "Hello."
    assert len(processes.folder.tool_runs("lookup")) == 1


async def test_bc_023_a_stream_that_drops_after_a_call_and_more_text_leaves_neither(
    start_server: StartServer,
) -> None:
    server = await start_server(
        in_turn(
            [Text("Well, "), ask_plan(), Text("that is all."), Fail("server")],
            [Text("Well, "), ask_plan(), Text("that is all.")],
            [Text("The Team plan it is.")],
            [Text("Hello.")],
        )
    )
    noor = await server.person()

    failed = await noor.prompt("Set up my workspace")
    asked = await noor.retry(failed.conversation_id, failed.turn_id)
    answered = await noor.answer(failed.conversation_id, PLAN_ID, accept("team"))
    hello = await noor.prompt(HELLO, failed.conversation_id)

    assert failed.names == ["started", "error", "done"]
    assert asked.names == ["started", "ask", "done"]
    assert answered.text == "The Team plan it is."
    assert hello.text == "Hello."
    prompt = ScriptedMessage("user", (Text("Set up my workspace"),))
    outcome = ScriptedMessage("tool", (ToolOutcome(PLAN_ID, "ask_choice", value=TEAM),))
    assert server.model.calls[1].messages == (prompt,)
    # In its own chain the step goes back as it came; later only its call is told of.
    assert server.model.calls[2].messages == (
        prompt,
        ScriptedMessage("model", (Text("Well, "), signed(ask_plan()), Text("that is all."))),
        outcome,
    )
    assert server.model.calls[3].messages[:3] == (
        prompt,
        ScriptedMessage("model", (rebuilt(ask_plan()),)),
        outcome,
    )


async def test_bc_023_for_another_vendor_calls_stand_alone(start_server: StartServer) -> None:
    before = await start_server(in_turn([ask_plan(), Text("Which one?")]))
    asked = await (await before.person()).prompt("Set up my workspace")
    await before.stop()
    server = await start_server(in_turn([Text("The Team plan it is.")]), provider="another")

    answered = await (await server.person()).answer(asked.conversation_id, PLAN_ID, accept("team"))

    assert answered.text == "The Team plan it is."
    assert server.model.calls[0].messages[1] == ScriptedMessage("model", (rebuilt(ask_plan()),))


@pytest.mark.parametrize("unary", [False, True], ids=["stream", "unary"])
async def test_bc_036_an_empty_prompt_or_a_bare_continue_is_no_yes(
    start_server: StartServer, tmp_path: Path, *, unary: bool
) -> None:
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(
        in_turn([CONFIRM], [Text("Nothing is deleted.")]), tools=tools.hosted
    )
    noor = await server.person()
    asked = await noor.prompt("Tidy up")

    async def say(text: str) -> str:
        prompt = turns_pb2.PromptInput(text=text)
        named = asked.conversation_id
        if unary:
            request = turns_pb2.TurnRequest(conversation_id=named, prompt=prompt)
            return (await noor.run(request)).text
        streamed = turns_pb2.StreamTurnRequest(conversation_id=named, prompt=prompt)
        return (await noor.play(streamed)).text

    error = await refused(say(""))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert error_of(error).reason == "PROMPT_REQUIRED"
    pending = (await noor.conversation(asked.conversation_id)).pending_ask
    assert pending.tool_call_id == CONFIRM_ID
    assert len(server.model.calls) == 1

    assert await say("continue") == "Nothing is deleted."

    assert server.model.calls[1].messages[1:] == (
        ScriptedMessage("model", (rebuilt(CONFIRM),)),
        ScriptedMessage("tool", (ToolOutcome(CONFIRM_ID, "ask_confirm", value=SENT_MESSAGE),)),
        ScriptedMessage("user", (Text("continue"),)),
    )
    assert tools.runs() == []

"""Faults of other systems with calls that wait for an approval, and with what comes after it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.contract.executions import UNKNOWN_OUTCOME
from parleyd.models.script import Fail, ScriptedMessage, Text
from parleyd.models.scripted import by_progress, by_prompt, in_turn
from parleyd.models.signatures import signed
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.gemini_service import asks, gemini_service, says
from tests.end_to_end.guarded import (
    APPROVED,
    CLEAN_UP,
    DONE,
    Guarded,
    approval,
    denial,
    first_step,
    not_run,
    outcomes,
    ran,
    rows,
)
from tests.end_to_end.guarded_trials import HELLO, trial_of
from tests.end_to_end.person import refused
from tests.end_to_end.trials import every_way
from tests.models.fake_gemini import FakeGemini
from tests.models.gemini_calls import SIGNATURE, function_call
from tests.server import StartServer
from tests.standard_tools import (
    ARCHIVE,
    ARCHIVE_ID,
    DELETE,
    DELETE_ID,
    StandardTools,
    archive,
    delete,
    look_up,
)


async def test_bc_021_an_approved_tool_that_is_stopped_leaves_no_call_without_result(
    start_server: StartServer, tools: StandardTools
) -> None:
    pick = by_prompt(
        {CLEAN_UP: by_progress([delete(hold="inside")], DONE), HELLO: by_progress(DONE)}
    )
    server = await start_server(pick, tools=tools.all_hosted, turn_seconds=2)
    noor = await server.person()
    asked = await noor.prompt(CLEAN_UP)
    guarded = Guarded(server, noor, tools, asked)

    failed = await guarded.approve()
    retried = await noor.retry(guarded.own, failed.turn_id)
    hello = await noor.prompt(HELLO, guarded.own)

    assert failed.names == ["started", "ask_resolved", "tool_result", "error", "done"]
    assert failed.error.reason == "TURN_TIMEOUT"
    assert retried.names == ["started", "text", "done"]
    assert outcomes(server.model.calls[1]) == [
        ToolOutcome(DELETE_ID, DELETE, error=UNKNOWN_OUTCOME)
    ]
    assert hello.text == "Done."
    assert guarded.runs == 1


async def test_bc_023_a_stream_that_drops_after_a_guarded_call_and_more_text_asks_nothing(
    start_server: StartServer, tools: StandardTools
) -> None:
    server = await start_server(
        in_turn(
            [Text("Well, "), delete(), Text("that is all."), Fail("server")],
            [Text("Well, "), delete(), Text("that is all.")],
            DONE,
            DONE,
        ),
        tools=tools.all_hosted,
    )
    noor = await server.person()
    failed = await noor.prompt(CLEAN_UP)
    assert failed.names == ["started", "error", "done"]
    assert await noor.pending() == []
    asked = await noor.retry(failed.conversation_id, failed.turn_id)
    assert asked.names == ["started", "tool_call", "ask", "done"]
    guarded = Guarded(server, noor, tools, asked)
    assert (await guarded.approve()).names == APPROVED
    assert server.model.calls[2].messages[1:] == (
        ScriptedMessage("model", (Text("Well, "), signed(delete()), Text("that is all."))),
        ScriptedMessage("tool", (ran(),)),
    )
    assert (await noor.prompt(HELLO, guarded.own)).text == "Done."
    assert guarded.runs == 1


@every_way
async def test_bc_031_of_two_guarded_calls_of_a_step_the_second_is_asked_for_when_it_is_repeated(
    start_server: StartServer, tools: StandardTools, *, streaming: bool, restarting: bool
) -> None:
    trial = trial_of(
        start_server,
        tools,
        *([delete(), archive()], [archive("call_again")], DONE),
        streaming=streaming,
        restarting=restarting,
    )
    first = await trial.say(CLEAN_UP)
    own = first.conversation_id
    await trial.rest()
    second = await trial.answer(own, first.pending_ask.tool_call_id, approval())
    assert [run.tool for run in tools.runs()] == [DELETE]
    assert outcomes(trial.calls[-1]) == [ran(), not_run("one_ask_at_a_time", ARCHIVE_ID, ARCHIVE)]
    assert second.pending_ask.tool_call_id not in {"", first.pending_ask.tool_call_id}
    await trial.rest()
    done = await trial.answer(own, second.pending_ask.tool_call_id, approval())
    assert done.text == "Done."
    assert [(run.tool, run.call_id) for run in tools.runs()] == [
        (DELETE, DELETE_ID),
        (ARCHIVE, "call_again"),
    ]


@every_way
async def test_bc_036_an_empty_message_or_a_bare_continue_is_no_approval(
    start_server: StartServer, tools: StandardTools, *, streaming: bool, restarting: bool
) -> None:
    trial = trial_of(
        start_server, tools, [delete()], DONE, streaming=streaming, restarting=restarting
    )
    asked = await trial.say(CLEAN_UP)
    own = asked.conversation_id
    await trial.rest()
    assert error_of(await refused(trial.say("", own))).reason == "PROMPT_REQUIRED"
    pending = (await (await trial.person()).conversation(own)).pending_ask
    assert pending.tool_call_id == asked.pending_ask.tool_call_id
    assert len(trial.calls) == 1
    assert (await trial.say("continue", own)).text == "Done."
    assert tools.runs() == []


@pytest.fixture
async def fake() -> AsyncIterator[FakeGemini]:
    fake = FakeGemini()
    async with fake.serving():
        yield fake


@pytest.mark.parametrize("unary", [False, True], ids=["stream", "unary"])
async def test_bc_037_the_sdk_runs_no_guarded_tool_itself(
    fake: FakeGemini, database_url: str, tools: StandardTools, tmp_path: Path, *, unary: bool
) -> None:
    fake.answer(
        asks(
            function_call("lookup", {}, SIGNATURE, id="call_1"),
            function_call(DELETE, {}, id="call_2"),
        )
    )
    fake.answer(says("Cleaned up."))
    fake.answer(says("Cleaning"))
    async with gemini_service(fake, database_url, tmp_path, tools=tools.all_hosted) as noor:
        asked = await noor.prompt(CLEAN_UP)
        assert [run.tool for run in tools.runs()] == ["lookup"]
        given = turns_pb2.AnswerInput(tool_call_id=asked.ask.tool_call_id, answer=approval())
        if unary:
            request = turns_pb2.TurnRequest(conversation_id=asked.conversation_id, answer=given)
            said = (await noor.run(request)).text
        else:
            streamed = turns_pb2.StreamTurnRequest(
                conversation_id=asked.conversation_id, answer=given
            )
            said = (await noor.play(streamed)).text
    assert said == "Cleaned up."
    assert [run.tool for run in tools.runs()] == ["lookup", DELETE]
    results = fake.received[1].contents[-1]["parts"]
    assert [part["functionResponse"]["id"] for part in results] == ["call_1", "call_2"]


@every_way
async def test_bc_117_a_message_while_an_approval_waits_is_read_alone(
    start_server: StartServer, tools: StandardTools, *, streaming: bool, restarting: bool
) -> None:
    """Nothing is told of a dropped approval: host calls are not part of later turns' history."""
    trial = trial_of(
        start_server, tools, [look_up(), delete()], DONE, streaming=streaming, restarting=restarting
    )
    asked = await trial.say(CLEAN_UP)
    await trial.rest()
    assert (await trial.say(HELLO, asked.conversation_id)).text == "Done."
    assert trial.calls[-1].messages == (
        ScriptedMessage("user", (Text(CLEAN_UP),)),
        ScriptedMessage("user", (Text(HELLO),)),
    )
    assert [run.tool for run in tools.runs()] == ["lookup"]


@every_way
async def test_bc_121_messages_after_a_denial_all_reach_the_model(
    start_server: StartServer, tools: StandardTools, *, streaming: bool, restarting: bool
) -> None:
    trial = trial_of(
        start_server, tools, [delete()], DONE, streaming=streaming, restarting=restarting
    )
    asked = await trial.say(CLEAN_UP)
    own = asked.conversation_id
    await trial.rest()
    await trial.answer(own, asked.pending_ask.tool_call_id, denial())
    assert trial.calls[-1].messages[:2] == first_step()
    for said in ("one", "two", "three"):
        await trial.rest()
        assert (await trial.say(said, own)).text == "Done."
        last = trial.calls[-1].messages[-1]
        assert last == ScriptedMessage("user", (Text(said),))
    found = rows(await (await trial.person()).messages(own))
    assert [row[0] for row in found][-6:] == ["user", "assistant"] * 3
    assert tools.runs() == []

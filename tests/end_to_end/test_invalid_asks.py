"""An ask that breaks the rules never reaches a person (spec turns 15.4)."""

from dataclasses import replace

import pytest

from parley.v1 import conversations_pb2
from parleyd.models.script import Call, Fail, ScriptedMessage, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.person import COMPACT, accept, refused
from tests.server import Server, StartServer
from tests.standard_asks import PLAN, PLAN_ID, ask_plan

Message = conversations_pb2.Message
TWICE = PLAN | {
    "options": [{"id": "a", "label": "One"}, {"id": "a", "label": "Two"}],
    "default": [],
}


def bad_plan(call_id: str = "call_bad") -> Call:
    return replace(ask_plan(), args=TWICE, call_id=call_id)


def outcomes(server: Server, call: int) -> list[ToolOutcome]:
    """Returns the results that a model call was sent last."""
    message = server.model.calls[call].messages[-1]
    assert isinstance(message, ScriptedMessage)
    return [part for part in message.parts if isinstance(part, ToolOutcome)]


async def test_i1_the_model_reads_what_is_wrong_and_asks_again(start_server: StartServer) -> None:
    server = await start_server(in_turn([bad_plan()], [ask_plan()]))
    noor = await server.person()

    played = await noor.prompt("Set up my workspace")

    assert played.names == ["started", "ask", "done"]
    (outcome,) = outcomes(server, 1)
    assert outcome.call_id == "call_bad"
    assert outcome.error is not None
    assert "DUPLICATE_ID" in outcome.error
    assert "options[1].id" in outcome.error
    messages = await noor.messages(played.conversation_id)
    assert [message.type for message in messages] == [Message.TYPE_USER, Message.TYPE_TOOL_CALL]


async def test_i1_an_answer_after_a_mended_ask_replays_both_steps(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([bad_plan()], [ask_plan()], [Text("Done.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert server.model.calls[2].messages[:3] == server.model.calls[1].messages
    assert server.model.calls[2].messages[3] == ScriptedMessage("model", (ask_plan(),))


async def test_i3_a_bad_ask_beside_a_good_one_keeps_its_error(start_server: StartServer) -> None:
    server = await start_server(in_turn([bad_plan(), ask_plan()], [Text("Done.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    assert asked.names == ["started", "ask", "done"]
    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    bad, good = outcomes(server, 1)
    assert bad.call_id == "call_bad"
    assert bad.error is not None
    assert "DUPLICATE_ID" in bad.error
    assert good == ToolOutcome(
        PLAN_ID, "ask_choice", value={"action": "accept", "content": {"selected": ["team"]}}
    )


async def test_i4_bad_asks_end_at_the_step_limit(start_server: StartServer) -> None:
    server = await start_server(in_turn(*[[bad_plan(f"call_{n}")] for n in range(9)]), max_steps=3)
    noor = await server.person()
    played = await noor.prompt("Set up my workspace")
    messages = await noor.messages(played.conversation_id)
    assert played.names == ["started", "done"]
    assert len(server.model.calls) == 3
    assert [message.type for message in messages] == [Message.TYPE_USER]


@pytest.mark.parametrize("name", ["ask_files", "ask_budget", "ask_"])
async def test_i6_an_ask_that_is_not_offered_is_a_tool_error(
    start_server: StartServer, name: str
) -> None:
    step: ScriptedStep = [Call(name, {"prompt": "Your files?", "accept": ["pdf"]}, "call_files")]
    server = await start_server(in_turn(step, [Text("Then not.")]))
    noor = await server.person()

    played = await noor.prompt("Set up my workspace", surface=COMPACT)

    assert [tool.name for tool in server.model.calls[0].tools] == ["ask_choice", "ask_confirm"]
    assert played.names == ["started", "text", "done"]
    (outcome,) = outcomes(server, 1)
    assert outcome.error is not None
    assert name in outcome.error
    messages = await noor.messages(played.conversation_id)
    assert [message.type for message in messages] == [Message.TYPE_USER, Message.TYPE_ASSISTANT]


async def test_i7_a_provider_id_that_comes_again_gets_a_public_id_of_its_own(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([ask_plan()], [ask_plan()], [Text("Done.")]))
    noor = await server.person()
    first = await noor.prompt("Set up my workspace")
    second = await noor.prompt("Again", first.conversation_id)
    assert second.ask.tool_call_id != first.ask.tool_call_id
    error = await refused(noor.answer(first.conversation_id, PLAN_ID, accept("team")))
    assert "ASK_NOT_PENDING" in str(error.trailing_metadata())
    await noor.answer(first.conversation_id, second.ask.tool_call_id, accept("team"))
    (outcome,) = outcomes(server, 2)
    assert outcome.call_id == PLAN_ID


async def test_a_call_without_an_id_gets_one(start_server: StartServer) -> None:
    server = await start_server(in_turn([replace(ask_plan(), call_id=None)], [Text("Done.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    assert asked.ask.tool_call_id.startswith("call_")
    assert asked.ask.simple.tool_call_id == asked.ask.tool_call_id
    await noor.answer(asked.conversation_id, asked.ask.tool_call_id, accept("team"))
    (outcome,) = outcomes(server, 1)
    assert outcome.call_id is None


async def test_a_tool_that_does_not_exist_is_shown_and_told(start_server: StartServer) -> None:
    server = await start_server(
        in_turn([Call("send_mail", {"to": "a\x00b"}, "call_mail")], [Text("I can't.")])
    )
    noor = await server.person()
    played = await noor.prompt("Write to Ivo")
    assert played.names == ["started", "tool_call", "tool_result", "text", "done"]
    assert played.events[1].tool_call.args_json == '{"to":"a\ufffdb"}'
    assert played.events[2].tool_result.is_error
    messages = await noor.messages(played.conversation_id)
    assert [message.type for message in messages] == [
        Message.TYPE_USER,
        Message.TYPE_TOOL_CALL,
        Message.TYPE_TOOL_RESULT,
        Message.TYPE_ASSISTANT,
    ]


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (Fail("other", "key=SECRET"), "MODEL_ERROR"),
        (Fail("refused", "key=SECRET"), "MODEL_REFUSED"),
    ],
)
async def test_a_turn_whose_model_fails_ends_with_an_error(
    start_server: StartServer, failure: Fail, reason: str
) -> None:
    server = await start_server(in_turn([Text("Let me "), failure]))
    noor = await server.person()
    played = await noor.prompt("Set up my workspace")
    messages = await noor.messages(played.conversation_id)
    assert played.names == ["started", "error", "done"]
    assert played.events[1].error.reason == reason
    assert played.done.retryable
    assert messages[1].text == "Let me"
    assert messages[1].status == Message.STATUS_ERROR
    assert "SECRET" not in f"{played.events}{messages}"


async def test_a_fault_of_ours_in_a_turn_ends_it_with_an_error(start_server: StartServer) -> None:
    server = await start_server(in_turn())
    noor = await server.person()
    played = await noor.prompt("Set up my workspace")
    assert played.names == ["started", "error", "done"]
    assert played.events[1].error.reason == "INTERNAL"

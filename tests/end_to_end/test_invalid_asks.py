"""An ask that breaks the rules never reaches a person (spec turns 15.4)."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from pydantic import JsonValue
from structlog.testing import capture_logs

from parley.v1 import conversations_pb2
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS, tool_name
from parleyd.models.script import Call, Fail, ScriptedMessage, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from parleyd.models.signatures import signed
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
    assert server.model.calls[2].messages[3] == ScriptedMessage("model", (signed(ask_plan()),))


OPTIONS: JsonValue = [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]
NAME: dict[str, JsonValue] = {"id": "name", "type": "text", "label": "Name"}


def fields(*several: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Returns what makes a form of these fields."""
    return {"fields": [{**NAME, **field} for field in several]}


BAD: dict[str, tuple[AskKind, dict[str, JsonValue], list[str]]] = {
    "an unknown key": ("choice", {**PLAN, "colour": "red"}, ["colour: UNKNOWN_KEY"]),
    "an unknown key deeper down": (
        "choice",
        {**PLAN, "options": [{"id": "a", "label": "A", "icon": "x"}, {"id": "b", "label": "B"}]},
        ["options[0].icon: UNKNOWN_KEY"],
    ),
    "a blank prompt": ("choice", {**PLAN, "prompt": " \u00a0"}, ["prompt: TOO_SHORT"]),
    "a minimum above the maximum": (
        "choice",
        {**PLAN, "select": "many", "minSelected": 3, "maxSelected": 2},
        ["minSelected: RANGE_INVALID"],
    ),
    "Other with one pick": (
        "choice",
        {**PLAN, "allowOther": True},
        ["allowOther: OTHER_NOT_ALLOWED"],
    ),
    "an unknown select": ("choice", {**PLAN, "select": "some"}, ["select: INVALID_ENUM"]),
    "one option": (
        "choice",
        {**PLAN, "options": [{"id": "a", "label": "A"}]},
        ["options: TOO_FEW", "default[0]: DEFAULT_NOT_IN_OPTIONS"],
    ),
    "no options": ("choice", {"prompt": "Well?", "select": "one"}, ["options: MISSING_REQUIRED"]),
    "no object": ("choice", {}, ["prompt: MISSING_REQUIRED", "select: MISSING_REQUIRED"]),
    "a confirm with two labels alike": (
        "confirm",
        {"prompt": "Well?", "confirmLabel": "Yes", "denyLabel": " Yes "},
        ["denyLabel: DUPLICATE_LABEL"],
    ),
    "a confirm with options": (
        "confirm",
        {"prompt": "Well?", "options": OPTIONS},
        ["options: UNKNOWN_KEY"],
    ),
    "a confirm of the wrong type": (
        "confirm",
        {"prompt": "Well?", "destructive": "yes"},
        ["destructive: INVALID_TYPE"],
    ),
    "a draft that is too long": (
        "markdown",
        {"prompt": "Well?", "initial": "x" * 20_001},
        ["initial: TOO_LONG"],
    ),
    "a draft with a minimum above the maximum": (
        "markdown",
        {"prompt": "Well?", "minLength": 20, "maxLength": 10},
        ["minLength: RANGE_INVALID"],
    ),
    "a draft under another name": (
        "markdown",
        {"prompt": "Well?", "draft": "Hello"},
        ["draft: UNKNOWN_KEY"],
    ),
    "a form without fields": ("form", {"prompt": "Well?", "fields": []}, ["fields: TOO_FEW"]),
    "a form with a password": (
        "form",
        {"prompt": "Well?", **fields({"type": "password"})},
        ["fields[0].type: INVALID_ENUM"],
    ),
    "a form with a default that does not fit": (
        "form",
        {"prompt": "Well?", **fields({"type": "date", "default": "30.6.2027"})},
        ["fields[0].default: INVALID_DATE"],
    ),
    "files of no kind": (
        "files",
        {"prompt": "Well?", "accept": ["video"]},
        ["accept[0]: INVALID_ENUM"],
    ),
    "files of one kind twice": (
        "files",
        {"prompt": "Well?", "accept": ["pdf", "pdf"]},
        ["accept[1]: DUPLICATE_ID"],
    ),
    "files with a minimum above the maximum": (
        "files",
        {"prompt": "Well?", "accept": ["pdf"], "minFiles": 3, "maxFiles": 2},
        ["minFiles: RANGE_INVALID"],
    ),
}


@pytest.mark.parametrize(("kind", "ask_input", "faults"), BAD.values(), ids=[*BAD])
async def test_i2_a_bad_ask_is_for_the_model_alone(
    start_server: StartServer, kind: AskKind, ask_input: dict[str, JsonValue], faults: list[str]
) -> None:
    server = await start_server(
        in_turn([Call(tool_name(kind), ask_input, "call_bad")], [Text("Then in words.")])
    )
    noor = await server.person()

    played = await noor.prompt("Set up my workspace")

    assert played.names == ["started", "text", "done"]
    assert played.text == "Then in words."
    (outcome,) = outcomes(server, 1)
    assert outcome.call_id == "call_bad"
    assert outcome.value is None
    assert outcome.error is not None
    assert [fault for fault in faults if f"- {fault}." not in outcome.error] == []
    assert outcome.error.count("\n- ") >= len(faults)
    messages = await noor.messages(played.conversation_id)
    assert [message.type for message in messages] == [Message.TYPE_USER, Message.TYPE_ASSISTANT]
    assert not (await noor.conversation(played.conversation_id)).HasField("pending_ask")
    assert await noor.pending() == []


def test_i2_every_kind_is_asked_badly() -> None:
    assert {kind for kind, _, _ in BAD.values()} == {*ASK_KINDS}


async def test_bc_069_a_bad_form_is_mended_before_anyone_sees_it(
    start_server: StartServer,
) -> None:
    number = fields({"type": "number", "min": 9, "max": 1})
    twice = fields({}, {"label": "Again"})
    nine = fields(*[{"id": f"field-{n}"} for n in range(9)])
    good = fields({"required": True})
    server = await start_server(
        in_turn(
            *[
                [Call("ask_form", {"prompt": "Who?", **form}, f"call_{n}")]
                for n, form in enumerate([number, twice, nine, good])
            ],
            [Text("Done.")],
        )
    )
    noor = await server.person()

    played = await noor.prompt("Set up my workspace")

    assert played.names == ["started", "ask", "done"]
    assert played.ask.tool_call_id == "call_3"
    errors = [outcome.error for call in (1, 2, 3) for outcome in outcomes(server, call)]
    for error, code in zip(
        errors,
        [
            "fields[0].min: RANGE_INVALID",
            "fields[1].id: DUPLICATE_ID",
            "fields: TOO_MANY",
        ],
        strict=True,
    ):
        assert error is not None
        assert f"- {code}." in error
    messages = await noor.messages(played.conversation_id)
    assert [message.type for message in messages] == [Message.TYPE_USER, Message.TYPE_TOOL_CALL]
    assert [ask.tool_call_id for ask in await noor.pending()] == ["call_3"]


async def test_bc_069_bad_forms_without_end_reach_nobody(start_server: StartServer) -> None:
    bad: ScriptedStep = [Call("ask_form", {"prompt": "Who?", **fields({}, {})}, None)]
    server = await start_server(in_turn(*[bad] * 9))
    noor = await server.person()
    played = await noor.prompt("Set up my workspace")
    assert played.names == ["started", "done"]
    assert len(server.model.calls) == 5
    assert await noor.pending() == []


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
    with capture_logs() as lines:
        played = await noor.prompt("Set up my workspace")
    messages = await noor.messages(played.conversation_id)
    assert played.names == ["started", "error", "done"]
    assert played.events[1].error.reason == reason
    assert [line["kind"] for line in lines if line["event"] == "model_failed"] == [failure.kind]
    assert played.done.retryable
    assert messages[1].text == "Let me"
    assert messages[1].status == Message.STATUS_ERROR
    assert "SECRET" not in f"{played.events}{messages}{lines}"


async def test_a_fault_of_ours_in_a_turn_ends_it_with_an_error(start_server: StartServer) -> None:
    server = await start_server(in_turn())
    noor = await server.person()
    played = await noor.prompt("Set up my workspace")
    assert played.names == ["started", "error", "done"]
    assert played.events[1].error.reason == "INTERNAL"

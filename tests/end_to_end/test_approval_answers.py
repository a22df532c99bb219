"""What an approval can be answered with, and what each answer means (spec turns 9.5, 15.8)."""

import json
from collections.abc import Awaitable, Callable

import grpc
import pytest
from pydantic import JsonValue
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import asks_pb2, turns_pb2
from parleyd.models.script import ScriptedMessage, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.answers import form
from tests.end_to_end.guarded import (
    APPROVED,
    CLEAN_UP,
    DONE,
    Guarded,
    approval,
    denial,
    denied,
    first_step,
    not_run,
    rows,
    told,
    wait_on_approval,
)
from tests.end_to_end.person import accept, cancel, decline, refused
from tests.end_to_end.rows import steps_kept
from tests.server import StartServer
from tests.standard_tools import DELETE, DELETE_ID, StandardTools, delete

REASON = "not before the audit"


async def may_be_declined(args: JsonValue) -> object:
    del args
    return {"prompt": "Delete the completed todos?", "allowDecline": True}


DENIALS: dict[str, tuple[asks_pb2.AskAnswer, str, str, str]] = {
    "a deny": (denial(), "user_denied", "answered", "ACCEPT"),
    "a decline": (decline(), "user_declined", "answered", "DECLINE"),
    "a cancel with a reason": (cancel(REASON), REASON, "cancelled", "CANCEL"),
    "a cancel without": (cancel(), "user_cancelled", "cancelled", "CANCEL"),
}


@pytest.mark.parametrize(("answer", "reason", "status", "action"), DENIALS.values(), ids=[*DENIALS])
async def test_v3_a_call_that_is_not_approved_never_runs_and_the_model_hears_why(
    start_server: StartServer,
    tools: StandardTools,
    answer: asks_pb2.AskAnswer,
    reason: str,
    status: str,
    action: str,
) -> None:
    guarded = await wait_on_approval(
        start_server, tools, approval_wordings={DELETE: may_be_declined}
    )

    answered = await guarded.answer(answer)

    assert answered.names == APPROVED
    assert asks_pb2.AskAction.Name(answered.resolved.action) == f"ASK_ACTION_{action}"
    assert [told(result) for result in answered.results] == [
        (DELETE_ID, denied(reason), False, reason)
    ]
    assert guarded.runs == 0
    assert len(guarded.server.model.calls) == 2
    assert guarded.server.model.calls[1].messages == (
        *first_step(),
        ScriptedMessage("tool", (not_run(reason),)),
    )
    messages = await guarded.noor.messages(guarded.own)
    assert rows(messages) == [
        ("user", "", ""),
        ("tool_call", DELETE, ""),
        ("tool_call", DELETE, status),
        ("tool_result", DELETE, status),
        ("tool_result", DELETE, ""),
        ("assistant", "", ""),
    ]
    assert messages[3].ask.answer == answer
    assert json.loads(messages[4].result_json) == denied(reason)


async def test_v3_the_deny_button_is_a_deny(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools)
    pressed = await guarded.noor.press(guarded.own, guarded.approval_id, "deny")
    watched = await guarded.noor.watch(guarded.own, pressed.turn_id)
    assert pressed.text == "Done."
    assert [told(result) for result in watched.results] == [
        (DELETE_ID, denied("user_denied"), False, "user_denied")
    ]
    assert guarded.runs == 0


async def test_v3_a_denial_is_there_before_the_model_is_asked_and_is_not_told_twice(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools)
    answered = await guarded.answer(denial())
    again = await refused(guarded.answer(denial()))
    assert answered.names.count("tool_result") == 1
    assert error_of(again).reason == "ASK_NOT_PENDING"
    assert len(guarded.server.model.calls) == 2


async def test_v4_what_may_not_be_skipped_is_not_skipped(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools)

    error = await refused(guarded.answer(decline()))

    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    fault = error_of(error)
    assert fault.reason == "INVALID_ANSWER"
    assert [(field.path, field.code) for field in fault.fields] == [
        ("action", "DECLINE_NOT_ALLOWED")
    ]
    await guarded.untouched()
    assert (await guarded.approve()).names == APPROVED
    assert guarded.runs == 1


async def test_v9_a_message_in_place_of_an_answer_leaves_nothing_of_the_approval(
    start_server: StartServer, tools: StandardTools, engine: AsyncEngine
) -> None:
    guarded = await wait_on_approval(start_server, tools, [Text("All right.")])

    said = await guarded.noor.prompt("Leave it", guarded.own)

    assert said.names == ["started", "ask_resolved", "text", "done"]
    assert said.resolved.tool_call_id == guarded.approval_id
    assert said.resolved.action == asks_pb2.ASK_ACTION_CANCEL
    assert guarded.runs == 0
    assert guarded.server.model.calls[1].messages == (
        ScriptedMessage("user", (Text(CLEAN_UP),)),
        ScriptedMessage("user", (Text("Leave it"),)),
    )
    messages = await guarded.noor.messages(guarded.own)
    assert rows(messages) == [
        ("user", "", ""),
        ("tool_call", DELETE, ""),
        ("tool_call", DELETE, "cancelled"),
        ("tool_result", DELETE, "cancelled"),
        ("user", "", ""),
        ("assistant", "", ""),
    ]
    assert messages[3].ask.answer.cancel.reason == "user_sent_message"
    assert await steps_kept(engine) == 0
    late = error_of(await refused(guarded.approve()))
    assert late.reason == "ASK_NOT_PENDING"
    assert late.metadata["resolved_by_turn_id"] == said.turn_id
    assert late.metadata["action"] == "cancel"
    assert guarded.runs == 0


# ---------------------------------------------------------------- crafted answers


def crafted(content: bytes) -> asks_pb2.AskAnswer:
    """Returns an accepted confirm, as bytes on the wire."""
    confirm = asks_pb2.ConfirmAnswer.FromString(content)
    return asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer(confirm=confirm))


_YES_AS_TEXT = b"\x0a\x03yes"
"""Field 1 as a text, where it is a boolean."""
_CONFIRMED_AND_APPROVED = b"\x08\x01\x10\x01"
"""Field 1 as true, and a field 2 as true, which there is not."""
_APPROVED = b"\x12\x05apr_1\x18\x01"
"""A field 2 with an id and a field 3 as true, neither of which there is."""

CONFIRMED = ("content.confirmed", "MISSING_REQUIRED")
CRAFTED: dict[str, tuple[asks_pb2.AskAnswer, list[tuple[str, str]]]] = {
    "confirmed as a text": (crafted(_YES_AS_TEXT), [CONFIRMED]),
    "an approval id and approved": (crafted(_APPROVED), [CONFIRMED]),
    "no content": (
        asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer()),
        [("content", "MISSING_REQUIRED")],
    ),
    "no action": (asks_pb2.AskAnswer(), [("action", "MISSING_REQUIRED")]),
    "the content of a choice": (
        accept("approve"),
        [CONFIRMED, ("content.selected", "UNKNOWN_KEY")],
    ),
    "the content of a form": (
        form({"confirmed": True}),
        [CONFIRMED, ("content.values", "UNKNOWN_KEY")],
    ),
}


@pytest.mark.parametrize(("answer", "faults"), CRAFTED.values(), ids=[*CRAFTED])
async def test_v10_a_crafted_answer_approves_nothing(
    start_server: StartServer,
    tools: StandardTools,
    answer: asks_pb2.AskAnswer,
    faults: list[tuple[str, str]],
) -> None:
    guarded = await wait_on_approval(start_server, tools)

    error = await refused(guarded.answer(answer))

    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    found = [(field.path, field.code) for field in error_of(error).fields]
    assert [fault for fault in found if "#" not in fault[0]] == faults  # unknown fields bear it
    await guarded.untouched()


async def test_v10_what_is_sent_beside_a_yes_is_refused_and_never_dropped(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools)
    error = await refused(guarded.answer(crafted(_CONFIRMED_AND_APPROVED)))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert [field.code for field in error_of(error).fields] == ["UNKNOWN_KEY"]
    await guarded.untouched()


Claim = Callable[[Guarded], Awaitable[object]]
CLAIMS: dict[str, Claim] = {
    "the call's own id": lambda one: one.noor.answer(one.own, DELETE_ID, approval()),
    "a button of the call's own id": lambda one: one.noor.press(one.own, DELETE_ID, "approve"),
    "a made-up approval": lambda one: one.noor.answer(
        one.own, "apr_01ARZ3NDEKTSV4RRFFQ69G5FAV", approval()
    ),
    "the tool's name": lambda one: one.noor.answer(one.own, DELETE, approval()),
    "the id in capitals": lambda one: one.noor.answer(one.own, one.approval_id.upper(), approval()),
    "the id with a space": lambda one: one.noor.answer(one.own, f"{one.approval_id} ", approval()),
}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=[*CLAIMS])
async def test_v10_an_approval_is_named_by_its_own_id_alone(
    start_server: StartServer, tools: StandardTools, claim: Claim
) -> None:
    guarded = await wait_on_approval(start_server, tools)

    error = await refused(claim(guarded))

    assert error.code() == grpc.StatusCode.ABORTED
    fault = error_of(error)
    assert fault.reason == "ASK_NOT_PENDING"
    assert fault.metadata["current_tool_call_id"] == guarded.approval_id
    assert "resolved_by_turn_id" not in fault.metadata
    await guarded.untouched()


async def test_v10_what_reads_like_an_approval_is_a_message(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools, [Text("All right.")])
    envelope = '{"action":"accept","content":{"confirmed":true}}'
    said = await guarded.noor.play(
        turns_pb2.StreamTurnRequest(
            conversation_id=guarded.own, prompt=turns_pb2.PromptInput(text=envelope)
        )
    )
    assert said.names == ["started", "ask_resolved", "text", "done"]
    assert said.resolved.action == asks_pb2.ASK_ACTION_CANCEL
    assert guarded.runs == 0


async def test_an_approval_that_was_used_authorises_nothing_again(
    start_server: StartServer, tools: StandardTools, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([delete()], DONE, [delete()], DONE), tools=tools.all_hosted)
    noor = await server.person()
    asked = await noor.prompt(CLEAN_UP)
    first = Guarded(server, noor, tools, asked)
    await first.approve()
    second = await noor.prompt(CLEAN_UP, asked.conversation_id)
    assert second.ask.tool_call_id != first.approval_id
    assert error_of(await refused(first.approve())).reason == "ASK_NOT_PENDING"
    assert first.runs == 1
    await noor.answer(asked.conversation_id, second.ask.tool_call_id, approval())
    assert [run.approval_id for run in tools.runs()] == [
        first.approval_id,
        second.ask.tool_call_id,
    ]
    async with engine.connect() as connection:
        found = await connection.execute(
            text("SELECT count(*), count(DISTINCT approval_ask_id) FROM tool_executions")
        )
        assert tuple(found.one()) == (2, 2)

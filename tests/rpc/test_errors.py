import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TypeVar
from uuid import UUID

import pytest
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from grpc import StatusCode, aio
from structlog.testing import capture_logs

import parley
from parley.v1 import errors_pb2, turns_pb2
from parley.v1.asks_pb2 import AskFieldErrors
from parleyd.contract import errors, limits
from parleyd.contract.blocks.issues import BlockCode, BlockIssue
from parleyd.contract.errors import ParleyError
from parleyd.contract.field_errors import Code, FieldError
from parleyd.contract.reasons import TURN_REASONS, Reason
from parleyd.rpc.errors import CODES, INTERNAL, status_of
from tests.rpc.wire import Wire

Detail = TypeVar("Detail", bound=Message)

TURN = UUID(int=7)
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
COUNT = FieldError(
    path="content.selected", code=Code.SELECTION_COUNT, message="Too many picks.", fix="Pick one."
)
PICK = FieldError(
    path="content.selected[0]",
    code=Code.OPTION_NOT_OFFERED,
    message="That is no option.",
    fix="Pick one of a, b.",
)


BLANK = BlockIssue(
    path="blocks[0].\udc00", code=BlockCode.TOO_SHORT, message="Blank: \udc00.", fix="Not \udc00."
)
TOO_LONG = BlockIssue(path="", code=BlockCode.TOO_LONG, message="Too long.", fix="Shorten it.")


def classes_of_errors() -> set[type[ParleyError]]:
    """Returns every class with a reason of its own, which is every one that is raised."""
    found: set[type[ParleyError]] = set()
    waiting: list[type[ParleyError]] = [ParleyError]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if "reason" in vars(kind):
            found.add(kind)
    return found


def one_of_each() -> Iterator[ParleyError]:
    """Yields an error of every class."""
    for kind in sorted(classes_of_errors(), key=lambda kind: kind.__name__):
        if issubclass(kind, errors.Malformed):
            yield kind(f"{kind.__name__} happened.", [COUNT, PICK])
    yield errors.Unauthenticated("Send a token.")
    yield errors.AsksOff("Asks are off.")
    yield errors.FilesOff("No files are kept.")
    yield errors.UploadsOff()
    yield errors.BlocksOff()
    yield errors.DatasetNotFound("loans")
    yield errors.ActionNotFound("refresh")
    yield errors.ActionTimeout("refresh", 15)
    yield errors.NotOwner()
    yield errors.ServiceOnly()
    yield errors.TokenForbidden("This call is for people.")
    yield errors.ScopeMissing("blocks.generate")
    yield errors.OptionForbidden("model", "Leave the model empty.")
    yield errors.ConversationNotFound(TURN)
    yield errors.TurnNotFound(TURN)
    yield errors.MessageNotFound(5)
    yield errors.FileNotFound(TURN)
    yield errors.FileTooLarge(10)
    yield errors.ToolUnavailable("look_up")
    yield errors.TurnNotRetryable(TURN, "failed", UUID(int=8))
    yield errors.RequestIdReused(UUID(int=9))
    yield errors.RateLimited("turns of one person run", 8)
    yield errors.EventsExpired(TURN)
    yield errors.AskNotPending("call_1", errors.Resolution(TURN, "accept", MOMENT), "call_2")
    yield errors.AskExpired("call_1", errors.Resolution(TURN, "cancel", MOMENT))
    yield errors.AskAlreadyPending("call_2")
    yield errors.AskNotFound(TURN)
    yield errors.TokenInvalid()
    yield errors.TokenUsed()
    yield errors.ModelNotConfigured()
    yield errors.AttachmentNotStored()
    yield errors.BlockGenerationFailed()
    yield errors.BlocksInvalid([BLANK, BLANK, TOO_LONG])
    yield errors.Unavailable("The database can't be reached.")


EACH = list(one_of_each())


GATEWAYS = {
    "ASKS_DISABLED": "404",
    "FILES_DISABLED": "404",
    "BLOCKS_DISABLED": "404",
    "FILE_TOO_LARGE": "413",
    "ATTACHMENT_UPLOAD_FAILED": "502",
    "BLOCK_GENERATION_FAILED": "502",
    "BLOCKS_INVALID": "422",
}
"""The HTTP statuses that are not those of their codes (spec turns 8.1, blocks 20)."""


async def failure(client: parley.Client) -> aio.AioRpcError:
    """Returns how a unary call ends."""
    with pytest.raises(aio.AioRpcError) as raised:
        await client.turns.Turn(turns_pb2.TurnRequest())
    return raised.value


def status(error: aio.AioRpcError) -> Status:
    trailers = error.trailing_metadata()
    assert trailers is not None
    value = trailers["grpc-status-details-bin"]
    assert isinstance(value, bytes)
    return Status.FromString(value)


def detail(of: Status, kind: type[Detail]) -> Detail | None:
    """Returns the one detail of a kind, if there is one."""
    message = kind()
    found = [each for each in of.details if each.TypeName() == message.DESCRIPTOR.full_name]
    assert len(found) <= 1
    return message if found and found[0].Unpack(message) else None


def test_each_class_of_error_has_a_reason_on_the_wire_and_a_status() -> None:
    on_the_wire = {
        name.removeprefix("ERROR_REASON_")
        for name in errors_pb2.ErrorReason.keys()  # noqa: SIM118 - an enum, not a mapping
        if name != "ERROR_REASON_UNSPECIFIED"
    }
    assert {type(error) for error in EACH} == classes_of_errors() == CODES.keys()
    assert {reason.value for reason in Reason} == on_the_wire
    assert {kind.reason for kind in classes_of_errors()} == set(Reason) - TURN_REASONS


@pytest.mark.parametrize("error", EACH, ids=lambda error: type(error).__name__)
async def test_an_error_arrives_with_its_status_reason_and_facts(
    wire: Wire, error: ParleyError
) -> None:
    wire.servicer.raises(error)
    async with wire.client() as client:
        failed = await failure(client)
    info = detail(status(failed), ErrorInfo)
    assert info
    assert failed.code() is CODES[type(error)]
    assert failed.details() == status(failed).message == error.message
    assert (info.reason, info.domain) == (error.reason, "parley")
    assert dict(info.metadata) == dict(error.metadata)


def test_a_gateway_is_told_the_status_where_the_code_has_another() -> None:
    told = {
        error.reason.value: error.metadata["http_status"]
        for error in EACH
        if "http_status" in error.metadata
    }
    assert told == GATEWAYS


async def test_asks_that_are_off_are_a_bad_answer_and_a_list_that_does_not_exist(
    wire: Wire,
) -> None:
    async with wire.client() as client:
        wire.servicer.raises(errors.AnswerWhileAsksOff("Asks are off."))
        answer = parley.error_of(await failure(client))
        wire.servicer.raises(errors.AsksOff("Asks are off."))
        asked = parley.error_of(await failure(client))
    assert (answer.reason, asked.reason) == ("ASKS_DISABLED", "ASKS_DISABLED")
    assert (answer.code, asked.code) == (StatusCode.INVALID_ARGUMENT, StatusCode.UNIMPLEMENTED)
    assert (answer.metadata, asked.metadata) == ({}, {"http_status": "404"})


async def test_a_lost_race_names_its_winner(wire: Wire) -> None:
    resolution = errors.Resolution(TURN, "decline", MOMENT)
    wire.servicer.raises(errors.AskNotPending("call_1", resolution, "call_2"))
    async with wire.client() as client:
        error = parley.error_of(await failure(client))
    assert (error.code, error.reason) == (StatusCode.ABORTED, "ASK_NOT_PENDING")
    assert error.metadata == {
        "tool_call_id": "call_1",
        "resolved_by_turn_id": str(TURN),
        "action": "decline",
        "resolve_time": "2026-01-02T03:04:05Z",
        "current_tool_call_id": "call_2",
    }


async def test_a_turn_that_can_not_be_retried_names_what_retried_it(wire: Wire) -> None:
    wire.servicer.raises(errors.TurnNotRetryable(TURN, "failed", UUID(int=8)))
    async with wire.client() as client:
        error = parley.error_of(await failure(client))
    assert (error.code, error.reason) == (StatusCode.FAILED_PRECONDITION, "TURN_NOT_RETRYABLE")
    assert error.metadata == {
        "turn_id": str(TURN),
        "state": "failed",
        "retried_by_turn_id": str(UUID(int=8)),
    }


async def test_field_faults_arrive_in_order_as_violations_and_with_their_fixes(wire: Wire) -> None:
    wire.servicer.raises(errors.InvalidAnswer("The answer does not fit.", [COUNT, PICK]))
    async with wire.client() as client:
        failed = await failure(client)
    violations = detail(status(failed), BadRequest)
    fixes = detail(status(failed), AskFieldErrors)
    assert violations
    assert fixes
    assert [(v.field, v.description) for v in violations.field_violations] == [
        ("content.selected", "Too many picks."),
        ("content.selected[0]", "That is no option."),
    ]
    assert [getattr(v, "reason") for v in violations.field_violations] == [  # noqa: B009 - not in the stub
        "SELECTION_COUNT",
        "OPTION_NOT_OFFERED",
    ]
    assert [(e.path, e.code, e.message, e.fix) for e in fixes.errors] == [
        ("content.selected", "SELECTION_COUNT", "Too many picks.", "Pick one."),
        ("content.selected[0]", "OPTION_NOT_OFFERED", "That is no option.", "Pick one of a, b."),
    ]


async def test_the_errors_of_a_document_arrive_as_those_of_fields_do(wire: Wire) -> None:
    wire.servicer.raises(errors.BlocksInvalid([BLANK, BLANK, TOO_LONG]))
    async with wire.client() as client:
        error = parley.error_of(await failure(client))
    assert (error.code, error.reason) == (StatusCode.FAILED_PRECONDITION, "BLOCKS_INVALID")
    assert error.metadata == {"error_codes": "TOO_SHORT,TOO_LONG", "http_status": "422"}
    assert [tuple(fault) for fault in error.fields] == [
        *[("blocks[0].\ufffd", "TOO_SHORT", "Blank: \ufffd.", "Not \ufffd.")] * 2,
        ("", "TOO_LONG", "Too long.", "Shorten it."),
    ]


async def test_h8_sixty_violations_still_arrive_as_a_detail_that_can_be_read(wire: Wire) -> None:
    faults = [
        FieldError(
            path=f"content.values.field_{number}",
            code=Code.FIELD_TYPE_MISMATCH,
            message=f"content.values.field_{number} is " + "é" * 80,
            fix="Send a value that fits the field's type, or leave the field out.",
        )
        for number in range(60)
    ]
    wire.servicer.raises(errors.InvalidAnswer("The answer does not fit its ask.", faults))
    async with wire.client() as client:
        for _ in range(20):  # trailers over the limit are refused at random
            failed = await failure(client)
            info = detail(status(failed), ErrorInfo)
            violations = detail(status(failed), BadRequest)
            assert failed.code() is StatusCode.INVALID_ARGUMENT
            assert info
            assert violations
            assert dict(info.metadata) == {"truncated": "true"}
            assert detail(status(failed), AskFieldErrors) is None
            kept = [violation.field for violation in violations.field_violations]
            assert 10 < len(kept) < 60
            assert kept == [fault.path for fault in faults[: len(kept)]]


def test_details_are_cut_only_as_far_as_they_must() -> None:
    def sized(count: int) -> Status:
        faults = [COUNT.model_copy(update={"path": f"content.{n}"}) for n in range(count)]
        return status_of(errors.InvalidAnswer("No.", faults))

    whole = [n for n in range(200) if detail(sized(n), AskFieldErrors)]
    cut = sized(whole[-1] + 1)
    violations = detail(cut, BadRequest)
    assert violations
    assert len(violations.field_violations) == whole[-1] + 1, "the fixes go first"
    assert "truncated" not in str(sized(whole[-1]))
    assert "truncated" in str(cut)
    assert 0.98 * limits.ERROR_DETAIL_BYTES < sized(200).ByteSize() <= limits.ERROR_DETAIL_BYTES


async def test_a_fault_too_long_to_send_leaves_the_reason(wire: Wire) -> None:
    fault = COUNT.model_copy(update={"path": "content." + "x" * 20_000})
    wire.servicer.raises(errors.InvalidAnswer("長" * 20_000, [fault]))
    async with wire.client() as client:
        error = parley.error_of(await failure(client))
    assert (error.reason, error.metadata) == ("INVALID_ANSWER", {"truncated": "true"})
    assert error.fields == ()
    assert error.message.startswith("長長")


async def test_the_unforeseen_is_told_as_internal_and_logged_with_its_trace(wire: Wire) -> None:
    cause = ValueError("a secret that somebody wrote")
    error = RuntimeError("another secret")
    error.__cause__ = cause
    wire.servicer.raises(error)
    with capture_logs() as lines:
        async with wire.client() as client:
            told = parley.error_of(await failure(client))
    assert (told.code, told.reason, told.message) == (StatusCode.INTERNAL, "INTERNAL", INTERNAL)
    broke = [line for line in lines if line["log_level"] == "error"]
    assert [line["event"] for line in broke] == ["call_broke"]
    assert "RuntimeError" in broke[0]["trace"]
    assert "ValueError" in broke[0]["trace"]
    assert "wire.py" in broke[0]["trace"]
    assert "secret" not in str(lines)


async def test_a_stream_that_fails_ends_with_the_status_after_what_it_said(wire: Wire) -> None:
    wire.servicer.raises(errors.Unavailable("The server stops."))
    async with wire.client() as client:
        stream = client.turns.StreamTurn(turns_pb2.StreamTurnRequest())
        said = [await stream.read()]
        with pytest.raises(aio.AioRpcError) as raised:
            await stream.read()
    error = parley.error_of(raised.value)
    assert said == [turns_pb2.StreamTurnResponse(event=turns_pb2.TurnEvent(sequence=1))]
    assert (error.code, error.reason) == (StatusCode.UNAVAILABLE, "UNAVAILABLE")


async def test_bytes_that_are_no_message_are_a_malformed_request(wire: Wire) -> None:
    async with wire.client() as client:
        raw: aio.UnaryUnaryMultiCallable[bytes, bytes] = client.channel.unary_unary(
            "/parley.v1.TurnService/Turn"
        )
        with pytest.raises(aio.AioRpcError) as raised:
            await raw(b"\xff\xff\xff")
    error = parley.error_of(raised.value)
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert wire.servicer.calls == 0


async def test_a_client_that_leaves_a_call_is_no_error(wire: Wire) -> None:
    with capture_logs() as lines:
        wire.servicer.act = wire.servicer.hang
        async with wire.client() as client:
            call = client.turns.Turn(turns_pb2.TurnRequest())
            await asyncio.wait_for(wire.servicer.entered.wait(), 10)
            call.cancel()
            await asyncio.wait_for(wire.servicer.left.wait(), 10)
        async with wire.client() as client:
            await client.turns.ListPendingAsks(turns_pb2.ListPendingAsksRequest())
    assert [line["status"] for line in lines] == ["CANCELLED", "OK"]
    assert {line["log_level"] for line in lines} == {"info"}


async def test_a_client_that_leaves_a_stream_is_no_error(wire: Wire) -> None:
    with capture_logs() as lines:
        wire.servicer.act = wire.servicer.hang
        async with wire.client() as client:
            stream = client.turns.StreamTurn(turns_pb2.StreamTurnRequest())
            await stream.read()
            await asyncio.wait_for(wire.servicer.entered.wait(), 10)
            stream.cancel()
            await asyncio.wait_for(wire.servicer.left.wait(), 10)
        async with wire.client() as client:
            await client.turns.ListPendingAsks(turns_pb2.ListPendingAsksRequest())
    assert [line["status"] for line in lines] == ["CANCELLED", "OK"]
    assert {line["log_level"] for line in lines} == {"info"}


async def test_an_error_raised_for_a_client_that_left_troubles_nobody(wire: Wire) -> None:
    async def act() -> None:
        try:
            await wire.servicer.hang()
        except asyncio.CancelledError as cancelled:
            raise errors.Unavailable("The server stops.") from cancelled

    wire.servicer.act = act
    with capture_logs() as lines:
        async with wire.client() as client:
            call = client.turns.Turn(turns_pb2.TurnRequest())
            await asyncio.wait_for(wire.servicer.entered.wait(), 10)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await client.turns.ListPendingAsks(turns_pb2.ListPendingAsksRequest())
    assert "error" not in {line["log_level"] for line in lines}

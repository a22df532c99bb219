"""The client without asyncio, on a channel whose calls the test answers."""

import threading
from collections.abc import Iterator
from itertools import count
from uuid import uuid4

import grpc
import pytest

import parley.sync
from parley.v1 import files_pb2
from parley.v1 import turns_pb2 as pb
from parleyd.rpc.server import SERVICES
from tests.clients.fake_channel import SOON, FakeChannel, Taken, calling, listening
from tests.clients.played_turns import DISCARDED, DONE, HEL, RESUMED, STARTED, TEXT

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
REQUEST = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello"), request_id=str(uuid4()))
STREAM, WATCH, TURN = "TurnService.StreamTurn", "TurnService.WatchTurn", "TurnService.Turn"


@pytest.fixture
def channel() -> FakeChannel:
    return FakeChannel()


@pytest.fixture
def client(channel: FakeChannel) -> Iterator[parley.sync.Client]:
    tokens = (f"token-{number}" for number in count(1))
    with parley.sync.Client(channel, lambda: next(tokens)) as client:
        yield client


def streamed(*events: pb.TurnEvent) -> list[pb.StreamTurnResponse]:
    return [pb.StreamTurnResponse(event=event) for event in events]


def watched(*events: pb.TurnEvent) -> list[pb.WatchTurnResponse]:
    return [pb.WatchTurnResponse(event=event) for event in events]


def place_of(call: Taken) -> tuple[str, str, int]:
    return call.request.conversation_id, call.request.turn_id, call.request.after_sequence


def watching() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name == "parley-silence"}


async def test_both_clients_have_a_stub_of_every_service(client: parley.sync.Client) -> None:
    services = {service.rpartition(".")[2] for service in SERVICES}
    async with parley.connect("localhost:1", "token") as with_asyncio:
        for each in (client, with_asyncio):
            stubs = {type(stub).__name__ for stub in vars(each).values()}
            assert services <= {name.removesuffix("Stub") for name in stubs}


def test_every_call_carries_a_token_of_its_own(
    client: parley.sync.Client, channel: FakeChannel
) -> None:
    metadata = [("x-request-id", "r-1"), ("Authorization", "Bearer of the caller")]
    with calling(client.turns.Turn, pb.TurnRequest(), metadata=metadata) as answered:
        call = channel.take(TURN)
        call.answer(pb.TurnResponse(result=pb.TurnResult(text="Hello.")))
        assert answered.result(SOON).result.text == "Hello."
    assert call.metadata == {"x-request-id": "r-1", "authorization": "Bearer token-1"}
    with calling(list, client.turns.StreamTurn(REQUEST)):
        call = channel.take(STREAM)
        call.end()
    assert call.metadata == {"authorization": "Bearer token-2"}


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        (TURN, pb.TurnRequest(request_id=str(uuid4()))),
        ("TurnService.GetTurn", pb.GetTurnRequest(conversation_id="c-1", turn_id="t-1")),
        ("FileService.GetFile", files_pb2.GetFileRequest(file_id="f-1")),
    ],
    ids=["with_an_id", "reads", "reads_files"],
)
def test_what_may_be_repeated_is_sent_again(
    client: parley.sync.Client,
    channel: FakeChannel,
    name: str,
    request_: pb.TurnRequest | pb.GetTurnRequest | files_pb2.GetFileRequest,
) -> None:
    service, _, method = name.partition(".")
    stub = client.turns if service == "TurnService" else client.files
    with calling(getattr(stub, method), request_) as answered:
        first = channel.take(name)
        first.fail(UNAVAILABLE, "Connection reset by peer")
        again = channel.take(name)
        again.answer(response := pb.TurnResponse())
        assert answered.result(SOON) is response
    assert first.request == again.request == request_
    assert again.metadata == {"authorization": "Bearer token-2"}


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (pb.TurnRequest(), UNAVAILABLE),
        (pb.TurnRequest(request_id=str(uuid4())), grpc.StatusCode.ABORTED),
        (pb.TurnRequest(request_id=str(uuid4())), grpc.StatusCode.INTERNAL),
    ],
    ids=["without_an_id", "aborted", "internal"],
)
def test_what_may_not_be_repeated_is_sent_once(
    client: parley.sync.Client,
    channel: FakeChannel,
    request_: pb.TurnRequest,
    code: grpc.StatusCode,
) -> None:
    with calling(client.turns.Turn, request_) as answered:
        channel.take(TURN).fail(code, "No.")
        failed = answered.exception(SOON)
    assert isinstance(failed, grpc.RpcError)
    error = parley.sync.error_of(failed)
    assert (error.code, error.message, error.reason) == (code, "No.", "")


def test_a_broken_stream_goes_on_after_the_last_event(
    client: parley.sync.Client, channel: FakeChannel
) -> None:
    with listening(parley.sync.turn_events(client, REQUEST)) as person:
        begun = channel.take(STREAM)
        begun.say(*streamed(STARTED, HEL, RESUMED, HEL))
        person.hears(STARTED, HEL, RESUMED, HEL)
        begun.end(UNAVAILABLE)
        person.hears(DISCARDED)
        first = channel.take(WATCH)
        first.say(*watched(RESUMED, TEXT))
        first.end()
        person.hears(TEXT)
        second = channel.take(WATCH)
        second.say(*watched(DONE))
        person.hears(DONE)
    assert begun.request == REQUEST
    assert [place_of(first), place_of(second)] == [("c-1", "t-1", 2), ("c-1", "t-1", 3)]
    assert second.metadata == {"authorization": "Bearer token-3"}


def test_events_that_are_newer_than_the_stubs_are_left_out(
    client: parley.sync.Client, channel: FakeChannel
) -> None:
    newer = pb.TurnEvent(sequence=2, turn_id="t-1")
    newer_preview = pb.TurnEvent(turn_id="t-1")
    with listening(parley.sync.turn_events(client, REQUEST)) as person:
        begun = channel.take(STREAM)
        begun.say(*streamed(STARTED, HEL, newer_preview, newer))
        person.hears(STARTED, HEL, DISCARDED)
        begun.end(UNAVAILABLE)
        after = channel.take(WATCH)
        after.say(*watched(TEXT, DONE))
        person.hears(TEXT, DONE)
    assert place_of(after) == ("c-1", "t-1", 2)


def test_leaving_early_ends_the_call(client: parley.sync.Client, channel: FakeChannel) -> None:
    events = parley.sync.turn_events(client, REQUEST)
    with calling(next, events) as first:
        call = channel.take(STREAM)
        call.say(*streamed(STARTED))
        assert first.result(SOON) == STARTED
    events.close()
    call.rpc.cancelled()


def test_a_call_is_watched_by_one_thread_for_as_long_as_it_takes(
    client: parley.sync.Client, channel: FakeChannel
) -> None:
    events = parley.sync.turn_events(client, REQUEST)
    with calling(lambda: [next(events) for _ in range(20)]) as read:
        call = channel.take(STREAM)
        idle = watching()
        call.say(*streamed(STARTED, *[HEL] * 19))
        assert len(read.result(SOON)) == 20
    assert watching() == idle
    assert len(idle) == 1
    events.close()
    for thread in idle:
        thread.join(SOON)
    assert watching() == set()


def test_a_file_is_sent_in_pieces(client: parley.sync.Client, channel: FakeChannel) -> None:
    file = files_pb2.File(file_id="f-1")
    data = b"0123456789\n" * 10_000
    with calling(parley.sync.upload_file, client, data, filename="notes.txt") as uploaded:
        call = channel.take("FileService.UploadFile")
        header = call.rpc.take_request().header
        pieces = [call.rpc.take_request().chunk for _ in range(2)]
        call.rpc.requests_closed()
        call.answer(files_pb2.UploadFileResponse(file=file))
        assert uploaded.result(SOON) == file
    assert (header.filename, header.mime_type, header.size_bytes) == (
        "notes.txt",
        "text/plain",
        len(data),
    )
    assert b"".join(pieces) == data
    assert call.metadata == {"authorization": "Bearer token-1"}

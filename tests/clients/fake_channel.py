"""The channel of grpcio-testing: a client's calls, taken and answered by the test itself."""

from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Queue
from typing import Any, Generic, TypeVar

import grpc
import grpc_testing  # pyright: ignore[reportMissingTypeStubs] - untyped
from google.protobuf.message import Message
from typing_extensions import override

from parley.v1 import files_pb2, turns_pb2

Event = TypeVar("Event")

SOON = 10
SERVICES = {
    service.full_name: service
    for file in (turns_pb2, files_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
}


@dataclass
class Taken:
    """A call that waits for what the test says. `request` is None where requests are streamed."""

    rpc: Any
    metadata: dict[str, str]
    request: Any

    def answer(self, response: Message) -> None:
        """Ends a unary call."""
        self.rpc.terminate(response, (), grpc.StatusCode.OK, "")

    def fail(self, code: grpc.StatusCode, details: str = "") -> None:
        """Ends a unary call without an answer."""
        self.rpc.terminate(None, (), code, details)

    def say(self, *responses: Message) -> None:
        """Says something on a stream."""
        for response in responses:
            self.rpc.send_response(response)

    def end(self, code: grpc.StatusCode = grpc.StatusCode.OK) -> None:
        """Ends a stream. What the client has not read by then is lost, unless all is well."""
        self.rpc.terminate((), code, "")


class FakeChannel(grpc.Channel):
    """The fake, as interceptors need it.

    grpc's own pass on whether a call waits and compresses, which the fake does not take, and expect
    that an error is a call.
    """

    def __init__(self) -> None:
        testing: Any = grpc_testing
        self._fake = testing.channel(SERVICES.values(), testing.strict_real_time())

    def take(self, name: str) -> Taken:
        """Waits for a call of a method, as in `TurnService.Turn`, and returns it."""
        service, _, method = name.partition(".")
        called = SERVICES[f"parley.v1.{service}"].methods_by_name[method]
        if called.client_streaming:
            metadata, rpc = self._fake.take_stream_unary(called)
            return Taken(rpc, _sent(metadata), None)
        take = (
            self._fake.take_unary_stream if called.server_streaming else self._fake.take_unary_unary
        )
        metadata, request, rpc = take(called)
        return Taken(rpc, _sent(metadata), request)

    @override
    def unary_unary(self, method: str, *_: Any, **__: Any) -> Any:
        return _Unary(self._fake.unary_unary(method))

    @override
    def stream_unary(self, method: str, *_: Any, **__: Any) -> Any:
        return _Unary(self._fake.stream_unary(method))

    @override
    def unary_stream(self, method: str, *_: Any, **__: Any) -> Any:
        called = self._fake.unary_stream(method)

        def call(request: object, **options: Any) -> Any:
            return called(request, **_known(options))

        return call

    @override
    def stream_stream(self, method: str, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    @override
    def subscribe(self, callback: Any, try_to_connect: bool = False) -> None:
        raise NotImplementedError

    @override
    def unsubscribe(self, callback: Any) -> None:
        raise NotImplementedError

    @override
    def close(self) -> None:
        self._fake.close()


class _Unary:
    def __init__(self, called: Any) -> None:
        self._called = called

    def with_call(self, request: object, **options: Any) -> Any:
        try:
            return self._called.with_call(request, **_known(options))
        except grpc.RpcError as failed:
            raise _Failed(failed) from failed


class _Failed(grpc.RpcError):
    """An error that is a call too, as that of a real channel."""

    def __init__(self, failed: grpc.RpcError) -> None:
        super().__init__()
        self._failed = failed
        self.code = failed.code
        self.details = failed.details
        self.trailing_metadata = failed.trailing_metadata

    def exception(self) -> grpc.RpcError:
        return self

    def result(self) -> None:
        raise self


def _sent(metadata: Any) -> dict[str, str]:
    return {key: value for key, value in metadata if not key.startswith("grpc.")}


def _known(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("timeout", "metadata", "credentials")}


@contextmanager
def calling(call: Any, *args: Any, **options: Any) -> Generator[Future[Any]]:
    """Makes a call in a thread of its own, so that the test can take and answer it."""
    with ThreadPoolExecutor(1) as threads:
        yield threads.submit(call, *args, **options)


class Listening(Generic[Event]):
    """Reads a stream in a thread of its own."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._events = events
        self._read = Queue[Event]()

    def listen(self) -> None:
        for event in self._events:
            self._read.put(event)

    def hears(self, *expected: Event) -> None:
        """Waits for the next events, and compares them."""
        for event in expected:
            assert self._read.get(timeout=SOON) == event

    @property
    def hears_no_more(self) -> bool:
        return self._read.empty()


@contextmanager
def listening(events: Iterable[Event]) -> Generator[Listening[Event]]:
    """Reads a stream while the test says what comes; it has to end with the test's block."""
    reading = Listening(events)
    with calling(reading.listen) as ended:
        yield reading
        ended.result(SOON)
    assert reading.hears_no_more

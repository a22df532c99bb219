"""Everything under `/v1/`: JSON, streams of events, uploads and downloads (spec turns 13, 8)."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Final, TypeAlias
from urllib.parse import quote

import structlog
from grpc import StatusCode, aio
from starlette.datastructures import URLPath
from starlette.requests import ClientDisconnect, Request
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Message, Receive, Scope, Send
from typing_extensions import override

from parleyd.contract import limits
from parleyd.contract.errors import ParleyError
from parleyd.rpc.errors import internal_status, status_of, trace_of
from parleyd.rpc.server import SERVICES
from parleyd.rpc.web.bindings import Binding, Template, bindings_of
from parleyd.rpc.web.downloads import DOWNLOADS, Download
from parleyd.rpc.web.event_streams import EventStream
from parleyd.rpc.web.json_calls import JsonCall
from parleyd.rpc.web.problems import (
    HttpProblem,
    Problem,
    nothing_here,
    problem_of,
    status_of_call,
)
from parleyd.rpc.web.uploads import UPLOADS, Upload

Answer: TypeAlias = Callable[[Request, Send], Awaitable[None]]
"""Answers a request, or raises before it has begun to."""

PREFIX: Final = "/v1/"

_log = structlog.stdlib.get_logger()


def json_routes(channel: aio.Channel, *, file_bytes: int = limits.FILE_BYTES) -> list[BaseRoute]:
    """Returns the routes of `/v1/`, which call the gRPC server behind `channel`.

    `file_bytes` is the deployment's cap of an upload.

    Raises:
        ValueError: A method is annotated in a way that can't be served.
    """
    return [JsonFront(_answers(channel, file_bytes))]


class JsonFront(BaseRoute):
    """Answers all requests under `/v1/`, those to unknown paths too."""

    def __init__(self, answers: Iterable[tuple[str, Template, Answer]]) -> None:
        self._paths: dict[str, tuple[Template, dict[str, Answer]]] = {}
        for verb, template, answer in answers:
            _, verbs = self._paths.setdefault(template.shape, (template, {}))
            if verb in verbs:
                raise ValueError(f"{verb} {template.text} is there twice")
            verbs[verb] = answer

    @override
    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Tells whether a request is for this front."""
        is_ours = scope["type"] == "http" and scope["path"].startswith(PREFIX)
        return (Match.FULL if is_ours else Match.NONE), {}

    @override
    def url_path_for(self, name: str, /, **path_params: object) -> URLPath:
        """Raises NoMatchFound: nothing here has a name."""
        raise NoMatchFound(name, path_params)

    @override
    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; what goes wrong is told in one shape."""
        answering = _Answering(send)
        try:
            answer, values = self._found(scope)
            request = Request({**scope, "path_params": {"values": values}}, receive)
            await answer(request, answering.send)
        except ClientDisconnect:
            return
        except Exception as error:
            if answering.has_begun:
                raise
            response = _problem(error).response()
            await response(scope, receive, send)

    def _found(self, scope: Scope) -> tuple[Answer, Sequence[str]]:
        """Returns what answers a request, and what its path says.

        Raises:
            HttpProblem: There is no such path, or another verb is meant for it.
        """
        raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
        path = raw.decode("latin-1")
        for template, verbs in self._paths.values():
            values = template.values(path)
            if values is None:
                continue
            if answer := verbs.get(scope["method"]):
                return answer, values
            allowed = ", ".join(sorted(verbs))
            raise HttpProblem(
                HTTPStatus.METHOD_NOT_ALLOWED,
                StatusCode.UNIMPLEMENTED,
                f"This path takes {allowed}.",
                {"allow": allowed},
            )
        raise nothing_here()


class _Answering:
    """Sends an answer, and knows whether it has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def send(self, message: Message) -> None:
        self.has_begun = True
        await self._send(message)


def _problem(error: Exception) -> Problem:
    """Returns what is told of an error. The unforeseen is logged and told without a word."""
    match error:
        case HttpProblem():
            return error.problem
        case ParleyError():
            return problem_of(status_of(error))
        case aio.AioRpcError():
            return problem_of(status_of_call(error))
        case _:
            _log.error("web_call_broke", trace=trace_of(error))
            return problem_of(internal_status())


def _answers(channel: aio.Channel, file_bytes: int) -> Iterator[tuple[str, Template, Answer]]:
    """Yields verbs and paths, and what answers there."""
    for binding in bindings_of(SERVICES):
        yield binding.verb, binding.template, _answer_of(binding, channel)
    yield "POST", UPLOADS, Upload(channel, file_bytes)
    yield "GET", DOWNLOADS, Download(channel)


def _answer_of(binding: Binding, channel: aio.Channel) -> Answer:
    if binding.method.server_streaming:
        return EventStream(binding, channel)
    return JsonCall(binding, channel)

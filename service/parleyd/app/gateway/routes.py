"""Which path leads where, and whose pages may call it."""

from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from parleyd.app.gateway.settings import ANY_ORIGIN
from parleyd.contract import limits
from parleyd.rpc.caller_keys import CALLER_KEY
from parleyd.rpc.log import REQUEST_ID_KEY
from parleyd.rpc.server import SERVICES
from parleyd.rpc.web.forwarding import TIMEOUT_HEADER
from parleyd.rpc.web.playground import ASSETS_PATH, PAGE_PATH

GRPC: Final = "grpc"
"""The cluster of the gRPC servers."""
WEB: Final = "web"
"""The cluster of their web fronts."""
NOWHERE: Final = "nowhere"
"""No cluster has this name: what is sent there is not found."""
HEALTHY_PATH: Final = "/healthz"
"""Says that the gateway itself runs."""
READY_PATH: Final = "/readyz"
"""Says that a server behind it answers."""
UPLOAD_PATH: Final = "/v1/files:upload"
CORS: Final = "envoy.filters.http.cors"
BUFFER: Final = "envoy.filters.http.buffer"

BODY_BYTES: Final = limits.RECEIVE_BYTES + 1024 * 1024
"""Of a body for the web front, which itself refuses what is just over the limit."""

CONNECT_PREFIX: Final = f"/{SERVICES[0].rpartition('.')[0]}."
"""What the paths of all our services begin with."""

_TYPES: Final = "type.googleapis.com/envoy.extensions.filters.http"
_NATIVE_ONLY: Final = ("grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection")
"""Services about the server itself, which have no other form than gRPC."""

_REQUEST_HEADERS: Final = (
    "authorization",
    "content-type",
    "connect-protocol-version",
    "connect-timeout-ms",
    "grpc-timeout",
    "last-event-id",
    CALLER_KEY,
    "x-grpc-web",
    REQUEST_ID_KEY,
    TIMEOUT_HEADER,
    "x-user-agent",
)
_RESPONSE_HEADERS: Final = (
    "content-disposition",
    "grpc-message",
    "grpc-status",
    "grpc-status-details-bin",
    "retry-after",
    REQUEST_ID_KEY,
)
_PREFLIGHT_SECONDS: Final = 7200
"""How long a browser may remember what it may send: more than that, none does."""


def virtual_host(origins: Sequence[str], *, playground: bool = False) -> JsonValue:
    """Returns the routes, in order. What fits none of ours goes to no server.

    Pages of `origins` may call all of them. With `playground` the gateway has a page of its own.
    """
    page: list[JsonValue] = [{"path": PAGE_PATH}, {"prefix": ASSETS_PATH}] if playground else []
    return {
        "name": "parley",
        "domains": ["*"],
        "typed_per_filter_config": {CORS: _cors(origins)},
        "routes": [
            {
                "match": {"path": HEALTHY_PATH},
                "direct_response": {"status": 200, "body": {"inline_string": "ok\n"}},
            },
            *(_grpc(f"/{service}/") for service in (*SERVICES, *_NATIVE_ONLY)),
            *(_web({"prefix": f"/{service}/"}) for service in SERVICES),
            # The front counts the bytes of an upload while they come, so nothing holds them back.
            {"match": {"path": UPLOAD_PATH}, "route": _to(WEB)},
            _web({"prefix": "/v1/"}),
            *map(_web, page),
            # Envoy's own way to say 404 leaves the origins out, so that no page could read it.
            {"match": {"prefix": "/"}, "route": _to(NOWHERE)},
        ],
    }


def _grpc(prefix: str) -> JsonValue:
    """Returns the route of native gRPC and of gRPC-Web, whose content type starts the same."""
    content_type: JsonValue = {
        "name": "content-type",
        "string_match": {"prefix": "application/grpc"},
    }
    return {"match": {"prefix": prefix, "headers": [content_type]}, "route": _to(GRPC)}


def _web(match: JsonValue) -> JsonValue:
    whole: JsonValue = {
        "@type": f"{_TYPES}.buffer.v3.BufferPerRoute",
        "buffer": {"max_request_bytes": BODY_BYTES},
    }
    return {"match": match, "route": _to(WEB), "typed_per_filter_config": {BUFFER: whole}}


def _to(cluster: str) -> JsonValue:
    # Calls have deadlines of their own, and streams send something every 15 seconds. Without a
    # retry policy nothing is sent twice: only a client knows what has a request id (8.3).
    return {
        "cluster": cluster,
        "cluster_not_found_response_code": "NOT_FOUND",
        "timeout": "0s",
        "idle_timeout": "0s",
    }


def _cors(origins: Sequence[str]) -> JsonValue:
    allowed: list[JsonValue] = [
        {"safe_regex": {"regex": ".*"}} if origin == ANY_ORIGIN else {"exact": origin}
        for origin in origins
    ]
    return {
        "@type": f"{_TYPES}.cors.v3.CorsPolicy",
        "allow_origin_string_match": allowed,
        "allow_methods": "GET, POST, PUT, PATCH, DELETE",
        "allow_headers": ", ".join(_REQUEST_HEADERS),
        "expose_headers": ", ".join(_RESPONSE_HEADERS),
        "max_age": str(_PREFLIGHT_SECONDS),
        "forward_not_matching_preflights": False,
    }

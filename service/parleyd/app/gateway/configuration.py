"""Envoy's configuration, made from a plan. Nothing else decides what the gateway does.

Envoy speaks gRPC and gRPC-Web itself; Connect and JSON go to the web front as they are. It keeps
no log of requests: the servers do, without a word that people wrote.
"""

import json
from typing import Final

import yaml
from pydantic import JsonValue

from parleyd.app.gateway.clusters import clusters, socket_address
from parleyd.app.gateway.own_replies import mappers
from parleyd.app.gateway.plan import Certificate, GatewayPlan
from parleyd.app.gateway.routes import (
    BODY_BYTES,
    CONNECT_PREFIX,
    GRPC,
    READY_PATH,
    virtual_host,
)

CONNECTIONS_MAX: Final = 20_000
"""Connections of clients at most; more are refused."""
HEADER_KIB: Final = 32
"""Of the headers of one request."""
STREAMS_MAX: Final = 1000
"""Calls that one HTTP/2 connection may have open: a service calls for many people over one."""
HEADER_SECONDS: Final = 10
"""How long the headers of a request may take to come in."""

_TYPES: Final = "type.googleapis.com/envoy.extensions"
_FILTERS: Final = f"{_TYPES}.filters.http"


def configuration_of(plan: GatewayPlan) -> JsonValue:
    """Returns Envoy's bootstrap configuration."""
    made: dict[str, JsonValue] = {
        "node": {"id": "parley-gateway", "cluster": "parley"},
        "static_resources": {"listeners": [_listener(plan)], "clusters": clusters(plan)},
        "overload_manager": {
            "resource_monitors": [
                {
                    "name": "envoy.resource_monitors.global_downstream_max_connections",
                    "typed_config": {
                        "@type": f"{_TYPES}.resource_monitors.downstream_connections.v3."
                        "DownstreamConnectionsConfig",
                        "max_active_downstream_connections": CONNECTIONS_MAX,
                    },
                }
            ]
        },
    }
    if plan.admin:
        made["admin"] = {"address": {"pipe": {"path": str(plan.admin), "mode": 0o600}}}
    return made


def yaml_of(configuration: JsonValue) -> str:
    """Returns a configuration as text for people to read."""
    # Written and read once, no two places share a value, which YAML would spell as a reference.
    unshared = json.loads(json.dumps(configuration))
    return yaml.safe_dump(unshared, sort_keys=False, width=120)  # pyright: ignore[reportUnknownMemberType] - its stub leaves a type open


def _listener(plan: GatewayPlan) -> JsonValue:
    chain: dict[str, JsonValue] = {
        "filters": [
            {
                "name": "envoy.filters.network.http_connection_manager",
                "typed_config": _connection_manager(plan),
            }
        ]
    }
    if plan.certificate:
        chain["transport_socket"] = _tls(plan.certificate)
    return {
        "name": "gateway",
        "address": socket_address(plan.listen),
        # A second gateway on a port fails to start, where it would take every other connection.
        "enable_reuse_port": False,
        "filter_chains": [chain],
    }


def _connection_manager(plan: GatewayPlan) -> JsonValue:
    return {
        "@type": f"{_TYPES}.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "gateway",
        "codec_type": "AUTO",  # HTTP/1.1, and HTTP/2 with or without TLS
        # A stream may be silent while a person thinks; what it needs, it sends itself.
        "stream_idle_timeout": "0s",
        "request_headers_timeout": f"{HEADER_SECONDS}s",
        "max_request_headers_kb": HEADER_KIB,
        "http2_protocol_options": {
            "max_concurrent_streams": STREAMS_MAX,
            "initial_stream_window_size": 1024 * 1024,
            "initial_connection_window_size": 16 * 1024 * 1024,
            # A device that has gone without a word is found out.
            "connection_keepalive": {"interval": "30s", "timeout": "20s"},
        },
        # Clients say who they are by a token; where they are is told by the connection alone.
        "use_remote_address": True,
        # Nobody is trusted for being near, as older Envoys would: such a client could set time
        # limits and have calls sent again, by headers of Envoy's own. No client has this address.
        "internal_address_config": {
            "cidr_ranges": [{"address_prefix": "255.255.255.255", "prefix_len": 32}]
        },
        "server_header_transformation": "PASS_THROUGH",
        "preserve_external_request_id": True,
        "always_set_request_id_in_response": True,
        "normalize_path": True,
        "merge_slashes": True,
        "path_with_escaped_slashes_action": "REJECT_REQUEST",
        "local_reply_config": {"mappers": mappers(CONNECT_PREFIX)},
        "route_config": {
            "name": "parley",
            "virtual_hosts": [virtual_host(plan.cors_origins, playground=plan.playground)],
            "validate_clusters": False,  # one is meant not to be there
            "response_headers_to_remove": ["server", "x-envoy-upstream-service-time"],
        },
        "http_filters": [
            _filter(
                "health_check",
                "health_check.v3.HealthCheck",
                pass_through_mode=False,
                headers=[{"name": ":path", "string_match": {"exact": READY_PATH}}],
                cluster_min_healthy_percentages={GRPC: {"value": 1}},
            ),
            _filter("cors", "cors.v3.Cors"),
            _filter("grpc_web", "grpc_web.v3.GrpcWeb"),
            {
                **_filter("buffer", "buffer.v3.Buffer", max_request_bytes=BODY_BYTES),
                "disabled": True,  # but for the routes that say otherwise
            },
            _filter("router", "router.v3.Router", suppress_envoy_headers=True),
        ],
    }


def _filter(name: str, kind: str, **options: JsonValue) -> dict[str, JsonValue]:
    return {
        "name": f"envoy.filters.http.{name}",
        "typed_config": {"@type": f"{_FILTERS}.{kind}", **options},
    }


def _tls(certificate: Certificate) -> JsonValue:
    files: JsonValue = {
        "certificate_chain": {"filename": str(certificate.chain)},
        "private_key": {"filename": str(certificate.key)},
    }
    return {
        "name": "envoy.transport_sockets.tls",
        "typed_config": {
            "@type": f"{_TYPES}.transport_sockets.tls.v3.DownstreamTlsContext",
            "common_tls_context": {
                "alpn_protocols": ["h2", "http/1.1"],
                "tls_params": {"tls_minimum_protocol_version": "TLSv1_2"},
                "tls_certificates": [files],
            },
        },
    }

"""The servers behind the gateway: how they are found, asked for health and spoken to."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from parleyd.app.gateway.plan import Address, GatewayPlan
from parleyd.app.gateway.routes import GRPC, WEB

CALLS_MAX: Final = 100_000
"""Calls that may be open at once, streams among them. Envoy's own limit is 1024."""
WEB_IDLE_SECONDS: Final = 60
"""The gateway lets an idle connection go before the web front does: a request that meets one which
is being closed would be lost."""

_TYPES: Final = "type.googleapis.com/envoy.extensions"
_EVERY: Final[dict[str, JsonValue]] = {
    "timeout": "2s",
    "interval": "5s",
    "no_traffic_interval": "5s",
    "unhealthy_interval": "1s",
    "unhealthy_threshold": 2,
    "healthy_threshold": 1,
}


def clusters(plan: GatewayPlan) -> list[JsonValue]:
    """Returns the two clusters: the gRPC servers, and their web fronts."""
    grpc: dict[str, JsonValue] = {
        "health_checks": [{**_EVERY, "grpc_health_check": {}}],
        **_protocol(
            {
                "http2_protocol_options": {
                    # A server that has gone without a word is found out.
                    "connection_keepalive": {"interval": "30s", "timeout": "10s"},
                }
            }
        ),
    }
    web: dict[str, JsonValue] = {
        "health_checks": [{**_EVERY, "tcp_health_check": {}}],
        **_protocol({"http_protocol_options": {}}, idle_timeout=f"{WEB_IDLE_SECONDS}s"),
    }
    if plan.upstream_ca:
        grpc["transport_socket"] = _tls(plan.grpc, plan.upstream_ca, "h2")
        web["transport_socket"] = _tls(plan.web, plan.upstream_ca, "http/1.1")
    return [{**_cluster(GRPC, plan.grpc), **grpc}, {**_cluster(WEB, plan.web), **web}]


def _cluster(name: str, addresses: Sequence[Address]) -> dict[str, JsonValue]:
    numbers = all(address.is_number for address in addresses)
    endpoints: list[JsonValue] = [
        {"endpoint": {"address": socket_address(address)}} for address in addresses
    ]
    return {
        "name": name,
        "type": "STATIC" if numbers else "STRICT_DNS",
        "dns_lookup_family": "V4_PREFERRED",
        "connect_timeout": "2s",
        "lb_policy": "ROUND_ROBIN",
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": endpoints}]},
        "circuit_breakers": {
            "thresholds": [
                {
                    "max_connections": CALLS_MAX,
                    "max_pending_requests": CALLS_MAX,
                    "max_requests": CALLS_MAX,
                }
            ]
        },
    }


def socket_address(address: Address) -> JsonValue:
    """Returns an address as Envoy spells it."""
    return {"socket_address": {"address": address.host, "port_value": address.port}}


def _protocol(explicit: JsonValue, **common: JsonValue) -> dict[str, JsonValue]:
    kind = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
    options: JsonValue = {
        "@type": f"type.googleapis.com/{kind}",
        "explicit_http_config": explicit,
        "common_http_protocol_options": common,
    }
    return {"typed_extension_protocol_options": {kind: options}}


def _tls(addresses: Sequence[Address], authority: Path, protocol: str) -> JsonValue:
    """Returns how the gateway makes sure that it speaks to a server of ours.

    A certificate has to name the host, except on this machine, where nobody is in between.
    """
    validation: dict[str, JsonValue] = {"trusted_ca": {"filename": str(authority)}}
    if not all(address.is_loopback for address in addresses):
        validation["match_typed_subject_alt_names"] = [
            {
                "san_type": "IP_ADDRESS" if address.is_number else "DNS",
                "matcher": {"exact": address.host},
            }
            for address in addresses
        ]
    context: dict[str, JsonValue] = {
        "@type": f"{_TYPES}.transport_sockets.tls.v3.UpstreamTlsContext",
        "common_tls_context": {
            "alpn_protocols": [protocol],
            "validation_context": validation,
        },
    }
    if names := [address.host for address in addresses if not address.is_number]:
        context["sni"] = names[0]
    return {"name": "envoy.transport_sockets.tls", "typed_config": context}

"""What the settings say of the gateway, as a plan."""

from collections.abc import Sequence

from parleyd.app.faults import ConfigurationError
from parleyd.app.gateway.plan import Address, Certificate, GatewayPlan
from parleyd.app.settings import Settings, variable


def plan_of(settings: Settings, grpc: Sequence[Address], web: Sequence[Address]) -> GatewayPlan:
    """Returns the plan of a gateway in front of servers at these addresses.

    Paths are whole, as Envoy is started somewhere else.
    """
    certificate = None
    if settings.gateway_tls_cert and settings.gateway_tls_key:
        certificate = Certificate(
            settings.gateway_tls_cert.absolute(), settings.gateway_tls_key.absolute()
        )
    return GatewayPlan(
        listen=Address(settings.gateway_host, settings.gateway_port),
        grpc=tuple(grpc),
        web=tuple(web),
        cors_origins=settings.gateway_cors_origins,
        certificate=certificate,
        playground=settings.shows_playground,
        upstream_ca=settings.gateway_upstream_ca and settings.gateway_upstream_ca.absolute(),
    )


def served_addresses(settings: Settings) -> tuple[Address, Address]:
    """Returns where a service with these settings is reached from its own machine.

    Raises:
        ConfigurationError: It picks a free port, which nobody else can know, or has no web front.
    """
    if not settings.web:
        raise ConfigurationError(
            "PARLEY_WEB is false, and the gateway has JSON and Connect from there: leave it out, "
            "or say with --upstream and --web-upstream where another service listens."
        )
    for field, port in (("port", settings.port), ("web_port", settings.own_web_port)):
        if port == 0:
            raise ConfigurationError(
                f"{variable(field)} is 0, so the service picks a free port: say where it listens "
                "with --upstream and --web-upstream."
            )
    host = reachable(settings.host)
    return Address(host, settings.port), Address(host, settings.own_web_port)


def reachable(host: str) -> str:
    """Returns what to connect to where a server listens on every address of its machine."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - nobody listens here

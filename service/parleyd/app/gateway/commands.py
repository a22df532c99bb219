"""The command `parleyd gateway`. It imports what it runs on when it runs."""

# ruff: noqa: PLC0415 - see above

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from parleyd.app.gateway.plan import Address


def gateway(
    *,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Listen here; 0 picks a free port.")
    ] = None,
    upstream: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where the service speaks gRPC; may be given more than once. "
            "Unset: where it listens on this machine by these settings.",
        ),
    ] = None,
    web_upstream: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST:PORT", help="Where its web front listens, in the same way."),
    ] = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print Envoy's configuration and leave.")
    ] = False,
) -> None:
    """Runs the gateway in front of a running service: every protocol on one port.

    gRPC, gRPC-Web, Connect, JSON and server-sent events; `parleyd serve --gateway` runs both.
    """
    from parleyd.app.gateway.configuration import configuration_of, yaml_of
    from parleyd.app.gateway.envoy import envoy_binary
    from parleyd.app.gateway.plan_of_settings import plan_of, served_addresses
    from parleyd.app.gateway.running import run_gateway
    from parleyd.app.logs import set_up_logs
    from parleyd.app.settings_sources import load_settings

    if bool(upstream) != bool(web_upstream):
        raise typer.BadParameter("Give both --upstream and --web-upstream, or neither.")
    settings = load_settings(gateway_port=port)
    if upstream and web_upstream:
        grpc, web = _addresses(upstream), _addresses(web_upstream)
    else:
        grpc, web = ([address] for address in served_addresses(settings))
    plan = plan_of(settings, grpc, web)
    if print_config:
        typer.echo(yaml_of(configuration_of(plan)), nl=False)
        return
    set_up_logs(settings.log_level, settings.log_style)
    run_gateway(plan, envoy_binary(settings.envoy))


def _addresses(texts: list[str]) -> "list[Address]":
    from parleyd.app.gateway.plan import Address

    try:
        return [Address.read(text) for text in texts]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error

"""What `deploy/` says of the service is true of it."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml
from grpc import aio
from grpc_health.v1 import health
from grpc_health.v1.health_pb2 import HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import add_HealthServicer_to_server

from parleyd.app.gateway.configuration import configuration_of, yaml_of
from parleyd.app.gateway.envoy import envoy_binary
from parleyd.app.gateway.plan import Address, GatewayPlan
from parleyd.app.settings import Settings, variable
from parleyd.app.wiring import STOP_SECONDS
from parleyd.rpc.tls import Tls
from tests.certificates import Authority

DEPLOY = Path(__file__).parents[3] / "deploy"
ENVOY = (DEPLOY / "envoy.yaml").read_text()
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
SETTINGS = Settings()
CLUSTER = GatewayPlan(
    Address("0.0.0.0", SETTINGS.gateway_port),
    (Address("parleyd", SETTINGS.port),),
    (Address("parleyd", SETTINGS.own_web_port),),
)


def test_the_envoy_file_is_what_the_gateway_command_prints() -> None:
    head = "\n".join(line for line in ENVOY.splitlines() if line.startswith("#"))
    assert f"{head}\n\n{yaml_of(configuration_of(CLUSTER))}" == ENVOY, "print it anew, as it says"
    assert "--upstream parleyd:50051 --web-upstream parleyd:50052 --print-config" in head


def test_envoy_takes_the_file() -> None:
    command = [envoy_binary(None), "--mode", "validate", "--config-path", DEPLOY / "envoy.yaml"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_envoy_finds_every_replica_by_the_name_of_their_service() -> None:
    hosts = {address.host for address in (*CLUSTER.grpc, *CLUSTER.web)}
    assert hosts <= SERVICES.keys()
    assert SERVICES["parleyd"]["deploy"]["replicas"] > 1
    assert ENVOY.count("type: STRICT_DNS") == 2


def test_ports_agree() -> None:
    assert SERVICES["gateway"]["ports"] == [f"{SETTINGS.gateway_port}:{CLUSTER.listen.port}"]
    assert f"EXPOSE {SETTINGS.port} {SETTINGS.own_web_port}" in CONTAINERFILE
    assert f"'{SETTINGS.port}'" in (DEPLOY / "healthcheck.py").read_text().replace('"', "'")
    asked = " ".join(map(str, SERVICES["gateway"]["healthcheck"]["test"]))
    assert f"127.0.0.1:{CLUSTER.listen.port}/readyz" in asked


def test_every_setting_that_is_named_is_one() -> None:
    known = {variable(name) for name in Settings.model_fields}
    for file in DEPLOY.iterdir():
        named = set(re.findall(r"\bPARLEY_[A-Z_]+\b", file.read_text()))
        assert named <= known, file.name


def test_a_server_is_given_the_time_to_hand_its_turns_over() -> None:
    assert float(SERVICES["parleyd"]["stop_grace_period"].removesuffix("s")) > STOP_SECONDS


@asynccontextmanager
async def served(tls: Tls | None = None) -> AsyncGenerator[tuple[str, health.aio.HealthServicer]]:
    """Serves the health of a server that is well, and yields the port."""
    servicer = health.aio.HealthServicer()
    await servicer.set("", HealthCheckResponse.SERVING)
    server = aio.server()
    add_HealthServicer_to_server(servicer, server)
    if tls:
        port = server.add_secure_port("127.0.0.1:0", tls.credentials())
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield str(port), servicer
    finally:
        await server.stop(None)


async def checked(port: str, **settings: str) -> int | None:
    """Returns what the health check leaves with."""
    check = await asyncio.create_subprocess_exec(
        *(sys.executable, str(DEPLOY / "healthcheck.py")),
        env={**os.environ, "PARLEY_PORT": port, **settings},
    )
    return await check.wait()


async def test_a_container_is_healthy_while_its_server_takes_calls() -> None:
    async with served() as (port, servicer):
        assert await checked(port) == 0
        await servicer.set("", HealthCheckResponse.NOT_SERVING)
        assert await checked(port) == 1
    assert await checked(port) == 1


async def test_a_container_that_speaks_tls_is_healthy_while_it_listens(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    files = authority.issue("parleyd")
    tls = Tls.read(files.cert, files.key, authority.cert)
    async with served(tls) as (port, _):
        assert await checked(port, PARLEY_TLS_CERT=str(files.cert)) == 0
    assert await checked(port, PARLEY_TLS_CERT=str(files.cert)) == 1


def test_everything_that_is_waited_for_can_be_healthy() -> None:
    for name, service in SERVICES.items():
        for other, wanted in service.get("depends_on", {}).items():
            assert wanted == {"condition": "service_healthy"}
            by_image = "HEALTHCHECK" in CONTAINERFILE and SERVICES[other].get("image") == "parley"
            assert by_image or "healthcheck" in SERVICES[other], f"{name} waits for {other}"


def test_what_the_image_takes_is_let_in_and_there() -> None:
    let_in = re.findall(r"^!(\S+)$", (DEPLOY / "Containerfile.dockerignore").read_text(), re.M)
    copied = [
        word
        for line in re.findall(r"^COPY (?!--)(.*)$", CONTAINERFILE, re.M)
        for word in line.split()[:-1]
    ]
    assert sorted(copied) == sorted(let_in)
    assert [path for path in copied if not (DEPLOY.parent / path).exists()] == []


def test_it_does_not_run_as_root() -> None:
    assert CONTAINERFILE.rindex("USER parley") < CONTAINERFILE.index("CMD [")
    assert "user" not in SERVICES["parleyd"]


def test_secrets_are_named_in_the_example_alone_and_have_no_value() -> None:
    example = dict(
        line.split("=", 1)
        for line in (DEPLOY / "parley.env.example").read_text().splitlines()
        if "=" in line and not line.startswith("#")
    )
    assert (example["POSTGRES_PASSWORD"], example["GEMINI_API_KEY"]) == ("", "")
    ignored = (DEPLOY.parent / ".gitignore").read_text().splitlines()
    assert "deploy/parley.env" in ignored
    asked_for = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    assert asked_for <= example.keys()

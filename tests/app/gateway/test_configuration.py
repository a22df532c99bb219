"""What Envoy is told, without an Envoy but the one that checks it."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.rpc.code_pb2 import Code
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from parleyd.app.gateway.clusters import WEB_IDLE_SECONDS
from parleyd.app.gateway.configuration import HEADER_KIB, configuration_of, yaml_of
from parleyd.app.gateway.envoy import envoy_binary
from parleyd.app.gateway.own_replies import OWN_REPLIES, mappers
from parleyd.app.gateway.plan import Address, Certificate, GatewayPlan
from parleyd.contract import limits
from parleyd.rpc.server import SERVICES
from parleyd.rpc.web.problems import (
    HTTP_STATUSES,
    OVERRIDES,
    nothing_here,
    problem_of,
    too_large,
)
from parleyd.rpc.web.web_server import HEAD_BYTES, KEEP_ALIVE_SECONDS
from tests.certificates import Authority

PLAIN = GatewayPlan(
    Address("127.0.0.1", 8080), (Address("127.0.0.1", 50051),), (Address("127.0.0.1", 50052),)
)


def written(plan: GatewayPlan) -> str:
    return yaml_of(configuration_of(plan))


@pytest.mark.parametrize(
    "plan",
    [
        PLAIN,
        GatewayPlan(
            Address("::1", 8080),
            (Address("parleyd", 50051), Address("10.0.0.7", 50051)),
            (Address("parleyd", 50052),),
            cors_origins=("https://app.example.org", "*"),
            upstream_ca=Path("/etc/parley/ca.pem"),
            playground=True,
            admin=Path("/run/parley/admin"),
        ),
    ],
    ids=["plain", "with everything"],
)
def test_envoy_takes_it(plan: GatewayPlan, tmp_path: Path) -> None:
    if plan.upstream_ca:
        made = written(plan).replace(str(plan.upstream_ca), str(Authority(tmp_path, "ca").cert))
    else:
        made = written(plan)
    file = tmp_path / "envoy.yaml"
    file.write_text(made)
    command = [envoy_binary(None), "--mode", "validate", "--config-path", file]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_every_service_of_ours_has_routes_and_nothing_else_is_passed_on() -> None:
    prefixes = re.findall(r"prefix: (/\S*)", written(PLAIN))
    for service in SERVICES:
        assert prefixes.count(f"/{service}/") == 2, "one for gRPC, one for Connect"
    others = {prefix for prefix in prefixes if prefix.strip("/") not in SERVICES}
    assert others == {
        "/grpc.health.v1.Health/",
        "/grpc.reflection.v1alpha.ServerReflection/",
        "/parley.v1.",  # where the gateway's own errors have Connect's shape
        "/v1/",
        "/",
    }


def test_the_playground_adds_its_page_and_its_files() -> None:
    plain = written(PLAIN).splitlines()
    added = [*written(replace(PLAIN, playground=True)).splitlines()]
    for line in plain:
        added.remove(line)
    assert [line.strip() for line in added if "path:" in line or "prefix:" in line] == [
        "path: /",
        "prefix: /assets/",
    ]
    assert sum("cluster: web" in line for line in added) == 2


def test_nothing_ends_a_stream_or_sends_a_call_again() -> None:
    made = written(PLAIN)
    assert "max_stream_duration" not in made
    assert "retry_policy" not in made
    assert "retry_on" not in made
    assert not re.findall(r"^ *(?:timeout|stream_idle_timeout): [1-9]", routes_of(made), re.M)
    assert made.count("stream_idle_timeout: 0s") == 1


def routes_of(made: str) -> str:
    return made[made.index("route_config:") : made.index("http_filters:")]


def test_no_value_is_a_reference_to_another() -> None:
    assert not re.findall(r"[&*]id\d", written(PLAIN))


def test_own_errors_have_the_statuses_that_the_service_gives_their_codes() -> None:
    of_http = {408, 426, 431}  # no code has these
    for reply in OWN_REPLIES:
        given = HTTP_STATUSES[StatusCode[Code.Name(reply.code)]]
        assert reply.status == given or str(reply.status) in OVERRIDES or reply.status in of_http


def test_own_errors_have_the_body_that_those_of_the_service_have() -> None:
    rules: Any = mappers("/parley.v1.")
    told = [rule["body_format_override"].get("json_format", {}) for rule in rules]
    ours = [body for body in told if "status" in body]
    assert len(ours) == len(OWN_REPLIES) + 2
    for body in ours:
        theirs = problem_of(Status(code=body["code"], message=body["message"])).body
        assert body.keys() == theirs.keys()
        assert {**body, "message": "", "title": ""} == {**theirs, "message": "", "title": ""}
        assert body["title"]
    (unknown,) = (body for body in ours if body["code"] == Code.NOT_FOUND)
    assert unknown == nothing_here().problem.body
    (large,) = (body for body in ours if body["code"] == Code.RESOURCE_EXHAUSTED)
    assert large == too_large().problem.body


def test_limits_and_times_fit_those_of_the_web_front() -> None:
    assert WEB_IDLE_SECONDS < KEEP_ALIVE_SECONDS
    assert HEADER_KIB * 1024 < HEAD_BYTES
    assert int(re.findall(r"max_request_bytes: (\d+)", written(PLAIN))[0]) > limits.RECEIVE_BYTES


def test_without_an_admin_interface_there_is_none() -> None:
    assert "admin" not in yaml.safe_load(written(PLAIN))


def test_a_certificate_is_for_both_versions_of_http() -> None:
    files = Certificate(Path("/etc/parley/chain.pem"), Path("/etc/parley/key.pem"))
    made = written(GatewayPlan(PLAIN.listen, PLAIN.grpc, PLAIN.web, certificate=files))
    assert "filename: /etc/parley/chain.pem" in made
    assert re.search(r"alpn_protocols:\n *- h2\n *- http/1.1\n", made)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("parleyd:50051", "parleyd", 50051), ("[::1]:80", "::1", 80), ("10.0.0.1:1", "10.0.0.1", 1)],
)
def test_an_address_is_read_as_it_is_written(text: str, host: str, port: int) -> None:
    assert Address.read(text) == Address(host, port)
    assert str(Address(host, port)) == text


@pytest.mark.parametrize("text", ["", "parleyd", ":1", "a:", "a:0", "a:65536", "::1:80", "a:x"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no address: write HOST:PORT"):
        Address.read(text)

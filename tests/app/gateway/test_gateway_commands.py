"""`parleyd gateway` and `parleyd serve --gateway`, as processes of their own."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psutil
import pytest
import yaml

from parleyd.app.gateway.configuration import configuration_of
from parleyd.app.gateway.plan import Address, GatewayPlan
from tests.app.processes import COMMAND, DEADLINE, environment, run, stop

SAYS = "gateway listens on "


@dataclass(frozen=True)
class Gateway:
    """A command that runs a gateway: what it printed, and where the gateway is."""

    process: asyncio.subprocess.Process
    url: str
    lines: list[str]

    @property
    def envoy(self) -> psutil.Process:
        """The process of Envoy."""
        (envoy,) = psutil.Process(self.process.pid).children()
        return envoy


@asynccontextmanager
async def running(*arguments: str, env: dict[str, str]) -> AsyncGenerator[Gateway]:
    """Runs a command until it is left, and yields once it has said where its gateway listens."""
    process = await asyncio.create_subprocess_exec(
        COMMAND,
        *arguments,
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout
        lines: list[str] = []
        async with asyncio.timeout(DEADLINE):
            while SAYS not in (lines[-1] if lines else ""):
                line = (await process.stdout.readline()).decode()
                assert line, (await process.communicate())[1].decode()
                lines.append(line.rstrip())
        url = lines[-1].partition(SAYS)[2].removesuffix(".").partition(",")[0]
        yield Gateway(process, url, lines)
    finally:
        await stop(process)


@pytest.fixture
def env(database_url: str, tmp_path: Path) -> dict[str, str]:
    return environment(
        tmp_path,
        PARLEY_DATABASE_URL=database_url,
        PARLEY_PORT="0",
        PARLEY_WEB="true",
        PARLEY_GATEWAY_PORT="0",
    )


async def test_who_serves_without_a_gateway_loads_nothing_of_it() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "import sys, parleyd.app.serve; print(*sys.modules)"),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    package = "parleyd.app.gateway"
    loaded = {name for name in out.decode().split() if name.startswith(package)}
    assert loaded == {package, f"{package}.settings"}


async def test_serve_runs_both_and_stops_both(env: dict[str, str]) -> None:
    async with running("serve", "--development", "--gateway", env=env) as gateway:
        envoy = gateway.envoy
        async with httpx2.AsyncClient() as http:
            assert (await http.get(f"{gateway.url}/readyz")).status_code == 200
            answer = await http.post(
                f"{gateway.url}/parley.v1.TurnService/ListPendingAsks", json={}
            )
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert gateway.lines[0].startswith("Parley listens on 127.0.0.1:")
        assert await stop(gateway.process) == 0
    assert not envoy.is_running()


async def test_a_gateway_that_ends_stops_the_service_with_its_last_words(
    env: dict[str, str],
) -> None:
    async with running("serve", "--development", "--gateway", env=env) as gateway:
        gateway.envoy.kill()
        async with asyncio.timeout(DEADLINE):
            _, said = await gateway.process.communicate()
        assert gateway.process.returncode == 1
        assert "parleyd: Envoy, the gateway, has ended: it left with -9." in said.decode()
        assert "Traceback" not in said.decode()


async def test_a_page_is_open_to_who_follows_the_last_line(env: dict[str, str]) -> None:
    async with running("serve", "--development", "--gateway", env=env) as gateway:
        assert gateway.process.stdout
        async with asyncio.timeout(DEADLINE):
            said = [(await gateway.process.stdout.readline()).decode().strip() for _ in range(3)]
        assert said[0].startswith("A token for ")
        address, token = said[2].removeprefix("Open ").split("#token=")
        assert (address, token) == (f"{gateway.url}/", said[1])
        async with httpx2.AsyncClient() as http:
            page = await http.get(address)
            assert (page.status_code, page.headers["content-type"]) == (
                200,
                "text/html; charset=utf-8",
            )
            assert "'unsafe" not in page.headers["content-security-policy"]
            for path in re.findall(r'"(/assets/[^"]+)"', page.text):
                assert (await http.get(f"{gateway.url}{path}")).status_code == 200
            assert (await http.get(f"{gateway.url}/other")).status_code == 404


async def test_without_a_playground_the_gateway_has_no_page(env: dict[str, str]) -> None:
    env["PARLEY_PLAYGROUND"] = "false"
    async with running("serve", "--development", "--gateway", env=env) as gateway:
        async with httpx2.AsyncClient() as http:
            assert (await http.get(gateway.url)).status_code == 404
        await stop(gateway.process)
        assert gateway.process.stdout
        assert b"Open " not in await gateway.process.stdout.read()


@pytest.mark.skipif("sys.platform != 'linux'", reason="elsewhere nobody tells Envoy")
async def test_envoy_does_not_outlive_a_service_that_is_killed(env: dict[str, str]) -> None:
    async with running("serve", "--development", "--gateway", env=env) as gateway:
        envoy = gateway.envoy
        gateway.process.kill()
        await gateway.process.wait()
        try:
            await asyncio.to_thread(envoy.wait, DEADLINE)
        except psutil.TimeoutExpired:
            envoy.kill()
            raise


async def test_a_gateway_of_its_own_stands_before_a_service_that_runs(env: dict[str, str]) -> None:
    async with running("serve", "--development", "--gateway", env=env) as first:
        behind = first.url.removeprefix("http://")
        upstreams = ("--upstream", behind, "--web-upstream", behind)
        async with running("gateway", *upstreams, env=env) as second:
            async with httpx2.AsyncClient() as http:
                assert (await http.get(f"{second.url}/readyz")).status_code == 200
            assert await stop(second.process) == 0


async def test_an_address_that_is_taken_is_said_so(env: dict[str, str]) -> None:
    async with running("serve", "--development", "--gateway", env=env) as gateway:
        port = gateway.url.rpartition(":")[2]
        ended = await run("gateway", "--port", port, *UPSTREAMS, env=env)
    assert ended.code == 1
    assert ended.err.startswith(
        f"parleyd: The address 127.0.0.1:{port} can't be had for the gateway; it may be in use: "
        "choose another port with PARLEY_GATEWAY_PORT, or 0 for a free one."
    )


UPSTREAMS = ("--upstream", "10.0.0.1:1", "--upstream", "10.0.0.2:1", "--web-upstream", "a:2")


async def test_print_config_prints_what_would_run(env: dict[str, str]) -> None:
    ended = await run("gateway", "--port", "8443", *UPSTREAMS, "--print-config", env=env)
    assert ended.code == 0, ended.err
    plan = GatewayPlan(
        Address("127.0.0.1", 8443),
        (Address("10.0.0.1", 1), Address("10.0.0.2", 1)),
        (Address("a", 2),),
    )
    assert yaml.safe_load(ended.out) == configuration_of(plan)


FAULTS: list[tuple[list[str], dict[str, str], int, str]] = [
    (["--upstream", "a:1"], {}, 2, "Give both --upstream and --web-upstream, or neither."),
    (["--upstream", "a", "--web-upstream", "b:1"], {}, 2, "'a' is no address: write HOST:PORT."),
    ([], {"PARLEY_PORT": "0"}, 2, "PARLEY_PORT is 0, so the service picks a free port: say"),
    ([], {"PARLEY_WEB": "false"}, 2, "PARLEY_WEB is false, and the gateway has JSON and"),
    ([*UPSTREAMS], {"PARLEY_ENVOY": "/etc/hosts"}, 1, "It can't be run: Exec format error."),
    ([*UPSTREAMS], {"PARLEY_ENVOY": "/etc/no"}, 2, "PARLEY_ENVOY can't be used: path does not"),
    ([*UPSTREAMS], {"PARLEY_ENVOY": "/bin/true"}, 1, "The gateway does not start: it left with 0."),
]


@pytest.mark.parametrize(("arguments", "variables", "code", "sentence"), FAULTS)
async def test_what_can_not_run_says_so(
    arguments: list[str], variables: dict[str, str], code: int, sentence: str, tmp_path: Path
) -> None:
    env = environment(tmp_path, **{"PARLEY_WEB": "true", **variables})
    ended = await run("gateway", *arguments, env=env)
    assert ended.code == code
    assert sentence in " ".join(ended.err.replace("│", " ").split())
    assert "Traceback" not in ended.err

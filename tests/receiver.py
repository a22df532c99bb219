"""A receiver of webhooks over real HTTP, which answers as it is told and keeps what it got."""

import asyncio
import base64
import json
import threading
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
DEADLINE = 20


@dataclass(frozen=True)
class Reply:
    """How the receiver answers. With `held` it does so once that is set."""

    status: int = 204
    headers: dict[str, str] = field(default_factory=dict[str, str])
    held: threading.Event | None = None


@dataclass(frozen=True)
class Post:
    """A request as it came in."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def payload(self) -> dict[str, Any]:
        """What it says, its signature checked as a receiver does.

        Raises:
            WebhookVerificationError: It is not signed with our secret, or not now.
        """
        Webhook(SECRET).verify(self.body, self.headers)
        return json.loads(self.body)


class Receiver:
    """Takes what comes, unless it is told otherwise for the next requests."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/hooks/parley?key=s3cret-path"
        self.received: list[Post] = []
        self.leaving = threading.Event()
        self._replies: deque[Reply] = deque()
        self._came = threading.Condition()
        self._held: list[threading.Event] = []

    @property
    def settings(self) -> dict[str, Any]:
        """What makes a server tell this receiver of asks."""
        return {"webhook_url": self.url, "webhook_secret": SECRET}

    def reply(self, *replies: Reply | int) -> None:
        """Adds answers to the next requests."""
        self._replies.extend(
            Reply(status=each) if isinstance(each, int) else each for each in replies
        )

    def note(self, post: Post) -> Reply:
        """Keeps a request and returns how to answer it."""
        with self._came:
            self.received.append(post)
            self._came.notify_all()
            reply = self._replies.popleft() if self._replies else Reply()
            if reply.held:
                self._held.append(reply.held)
            return reply

    def release(self) -> None:
        """Lets every answer go that is held."""
        for held in self._held:
            held.set()

    async def posts(self, count: int) -> list[Post]:
        """Returns the requests once there are so many.

        Raises:
            AssertionError: There are fewer when the deadline is over.
        """
        return await asyncio.to_thread(self._wait_for, count)

    def _wait_for(self, count: int) -> list[Post]:
        with self._came:
            came = self._came.wait_for(lambda: len(self.received) >= count, DEADLINE)
            assert came, f"{len(self.received)} of {count} came"
            return [*self.received]


@contextmanager
def receiving() -> Generator[Receiver]:
    """Listens on a free port of this machine."""

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers["content-length"]))
            reply = receiver.note(Post(self.path, headers, body))
            if reply.held:
                reply.held.wait(DEADLINE)
            if receiver.leaving.is_set():
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as it is declared
            del format, args

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Is silent: a client that leaves is what some tests are about."""

    server = Server(("127.0.0.1", 0), Answers)
    receiver = Receiver(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield receiver
    finally:
        receiver.leaving.set()
        receiver.release()
        server.shutdown()
        thread.join()
        server.server_close()

"""What log lines look like, and what they leave out."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Literal

import pytest
import structlog

from parleyd.app.logs import set_up_logs

LOGS = (structlog.stdlib.get_logger(), logging.getLogger("somebody.else"))


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_a_line_is_one_json_object_with_the_bound_ids() -> None:
    stream = io.StringIO()
    set_up_logs("info", "json", stream)
    with structlog.contextvars.bound_contextvars(conversation_id="c1", request_id="r1"):
        structlog.stdlib.get_logger("parleyd.x").info("call", status="OK\nforged")
    (line,) = stream.getvalue().splitlines()
    said = json.loads(line)
    assert said.pop("timestamp").endswith("Z")
    assert said == {
        "event": "call",
        "level": "info",
        "logger": "parleyd.x",
        "status": "OK\nforged",
        "conversation_id": "c1",
        "request_id": "r1",
    }


def test_libraries_log_the_same_way() -> None:
    stream = io.StringIO()
    set_up_logs("info", "json", stream)
    logging.getLogger("somebody.else").warning("told %s", "so", extra={"turn_id": "t1"})
    said = json.loads(stream.getvalue())
    assert (said["event"], said["level"], said["turn_id"]) == ("told so", "warning", "t1")


@pytest.mark.parametrize("name", ["httpx", "sqlalchemy.engine", "google_genai.models", "alembic"])
def test_libraries_that_repeat_what_people_wrote_are_quiet(name: str) -> None:
    stream = io.StringIO()
    set_up_logs("debug", "json", stream)
    logging.getLogger(name).info("POST a secret")
    assert stream.getvalue() == ""


def test_what_is_below_the_level_is_left_out() -> None:
    stream = io.StringIO()
    set_up_logs("warning", "json", stream)
    structlog.stdlib.get_logger().info("quiet")
    structlog.stdlib.get_logger().warning("loud")
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["loud"]


@pytest.mark.parametrize("style", ["json", "console"])
@pytest.mark.parametrize("log", LOGS, ids=["ours", "a library's"])
def test_a_traceback_tells_places_and_types_and_no_texts(
    style: Literal["json", "console"], log: logging.Logger
) -> None:
    stream = io.StringIO()
    set_up_logs("info", style, stream)
    written = " ".join(["what", "a", "person", "wrote"])
    try:
        _fail(written)
    except RuntimeError:
        log.exception("broke")
    said = stream.getvalue()
    assert "in _fail" in said
    assert said.index("RuntimeError") < said.index("after") < said.index("KeyError")
    assert written not in said


def _fail(text: str) -> None:
    nothing: dict[str, str] = {}
    try:
        nothing[text]
    except KeyError as error:
        raise RuntimeError(text) from error


def test_a_second_set_up_replaces_the_first() -> None:
    first, second = io.StringIO(), io.StringIO()
    log = structlog.stdlib.get_logger()
    set_up_logs("info", "json", first)
    log.info("one")
    set_up_logs("info", "json", second)
    log.info("two")
    assert "two" not in first.getvalue()
    assert "one" not in second.getvalue()
    assert "two" in second.getvalue()

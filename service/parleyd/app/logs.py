"""Structured log lines, of ours and of the libraries alike (design D14)."""

import logging
import sys
import traceback
from typing import TYPE_CHECKING, Literal, TextIO

import structlog

if TYPE_CHECKING:
    from structlog.typing import ExcInfo, Processor

LOUD_LIBRARIES = (
    *("alembic", "asyncio", "google_genai", "httpx", "httpx2", "httpcore2", "sqlalchemy"),
    *("mcp", "client"),  # the second is what the SDK of MCP calls its client
)
"""Speak from a warning on; some of them would otherwise repeat what people wrote."""


def set_up_logs(
    level: Literal["debug", "info", "warning", "error"],
    style: Literal["json", "console"],
    stream: TextIO | None = None,
) -> None:
    """Sends every log line of the process to `stream` (standard error if none), one event a line.

    What the code binds with `structlog.contextvars` (conversation, turn and request ids) is on
    each line. Of an exception its type and its places are told, not its text, which may quote what
    a person wrote. A repeat replaces the set-up before.
    """
    target = stream or sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Processor] = (
        [structlog.processors.UnicodeDecoder(), structlog.processors.JSONRenderer()]
        if style == "json"
        else [structlog.dev.ConsoleRenderer(colors=target.isatty())]
    )
    handler = logging.StreamHandler(target)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.ExceptionRenderer(_trace),
                *last,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in LOUD_LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def _trace(exc_info: "ExcInfo") -> str:
    """Returns where an error came from, the innermost place last, and what it came after."""
    error = exc_info[1]
    trace = [*traceback.format_tb(error.__traceback__), type(error).__qualname__]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    after = f"\n\nafter\n{_trace((type(cause), cause, cause.__traceback__))}" if cause else ""
    return "".join(trace) + after

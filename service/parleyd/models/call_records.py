"""Model calls kept in a file, so that those of a killed process count too (spec turns 14)."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import TypeAdapter

from parleyd.models import script
from parleyd.models.script import ScriptedMessage, last_prompt
from parleyd.turns.model import ModelCall

RecordKind: TypeAlias = Literal["stream", "text", "json"]


@dataclass(frozen=True)
class CallRecord:
    """A call of `stream`, `generate_text` or `generate_json`, as the process `pid` began it.

    `prompt` is the text of the last user message, or all that the text is to be made of. `encoded`
    holds the messages. `refused` says why a strict model refused the call.
    """

    kind: RecordKind
    pid: int
    prompt: str
    system: str | None = field(repr=False)
    encoded: str
    tools: tuple[str, ...] = ()
    refused: str | None = None

    @property
    def messages(self) -> tuple[ScriptedMessage, ...]:
        """The messages that the model was sent."""
        return script.decode(script.CODEC, self.encoded.encode())


_RECORD = TypeAdapter(CallRecord)


class CallRecords:
    """A file with one line for each call, which several processes write and any may read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add_stream(self, call: ModelCall, refused: str | None) -> None:
        """Adds a call of `stream`."""
        self._add(
            CallRecord(
                kind="stream",
                pid=os.getpid(),
                prompt=last_prompt(call.messages),
                system=call.system,
                encoded=script.encode(call.messages).decode(),
                tools=tuple(tool.name for tool in call.tools),
                refused=refused,
            )
        )

    def add_text(self, system: str, prompt: str) -> None:
        """Adds a call of `generate_text`."""
        self._add_prompt("text", system, prompt)

    def add_json(self, system: str, prompt: str) -> None:
        """Adds a call of `generate_json`."""
        self._add_prompt("json", system, prompt)

    def read(self) -> tuple[CallRecord, ...]:
        """Returns the calls so far, in the order in which they began; none without a file."""
        if not self._path.exists():
            return ()
        return tuple(map(_RECORD.validate_json, self._path.read_bytes().splitlines()))

    def _add_prompt(self, kind: RecordKind, system: str, prompt: str) -> None:
        self._add(CallRecord(kind, os.getpid(), prompt, system, script.encode(()).decode()))

    def _add(self, record: CallRecord) -> None:
        # One write to a file that is open for appending: lines of two processes never mix.
        with self._path.open("ab", buffering=0) as file:
            file.write(_RECORD.dump_json(record) + b"\n")

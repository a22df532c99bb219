"""What a deployment says of an MCP server: how to reach it, and which of its tools may do what."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import (
    AnyHttpUrl,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    SecretStr,
    model_validator,
)

from parleyd.contract import limits
from parleyd.tools.unusable import ToolsUnusable

_VARIABLE: Final = re.compile(r"\$\{([^{}]*)\}")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE: Final = re.compile(r"[\x20-\x7e]*")
_ENV_NAME: Final = re.compile(r"[^=\0]+")
_ENV_VALUE: Final = re.compile(r"[^\0]*")


class McpServer(BaseModel):
    """One MCP server: at a URL (streamable HTTP), or a program that is started here (stdio).

    `${NAME}` in a value of `headers` or `env` stands for the environment variable of this name, so
    that a file of settings needs no secrets.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Some servers take their key in the URL or as an argument: neither is shown.
    url: AnyHttpUrl | None = Field(default=None, repr=False)
    headers: Mapping[str, SecretStr] = Field(default_factory=dict[str, SecretStr])
    command: tuple[str, ...] | None = Field(default=None, min_length=1, repr=False)
    """The program and its arguments. It gets `PATH`, `HOME` and the like, and `env`."""
    env: Mapping[str, SecretStr] = Field(default_factory=dict[str, SecretStr])
    log_file: Path | None = None
    """Where the program's standard error goes. None: nowhere."""

    tools: tuple[str, ...] | None = None
    """Which of its tools are offered, by their own names. None: all."""
    prefix: str | None = Field(default=None, max_length=limits.TOOL_NAME_CHARACTERS - 1)
    """Begins the names under which they are offered. None: the server's name and `_`."""
    approval: Literal["as_annotated", "always", "never"] = "as_annotated"
    """Which calls a person has to approve. As annotated: those of tools that are annotated
    destructive, or are not annotated read-only."""
    needs_approval: tuple[str, ...] = ()
    no_approval: tuple[str, ...] = ()
    """Tools, by their own names, for which `approval` does not count."""
    seconds: FiniteFloat | None = Field(default=None, gt=0)
    """Limits a call. None: as the deployment does."""

    @model_validator(mode="after")
    def _reach_it_in_one_way(self) -> Self:
        if self.url and self.command:
            raise ValueError("it has a url and a command: leave one out")
        if not self.url and not self.command:
            raise ValueError("it has no url and no command: write one")
        if self.command and not self.command[0].strip():
            raise ValueError("its command names no program: write one")
        if self.command and self.headers:
            raise ValueError("headers are of no use to a command: write env, or leave them out")
        if self.url and (self.env or self.log_file):
            name = "env" if self.env else "log_file"
            raise ValueError(f"{name} is of no use to a url: leave it out")
        return self

    @model_validator(mode="after")
    def _agree_on_approvals(self) -> Self:
        if both := [name for name in self.needs_approval if name in self.no_approval]:
            raise ValueError(
                f"the tool {both[0]!r} is in needs_approval and in no_approval: leave one out"
            )
        for field in ("needs_approval", "no_approval"):
            names: tuple[str, ...] = getattr(self, field)
            if left_out := [name for name in names if not self.offers(name)]:
                raise ValueError(
                    f"{field} names the tool {left_out[0]!r}, which tools leaves out: add it "
                    "there, or leave it out here too"
                )
        return self

    def offers(self, tool: str) -> bool:
        """Tells whether one of its tools, by its own name, is to be offered."""
        return self.tools is None or tool in self.tools

    def secret_headers(self, server: str) -> dict[str, str]:
        """Returns the headers of every request, with variables put in.

        Raises:
            ToolsUnusable: A variable is not set, or there can be no such header. The text does not
                tell the value.
        """
        return _filled(server, "headers", self.headers, _HEADER_NAME, _HEADER_VALUE)

    def secret_env(self, server: str) -> dict[str, str]:
        """Returns what the program's environment has beside the usual, with variables put in.

        Raises:
            ToolsUnusable: A variable is not set, or there can be no such one.
        """
        return _filled(server, "env", self.env, _ENV_NAME, _ENV_VALUE)


def _filled(
    server: str,
    field: str,
    secrets: Mapping[str, SecretStr],
    names: re.Pattern[str],
    values: re.Pattern[str],
) -> dict[str, str]:
    filled: dict[str, str] = {}
    for name, secret in secrets.items():
        if not names.fullmatch(name):
            raise ToolsUnusable(
                f"The MCP server `{server}` has {name!r} in its {field}, which is no name there "
                "can be: mend it."
            )
        text = secret.get_secret_value()
        for variable in _VARIABLE.findall(text):
            if variable not in os.environ:
                raise ToolsUnusable(
                    f"The MCP server `{server}` takes {name} of its {field} from the variable "
                    f"{variable!r}, which is not set: set it, or mend the name."
                )
        filled[name] = _VARIABLE.sub(lambda match: os.environ[match[1]], text)
        if not values.fullmatch(filled[name]):
            raise ToolsUnusable(
                f"The MCP server `{server}` has a value for {name} of its {field} with characters "
                "that can't be sent: mend it, or the variable it comes from."
            )
    return filled

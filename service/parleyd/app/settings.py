"""Settings: environment variables over an optional TOML file, checked as one object at start.

`PARLEY_CONFIG` names the file; its keys are the fields below, and `PARLEY_<FIELD>` overrides each.
"""

import json
import os
import re
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AnyHttpUrl,
    BaseModel,
    ConfigDict,
    Field,
    FilePath,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    NoDecode,
)

from parleyd.app.gateway.settings import ANY_ORIGIN, GatewaySettings
from parleyd.app.notifier.settings import WebhookSettings
from parleyd.app.tls_settings import TlsSettings
from parleyd.app.token_settings import TokenSettings
from parleyd.contract import limits
from parleyd.contract.asks.ask import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS
from parleyd.contract.datasets.checks import ROWS
from parleyd.rpc.auth import ALGORITHMS, SERVICE_AUDIENCE
from parleyd.tools import McpServer

AskSeconds = Annotated[float, Field(ge=limits.ASK_SECONDS_MIN, le=limits.ASK_SECONDS_MAX)]
"""How long an ask may wait that does not wait for good."""

_TABLES: Mapping[str, str] = {
    "approval_wordings": '{"tool": "module:function"}',
    "ask_ttl_seconds": '{"confirm": 3600}',
    "approval_ttl_seconds": '{"tool": 3600}',
}
"""What the tables look like in a variable."""

_SERVER_NAME = re.compile("[A-Za-z_][A-Za-z0-9_-]{0,31}")
PREFIX = "PARLEY_"
CONFIG = "PARLEY_CONFIG"
DEMO_MODEL = "demo"
"""The name of the keyless agent that ships with the service."""
LAST_PORT = 65535
NO_FILES = "none"
"""The file store of a deployment that keeps no files."""
FILE_BYTES_MAX = 100 * 1024 * 1024
"""What `file_bytes` may be at most: a file that a model is shown is in memory as a whole."""
DATASET_ROWS_MAX = 1_000_000
"""What `dataset_max_rows` may be at most: a dataset that is read is in memory as a whole."""
GEMINI_MODEL = "gemini-flash-latest"
"""What answers where there is a key and no model is named: Google's latest release of its kind."""


def default_data_dir() -> Path:
    """Returns the folder for what the service keeps on this machine.

    As root it lies outside root's home: the embedded server runs as another user, who must reach
    it.
    """
    if os.name == "posix" and os.geteuid() == 0:
        return Path("/var/lib/parley")
    data_home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data_home).expanduser() / "parley"


class Settings(GatewaySettings, TlsSettings, TokenSettings, WebhookSettings, BaseModel):
    """What a deployment decides, whole and consistent.

    Built directly it reads no environment; `load_settings` does.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    port: int = Field(default=50051, ge=0, le=LAST_PORT)
    """0 picks a free port."""
    web: bool = True
    """Serves JSON, server-sent events and Connect too, which a gateway passes on."""
    web_port: int | None = Field(default=None, ge=0, le=LAST_PORT)
    """Where it does; 0 picks a free port. Unset: the port after `port`, or a free one for 0."""
    playground: bool | None = None
    """Serves the playground there. Unset: in development alone."""

    database_url: SecretStr | None = None
    """`postgresql://…`. Unset: a PostgreSQL of our own in `data_dir`."""
    pool_size: int = Field(default=10, ge=1)
    data_dir: Path = Field(default_factory=default_data_dir)

    jwt_issuer: str | None = Field(default=None, min_length=1)
    jwt_audience: str = Field(default="parley", min_length=1)
    jwt_service_audience: str = Field(default=SERVICE_AUDIENCE, min_length=1)
    """The audience of tokens that speak for services (spec turns 13.1)."""
    jwt_algorithms: Annotated[tuple[str, ...], NoDecode] = Field(
        default=("RS256", "ES256", "EdDSA"), min_length=1
    )
    """The signatures that count; of those that a public key checks (spec turns 13.1)."""
    jwks_url: AnyHttpUrl | None = None
    jwks_file: FilePath | None = None

    model: str | None = Field(default=None, min_length=1)
    """A Gemini model's name, or `demo`.

    Unset: Gemini where there is a key, else the demo agent in development.
    """
    title_model: str | None = Field(default=None, min_length=1)
    """Another Gemini model for titles. Unset: the same model."""
    gemini_api_key: SecretStr | None = None
    """Read from `GEMINI_API_KEY` too."""
    gemini_base_url: AnyHttpUrl | None = None

    asks: Annotated[tuple[AskKind, ...], NoDecode] = ASK_KINDS
    """The kinds of question the agent may ask; none switches asks off (spec turns 2)."""
    ask_ttl_seconds: Annotated[dict[AskKind, AskSeconds], NoDecode] = {}
    """How long a question of a kind waits; without, for good (spec turns 16.5)."""
    max_steps: int = Field(default=limits.TURN_STEPS, ge=1)
    system_prompt: str | None = None
    system_prompt_hook: str | None = Field(default=None, min_length=1)
    """`module:function` that makes the system prompt of a turn instead."""
    allow_client_system_instruction: bool = False
    allow_caller_keys: bool = False
    """Lets callers bring a Gemini key of their own, in `x-ai-api-key`."""

    tools: Annotated[tuple[str, ...], NoDecode] = ()
    """Host tools by import path, `module:name`, or `module` for all of it."""
    request_tools: str | None = Field(default=None, min_length=1)
    """`module:function` that makes the tools of one turn."""
    mcp_servers: Annotated[dict[str, McpServer], NoDecode] = {}
    """MCP servers by name, whose tools the agent may call. In a variable: JSON."""
    approval_wordings: Annotated[dict[str, str], NoDecode] = {}
    """`module:function` by the name of the tool whose approvals it words."""
    approval_ttl_seconds: Annotated[dict[str, AskSeconds], NoDecode] = {}
    """How long the approvals of a tool wait, by its name; without, for good."""

    file_store: str | None = Field(default=None, min_length=1)
    """Where files are kept: a folder or the URL of a bucket; `none` keeps none.

    Unset: the folder `files` in `data_dir`.
    """
    file_bytes: int = Field(default=limits.FILE_BYTES, ge=1, le=FILE_BYTES_MAX)
    """The size of one file at most."""
    uploads: bool = True
    """Lets people upload files and attach them to messages."""

    blocks: bool = False
    """Lets replies be documents of charts, tables and other blocks."""
    blocks_html: bool = False
    """Lets documents hold HTML, which is cleaned."""
    blocks_image_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """The hosts from which documents may show images."""
    blocks_repair: bool = False
    """Has the model mend a document that breaks rules, by one more call."""
    dataset_max_rows: int = Field(default=ROWS, ge=1, le=DATASET_ROWS_MAX)
    """The rows of one dataset that a tool registers at most."""
    dataset_ttl_days: float = Field(default=0, ge=0, le=36_500, allow_inf_nan=False)
    """How long each is kept; 0 keeps it for good."""
    host_actions: Annotated[tuple[str, ...], NoDecode] = ()
    """Actions that buttons of documents call, by import path, `module:name`, or `module`."""
    block_action_seconds: float = Field(default=limits.ACTION_SECONDS, gt=0)

    turn_seconds: float = Field(default=limits.TURN_SECONDS, gt=0)
    model_idle_seconds: float = Field(default=limits.MODEL_IDLE_SECONDS, gt=0)
    tool_seconds: float = Field(default=limits.TOOL_SECONDS, gt=0)
    chain_bytes: int = Field(default=limits.CHAIN_BYTES, ge=1024)
    owner_turns: int = Field(default=limits.OWNER_TURNS, ge=1)
    conversation_turns: int = Field(default=limits.CONVERSATION_TURNS, ge=1)
    owner_streams: int = Field(default=limits.OWNER_STREAMS, ge=1)

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] | None = None
    """Unset: lines for people in development, JSON elsewhere."""

    @property
    def own_web_port(self) -> int:
        """The port of the web front; 0 where a free one is to be picked."""
        if self.web_port is not None:
            return self.web_port
        return self.port + 1 if self.port else 0

    @property
    def shows_playground(self) -> bool:
        """Tells whether the playground is served."""
        return self.development and self.web if self.playground is None else self.playground

    @property
    def file_place(self) -> str | None:
        """Where files are kept; None where they are not."""
        if self.file_store is None:
            return str(self.data_dir.absolute() / "files")
        return None if self.file_store == NO_FILES else self.file_store

    @property
    def uses_gemini(self) -> bool:
        """Tells whether Gemini answers."""
        return self.gemini_api_key is not None and self.model != DEMO_MODEL

    @property
    def log_style(self) -> Literal["json", "console"]:
        """How log lines look."""
        return self.log_format or ("console" if self.development else "json")

    @field_validator(
        "jwt_algorithms", "asks", "tools", "blocks_image_hosts", "host_actions", mode="before"
    )
    @classmethod
    def _split(cls, value: object) -> object:
        """Reads a list as a variable spells it, `choice, confirm`."""
        if isinstance(value, str):
            return tuple(item.strip() for item in value.split(",") if item.strip())
        return value

    @field_validator("approval_wordings", "ask_ttl_seconds", "approval_ttl_seconds", mode="before")
    @classmethod
    def _read_table(cls, value: object, info: ValidationInfo) -> object:
        """Reads a table as a variable spells it, as JSON."""
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError as error:
            example = _TABLES[info.field_name or ""]
            raise ValueError(f"it has to be JSON, like {example}") from error

    @field_validator("mcp_servers", mode="before")
    @classmethod
    def _read_json(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError as error:
            raise ValueError(f"it is no JSON: {error}") from error

    @field_validator("mcp_servers")
    @classmethod
    def _name_servers(cls, servers: dict[str, McpServer]) -> dict[str, McpServer]:
        if refused := [name for name in servers if not _SERVER_NAME.fullmatch(name)]:
            raise ValueError(
                f"no server can be called {refused[0]!r}: use letters, digits, `_` and `-`, at "
                "most 32, beginning with a letter or `_`"
            )
        return servers

    @field_validator("jwt_algorithms")
    @classmethod
    def _refuse_shared_secrets(cls, algorithms: tuple[str, ...]) -> tuple[str, ...]:
        if refused := [name for name in algorithms if name not in ALGORITHMS]:
            raise ValueError(f"{refused[0]!r} is none of {', '.join(sorted(ALGORITHMS))}")
        return tuple(dict.fromkeys(algorithms))

    @field_validator("asks")
    @classmethod
    def _name_each_once(cls, kinds: tuple[AskKind, ...]) -> tuple[AskKind, ...]:
        return tuple(dict.fromkeys(kinds))

    @field_validator("database_url")
    @classmethod
    def _name_a_postgres(cls, url: SecretStr | None) -> SecretStr | None:
        if url and urlsplit(url.get_secret_value()).scheme not in {"postgresql", "postgres"}:
            raise ValueError("it has to start with postgresql://")
        return url

    @model_validator(mode="after")
    def _agree_on_identity(self) -> Self:
        if self.jwks_url and self.jwks_file:
            raise ValueError(
                "PARLEY_JWKS_URL and PARLEY_JWKS_FILE are two sources of keys: leave one out."
            )
        if self.jwt_audience == self.jwt_service_audience:
            raise ValueError(
                f"PARLEY_JWT_AUDIENCE and PARLEY_JWT_SERVICE_AUDIENCE are both "
                f"{self.jwt_audience!r}, so people and services can't be told apart: change one."
            )
        if not self.development:
            return self
        for field in ("jwt_issuer", "jwks_url", "jwks_file"):
            if getattr(self, field):
                raise ValueError(
                    "In development the service signs tokens with a key of its own, so "
                    f"{variable(field)} is of no use: leave it out, or leave development."
                )
        for field, host in (("host", self.host), ("gateway_host", self.gateway_host)):
            if not is_loopback(host):
                raise ValueError(
                    f"In development the service listens on this machine alone, not on {host!r}: "
                    f"leave {variable(field)} out, or leave development and configure an issuer."
                )
        return self

    @model_validator(mode="after")
    def _agree_on_what_the_gateway_meets(self) -> Self:
        if ANY_ORIGIN in self.gateway_cors_origins and not self.development:
            raise ValueError(
                "PARLEY_GATEWAY_CORS_ORIGINS lets pages of every origin in, which only development "
                "does: name the origins of your own pages."
            )
        if self.gateway and not self.web:
            raise ValueError(
                "PARLEY_WEB is false, and the gateway has JSON and Connect from there: leave one "
                "out, PARLEY_WEB or PARLEY_GATEWAY."
            )
        if self.gateway and self.tls_client_ca:
            raise ValueError(
                "PARLEY_TLS_CLIENT_CA asks for certificates, and the gateway has none to show: "
                "leave it out, or put a proxy of your own in the gateway's place."
            )
        if self.gateway and self.tls_cert and not self.gateway_upstream_ca:
            raise ValueError(
                "PARLEY_TLS_CERT has the service encrypt, so the gateway has to know whom to "
                "trust: name who signed the certificate in PARLEY_GATEWAY_UPSTREAM_CA."
            )
        return self

    @model_validator(mode="after")
    def _agree_on_the_web(self) -> Self:
        if self.web_port is not None and not self.web:
            raise ValueError(
                "PARLEY_WEB_PORT is of no use while PARLEY_WEB is false: leave one of them out."
            )
        if self.playground and not self.web:
            raise ValueError(
                "PARLEY_PLAYGROUND serves a page over HTTP, and PARLEY_WEB is false: leave one of "
                "them out."
            )
        if self.web and self.own_web_port > LAST_PORT:
            raise ValueError(
                f"There is no port after {self.port} for the web: set PARLEY_WEB_PORT, or set "
                "PARLEY_WEB to false."
            )
        return self

    @model_validator(mode="after")
    def _agree_on_files(self) -> Self:
        if self.file_place is None and "uploads" in self.model_fields_set and self.uploads:
            raise ValueError(
                "PARLEY_FILE_STORE is 'none', which keeps no files, and PARLEY_UPLOADS lets people "
                "upload some: leave one out."
            )
        return self

    @model_validator(mode="after")
    def _agree_on_blocks(self) -> Self:
        for field in ("blocks_html", "blocks_image_hosts", "blocks_repair", "host_actions"):
            if getattr(self, field) and not self.blocks:
                raise ValueError(
                    f"{variable(field)} is of no use without PARLEY_BLOCKS: leave it out, or set "
                    "PARLEY_BLOCKS to true."
                )
        return self

    @model_validator(mode="after")
    def _agree_on_the_prompt(self) -> Self:
        if self.system_prompt and self.system_prompt_hook:
            raise ValueError(
                "PARLEY_SYSTEM_PROMPT and PARLEY_SYSTEM_PROMPT_HOOK are two system prompts: "
                "leave one out."
            )
        return self

    @model_validator(mode="after")
    def _agree_on_the_model(self) -> Self:
        if self.uses_gemini:
            return self
        if self.model and self.model != DEMO_MODEL:
            raise ValueError(
                f"The model {self.model!r} needs a Gemini key: set GEMINI_API_KEY, "
                "or leave PARLEY_MODEL out."
            )
        for field in ("title_model", "gemini_base_url", "allow_caller_keys"):
            if getattr(self, field):
                raise ValueError(
                    f"{variable(field)} is of no use without Gemini: leave it out, or set "
                    f"GEMINI_API_KEY and a model other than {DEMO_MODEL!r}."
                )
        return self


def variable(field: str) -> str:
    """Returns the variable that sets a field."""
    return f"{PREFIX}{field.upper()}"


def is_loopback(host: str) -> bool:
    """Tells whether a host is this machine, as nobody else reaches it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

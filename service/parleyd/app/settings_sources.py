"""Where settings come from: environment variables over an optional TOML file."""

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from parleyd.app.embedded_postgres import PG_HOME_VARIABLES
from parleyd.app.faults import ConfigurationError
from parleyd.app.settings import CONFIG, PREFIX, Settings, variable
from parleyd.tools import McpServer


def load_settings(
    *,
    development: bool = False,
    port: int | None = None,
    gateway: bool = False,
    gateway_port: int | None = None,
) -> Settings:
    """Reads the settings.

    The arguments (the command line) win over variables, and those over the file. A variable that is
    set but empty counts as unset; of `PARLEY_ASKS` it means no kinds. `GEMINI_API_KEY` comes last.

    Raises:
        ConfigurationError: An unknown name, a value that can't be, options that contradict each
            other, or a file that can't be read.
    """
    given: dict[str, Any] = {}
    if development:
        given["environment"] = "development"
    if port is not None:
        given["port"] = port
    if gateway:
        given["gateway"] = True
    if gateway_port is not None:
        given["gateway_port"] = gateway_port
    variables = {name.upper(): value for name, value in os.environ.items()}
    _refuse_unknown_variables(variables)
    path = Path(variables[CONFIG]) if variables.get(CONFIG) else None
    in_file = _read_file(path) if path else {}
    if variables.get("PARLEY_ASKS") == "":
        given["asks"] = ()

    class Sources(Settings, BaseSettings):
        """The settings with the places they come from."""

        model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
            env_prefix=PREFIX, env_ignore_empty=True
        )

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            """Orders the sources, the strongest first."""
            del dotenv_settings, file_secret_settings
            key = variables.get("GEMINI_API_KEY")
            shared: dict[str, Any] = {"gemini_api_key": key} if key else {}
            return (
                init_settings,
                env_settings,
                InitSettingsSource(settings_cls, in_file),
                InitSettingsSource(settings_cls, shared),
            )

    try:
        return Sources(**given)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ConfigurationError(_sentence(fault, variables, path)) from error


def _refuse_unknown_variables(variables: Mapping[str, str]) -> None:
    known = {
        *(variable(field) for field in Settings.model_fields),
        CONFIG,
        *PG_HOME_VARIABLES,
    }
    for name in sorted(variables):
        if name.startswith(PREFIX) and name not in known:
            near = _nearest(name.removeprefix(PREFIX).lower())
            instead = f"write {variable(near)}, or " if near else ""
            raise ConfigurationError(f"There is no setting {name}: {instead}leave it out.")


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"PARLEY_CONFIG names {path}, which can't be read ({error}): "
            "name a readable file or leave it out."
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path} is no TOML: {error}. Mend it there.") from error


def _sentence(fault: ErrorDetails, variables: Mapping[str, str], path: Path | None) -> str:
    """Returns one fault as a sentence, without the value: it may be a secret.

    What must be one of a few words is none, so there the wrong word is named.
    """
    message = fault["msg"].removeprefix("Value error, ")
    if not fault["loc"]:
        return message
    field = str(fault["loc"][0])
    name = variable(field)
    in_file = path if path and name not in variables else None
    if field == "mcp_servers" and len(fault["loc"]) > 1:
        return _sentence_on_server(fault, f"{in_file or name}")
    if fault["type"] == "literal_error":
        message = f"{fault['input']!r} is not {fault.get('ctx', {}).get('expected')}"
    if fault["type"] == "extra_forbidden":
        near = _nearest(field)
        instead = f"write {near}, or " if near else ""
        return f"There is no setting {field!r} in {path}: {instead}leave it out."
    if in_file:
        name = f"{field!r} in {path}"
    return f"{name} can't be used: {message[0].lower()}{message[1:].rstrip('.')}."


def _sentence_on_server(fault: ErrorDetails, place: str) -> str:
    """Returns one fault of what is said of an MCP server as a sentence."""
    server, *inside = fault["loc"][1:]
    names = ".".join(str(name) for name in inside)
    message = fault["msg"].removeprefix("Value error, ").rstrip(".")
    if fault["type"] == "extra_forbidden":
        near = next(iter(difflib.get_close_matches(names, McpServer.model_fields, n=1)), None)
        instead = f"write {near}, or " if near else ""
        return f"The MCP server {server!r} in {place} has no {names!r}: {instead}leave it out."
    if fault["type"] == "literal_error":
        message = f"{fault['input']!r} is not {fault.get('ctx', {}).get('expected')}"
    at = f", at {names}" if names else ""
    return (
        f"The MCP server {server!r} in {place} can't be used{at}: {message[0].lower()}"
        f"{message[1:]}."
    )


def _nearest(field: str) -> str | None:
    return next(iter(difflib.get_close_matches(field, Settings.model_fields, n=1)), None)

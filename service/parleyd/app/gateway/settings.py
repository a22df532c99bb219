"""What a deployment decides about its gateway; `Settings` has these fields too."""

import re
from typing import Annotated, Final, Self

from pydantic import BaseModel, Field, FilePath, field_validator, model_validator
from pydantic_settings import NoDecode

ANY_ORIGIN: Final = "*"

_ORIGIN: Final = re.compile(
    r"https?://[a-z0-9.\-]+(:[0-9]{1,5})?|https?://\[[0-9a-f:.]+\](:[0-9]{1,5})?"
)


class GatewaySettings(BaseModel):
    """Where the gateway listens, whom it lets in, and how it encrypts."""

    gateway: bool = False
    """Has `parleyd serve` run a gateway in front of itself."""
    gateway_host: str = "127.0.0.1"
    gateway_port: int = Field(default=8080, ge=0, le=65535)
    """0 picks a free port."""
    gateway_cors_origins: Annotated[tuple[str, ...], NoDecode] = ()
    """The origins whose pages may call the gateway from a browser; in development `*` is all."""
    gateway_tls_cert: FilePath | None = None
    """A certificate with its chain, in PEM. With its key the gateway speaks TLS alone."""
    gateway_tls_key: FilePath | None = None
    gateway_upstream_ca: FilePath | None = None
    """Whom the gateway trusts to sign the certificate of the service; it then connects by TLS."""
    envoy: FilePath | None = None
    """Another Envoy than the one that is installed with the service."""

    @field_validator("gateway_cors_origins", mode="before")
    @classmethod
    def _split_origins(cls, value: object) -> object:
        """Reads a list as a variable spells it, with commas between."""
        if isinstance(value, str):
            return tuple(item.strip() for item in value.split(",") if item.strip())
        return value

    @field_validator("gateway_cors_origins")
    @classmethod
    def _read_as_browsers_write(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if origin != ANY_ORIGIN and not _ORIGIN.fullmatch(origin):
                raise ValueError(
                    f"{origin!r} is no origin as browsers send it: write https://app.example.org, "
                    "in lower case, with a port where it has one, and without a path"
                )
        return tuple(dict.fromkeys(origins))

    @model_validator(mode="after")
    def _agree_on_the_gateway(self) -> Self:
        if (self.gateway_tls_cert is None) != (self.gateway_tls_key is None):
            raise ValueError(
                "PARLEY_GATEWAY_TLS_CERT and PARLEY_GATEWAY_TLS_KEY belong together: set both, or "
                "leave both out."
            )
        return self

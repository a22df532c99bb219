"""The settings of TLS at the server's own ports."""

from typing import Self

from pydantic import BaseModel, FilePath, model_validator


class TlsSettings(BaseModel):
    """A certificate, its key, and whose clients may connect."""

    tls_cert: FilePath | None = None
    """A PEM file: the server's certificate, then those between it and the root.

    Unset: nothing is encrypted.
    """
    tls_key: FilePath | None = None
    """The certificate's private key, as PEM without a passphrase."""
    tls_client_ca: FilePath | None = None
    """A PEM file: whoever connects shows a certificate that one of these has signed."""

    @model_validator(mode="after")
    def _agree_on_tls(self) -> Self:
        if bool(self.tls_cert) != bool(self.tls_key):
            one, other = ("cert", "key") if self.tls_cert else ("key", "cert")
            raise ValueError(
                f"PARLEY_TLS_{one.upper()} is of no use without PARLEY_TLS_{other.upper()}: set "
                "both, or neither."
            )
        if self.tls_client_ca and not self.tls_cert:
            raise ValueError(
                "PARLEY_TLS_CLIENT_CA asks clients for certificates, which needs TLS: set "
                "PARLEY_TLS_CERT and PARLEY_TLS_KEY too, or leave it out."
            )
        return self

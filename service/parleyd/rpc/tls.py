"""TLS at the server: one certificate for gRPC and for the web port."""

import os
import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc


class TlsUnusable(Exception):
    """A certificate or a key can't be used; the text says which, and why."""


@dataclass(frozen=True)
class Tls:
    """The certificate that a server shows, and of whom it wants to see one."""

    certificates: bytes
    """PEM: the server's own first, then those between it and the root."""
    key: bytes
    client_ca: bytes | None
    """PEM: whoever connects has to show a certificate that one of these has signed."""
    context: ssl.SSLContext
    """All of this for a server on asyncio."""

    def __repr__(self) -> str:
        return f"Tls(clients={'known' if self.client_ca else 'any'})"

    @classmethod
    def read(cls, cert: Path, key: Path, client_ca: Path | None = None) -> "Tls":
        """Reads the files, which are read this once: who renews them starts the server again.

        Raises:
            TlsUnusable: A file can't be read, holds something else, or the key is another
                certificate's.
        """
        certificates, private = _read(cert), _read(key)
        authority = _read(client_ca) if client_ca else None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            # Without a password OpenSSL would ask the terminal for that of an encrypted key.
            context.load_cert_chain(cert, key, password=_no_password)
        except _Encrypted as error:
            raise TlsUnusable(
                f"the key in {key} is encrypted: give the key without a passphrase"
            ) from error
        except (ssl.SSLError, OSError, ValueError) as error:
            raise TlsUnusable(
                f"{cert} and {key} don't go together ({_why(error)}): the first has to hold a "
                "certificate and the second its private key, both as PEM"
            ) from error
        if client_ca:
            try:
                context.load_verify_locations(client_ca)
            except (ssl.SSLError, OSError, ValueError) as error:
                raise TlsUnusable(
                    f"{client_ca} holds no certificate ({_why(error)}): it has to be PEM"
                ) from error
            context.verify_mode = ssl.CERT_REQUIRED
        return cls(certificates, private, authority, context)

    def credentials(self) -> grpc.ServerCredentials:
        """Returns the same for a gRPC server."""
        return grpc.ssl_server_credentials(
            [(self.key, self.certificates)],
            root_certificates=self.client_ca,
            require_client_auth=self.client_ca is not None,
        )


class _Encrypted(Exception):
    """A key wants a password."""


def _no_password() -> bytes:
    raise _Encrypted


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TlsUnusable(f"{path} can't be read ({os.strerror(error.errno or 0)})") from error


def _why(error: Exception) -> str:
    reason = error.reason if isinstance(error, ssl.SSLError) else None
    return (reason or type(error).__name__).replace("_", " ").lower()

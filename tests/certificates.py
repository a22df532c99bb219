"""Certificates of a test's own."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)

LIFETIME = timedelta(hours=1)
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, each in a file."""

    cert: Path
    key: Path


class Authority:
    """Signs certificates for this machine."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        certificate = (
            _begun(self._name, self._key.public_key())
            .issuer_name(self._name)
            .add_extension(constraints, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.cert = folder / f"{name}.pem"
        self.cert.write_bytes(certificate.public_bytes(Encoding.PEM))

    def issue(self, name: str, *, passphrase: bytes | None = None) -> Pair:
        """Returns a certificate for `HOST`, and its key, which a passphrase may encrypt."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        host = x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))])
        certificate = (
            _begun(subject, key.public_key())
            .issuer_name(self._name)
            .add_extension(host, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        encryption: KeySerializationEncryption = (
            BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
        )
        pair = Pair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        pair.cert.write_bytes(certificate.public_bytes(Encoding.PEM))
        pair.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
        return pair


def _begun(subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - LIFETIME)
        .not_valid_after(now + LIFETIME)
    )

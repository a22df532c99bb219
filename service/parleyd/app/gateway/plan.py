"""What a gateway is to do: everything that its configuration is made from."""

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class Address:
    """A host and a port. As text an IPv6 address has its brackets."""

    host: str
    port: int

    @classmethod
    def read(cls, text: str) -> Self:
        """Returns the address that a text spells, `host:port` or `[::1]:port`.

        Raises:
            ValueError: It spells none.
        """
        host, _, port = text.rpartition(":")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        elif ":" in host:
            host = ""
        if not host or not port.isascii() or not port.isdecimal() or not 0 < int(port) < 65536:
            raise ValueError(f"{text!r} is no address: write HOST:PORT.")
        return cls(host, int(port))

    @property
    def is_number(self) -> bool:
        """Tells whether the host is an IP address, not a name."""
        try:
            ip_address(self.host)
        except ValueError:
            return False
        return True

    @property
    def is_loopback(self) -> bool:
        """Tells whether the address is of this machine alone."""
        return ip_address(self.host).is_loopback if self.is_number else self.host == "localhost"

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Certificate:
    """A certificate with its chain, and its key: files in PEM."""

    chain: Path
    key: Path


@dataclass(frozen=True)
class GatewayPlan:
    """Where a gateway listens, and what stands behind it.

    A name among `grpc` and `web` stands for all addresses that it resolves to, now and later.
    """

    listen: Address
    """Port 0 is a free one."""
    grpc: tuple[Address, ...]
    """Where the gRPC servers are."""
    web: tuple[Address, ...]
    """Where their web fronts are."""
    cors_origins: tuple[str, ...] = ()
    """Origins as browsers send them; `*` is all."""
    certificate: Certificate | None = None
    """With one the gateway speaks TLS alone."""
    upstream_ca: Path | None = None
    """With one it speaks TLS to the servers, and trusts what this authority signed."""
    playground: bool = False
    """Leads to the playground of the web fronts, which then have one."""
    admin: Path | None = None
    """The Unix socket of Envoy's own interface; without one there is none."""

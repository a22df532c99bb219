"""Where a call comes from, as far as that can be known.

A client may write anything into `x-forwarded-for`; each proxy that a call passes adds the address
of whoever it has it from. So the last of them count, and only what trusted proxies have added.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import unquote

FORWARDED_FOR: Final = "x-forwarded-for"
"""The metadata key, and the header, under which proxies name those before them."""

IPV6_PREFIX: Final = 64
"""A subscriber has so much of an IPv6 address: the rest is theirs to choose."""

_HERE: Final = "unix"
_UNKNOWN: Final = "unknown"


def address_of(peer: str, forwarded: Sequence[str], *, trusted: bool) -> str:
    """Returns the address of a client; of IPv6 its network. All unreadable ones are one.

    `peer` is grpc's name of the other end, `forwarded` what came as `x-forwarded-for`. Who is on
    this machine, the gateway and the web front, is believed; with `trusted` the proxy nearest to
    it is believed too.
    """
    passed = [hop.strip() for value in forwarded for hop in value.split(",")]
    address = _host_of(peer)
    while passed and _is_here(address):
        address = passed.pop()
    if trusted and passed and not _is_here(address):
        address = passed.pop()
    return _named(address)


def _host_of(peer: str) -> str:
    """Returns the host of `ipv4:127.0.0.1:50051`, `ipv6:%5B::1%5D:50051` or `unix:/path`."""
    scheme, _, rest = unquote(peer).partition(":")
    if scheme.startswith("unix"):
        return _HERE
    return rest.rpartition(":")[0].strip("[]")


def _is_here(address: str) -> bool:
    ip = _ip_of(address)
    return address == _HERE or (ip is not None and ip.is_loopback)


def _named(address: str) -> str:
    match _ip_of(address):
        case IPv6Address() as ip:
            return str(IPv6Network((int(ip), IPV6_PREFIX), strict=False))
        case IPv4Address() as ip:
            return str(ip)
        case None:
            return address if address == _HERE else _UNKNOWN


def _ip_of(address: str) -> IPv4Address | IPv6Address | None:
    try:
        ip = ip_address(address)
    except ValueError:
        return None
    return (isinstance(ip, IPv6Address) and ip.ipv4_mapped) or ip

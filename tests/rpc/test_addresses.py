"""Where a call comes from, behind proxies or not."""

import pytest

from parleyd.rpc.addresses import address_of

SOCKET = "unix:"
GATEWAY = "ipv4:127.0.0.1:40000"
PROXY = "ipv4:10.0.0.9:40000"


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:203.0.113.7:50051", "203.0.113.7"),
        ("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:50051", "2001:db8:1:2::/64"),
        ("ipv6:[2001:db8:1:2:f::]:50051", "2001:db8:1:2::/64"),
        ("ipv6:%5B::ffff:203.0.113.7%5D:50051", "203.0.113.7"),
        ("ipv4:127.0.0.1:50051", "127.0.0.1"),
        ("unix:/run/parley.sock", "unix"),
        ("what is this", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_call_comes_from_the_other_end(peer: str, address: str) -> None:
    assert address_of(peer, [], trusted=False) == address


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        (GATEWAY, ["203.0.113.7"], "203.0.113.7"),
        ("ipv6:%5B::1%5D:4", ["203.0.113.7"], "203.0.113.7"),
        (GATEWAY, ["1.1.1.1, 203.0.113.7"], "203.0.113.7"),
        (GATEWAY, ["1.1.1.1", "203.0.113.7"], "203.0.113.7"),
        (GATEWAY, ["2001:db8:1:2::7"], "2001:db8:1:2::/64"),
        (SOCKET, ["203.0.113.7"], "203.0.113.7"),
        (SOCKET, ["203.0.113.7", "127.0.0.1"], "203.0.113.7"),
        (SOCKET, ["1.1.1.1, 203.0.113.7", "127.0.0.1"], "203.0.113.7"),
        (SOCKET, ["1.1.1.1", "203.0.113.7"], "203.0.113.7"),
        (SOCKET, ["127.0.0.1"], "127.0.0.1"),
        (GATEWAY, ["nobody"], "unknown"),
        (GATEWAY, [""], "unknown"),
        (PROXY, ["203.0.113.7"], "10.0.0.9"),
        (SOCKET, ["203.0.113.7", "10.0.0.9"], "10.0.0.9"),
    ],
)
def test_only_who_is_on_this_machine_is_believed(
    peer: str, forwarded: list[str], address: str
) -> None:
    assert address_of(peer, forwarded, trusted=False) == address


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        (PROXY, ["203.0.113.7"], "203.0.113.7"),
        (PROXY, ["1.1.1.1, 203.0.113.7"], "203.0.113.7"),
        (PROXY, [], "10.0.0.9"),
        (SOCKET, ["203.0.113.7", "10.0.0.9"], "203.0.113.7"),
        (SOCKET, ["1.1.1.1, 203.0.113.7, 10.0.0.9", "127.0.0.1"], "203.0.113.7"),
        (GATEWAY, ["203.0.113.7"], "203.0.113.7"),
        (GATEWAY, [], "127.0.0.1"),
    ],
)
def test_where_it_is_trusted_one_proxy_more_is_believed(
    peer: str, forwarded: list[str], address: str
) -> None:
    assert address_of(peer, forwarded, trusted=True) == address

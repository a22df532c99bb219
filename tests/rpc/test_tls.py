"""Certificates that can't be used are found before anything listens."""

from pathlib import Path

import pytest

from parleyd.rpc.tls import Tls, TlsUnusable
from tests.certificates import Authority, Pair


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "authority")


@pytest.fixture
def pair(authority: Authority) -> Pair:
    return authority.issue("server")


def fault(cert: Path, key: Path, client_ca: Path | None = None) -> str:
    with pytest.raises(TlsUnusable) as raised:
        Tls.read(cert, key, client_ca)
    return str(raised.value)


def test_a_certificate_with_its_key_is_read(authority: Authority, pair: Pair) -> None:
    tls = Tls.read(pair.cert, pair.key, authority.cert)
    assert (tls.certificates, tls.client_ca) == (
        pair.cert.read_bytes(),
        authority.cert.read_bytes(),
    )
    assert tls.credentials()


def test_a_key_is_in_no_representation(pair: Pair) -> None:
    assert "PRIVATE" not in repr(Tls.read(pair.cert, pair.key))


def test_the_key_of_another_certificate_is_refused(authority: Authority, pair: Pair) -> None:
    other = authority.issue("other")
    assert "don't go together (key values mismatch)" in fault(pair.cert, other.key)


def test_a_file_that_holds_something_else_is_refused(pair: Pair, tmp_path: Path) -> None:
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("nonsense")
    for cert, key in ((nonsense, pair.key), (pair.cert, nonsense), (pair.key, pair.cert)):
        assert "both as PEM" in fault(cert, key)
    assert f"{nonsense} holds no certificate" in fault(pair.cert, pair.key, nonsense)


def test_a_file_that_can_not_be_read_is_refused(pair: Pair, tmp_path: Path) -> None:
    gone = tmp_path / "gone.pem"
    for files in ((gone, pair.key, None), (pair.cert, gone, None), (pair.cert, pair.key, gone)):
        assert fault(*files) == f"{gone} can't be read (No such file or directory)"


def test_a_key_with_a_passphrase_is_refused_and_nobody_is_asked_for_it(
    authority: Authority,
) -> None:
    locked = authority.issue("locked", passphrase=b"secret")
    assert "is encrypted" in fault(locked.cert, locked.key)

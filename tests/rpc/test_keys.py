import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from jwt.algorithms import OKPAlgorithm
from typing_extensions import override

from parleyd.contract.errors import Unavailable
from parleyd.rpc.keys import LIFETIME_SECONDS, PAUSE_SECONDS, PublicKey, StaticKeys, UrlKeys

ONE, TWO = (Ed25519PrivateKey.from_private_bytes(seed * 32).public_key() for seed in (b"1", b"2"))


def jwk(key: Ed25519PublicKey, **more: str) -> dict[str, Any]:
    return {**OKPAlgorithm.to_jwk(key, as_dict=True), **more}


def jwks(*keys: dict[str, Any]) -> str:
    return json.dumps({"keys": keys})


def pem(key: PublicKeyTypes) -> str:
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def raw(key: PublicKey | None) -> bytes | None:
    """Returns what tells one Ed25519 key from another."""
    inner = key.key if isinstance(key, jwt.PyJWK) else key
    return inner.public_bytes_raw() if isinstance(inner, Ed25519PublicKey) else None


class Clock:
    """A clock that a test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Issuer:
    """Serves a JWKS document that a test sets, and counts the readers. None: an error."""

    def __init__(self) -> None:
        self.document: str | None = jwks(jwk(ONE, kid="one"))
        self.readers = 0
        self.url = ""


@contextmanager
def issuing() -> Generator[Issuer]:
    issuer = Issuer()

    class Reply(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.readers += 1
            self.send_response(200 if issuer.document else 503)
            self.end_headers()
            self.wfile.write((issuer.document or "").encode())

        @override
        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Reply) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        issuer.url = f"http://127.0.0.1:{server.server_port}/jwks.json"
        yield issuer
        server.shutdown()
        thread.join()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing() as running:
        yield running


async def test_a_document_finds_its_keys_by_their_ids() -> None:
    keys = StaticKeys.from_text(jwks(jwk(ONE, kid="one"), jwk(TWO, kid="two", use="sig")))
    assert raw(await keys.find("one")) == ONE.public_bytes_raw()
    assert raw(await keys.find("two")) == TWO.public_bytes_raw()
    assert await keys.find("three") is None
    assert await keys.find(None) is None, "two keys, and the token says neither"


async def test_the_only_key_checks_a_token_that_names_none() -> None:
    keys = StaticKeys.from_text(jwks(jwk(ONE, kid="one")))
    assert raw(await keys.find(None)) == ONE.public_bytes_raw()
    assert await keys.find("two") is None


async def test_a_key_that_encrypts_checks_nothing() -> None:
    keys = StaticKeys.from_text(jwks(jwk(ONE, kid="one", use="enc"), jwk(TWO, kid="two")))
    assert await keys.find("one") is None


async def test_a_pem_checks_every_token() -> None:
    keys = StaticKeys.from_text(pem(ONE))
    assert raw(await keys.find(None)) == ONE.public_bytes_raw()
    assert raw(await keys.find("whatever")) == ONE.public_bytes_raw()


async def test_a_key_of_an_elliptic_curve_is_a_key() -> None:
    keys = StaticKeys.from_text(pem(generate_private_key(SECP256R1()).public_key()))
    assert await keys.find(None) is not None


NO_KEYS = {
    "nothing": "",
    "no_keys": jwks(),
    "not_json": "{",
    "no_set": "{}",
    "keys_that_only_encrypt": jwks(jwk(ONE, use="enc")),
    "words": "let me in",
    "a_key_that_signs_nothing": pem(X25519PrivateKey.generate().public_key()),
    "a_private_key": Ed25519PrivateKey.generate()
    .private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    .decode(),
}


@pytest.mark.parametrize("text", NO_KEYS.values(), ids=NO_KEYS.keys())
def test_what_holds_no_public_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="neither a JWKS document"):
        StaticKeys.from_text(text)


async def test_a_url_is_read_once_for_many_tokens(issuer: Issuer) -> None:
    keys = UrlKeys(issuer.url)
    assert issuer.readers == 0
    for _ in range(5):
        assert raw(await keys.find("one")) == ONE.public_bytes_raw()
    assert issuer.readers == 1


async def test_a_new_key_comes_into_use_when_a_token_names_it(issuer: Issuer) -> None:
    clock = Clock()
    keys = UrlKeys(issuer.url, clock=clock)
    await keys.find("one")
    issuer.document = jwks(jwk(ONE, kid="one"), jwk(TWO, kid="two"))
    clock.now += PAUSE_SECONDS
    assert raw(await keys.find("two")) == TWO.public_bytes_raw()
    assert issuer.readers == 2


async def test_made_up_key_ids_do_not_make_the_url_read_each_time(issuer: Issuer) -> None:
    clock = Clock()
    keys = UrlKeys(issuer.url, clock=clock)
    for number in range(50):
        assert await keys.find(f"made-up-{number}") is None
    clock.now += PAUSE_SECONDS - 1
    assert await keys.find("made-up") is None
    assert issuer.readers == 1


async def test_a_key_that_is_withdrawn_stops_counting(issuer: Issuer) -> None:
    clock = Clock()
    keys = UrlKeys(issuer.url, clock=clock)
    await keys.find("one")
    issuer.document = jwks(jwk(TWO, kid="two"))
    clock.now += LIFETIME_SECONDS - 1
    assert raw(await keys.find("one")) == ONE.public_bytes_raw()
    clock.now += 1
    assert await keys.find("one") is None


async def test_keys_stay_while_the_url_does_not_answer(issuer: Issuer) -> None:
    clock = Clock()
    keys = UrlKeys(issuer.url, clock=clock)
    await keys.find("one")
    issuer.document = None
    clock.now += LIFETIME_SECONDS
    for _ in range(3):
        assert raw(await keys.find("one")) == ONE.public_bytes_raw()
    assert issuer.readers == 2, "asked once more, and then not again for a while"


@pytest.mark.parametrize("document", [None, "<html>", "[]", '{"keys": []}'])
async def test_keys_that_can_not_be_read_are_no_word_on_the_token(
    issuer: Issuer, document: str | None
) -> None:
    clock = Clock()
    issuer.document, right = document, issuer.document
    keys = UrlKeys(issuer.url, clock=clock)
    with pytest.raises(Unavailable):
        await keys.find("one")
    issuer.document = right
    clock.now += PAUSE_SECONDS
    assert raw(await keys.find("one")) == ONE.public_bytes_raw()


def test_a_url_is_read_over_http_alone() -> None:
    with pytest.raises(jwt.PyJWKClientError):
        UrlKeys("file:///etc/passwd")

"""The public keys that tokens are checked with (spec turns 13.1)."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeAlias

import jwt
import structlog
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from parleyd.contract.errors import Unavailable

LIFETIME_SECONDS: Final = 300
"""Keys from a URL are read again after this."""
PAUSE_SECONDS: Final = 10
"""A URL is read at most this often, whatever keys the tokens name and whether it answers."""
TIMEOUT_SECONDS: Final = 5

PublicKey: TypeAlias = (
    jwt.PyJWK | RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey | Ed448PublicKey
)
KeysById: TypeAlias = Mapping[str | None, PublicKey]
"""Keys under their ids. One without an id checks what no other does."""

_log = structlog.stdlib.get_logger()


class Keys(Protocol):
    """Finds the key that a token names."""

    async def find(self, key_id: str | None) -> PublicKey | None:
        """Returns the key named `key_id`; without an id the only one there is.

        Raises:
            Unavailable: The keys can't be read.
        """
        ...


class StaticKeys:
    """Keys that never change while the process runs."""

    def __init__(self, keys: KeysById) -> None:
        self._keys = keys

    @classmethod
    def from_text(cls, text: str) -> "StaticKeys":
        """Reads a JWKS document, or one public key in PEM form, which then checks every token.

        Raises:
            ValueError: The text is neither.
        """
        try:
            if text.lstrip().startswith("{"):
                return cls(_by_id(jwt.PyJWKSet.from_json(text)))
            return cls({None: _public_key(text)})
        except (jwt.PyJWTError, ValueError) as error:
            raise ValueError(
                "The keys are neither a JWKS document with a usable signing key nor one public key "
                "in PEM form."
            ) from error

    async def find(self, key_id: str | None) -> PublicKey | None:
        """Returns the key named `key_id`; without an id the only one there is."""
        return _pick(self._keys, key_id)


class UrlKeys:
    """The keys of a JWKS URL, read off the event loop when a token first needs them.

    They are read again when they are old, and when a token names one that is not among them: that
    is how a new key comes into use. Where the URL does not answer, the keys read before stay.

    Raises:
        jwt.PyJWKClientError: The URL is neither http nor https.
    """

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = jwt.PyJWKClient(url, cache_jwk_set=False, timeout=TIMEOUT_SECONDS)
        self._clock = clock
        self._keys: KeysById | None = None
        self._read_at = self._tried_at = float("-inf")
        self._reading = asyncio.Lock()

    async def find(self, key_id: str | None) -> PublicKey | None:
        """Returns the key named `key_id`; without an id the only one there is.

        Raises:
            Unavailable: The URL has not answered yet.
        """
        if self._wants_reading(key_id):
            async with self._reading:
                if self._wants_reading(key_id):
                    await self._read()
        if self._keys is None:
            raise Unavailable("The keys that tokens are checked with can't be read; try again.")
        return _pick(self._keys, key_id)

    def _wants_reading(self, key_id: str | None) -> bool:
        now = self._clock()
        if now - self._tried_at < PAUSE_SECONDS:
            return False
        known = self._keys is not None and _pick(self._keys, key_id) is not None
        return not known or now - self._read_at >= LIFETIME_SECONDS

    async def _read(self) -> None:
        self._tried_at = self._clock()
        try:
            self._keys = _by_id(await asyncio.to_thread(self._client.get_jwk_set))
            self._read_at = self._tried_at
        except (jwt.PyJWTError, OSError, ValueError) as error:
            _log.warning("keys_not_read", url=self._client.uri, error=type(error).__name__)


def _pick(keys: KeysById, key_id: str | None) -> PublicKey | None:
    if key_id is None and len(keys) == 1:
        return next(iter(keys.values()))
    return keys.get(key_id) or keys.get(None)


def _by_id(keys: jwt.PyJWKSet) -> KeysById:
    found: KeysById = {key.key_id: key for key in keys if key.public_key_use in {None, "sig"}}
    if not found:
        raise ValueError("no key of the set signs")
    return found


def _public_key(pem: str) -> PublicKey:
    key = load_pem_public_key(pem.encode())
    match key:
        case RSAPublicKey() | EllipticCurvePublicKey() | Ed25519PublicKey() | Ed448PublicKey():
            return key
        case _:
            raise ValueError("a key of this type signs nothing")

"""A key of the service's own, for a machine of one's own (design D5)."""

import os
import secrets
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Final

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from parleyd.rpc.keys import StaticKeys

ISSUER: Final = "parley-development"
AUDIENCE: Final = "parley"
ALGORITHM: Final = "EdDSA"
FILE: Final = "development.key"


class DevelopmentKey:
    """Signs tokens for whoever may read its file. Not for a service that others can reach."""

    def __init__(self, private_key: Ed25519PrivateKey) -> None:
        self._private_key = private_key

    @classmethod
    def in_folder(cls, folder: Path) -> "DevelopmentKey":
        """Loads the key of a folder, which is made, readable by its owner alone, if it has none.

        Two processes that make it at once end up with the same key.

        Raises:
            OSError: The folder can't be read or written.
            ValueError: The file is no such key, or others may read it.
        """
        path = folder / FILE
        if not path.exists():
            _make(path)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise ValueError(f"Others may read {path}: chmod 600 it, or delete it for a new key.")
        try:
            return cls(Ed25519PrivateKey.from_private_bytes(path.read_bytes()))
        except ValueError as error:
            raise ValueError(f"{path} holds no key: delete it for a new one.") from error

    @property
    def keys(self) -> StaticKeys:
        """The public key that checks the tokens."""
        return StaticKeys({None: self._private_key.public_key()})

    def issue(
        self,
        subject: str,
        lifetime: timedelta,
        *,
        audience: str = AUDIENCE,
        claims: Mapping[str, object] = MappingProxyType({}),
    ) -> str:
        """Returns a token that speaks for `subject` from now on.

        `claims` are added to those that a token needs, or stand in for them.
        """
        now = int(time.time())
        needed: dict[str, object] = {
            "iss": ISSUER,
            "aud": audience,
            "sub": subject,
            "iat": now,
            "exp": now + int(lifetime.total_seconds()),
        }
        return jwt.encode({**needed, **claims}, self._private_key, algorithm=ALGORITHM)


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A link appears whole and never replaces a key that another process has made meanwhile.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        draft.touch(mode=0o600, exist_ok=False)
        draft.write_bytes(Ed25519PrivateKey.generate().private_bytes_raw())
        try:
            os.link(draft, path)
        except FileExistsError:
            return
    finally:
        draft.unlink(missing_ok=True)

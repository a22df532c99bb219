"""Who calls: bearer tokens (spec turns 13.1, RFC 6750, RFC 8725)."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from typing import Final

import jwt

from parleyd.contract.errors import Unauthenticated
from parleyd.contract.text import storable
from parleyd.rpc.calls import Call
from parleyd.rpc.keys import Keys
from parleyd.rpc.known_tokens import KnownTokens

ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""The signatures that can be allowed: those that a public key checks."""
LEEWAY_SECONDS: Final = 60
SUBJECT_CHARACTERS: Final = 255

_owner: ContextVar[str] = ContextVar("owner")


class Authenticator:
    """Tells who a token speaks for.

    Trusts one issuer, and its tokens for one audience alone. `algorithms` are the only signatures
    that count, whatever a token or a key says of itself.

    Raises:
        ValueError: No algorithm, or one that no public key checks.
    """

    def __init__(
        self, *, issuer: str, audience: str, keys: Keys, algorithms: Sequence[str]
    ) -> None:
        if not algorithms or not ALGORITHMS.issuperset(algorithms):
            raise ValueError(f"Allow some of {', '.join(sorted(ALGORITHMS))}, and no others.")
        self._issuer = issuer
        self._audience = audience
        self._keys = keys
        self._algorithms = list(algorithms)
        self._known = KnownTokens()

    async def owner(self, authorization: Sequence[str]) -> str:
        """Returns the subject of the bearer token in the values of `authorization`.

        Raises:
            Unauthenticated: No token, several, or one that is not valid here and now.
            Unavailable: The issuer's keys can't be read.
        """
        token = _bearer(authorization)
        if owner := self._known.owner(token):
            return owner
        try:
            key = await self._keys.find(jwt.get_unverified_header(token).get("kid"))
            if key is None:
                raise Unauthenticated("The bearer token is signed with a key that is not known.")
            claims = jwt.decode(
                token,
                key,
                algorithms=self._algorithms,
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "sub", "aud", "iss"]},
            )
        except jwt.ExpiredSignatureError as error:
            raise Unauthenticated("The bearer token has expired; get a new one.") from error
        except jwt.InvalidAudienceError as error:
            raise Unauthenticated("The bearer token is meant for another audience.") from error
        except jwt.InvalidIssuerError as error:
            raise Unauthenticated("The bearer token is from another issuer.") from error
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError) as error:
            raise Unauthenticated("The bearer token is not valid.") from error
        owner = _subject(claims["sub"])
        self._known.remember(token, owner, claims["exp"] + LEEWAY_SECONDS)
        return owner


def authenticate_calls(
    authenticator: Authenticator,
) -> Callable[[Call], AbstractAsyncContextManager[None]]:
    """Returns what lets a call in that brings a valid token. Health and reflection need none."""

    @asynccontextmanager
    async def authenticate_call(call: Call) -> AsyncGenerator[None, None]:
        if not call.is_about_the_server:
            _owner.set(await authenticator.owner(call.values("authorization")))
        yield

    return authenticate_call


def caller() -> str:
    """Returns the owner that the current call speaks for: its token's subject."""
    return _owner.get()


def _bearer(authorization: Sequence[str]) -> str:
    match authorization:
        case [value]:
            scheme, _, token = value.partition(" ")
            if scheme.lower() == "bearer" and token.strip():
                return token.strip()
        case _:
            pass
    raise Unauthenticated(
        "Send one bearer token under the metadata key authorization: `Bearer <token>`."
    )


def _subject(subject: object) -> str:
    if (
        not isinstance(subject, str)
        or not 0 < len(subject) <= SUBJECT_CHARACTERS
        or storable(subject) != subject
    ):
        raise Unauthenticated("The bearer token's subject can't own anything here.")
    return subject

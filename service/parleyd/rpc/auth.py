"""Who calls: bearer tokens (spec turns 13.1, RFC 6750, RFC 8725)."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from typing import Any, Final

import jwt

from parleyd.contract import limits
from parleyd.contract.errors import TokenForbidden, Unauthenticated
from parleyd.contract.text import storable
from parleyd.rpc.callers import OPEN, Caller, Person, Service, check_access
from parleyd.rpc.calls import Call
from parleyd.rpc.keys import Keys
from parleyd.rpc.known_tokens import KnownTokens

ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""The signatures that can be allowed: those that a public key checks."""
LEEWAY_SECONDS: Final = 60

SERVICE_AUDIENCE: Final = "parley-internal"
"""What the tokens of services are for, unless a deployment says otherwise."""

_caller: ContextVar[Caller] = ContextVar("caller")


class Authenticator:
    """Tells who a token speaks for.

    Trusts one issuer, and its tokens for two audiences: those for `audience` speak for people,
    those for `service_audience` for services. `algorithms` are the only signatures that count,
    whatever a token or a key says of itself.

    Raises:
        ValueError: No algorithm, or one that no public key checks; or one audience for both.
    """

    def __init__(
        self,
        *,
        issuer: str,
        audience: str,
        service_audience: str = SERVICE_AUDIENCE,
        keys: Keys,
        algorithms: Sequence[str],
    ) -> None:
        if not algorithms or not ALGORITHMS.issuperset(algorithms):
            raise ValueError(f"Allow some of {', '.join(sorted(ALGORITHMS))}, and no others.")
        if audience == service_audience:
            raise ValueError(f"{audience!r} can't be the audience of people and of services.")
        self._issuer = issuer
        self._audience = audience
        self._service_audience = service_audience
        self._keys = keys
        self._algorithms = list(algorithms)
        self._known = KnownTokens()

    async def caller(self, authorization: Sequence[str]) -> Caller:
        """Returns whom the bearer token in the values of `authorization` speaks for.

        Raises:
            Unauthenticated: No token, several, or one that is not valid here and now.
            TokenForbidden: It is for people and for services at once.
            Unavailable: The issuer's keys can't be read.
        """
        token = _bearer(authorization)
        if caller := self._known.caller(token):
            return caller
        try:
            key = await self._keys.find(jwt.get_unverified_header(token).get("kid"))
            if key is None:
                raise Unauthenticated("The bearer token is signed with a key that is not known.")
            claims = jwt.decode(
                token,
                key,
                algorithms=self._algorithms,
                audience=[self._audience, self._service_audience],
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
        caller = self._caller_in(claims)
        self._known.remember(token, caller, caller.expires)
        return caller

    def _caller_in(self, claims: Mapping[str, Any]) -> Caller:
        """Returns whom claims speak for that have one of the two audiences.

        Raises:
            Unauthenticated: The subject can't be a caller's name.
            TokenForbidden: They have both.
        """
        subject = _subject(claims["sub"])
        audience: str | list[str] = claims["aud"]
        named = {audience} if isinstance(audience, str) else {*audience}
        if {self._audience, self._service_audience} <= named:
            raise TokenForbidden(
                "The bearer token is for people and for services at once; get one whose audience "
                f"is either {self._audience!r} or {self._service_audience!r}."
            )
        expires = claims["exp"] + LEEWAY_SECONDS
        if self._audience in named:
            return Person(subject, expires)
        return Service(subject, _scopes(claims.get("scope")), expires)


def authenticate_calls(
    authenticator: Authenticator,
) -> Callable[[Call], AbstractAsyncContextManager[None]]:
    """Returns what lets a call in that brings a valid token, of somebody whom the call is for.

    Health and reflection need none, nor does what is open to everybody.
    """

    @asynccontextmanager
    async def authenticate_call(call: Call) -> AsyncGenerator[None, None]:
        if not call.is_about_the_server and call.method not in OPEN:
            who = await authenticator.caller(call.values("authorization"))
            check_access(call, who)
            _caller.set(who)
        yield

    return authenticate_call


def current_caller() -> Caller:
    """Returns who makes the current call, where people and services may."""
    return _caller.get()


def calling_person() -> Person:
    """Returns the person who makes the current call."""
    who = _caller.get()
    assert isinstance(who, Person), "check_access keeps services out"
    return who


def calling_owner() -> str:
    """Returns the owner that the current call of a person speaks for: its token's subject."""
    return calling_person().owner


def calling_service() -> Service:
    """Returns the service that makes the current call, which has the scope that the call needs."""
    who = _caller.get()
    assert isinstance(who, Service), "check_access keeps people out"
    return who


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
        or not 0 < len(subject) <= limits.OWNER_CHARACTERS
        or storable(subject) != subject
    ):
        raise Unauthenticated("The bearer token's subject can't own anything here.")
    return subject


def _scopes(scope: object) -> frozenset[str]:
    """Returns what the claim `scope` lists with spaces between (RFC 8693); none in another form."""
    return frozenset(scope.split(" ")) if isinstance(scope, str) else frozenset()

"""Whom the service trusts (design D5)."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import jwt

from parleyd.app.development_key import ALGORITHM, ISSUER, DevelopmentKey
from parleyd.app.faults import CommandFailed, ConfigurationError
from parleyd.app.settings import Settings
from parleyd.rpc.auth import Authenticator
from parleyd.rpc.keys import Keys, StaticKeys, UrlKeys

DEVELOPER: Final = "developer"
"""Whom a development token speaks for unless it is told another name."""
TOKEN_LIFETIME: Final = timedelta(days=1)


def authenticator_of(settings: Settings) -> Authenticator:
    """Returns what checks tokens: the configured issuer's, or in development our own.

    Raises:
        ConfigurationError: Outside development there is no issuer, or no usable source of its keys.
        CommandFailed: The development key can't be read or made.
    """
    if settings.development:
        return Authenticator(
            issuer=ISSUER,
            audience=settings.jwt_audience,
            service_audience=settings.jwt_service_audience,
            keys=development_key(settings).keys,
            algorithms=[ALGORITHM],
        )
    if not settings.jwt_issuer:
        raise ConfigurationError(
            "Nobody is trusted to issue tokens: set PARLEY_JWT_ISSUER and either PARLEY_JWKS_URL "
            "or PARLEY_JWKS_FILE, or start with --development on a machine of your own."
        )
    return Authenticator(
        issuer=settings.jwt_issuer,
        audience=settings.jwt_audience,
        service_audience=settings.jwt_service_audience,
        keys=_keys_of(settings),
        algorithms=settings.jwt_algorithms,
    )


def development_key(settings: Settings) -> DevelopmentKey:
    """Returns the key of this machine, which is made if there is none yet.

    Raises:
        CommandFailed: It can't be read or made.
    """
    try:
        return DevelopmentKey.in_folder(settings.data_dir)
    except (OSError, ValueError) as error:
        raise CommandFailed(f"The development key can't be used: {error}") from error


def development_token(
    settings: Settings, subject: str = DEVELOPER, lifetime: timedelta = TOKEN_LIFETIME
) -> str:
    """Returns a token that a service in development on this machine takes.

    Raises:
        CommandFailed: The development key can't be read or made.
    """
    return development_key(settings).issue(subject, lifetime, audience=settings.jwt_audience)


def development_service_token(
    settings: Settings, name: str, scopes: Sequence[str], lifetime: timedelta = TOKEN_LIFETIME
) -> str:
    """Returns a token with which a service may do what the scopes say, in development.

    Raises:
        CommandFailed: The development key can't be read or made.
    """
    return development_key(settings).issue(
        name,
        lifetime,
        audience=settings.jwt_service_audience,
        claims={"scope": " ".join(scopes)},
    )


def _keys_of(settings: Settings) -> Keys:
    if settings.jwks_file:
        try:
            return StaticKeys.from_text(settings.jwks_file.read_text())
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"PARLEY_JWKS_FILE names {settings.jwks_file}, which can't be used: {error}"
            ) from error
    if settings.jwks_url:
        try:
            return UrlKeys(str(settings.jwks_url))
        except jwt.PyJWKClientError as error:
            raise ConfigurationError(f"PARLEY_JWKS_URL can't be used: {error}") from error
    raise ConfigurationError(
        f"There is no way to check the tokens of {settings.jwt_issuer}: "
        "set PARLEY_JWKS_URL or PARLEY_JWKS_FILE."
    )

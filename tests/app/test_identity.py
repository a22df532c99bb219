"""Whom the service trusts."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import AnyHttpUrl

from parleyd.app.development_key import DevelopmentKey
from parleyd.app.faults import CommandFailed, ConfigurationError
from parleyd.app.identity import (
    authenticator_of,
    development_service_token,
    development_token,
)
from parleyd.app.settings import Settings
from parleyd.contract.errors import Unauthenticated
from parleyd.rpc.callers import Person, Service

ISSUER = "https://issuer.example"
KEYS_URL = AnyHttpUrl("https://issuer.example/keys")


async def test_in_development_its_own_tokens_count(tmp_path: Path) -> None:
    settings = Settings(environment="development", data_dir=tmp_path)
    token = development_token(settings, "noor", timedelta(minutes=1))
    assert await authenticator_of(settings).caller([f"Bearer {token}"]) == Person("noor")


async def test_in_development_tokens_are_for_the_audience_that_is_set(tmp_path: Path) -> None:
    settings = Settings(environment="development", data_dir=tmp_path, jwt_audience="app")
    token = development_token(settings)
    assert jwt.decode(token, options={"verify_signature": False})["aud"] == "app"
    assert await authenticator_of(settings).caller([f"Bearer {token}"]) == Person("developer")


async def test_in_development_a_service_has_tokens_of_another_audience(tmp_path: Path) -> None:
    settings = Settings(
        environment="development", data_dir=tmp_path, jwt_service_audience="internal"
    )
    token = development_service_token(settings, "reports", ["blocks.generate", "asks.write"])
    assert jwt.decode(token, options={"verify_signature": False})["aud"] == "internal"
    assert await authenticator_of(settings).caller([f"Bearer {token}"]) == Service(
        "reports", frozenset({"blocks.generate", "asks.write"})
    )
    elsewhere = authenticator_of(Settings(environment="development", data_dir=tmp_path))
    with pytest.raises(Unauthenticated, match="another audience"):
        await elsewhere.caller([f"Bearer {token}"])


async def test_the_services_of_the_configured_issuer_count(tmp_path: Path) -> None:
    path, private = _keys_file(tmp_path)
    trusted = authenticator_of(
        Settings(jwt_issuer=ISSUER, jwks_file=path, jwt_service_audience="internal")
    )
    claims = _claims(aud="internal", sub="reports", scope="blocks.generate")
    token = jwt.encode(claims, private, algorithm="ES256", headers={"kid": "k1"})
    service = await trusted.caller([f"Bearer {token}"])
    assert service == Service("reports", frozenset({"blocks.generate"}))


async def test_the_key_of_another_machine_does_not_count(tmp_path: Path) -> None:
    here = Settings(environment="development", data_dir=tmp_path / "here")
    there = Settings(environment="development", data_dir=tmp_path / "there")
    token = development_token(there)
    with pytest.raises(Unauthenticated):
        await authenticator_of(here).caller([f"Bearer {token}"])


async def test_outside_development_the_development_key_does_not_count(tmp_path: Path) -> None:
    token = DevelopmentKey.in_folder(tmp_path).issue("noor", timedelta(hours=1))
    settings = Settings(data_dir=tmp_path, jwt_issuer=ISSUER, jwks_file=_keys_file(tmp_path)[0])
    with pytest.raises(Unauthenticated):
        await authenticator_of(settings).caller([f"Bearer {token}"])


def _keys_file(folder: Path) -> tuple[Path, ec.EllipticCurvePrivateKey]:
    private = ec.generate_private_key(ec.SECP256R1())
    key = json.loads(jwt.get_algorithm_by_name("ES256").to_jwk(private.public_key()))
    path = folder / "keys.json"
    path.write_text(json.dumps({"keys": [{**key, "kid": "k1", "alg": "ES256", "use": "sig"}]}))
    return path, private


def _claims(**changes: object) -> dict[str, object]:
    later = datetime.now(UTC) + timedelta(hours=1)
    return {"iss": ISSUER, "aud": "parley", "sub": "noor", "exp": later, **changes}


async def test_the_configured_issuer_counts(tmp_path: Path) -> None:
    path, private = _keys_file(tmp_path)
    trusted = authenticator_of(Settings(jwt_issuer=ISSUER, jwks_file=path))
    token = jwt.encode(_claims(), private, algorithm="ES256", headers={"kid": "k1"})
    assert await trusted.caller([f"Bearer {token}"]) == Person("noor")


async def test_a_key_in_pem_form_will_do(tmp_path: Path) -> None:
    private = ed25519.Ed25519PrivateKey.generate()
    path = tmp_path / "key.pem"
    path.write_bytes(
        private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    trusted = authenticator_of(Settings(jwt_issuer=ISSUER, jwks_file=path))
    token = jwt.encode(_claims(), private, algorithm="EdDSA")
    assert await trusted.caller([f"Bearer {token}"]) == Person("noor")


@pytest.mark.parametrize(
    "changes", [{"iss": "https://other.example"}, {"aud": "other"}], ids=["issuer", "audience"]
)
async def test_another_issuer_or_audience_does_not_count(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    path, private = _keys_file(tmp_path)
    trusted = authenticator_of(Settings(jwt_issuer=ISSUER, jwks_file=path))
    token = jwt.encode(_claims(**changes), private, algorithm="ES256", headers={"kid": "k1"})
    with pytest.raises(Unauthenticated):
        await trusted.caller([f"Bearer {token}"])


async def test_an_algorithm_that_is_not_allowed_does_not_count(tmp_path: Path) -> None:
    path, private = _keys_file(tmp_path)
    trusted = authenticator_of(
        Settings(jwt_issuer=ISSUER, jwks_file=path, jwt_algorithms=("RS256",))
    )
    token = jwt.encode(_claims(), private, algorithm="ES256", headers={"kid": "k1"})
    with pytest.raises(Unauthenticated):
        await trusted.caller([f"Bearer {token}"])


def test_keys_of_a_url_are_taken_without_reading_it_yet() -> None:
    authenticator_of(Settings(jwt_issuer=ISSUER, jwks_url=KEYS_URL))


def test_outside_development_somebody_has_to_be_trusted() -> None:
    with pytest.raises(ConfigurationError, match="Nobody is trusted to issue tokens: set "):
        authenticator_of(Settings())
    with pytest.raises(ConfigurationError, match="Nobody is trusted to issue tokens: set "):
        authenticator_of(Settings(jwks_url=KEYS_URL))


def test_an_issuer_needs_keys() -> None:
    with pytest.raises(ConfigurationError, match="There is no way to check the tokens of "):
        authenticator_of(Settings(jwt_issuer=ISSUER))


@pytest.mark.parametrize("text", ["", "{}", '{"keys": []}', "no key"])
def test_a_file_without_keys_stops_the_start(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match="PARLEY_JWKS_FILE names "):
        authenticator_of(Settings(jwt_issuer=ISSUER, jwks_file=path))


def test_a_development_key_that_is_none_stops_the_start(tmp_path: Path) -> None:
    path = tmp_path / "development.key"
    path.write_text("no key")
    path.chmod(0o600)
    with pytest.raises(CommandFailed, match="The development key can't be used: "):
        authenticator_of(Settings(environment="development", data_dir=tmp_path))

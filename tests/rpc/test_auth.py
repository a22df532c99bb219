import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from grpc import StatusCode, aio
from structlog.testing import capture_logs

import parley
from parley.v1 import turns_pb2
from parley.v1.turns_pb2_grpc import TurnServiceStub
from parleyd.app.development_key import ALGORITHM, AUDIENCE, ISSUER, DevelopmentKey
from parleyd.rpc.auth import SERVICE_AUDIENCE, Authenticator
from tests.rpc.wire import HOUR, Wire, serving

PRIVATE = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
KEY = DevelopmentKey(PRIVATE)


def token(*, key: Ed25519PrivateKey = PRIVATE, **claims: object) -> str:
    """Returns a token of Ada's with some claims changed, or left out where they are None."""
    now = int(time.time())
    whole = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": now + 600, **claims}
    present = {name: value for name, value in whole.items() if value is not None}
    return jwt.encode(present, key, algorithm=ALGORITHM)


def unsigned(header: dict[str, object], claims: object) -> str:
    """Returns what looks like a token, with any header at all."""
    parts = [urlsafe_b64encode(json.dumps(part).encode()).decode() for part in (header, claims)]
    return ".".join(part.rstrip("=") for part in parts) + "."


def signed_with_the_public_key() -> str:
    """Returns a token whose shared secret is what everyone knows (RFC 8725, 2.1)."""
    public = PRIVATE.public_key().public_bytes_raw()
    return jwt.encode(CLAIMS, public, "HS256")


NOW = int(time.time())
CLAIMS = jwt.decode(token(), options={"verify_signature": False})

REFUSED = {
    "missing": [],
    "empty": [""],
    "scheme_alone": ["Bearer "],
    "another_scheme": [f"Basic {token()}"],
    "no_scheme": [token()],
    "two_of_them": [f"Bearer {token()}", f"Bearer {token()}"],
    "malformed": ["Bearer nonsense"],
    "two_parts": ["Bearer " + token().rpartition(".")[0]],
    "signature_cut": ["Bearer " + token()[:-4]],
    "signature_of_another_key": [f"Bearer {token(key=Ed25519PrivateKey.generate())}"],
    "expired": [f"Bearer {token(exp=NOW - 61)}"],
    "not_yet_valid": [f"Bearer {token(nbf=NOW + 86_400)}"],
    "without_expiry": [f"Bearer {token(exp=None)}"],
    "expiry_that_is_no_time": [f"Bearer {token(exp='soon')}"],
    "expiry_beyond_all_time": [f"Bearer {token(exp=float('inf'))}"],
    "wrong_audience": [f"Bearer {token(aud='elsewhere')}"],
    "several_wrong_audiences": [f"Bearer {token(aud=['elsewhere', 'parley-'])}"],
    "without_audience": [f"Bearer {token(aud=None)}"],
    "wrong_issuer": [f"Bearer {token(iss='https://elsewhere.example')}"],
    "without_issuer": [f"Bearer {token(iss=None)}"],
    "without_subject": [f"Bearer {token(sub=None)}"],
    "empty_subject": [f"Bearer {token(sub='')}"],
    "subject_that_is_no_text": [f"Bearer {token(sub=7)}"],
    "subject_with_nul": [f"Bearer {token(sub='a' + chr(0))}"],
    "subject_with_half_a_pair": [f"Bearer {token(sub=chr(0xD800))}"],
    "subject_too_long": [f"Bearer {token(sub='a' * 256)}"],
    "algorithm_none": [f"Bearer {unsigned({'alg': 'none'}, CLAIMS)}"],
    "algorithm_none_in_capitals": [f"Bearer {unsigned({'alg': 'NONE'}, CLAIMS)}"],
    "algorithm_of_a_shared_secret": [f"Bearer {signed_with_the_public_key()}"],
    "algorithm_of_another_key": [f"Bearer {unsigned({'alg': 'RS256'}, CLAIMS)}"],
    "no_algorithm": [f"Bearer {unsigned({}, CLAIMS)}"],
    "key_id_that_is_no_text": [f"Bearer {unsigned({'alg': 'EdDSA', 'kid': 7}, {})}"],
    "header_without_end": ["Bearer " + "W1tb" * 1000 + ".e30.e30"],
    "claims_that_are_no_object": [f"Bearer {unsigned({'alg': 'EdDSA'}, 'ada')}"],
}

ACCEPTED: dict[str, tuple[str, Callable[[int], dict[str, Any]], str]] = {
    "plain": ("Bearer", lambda _: {}, "ada"),
    "scheme_in_small_letters": ("bearer", lambda _: {}, "ada"),
    "one_audience_of_several": ("Bearer", lambda _: {"aud": ["other", AUDIENCE]}, "ada"),
    "expired_within_the_leeway": ("Bearer", lambda now: {"exp": now - 30}, "ada"),
    "valid_in_a_moment": ("Bearer", lambda now: {"nbf": now + 30}, "ada"),
    "subject_of_any_script": ("Bearer", lambda _: {"sub": "ädá|愛達 $ada"}, "ädá|愛達 $ada"),
    "subject_as_long_as_can_be": ("Bearer", lambda _: {"sub": "a" * 255}, "a" * 255),
}
"""The scheme, the claims at the time of the call, and whom they speak for."""


async def call(target: str, authorization: Sequence[str]) -> turns_pb2.TurnResponse:
    """Calls with the values of `authorization` as they are."""
    async with aio.insecure_channel(target) as channel:
        metadata = [("authorization", value) for value in authorization]
        return await TurnServiceStub(channel).Turn(turns_pb2.TurnRequest(), metadata=metadata)


@pytest.mark.parametrize("authorization", REFUSED.values(), ids=REFUSED.keys())
async def test_h9_a_token_that_is_not_valid_is_unauthenticated(authorization: list[str]) -> None:
    async with serving(KEY) as wire:
        with capture_logs() as lines, pytest.raises(aio.AioRpcError) as raised:
            await call(wire.target, authorization)
    error = parley.error_of(raised.value)
    assert (error.code, error.reason) == (StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
    assert error.metadata == {}
    assert error.message.count(".") == 1, "one plain sentence"
    assert wire.servicer.calls == 0
    for value in authorization:
        secret = value.rpartition(" ")[2]
        assert not secret or secret not in f"{error.message} {lines}"


@pytest.mark.parametrize(("scheme", "claims", "owner"), ACCEPTED.values(), ids=ACCEPTED.keys())
async def test_h9_the_subject_of_a_valid_token_is_the_owner(
    scheme: str, claims: Callable[[int], dict[str, Any]], owner: str
) -> None:
    authorization = f"{scheme} {token(**claims(int(time.time())))}"
    async with serving(KEY) as wire:
        response = await call(wire.target, [authorization])
    assert response.result.text == owner


async def test_a_stream_needs_a_token_too(wire: Wire) -> None:
    async with aio.insecure_channel(wire.target) as channel:
        stub = TurnServiceStub(channel)
        with pytest.raises(aio.AioRpcError) as raised:
            await anext(aiter(stub.StreamTurn(turns_pb2.StreamTurnRequest())))
        metadata = [("authorization", f"Bearer {wire.key.issue('eve', HOUR)}")]
        stream = stub.StreamTurn(turns_pb2.StreamTurnRequest(), metadata=metadata)
        said = [response.event.turn_id async for response in stream]
    assert raised.value.code() is StatusCode.UNAUTHENTICATED
    assert said == ["", "eve"]


async def test_two_callers_at_once_are_two_owners(wire: Wire) -> None:
    tokens = {name: wire.key.issue(name, HOUR) for name in ("ada", "eve")}
    async with wire.client(tokens["ada"]) as ada, wire.client(tokens["eve"]) as eve:
        calls = [client.turns.Turn(turns_pb2.TurnRequest()) for client in (ada, eve) * 10]
        owners = [(await each).result.text for each in calls]
    assert owners == ["ada", "eve"] * 10


@pytest.mark.parametrize(
    "algorithms", [[], ["none"], ["EdDSA", "HS256"], ["eddsa"]], ids=["no", "none", "HS256", "case"]
)
def test_only_signatures_that_a_public_key_checks_can_be_allowed(algorithms: list[str]) -> None:
    with pytest.raises(ValueError, match="RS256"):
        Authenticator(issuer=ISSUER, audience=AUDIENCE, keys=KEY.keys, algorithms=algorithms)


def test_people_and_services_can_not_have_one_audience() -> None:
    with pytest.raises(ValueError, match="'parley-internal' can't be the audience of people and"):
        Authenticator(
            issuer=ISSUER, audience=SERVICE_AUDIENCE, keys=KEY.keys, algorithms=[ALGORITHM]
        )

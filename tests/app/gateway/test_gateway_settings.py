"""What a deployment may say of its gateway."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from parleyd.app.gateway.plan import Address, Certificate
from parleyd.app.gateway.plan_of_settings import plan_of, served_addresses
from parleyd.app.settings import Settings
from parleyd.app.settings_sources import load_settings
from tests.certificates import Authority

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "half a certificate",
        {"gateway_tls_cert": "{chain}"},
        "PARLEY_GATEWAY_TLS_CERT and PARLEY_GATEWAY_TLS_KEY belong together",
    ),
    (
        "every origin in production",
        {"gateway_cors_origins": "*"},
        "PARLEY_GATEWAY_CORS_ORIGINS lets pages of every origin in",
    ),
    (
        "an origin with a path",
        {"gateway_cors_origins": "https://app.example.org/"},
        "'https://app.example.org/' is no origin as browsers send it",
    ),
    (
        "an origin that no browser sends",
        {"gateway_cors_origins": "https://App.example.org"},
        "is no origin as browsers send it",
    ),
    (
        "all addresses in development",
        {"environment": "development", "gateway_host": "0.0.0.0"},
        "listens on this machine alone, not on '0.0.0.0': leave PARLEY_GATEWAY_HOST out",
    ),
    (
        "no web front",
        {"gateway": True, "web": False},
        "leave one out, PARLEY_WEB or PARLEY_GATEWAY",
    ),
    (
        "a service that encrypts, and nobody to trust",
        {"gateway": True, "tls_cert": "{chain}", "tls_key": "{key}"},
        "in PARLEY_GATEWAY_UPSTREAM_CA",
    ),
    (
        "clients that have to show a certificate",
        {
            "gateway": True,
            "tls_cert": "{chain}",
            "tls_key": "{key}",
            "tls_client_ca": "{chain}",
            "gateway_upstream_ca": "{chain}",
        },
        "PARLEY_TLS_CLIENT_CA asks for certificates, and the gateway has none to show",
    ),
]


@pytest.mark.parametrize(
    ("given", "sentence"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_contradicts_itself_is_refused_in_a_sentence(
    given: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    files = Authority(tmp_path, "ca").issue("chain")
    named = {"{chain}": files.cert, "{key}": files.key}
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate(
            {name: named.get(str(value), value) for name, value in given.items()}
        )
    assert sentence in str(caught.value)


def test_origins_are_read_from_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "PARLEY_GATEWAY_CORS_ORIGINS",
        "https://app.example.org, http://localhost:5173, https://[::1]:8",
    )
    assert load_settings().gateway_cors_origins == (
        *("https://app.example.org", "http://localhost:5173", "https://[::1]:8"),
    )
    monkeypatch.setenv("PARLEY_GATEWAY_CORS_ORIGINS", "*")
    assert load_settings(development=True).gateway_cors_origins == ("*",)


def test_a_plan_has_what_the_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = Authority(tmp_path, "ca").issue("chain")
    monkeypatch.chdir(tmp_path)
    settings = Settings(
        gateway_host="0.0.0.0",
        gateway_port=443,
        gateway_cors_origins=("https://app.example.org",),
        gateway_tls_cert=Path("chain.crt"),
        gateway_tls_key=Path("chain.key"),
        gateway_upstream_ca=Path("chain.crt"),
    )
    grpc, web = Address("parleyd", 50051), Address("parleyd", 50052)
    plan = plan_of(settings, [grpc], [web])
    assert plan.listen == Address("0.0.0.0", 443)
    assert (plan.grpc, plan.web) == ((grpc,), (web,))
    assert plan.cors_origins == ("https://app.example.org",)
    assert plan.certificate == Certificate(files.cert, files.key), "whole paths"
    assert plan.upstream_ca == files.cert
    assert plan.admin is None


def test_a_service_that_listens_everywhere_is_reached_on_this_machine() -> None:
    grpc, web = served_addresses(Settings(host="0.0.0.0"))
    assert (str(grpc), str(web)) == ("127.0.0.1:50051", "127.0.0.1:50052")

"""The settings of the webhook: both or none, encrypted, and never told."""

import base64
import os

import pytest

from parleyd.app.faults import ConfigurationError
from parleyd.app.settings import Settings
from parleyd.app.settings_sources import load_settings
from tests.receiver import SECRET

URL = "https://bridge.example.org/hooks/s3cret"


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.upper().startswith("PARLEY_"):
            monkeypatch.delenv(name)


def load(
    monkeypatch: pytest.MonkeyPatch, url: str, secret: str, *, development: bool = False
) -> Settings:
    monkeypatch.setenv("PARLEY_WEBHOOK_URL", url)
    monkeypatch.setenv("PARLEY_WEBHOOK_SECRET", secret)
    return load_settings(development=development)


def whsec(size: int) -> str:
    return "whsec_" + base64.b64encode(bytes(size)).decode()


def test_there_is_no_webhook_unless_it_is_set() -> None:
    settings = load_settings()
    assert (settings.webhook_url, settings.webhook_secret) == (None, None)


@pytest.mark.parametrize("size", [24, 32, 64])
def test_an_address_and_a_secret_are_read_and_not_told(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    settings = load(monkeypatch, URL, whsec(size))
    assert settings.webhook_url
    assert settings.webhook_secret
    assert settings.webhook_url.get_secret_value() == URL
    assert settings.webhook_secret.get_secret_value() == whsec(size)
    for told in (repr(settings), str(settings), settings.model_dump_json()):
        assert "s3cret" not in told
        assert whsec(size) not in told


def test_in_development_the_address_may_be_unencrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(monkeypatch, "http://127.0.0.1:8000/", SECRET, development=True).webhook_url


REFUSED = {
    "no secret": (URL, "", "PARLEY_WEBHOOK_URL is of no use without PARLEY_WEBHOOK_SECRET: set "),
    "no address": ("", SECRET, "PARLEY_WEBHOOK_SECRET is of no use without PARLEY_WEBHOOK_URL: "),
    "unencrypted": (
        "http://bridge.example.org/s3cret",
        SECRET,
        "PARLEY_WEBHOOK_URL has to begin with https:// outside development: what is sent there ",
    ),
    **{
        f"the address {url}": (
            url,
            SECRET,
            "PARLEY_WEBHOOK_URL can't be used: it is no whole address: write https://host/path.",
        )
        for url in ("bridge/s3cret", "ftp://bridge/s3cret", "https:///s3cret", "https://b:s3cret/")
    },
    **{
        f"credentials in {url}": (
            url,
            SECRET,
            "PARLEY_WEBHOOK_URL can't be used: it holds a user or a password: leave them out",
        )
        for url in ("https://noor:s3cret@bridge/", "https://s3cret@bridge/", "https://:s3cret@b/")
    },
    **{
        f"the secret {secret}": (
            URL,
            secret,
            "PARLEY_WEBHOOK_SECRET can't be used: it has to be whsec_ and 24 to 64 bytes as base64",
        )
        for secret in (
            "s3cret",
            "whsec_",
            "whsec_s3cret",
            whsec(23),
            whsec(65),
            SECRET.removeprefix("whsec_"),
            SECRET + "!",
        )
    },
}


@pytest.mark.parametrize(("url", "secret", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_is_refused_with_a_sentence_that_tells_none_of_it(
    monkeypatch: pytest.MonkeyPatch, url: str, secret: str, sentence: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load(monkeypatch, url, secret)
    assert str(refused.value).startswith(sentence)
    assert "s3cret" not in str(refused.value)

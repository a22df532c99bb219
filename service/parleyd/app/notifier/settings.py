"""What a deployment decides about its webhook; `Settings` has these fields too."""

import base64
from typing import Final, Self
from urllib.parse import urlsplit

from pydantic import AnyHttpUrl, SecretStr, ValidationError, field_validator, model_validator

from parleyd.app.environment import Environment

PREFIX: Final = "whsec_"
KEY_BYTES: Final = range(24, 65)
"""How long a key is, as Standard Webhooks has it."""


class WebhookSettings(Environment):
    """Where asks are told of, and what that is signed with."""

    webhook_url: SecretStr | None = None
    """Where each ask is told of by a POST. Unset: nowhere."""
    webhook_secret: SecretStr | None = None
    """What signs it: `whsec_` and 24 to 64 bytes as base64, as Standard Webhooks has it."""

    @field_validator("webhook_url")
    @classmethod
    def _read_as_an_address(cls, url: SecretStr | None) -> SecretStr | None:
        if url is None:
            return None
        try:
            address = AnyHttpUrl(url.get_secret_value())
        except ValidationError:
            address = None
        # Nothing of it is told: addresses of webhooks are often as good as passwords.
        if address is None or not urlsplit(url.get_secret_value()).netloc:
            raise ValueError("it is no whole address: write https://host/path")
        if address.username is not None or address.password is not None:
            raise ValueError(
                "it holds a user or a password: leave them out, the receiver checks the signature"
            )
        return url

    @field_validator("webhook_secret")
    @classmethod
    def _read_as_a_secret(cls, secret: SecretStr | None) -> SecretStr | None:
        if secret is None:
            return None
        spelled = secret.get_secret_value()
        try:
            key = base64.b64decode(spelled.removeprefix(PREFIX), validate=True)
        except ValueError:
            key = b""
        if not spelled.startswith(PREFIX) or len(key) not in KEY_BYTES:
            raise ValueError(
                f"it has to be {PREFIX} and {KEY_BYTES[0]} to {KEY_BYTES[-1]} bytes as base64: "
                "make one with echo whsec_$(openssl rand -base64 32)"
            )
        return secret

    @model_validator(mode="after")
    def _agree_on_the_webhook(self) -> Self:
        if bool(self.webhook_url) != bool(self.webhook_secret):
            one, other = ("URL", "SECRET") if self.webhook_url else ("SECRET", "URL")
            raise ValueError(
                f"PARLEY_WEBHOOK_{one} is of no use without PARLEY_WEBHOOK_{other}: set both, or "
                "neither."
            )
        if self.webhook_url and not self.development:
            address = AnyHttpUrl(self.webhook_url.get_secret_value())
            if address.scheme != "https":
                raise ValueError(
                    "PARLEY_WEBHOOK_URL has to begin with https:// outside development: what is "
                    "sent there can press buttons."
                )
        return self

"""The settings of action tokens."""

from pydantic import BaseModel, Field

from parleyd.contract import limits


class TokenSettings(BaseModel):
    """What action tokens may press, and how often somebody may try one."""

    tokens_for_destructive_buttons: bool = False
    """Lets action tokens press buttons that do harm, too (spec turns 16.7)."""
    redemptions_per_minute: int = Field(default=limits.REDEMPTIONS_PER_MINUTE, ge=1)
    """How often one address may try action tokens on one server."""
    trust_forwarded_for: bool = False
    """Believes the proxy nearest to this machine when it says whose call it is."""

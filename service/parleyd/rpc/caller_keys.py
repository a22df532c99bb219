"""Keys of model providers that callers bring for one turn (spec turns 3.9)."""

from typing import Final

from pydantic import SecretStr

from parleyd.contract.errors import InvalidRequest
from parleyd.contract.field_errors import Code
from parleyd.rpc import fields
from parleyd.rpc.calls import Context

CALLER_KEY: Final = "x-ai-api-key"
"""The metadata key under which a caller sends a provider's key."""


def caller_key(context: Context) -> SecretStr | None:
    """Returns the provider's key that a call brings, if it does. An empty one is none.

    It is in no log line and no error. Whether it counts is for the deployment to say.

    Raises:
        InvalidRequest: There are several.
    """
    keys = [value for key, value in context.invocation_metadata() or () if key == CALLER_KEY]
    match keys:
        case [] | [""]:
            return None
        case [str(key)]:
            return SecretStr(key)
        case _:
            raise fields.malformed(
                InvalidRequest,
                CALLER_KEY,
                Code.TOO_MANY,
                f"The metadata has {len(keys)} values under {CALLER_KEY}.",
                "Send one key, or none.",
            )

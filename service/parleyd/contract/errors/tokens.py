"""What is wrong with action tokens (spec turns 16.7)."""

from parleyd.contract.errors.error import Malformed, ParleyError
from parleyd.contract.reasons import Reason


class TokenInvalid(ParleyError):
    """An action token that does not press this button, whyever.

    All of it is one fault with one text: who has no token learns nothing of anybody's.
    """

    reason = Reason.TOKEN_INVALID

    def __init__(self) -> None:
        super().__init__(
            "This action token does not press this button: it is unknown, has expired, is not for "
            "this button, or its ask is resolved. Nothing was done; open the app to see what waits."
        )


class TokenUsed(ParleyError):
    """The action token has pressed another button already."""

    reason = Reason.TOKEN_USED

    def __init__(self) -> None:
        super().__init__(
            "This action token has pressed another button already, and presses one only. Nothing "
            "was done; open the app to see what came of it."
        )


class DestructiveButton(Malformed):
    """A button that does harm, for which this deployment makes no tokens."""

    reason = Reason.DESTRUCTIVE_BUTTON

"""What is wrong with starting, watching or retrying a turn."""

from collections.abc import Mapping
from uuid import UUID

from parleyd.contract.errors.error import Malformed, ParleyError
from parleyd.contract.reasons import Reason


class PromptRequired(Malformed):
    """No input, or an empty prompt."""

    reason = Reason.PROMPT_REQUIRED


class OneInputOnly(Malformed):
    """Several inputs for one turn. JSON alone can write that; protobuf has a `oneof`."""

    reason = Reason.ONE_INPUT_ONLY


class TurnIdRequired(Malformed):
    """A retry that does not name the failed turn."""

    reason = Reason.TURN_ID_REQUIRED


class UnknownSurface(Malformed):
    """A surface that does not exist."""

    reason = Reason.UNKNOWN_SURFACE


class TurnNotFound(ParleyError):
    """The conversation has no such turn."""

    reason = Reason.TURN_NOT_FOUND

    def __init__(self, turn_id: UUID) -> None:
        super().__init__(f"The conversation has no turn {turn_id}.")


class TurnNotRetryable(ParleyError):
    """The turn is not the latest of its conversation, or has not failed (spec turns 3.7.2).

    `retried_by` names the turn that retried it already.
    """

    reason = Reason.TURN_NOT_RETRYABLE

    def __init__(self, turn_id: UUID, state: str, retried_by: UUID | None = None) -> None:
        then = (
            f"it was retried by {retried_by}: watch that turn"
            if retried_by
            else "only the latest turn of a conversation can be retried, once it has failed"
        )
        super().__init__(f"The turn {turn_id} is {state} and can't be retried: {then}.")
        self.turn_id = turn_id
        self.state = state
        self.retried_by = retried_by

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the turn, its state, and what retried it, if something did."""
        facts = {"turn_id": str(self.turn_id), "state": self.state}
        if self.retried_by:
            facts["retried_by_turn_id"] = str(self.retried_by)
        return facts


class EventsExpired(ParleyError):
    """The events after this place are gone, or never were (spec turns 16.1)."""

    reason = Reason.EVENTS_EXPIRED

    def __init__(self, turn_id: UUID) -> None:
        super().__init__(
            f"The turn {turn_id} has closed and has no events after that place any more. "
            "Read the turn's result with GetTurn."
        )


class ModelNotConfigured(ParleyError):
    """The deployment has no model."""

    reason = Reason.MODEL_NOT_CONFIGURED

    def __init__(self) -> None:
        super().__init__("This deployment has no model configured.")

"""What the model of an agent is told of a call that a person was asked about and did not allow."""

from typing import assert_never

from parley.adapters.asker import Accepted, Cancelled, Declined, Expired, outcome_of
from parley.v1.service_asks_pb2 import Ask


def refusal_of(ask: Ask) -> str | None:
    """Returns what the model is told of a call that was not allowed; None where it was."""
    outcome = outcome_of(ask)
    match outcome:
        case Accepted(answer) if answer.confirm.confirmed:
            return None
        case Accepted():
            return "The tool was not run: the person denied the call."
        case Declined():
            return "The tool was not run: the person declined to say whether it may."
        case Cancelled("user_sent_message"):
            return "The tool was not run: the person wrote a message instead of allowing it."
        case Cancelled(reason):
            return f"The tool was not run: the question whether it may was cancelled ({reason})."
        case Expired():
            return (
                "The tool was not run: nobody said in time whether it may. The question expired; "
                "nobody denied the call."
            )
        case _:
            assert_never(outcome)

"""How often a notice is tried, and how long each pause is."""

from typing import Final

from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, wait_exponential_jitter

TRIES: Final = 15
FIRST_PAUSE_SECONDS: Final = 5
LONGEST_PAUSE_SECONDS: Final = 3600
"""Pauses double up to this one, so that the tries of a notice take between five and six hours."""

_RETRYING: Final = AsyncRetrying(
    stop=stop_after_attempt(TRIES),
    wait=wait_exponential_jitter(
        initial=FIRST_PAUSE_SECONDS, max=LONGEST_PAUSE_SECONDS, jitter=FIRST_PAUSE_SECONDS
    ),
)


def pause_after(attempts: int, wanted: float = 0) -> float | None:
    """Returns the seconds until the next try, after so many; None where that was the last.

    The receiver may have `wanted` a longer pause, and gets it within bounds.
    """
    # The pauses outlive any process, so nobody runs the loop: its rules are asked alone.
    state = RetryCallState(_RETRYING, None, (), {})
    state.attempt_number = attempts
    if _RETRYING.stop(state):
        return None
    return max(_RETRYING.wait(state), min(wanted, LONGEST_PAUSE_SECONDS))

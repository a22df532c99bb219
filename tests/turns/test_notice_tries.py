"""How often a notice is tried, and the pauses between."""

from itertools import pairwise

from parleyd.turns.notice_tries import (
    FIRST_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    TRIES,
    pause_after,
)


def test_pauses_grow_up_to_the_longest_and_end_with_the_last_try() -> None:
    pauses = [pause_after(attempts) for attempts in range(1, TRIES)]
    numbers = [pause for pause in pauses if pause is not None]
    assert len(numbers) == TRIES - 1
    assert all(first <= second for first, second in pairwise(numbers))
    assert FIRST_PAUSE_SECONDS <= numbers[0] <= 2 * FIRST_PAUSE_SECONDS
    assert numbers[-1] == LONGEST_PAUSE_SECONDS
    assert 5 * 3600 < sum(numbers) < 6 * 3600
    assert pause_after(TRIES) is None
    assert pause_after(TRIES + 1) is None


def test_pauses_of_many_are_spread() -> None:
    assert len({pause_after(1) for _ in range(20)}) > 1


def test_a_wanted_pause_counts_where_it_is_longer_but_not_for_ever() -> None:
    assert pause_after(1, 600) == 600
    assert (pause_after(10, 1) or 0) > 1000
    assert pause_after(1, 10 * LONGEST_PAUSE_SECONDS) == LONGEST_PAUSE_SECONDS
    assert (pause_after(1, -5) or 0) >= FIRST_PAUSE_SECONDS
    assert pause_after(TRIES, 600) is None

"""What runs in this process is counted against its bounds."""

from uuid import UUID

import pytest

from parleyd.contract.errors import RateLimited
from parleyd.turns.running_here import Bound, RunningHere

THERE = UUID(int=1)


def of(owner: str, most: int = 2) -> Bound:
    return Bound(owner, most, "actions of one person may run")


def there(most: int = 3) -> Bound:
    return Bound(THERE, most, "actions of one conversation may run")


def test_no_more_run_at_once_than_each_bound_says() -> None:
    running = RunningHere()
    first = running.one_more(of("ada"), there())
    running.one_more(of("ada"), there())
    with pytest.raises(RateLimited, match="At most 2 actions of one person may run at once"):
        running.one_more(of("ada"), there())
    running.one_more(of("ben"), there())
    with pytest.raises(RateLimited, match="At most 3 actions of one conversation may run at once"):
        running.one_more(of("cem"), there())
    first()
    running.one_more(of("ada"), there())


def test_what_is_refused_is_not_counted() -> None:
    running = RunningHere()
    ended = running.one_more(there(1))
    for _ in range(3):
        with pytest.raises(RateLimited):
            running.one_more(of("ada"), there(1))
    ended()
    running.one_more(of("ada", 1), there(1))


def test_who_runs_nothing_takes_no_room() -> None:
    running = RunningHere()
    running.one_more(of("ada"), there())()
    assert vars(running) == vars(RunningHere())

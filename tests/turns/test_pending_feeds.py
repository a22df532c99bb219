"""Feeds of what waits on an owner: each ask comes once and goes once (spec turns 16.6)."""

from parleyd.contract.answers import cancelled
from parleyd.contract.conversations import PendingAsk
from parleyd.turns.pending_feeds import (
    CHANGES_KEPT,
    Added,
    OwnerFeed,
    Removed,
    Snapshot,
    owner_hash,
)
from tests.turns.waiting_asks import NOON, SECOND, resolved, waiting


def begun(*found: PendingAsk) -> OwnerFeed:
    feed = OwnerFeed("noor")
    feed.look(found, (), NOON)
    return feed


def test_the_first_look_is_a_snapshot_newest_first() -> None:
    old, new = waiting(NOON - SECOND), waiting(NOON)
    feed = begun(old, new)
    assert feed.snapshot == Snapshot((new, old))
    assert (feed.end, feed.since(0)) == (0, [])


def test_an_ask_comes_and_goes_once_however_often_it_is_told_of() -> None:
    feed = begun()
    ask = waiting(NOON + SECOND)
    gone = resolved(ask, NOON + 2 * SECOND)
    for revision, found in ((1, ask), (1, ask), (2, gone), (2, gone), (1, gone), (1, ask)):
        feed.hear(revision, found)
    assert feed.since(0) == [Added(ask), Removed(gone.ask)]
    assert feed.snapshot == Snapshot(())


def test_what_has_gone_since_it_came_goes_with_the_news_of_that() -> None:
    feed = begun()
    gone = resolved(waiting(NOON + SECOND), NOON + 2 * SECOND)
    feed.hear(1, gone)
    assert feed.since(0) == [Added(gone)]
    feed.hear(2, gone)
    assert feed.since(1) == [Removed(gone.ask)]


def test_what_came_unheard_of_is_told_of_in_whole_when_it_goes() -> None:
    feed = begun()
    gone = resolved(waiting(NOON + SECOND), NOON + 2 * SECOND)
    feed.look((), (), NOON + 3 * SECOND)
    feed.hear(2, gone)
    assert feed.since(0) == [Added(gone), Removed(gone.ask)]


def test_what_had_gone_before_the_first_look_is_not_told_of() -> None:
    feed = begun()
    gone = resolved(waiting(NOON - 2 * SECOND), NOON - SECOND)
    feed.hear(1, gone)
    feed.hear(2, gone)
    assert feed.since(0) == []


def test_what_is_told_before_the_first_look_is_in_it() -> None:
    feed = OwnerFeed("noor")
    ask = waiting()
    feed.hear(1, ask)
    assert (feed.read, feed.end) == (False, 0)
    feed.look([ask], (), NOON)
    assert (feed.snapshot, feed.end) == (Snapshot((ask,)), 0)


def test_a_later_look_tells_of_the_difference() -> None:
    stays, goes = waiting(NOON - SECOND), waiting(NOON)
    feed = begun(stays, goes)
    comes, later = waiting(NOON + SECOND), waiting(NOON + 2 * SECOND)
    assert feed.missing([stays, comes]) == {goes.ask.id}
    gone = resolved(goes, NOON + 1.5 * SECOND)
    feed.look([later, comes, stays], [gone], NOON + 3 * SECOND)
    assert feed.since(0) == [Added(comes), Removed(gone.ask), Added(later)]
    assert feed.snapshot == Snapshot((later, comes, stays))


def test_an_expired_ask_goes_as_one_that_was_cancelled() -> None:
    ask = waiting()
    feed = begun(ask)
    lapsed = ask.ask.model_copy(
        update={
            "status": "cancelled",
            "answer": cancelled("expired"),
            "resolve_time": NOON + SECOND,
        }
    )
    feed.hear(2, PendingAsk(ask=lapsed, title=None))
    assert feed.since(0) == [Removed(lapsed)]


def test_who_is_too_far_behind_is_told_so() -> None:
    feed = begun()
    for number in range(CHANGES_KEPT + 1):
        feed.hear(1, waiting(NOON + number * SECOND))
    assert feed.since(0) is None
    kept = feed.since(1)
    assert kept is not None
    assert len(kept) == CHANGES_KEPT
    assert feed.since(feed.end) == []


def test_a_notification_says_no_name() -> None:
    hashed = owner_hash("noor@example.org")
    assert len(hashed) == 32
    assert "noor" not in hashed
    assert hashed != owner_hash("noor@example.com")

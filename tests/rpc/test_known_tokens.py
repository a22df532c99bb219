"""Tokens that were checked a moment ago."""

from parleyd.rpc.callers import Person, Service
from parleyd.rpc.known_tokens import KNOWN_SECONDS, KNOWN_TOKENS, KnownTokens

NOW = 1_000_000.0
NOOR = Person("noor")


class Clock:
    """The time as a test sets it."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def test_a_token_is_known_for_a_minute() -> None:
    clock = Clock()
    known = KnownTokens(clock)
    known.remember("token", NOOR, NOW + 3600)
    clock.now += KNOWN_SECONDS - 0.1
    assert known.caller("token") == NOOR
    clock.now += 0.1
    assert known.caller("token") is None


def test_a_token_is_never_known_beyond_its_end() -> None:
    clock = Clock()
    known = KnownTokens(clock)
    known.remember("token", NOOR, NOW + 5)
    clock.now += 5
    assert known.caller("token") is None


def test_another_token_of_the_same_person_is_not_known() -> None:
    known = KnownTokens(Clock())
    known.remember("token", NOOR, NOW + 3600)
    assert known.caller("token2") is None


def test_of_too_many_the_one_used_longest_ago_is_forgotten() -> None:
    known = KnownTokens(Clock())
    for number in range(KNOWN_TOKENS):
        known.remember(f"token{number}", NOOR, NOW + 3600)
    assert known.caller("token0") == NOOR
    known.remember("one more", NOOR, NOW + 3600)
    assert known.caller("token0") == NOOR
    assert known.caller("token1") is None


def test_a_service_is_known_with_what_it_may_do_beside_a_person_of_its_name() -> None:
    known = KnownTokens(Clock())
    service = Service("noor", frozenset({"blocks.generate"}))
    known.remember("service's", service, NOW + 3600)
    known.remember("person's", NOOR, NOW + 3600)
    assert known.caller("service's") == service
    assert known.caller("person's") == NOOR

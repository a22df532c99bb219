"""Tokens that were checked a moment ago."""

from parleyd.rpc.known_tokens import KNOWN_SECONDS, KNOWN_TOKENS, KnownTokens

NOW = 1_000_000.0


class Clock:
    """The time as a test sets it."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def test_a_token_is_known_for_a_minute() -> None:
    clock = Clock()
    known = KnownTokens(clock)
    known.remember("token", "noor", NOW + 3600)
    clock.now += KNOWN_SECONDS - 0.1
    assert known.owner("token") == "noor"
    clock.now += 0.1
    assert known.owner("token") is None


def test_a_token_is_never_known_beyond_its_end() -> None:
    clock = Clock()
    known = KnownTokens(clock)
    known.remember("token", "noor", NOW + 5)
    clock.now += 5
    assert known.owner("token") is None


def test_another_token_of_the_same_person_is_not_known() -> None:
    known = KnownTokens(Clock())
    known.remember("token", "noor", NOW + 3600)
    assert known.owner("token2") is None


def test_of_too_many_the_one_used_longest_ago_is_forgotten() -> None:
    known = KnownTokens(Clock())
    for number in range(KNOWN_TOKENS):
        known.remember(f"token{number}", "noor", NOW + 3600)
    assert known.owner("token0") == "noor"
    known.remember("one more", "noor", NOW + 3600)
    assert known.owner("token0") == "noor"
    assert known.owner("token1") is None

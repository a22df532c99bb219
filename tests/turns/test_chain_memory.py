"""What a process still knows of chains that wait."""

from dataclasses import replace
from uuid import UUID

from parleyd.turns.chain_memory import CHAIN_BYTES, ChainMemory, KnownChain

TWO_OF_TEN = 2 * CHAIN_BYTES + 25
ONE, TWO, THREE = (UUID(int=number) for number in (1, 2, 3))


def known(step_no: int = 1, size: int = 10) -> KnownChain:
    return KnownChain(step_no, ("message",), frozenset({"call"}), "Hello", size)


def test_a_chain_is_known_by_the_provider_whose_messages_they_are() -> None:
    memory = ChainMemory()
    memory.remember(ONE, "gemini", known())
    assert memory.recall(ONE, "gemini") == known()
    assert memory.recall(ONE, "other") is None
    assert memory.recall(TWO, "gemini") is None


def test_what_is_known_better_replaces_what_was_known() -> None:
    memory = ChainMemory(most_bytes=TWO_OF_TEN)
    memory.remember(ONE, "gemini", known(1))
    memory.remember(ONE, "gemini", known(2))
    memory.remember(TWO, "gemini", known())
    assert memory.recall(ONE, "gemini") == known(2)
    assert memory.recall(TWO, "gemini") == known()


def test_a_chain_that_is_over_is_forgotten_whether_known_or_not() -> None:
    memory = ChainMemory()
    memory.remember(ONE, "gemini", known())
    memory.forget(ONE, "gemini")
    memory.forget(TWO, "gemini")
    assert memory.recall(ONE, "gemini") is None


def test_for_too_many_bytes_the_chain_kept_longest_goes() -> None:
    memory = ChainMemory(most_bytes=TWO_OF_TEN)
    for chain in (ONE, TWO, THREE):
        memory.remember(chain, "gemini", known())
    assert memory.recall(ONE, "gemini") is None
    assert memory.recall(TWO, "gemini") == memory.recall(THREE, "gemini") == known()


def test_a_chain_that_is_too_large_alone_is_not_kept() -> None:
    memory = ChainMemory(most_bytes=TWO_OF_TEN)
    memory.remember(ONE, "gemini", known())
    memory.remember(TWO, "gemini", known(size=TWO_OF_TEN))
    assert memory.recall(TWO, "gemini") is None
    assert memory.recall(ONE, "gemini") == known()
    memory.remember(THREE, "gemini", known())
    assert memory.recall(THREE, "gemini") == known()


def test_what_was_said_before_a_chain_counts_too() -> None:
    memory = ChainMemory(most_bytes=TWO_OF_TEN)
    memory.remember(ONE, "gemini", known())
    memory.remember(TWO, "gemini", replace(known(), history_size=6))
    assert memory.recall(ONE, "gemini") is None
    memory.forget(TWO, "gemini")
    for chain in (ONE, THREE):
        memory.remember(chain, "gemini", known())
    assert memory.recall(ONE, "gemini") == memory.recall(THREE, "gemini") == known()


def test_chains_of_next_to_no_bytes_are_not_kept_without_end() -> None:
    memory = ChainMemory()
    for number in range(50_000):
        memory.remember(UUID(int=number), "gemini", known(size=0))
    assert memory.recall(UUID(int=0), "gemini") is None

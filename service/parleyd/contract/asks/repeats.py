"""What is listed again where everything is to be listed once (CH3, CH5, CH7, CS2)."""

from collections.abc import Hashable, Iterable, Iterator


def repeats(values: Iterable[Hashable]) -> Iterator[int]:
    """Yields the position of every value that stands before too."""
    seen: set[Hashable] = set()
    for index, value in enumerate(values):
        if value in seen:
            yield index
        seen.add(value)

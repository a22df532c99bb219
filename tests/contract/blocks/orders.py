"""The order of issues, written down as spec blocks 11 words it."""

import re


def compared(one: tuple[str, str], other: tuple[str, str]) -> int:
    """Returns a negative number, zero or a positive one, of two pairs of path and code."""
    mine, its = _segments(one[0]), _segments(other[0])
    for left, right in zip(mine, its, strict=False):
        if left.isdigit() and right.isdigit() and left != right:
            return int(left) - int(right)
        if left != right:
            return -1 if _units(left) < _units(right) else 1
    if len(mine) != len(its):
        return len(mine) - len(its)
    return (one[1] > other[1]) - (one[1] < other[1])


def _segments(path: str) -> list[str]:
    return re.findall(r"[^.\[\]]+", path)


def _units(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")

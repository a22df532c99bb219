"""Reads the tables of a reference page."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"

Row: TypeAlias = Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table: the cells of its head, and of each row below."""

    head: Row
    rows: Sequence[Row]


Page: TypeAlias = Mapping[str, Sequence[Table]]
"""The tables of a page under their headings."""


def read_page(name: str) -> Page:
    """Returns the tables of a page of the reference."""
    page: dict[str, list[Table]] = {}
    lines: list[Row] = []
    tables: list[Table] = []
    for line in [*(REFERENCE / name).read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("|"):
            lines.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        if lines:
            head, _, *rows = lines
            tables.append(Table(head, rows))
            lines = []
        if heading := re.fullmatch("#+ (.+)", line):
            tables = page.setdefault(heading[1], [])
    return page


def table_of(page: Page, heading: str, first: str) -> Table:
    """Returns the table under a heading whose first column is named `first`."""
    (table,) = [table for table in page[heading] if table.head[0] == first]
    return table


def codes_in(cell: str) -> list[str]:
    """Returns what stands between backticks."""
    return re.findall("`([^`]*)`", cell)

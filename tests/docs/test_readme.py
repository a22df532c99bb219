"""The README names what there is."""

import re
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
LAYERS = REPOSITORY / "service" / "parleyd"


def first_cells(section: str) -> Iterator[str]:
    """Yields what stands between backticks in the first column of a section's tables."""
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", README, re.DOTALL | re.MULTILINE)
    yield from re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def test_the_table_of_folders_names_what_is_there() -> None:
    named = [*first_cells("Where things are")]
    assert [folder for folder in named if not (REPOSITORY / folder).is_dir()] == []
    layers = {f"service/parleyd/{file.parent.name}/" for file in LAYERS.glob("*/__init__.py")}
    assert {folder for folder in named if folder.startswith("service/")} == layers
    assert len(set(named)) == len(named)


def test_every_measurement_is_in_the_table_in_the_order_of_make_bench() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    run = re.findall(r"^\tpython -m (bench\.\w+)$", makefile, re.MULTILINE)
    assert [*first_cells("How fast")] == run
    assert run


def test_every_page_is_in_the_list_of_pages_once() -> None:
    (text,) = re.findall(r"^## Read on\n(.*?)(?=^## )", README, re.DOTALL | re.MULTILINE)
    pages = (REPOSITORY / "docs").rglob("*.md")
    assert sorted(re.findall(r"\]\(([^)]+)\)", text)) == sorted(
        str(page.relative_to(REPOSITORY)) for page in pages
    )

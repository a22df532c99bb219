"""What a dataset that a tool registers has to be; the first failure counts."""

from collections.abc import Sequence
from math import inf, nan

import pytest

from parleyd.contract.blocks.options import KnownColumn
from parleyd.contract.datasets import checks
from parleyd.contract.datasets.checks import DatasetRefused, DatasetTooLarge, checked
from parleyd.contract.datasets.dataset import NumberRange, registered

DAY = {"name": "day", "type": "date"}
SHOP = {"name": "shop", "type": "string"}
SOLD = {"name": "sold", "type": "number"}
COLUMNS = (DAY, SHOP, SOLD)


def columns(count: int) -> list[object]:
    return [{"name": f"c{i}", "type": "string"} for i in range(count)]


@pytest.mark.parametrize("count", [0, 13])
def test_a_dataset_has_one_to_twelve_columns(count: int) -> None:
    with pytest.raises(DatasetRefused, match=f"has {count} columns: give it 1 to 12"):
        checked(columns(count), [])


@pytest.mark.parametrize("count", [1, 12])
def test_a_dataset_may_have_as_many_columns_and_no_rows(count: int) -> None:
    assert len(checked(columns(count), []).columns) == count


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ({"name": "Sold", "type": "number"}, "no fit name"),
        ({"name": "", "type": "number"}, "no fit name"),
        ({"name": "a" * 65, "type": "number"}, "no fit name"),
        ({"name": 3, "type": "number"}, "no fit name"),
        ({"type": "number"}, "no fit name"),
        ("sold", "no fit name"),
        (None, "no fit name"),
        ({"name": "sold", "type": "bool"}, "no known type"),
        ({"name": "sold", "type": None}, "no known type"),
        ({"name": "sold", "type": []}, "no known type"),
        ({"name": "sold"}, "no known type"),
        (DAY, "the name of an earlier one"),
    ],
)
def test_a_column_has_a_name_of_its_own_and_a_known_type(column: object, says: str) -> None:
    with pytest.raises(DatasetRefused, match=rf"columns\[1\] has {says}"):
        checked([DAY, column], [])


def test_a_column_may_be_given_as_the_value_that_comes_back() -> None:
    known = checked(COLUMNS, []).columns
    assert known[2] == KnownColumn("sold", "number")
    assert checked(known, []).columns == known


def test_a_dataset_has_at_most_so_many_rows() -> None:
    rows = [[1]] * 3
    assert len(checked([SOLD], rows, 3).rows) == 3
    with pytest.raises(DatasetTooLarge, match="has 3 rows, more than 2"):
        checked([SOLD], rows, 2)


def test_a_dataset_has_only_so_much_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "CHARACTERS", 4)
    assert checked([SHOP], [["ab"], ["cd"]]).rows
    with pytest.raises(DatasetTooLarge, match="more than 4 characters"):
        checked([SHOP], [["ab"], ["cde"]])


@pytest.mark.parametrize("row", ["abc", {"a": 1}, None, 3, b"abc"])
def test_a_row_is_a_list(row: object) -> None:
    with pytest.raises(DatasetRefused, match=r"rows\[1\] is no list"):
        checked(COLUMNS, [[None, None, None], row])


@pytest.mark.parametrize("row", [[], [None] * 2, [None] * 4])
def test_a_row_has_one_cell_for_each_column(row: Sequence[object]) -> None:
    with pytest.raises(DatasetRefused, match=rf"rows\[0\] has {len(row)} cells for 3 columns"):
        checked(COLUMNS, [row])


@pytest.mark.parametrize(
    "row",
    [
        [None, None, None],
        ["2026-03-04", "", 0],
        ("2026-03-04T10:00:00Z", "café", -1.5),
        ["2026-02-28", "  ", 10**30],
    ],
)
def test_these_cells_fit(row: Sequence[object]) -> None:
    assert [[*one] for one in checked(COLUMNS, [row]).rows] == [[*row]]


@pytest.mark.parametrize(
    ("row", "place", "noun"),
    [
        ([None, None, "1"], 2, "a finite number"),
        ([None, None, True], 2, "a finite number"),
        ([None, None, inf], 2, "a finite number"),
        ([None, None, nan], 2, "a finite number"),
        ([None, None, 10**400], 2, "a finite number"),
        ([None, 5, None], 1, "a text"),
        ([None, ["a"], None], 1, "a text"),
        ([None, False, None], 1, "a text"),
        (["", None, None], 0, "a date or"),
        (["yesterday", None, None], 0, "a date or"),
        (["2026-02-29", None, None], 0, "a date or"),
        ([1_772_582_400_000, None, None], 0, "a date of ISO 8601, as a text"),
    ],
)
def test_these_cells_do_not(row: Sequence[object], place: int, noun: str) -> None:
    with pytest.raises(DatasetRefused, match=rf"rows\[0\]\[{place}\] is not {noun}") as raised:
        checked(COLUMNS, [row])
    assert "yesterday" not in str(raised.value)


def test_the_first_failure_wins() -> None:
    with pytest.raises(DatasetRefused, match="columns"):
        checked([], [[1]] * 3, 2)
    with pytest.raises(DatasetTooLarge):
        checked([SOLD], [[1, 2], ["x"], 4], 2)
    with pytest.raises(DatasetRefused, match=r"rows\[1\]\[0\]"):
        checked([SOLD], [[1], ["x"], [1, 2]])


def test_texts_are_kept_in_storable_form() -> None:
    [[cell]] = checked([SHOP], [["a\x00b\ud800"]]).rows
    assert cell == "a\ufffdb\ufffd"


def test_the_model_is_told_of_the_first_rows_and_the_ranges_of_numbers() -> None:
    none = {"name": "none", "type": "number"}
    rows = [["2026-03-04", "Faro", i, None] for i in range(-5, 25)] + [[None, None, None, None]]
    told = registered("ds_1", checked([*COLUMNS, none], rows))
    assert told.row_count == 31
    assert told.stats == {"sold": NumberRange(-5, 24)}
    assert told.as_json() == {
        "datasetId": "ds_1",
        "columns": [*COLUMNS, none],
        "preview": rows[:20],
        "rowCount": 31,
        "stats": {"sold": {"min": -5, "max": 24}},
    }

"""The sales of a shop that the demo agent made up: two years, hour by hour."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import JsonValue

YEARS: Final = (2026, 2027)
COLUMNS: Final = (
    {"name": "sold_at", "type": "date"},
    {"name": "sales", "type": "number"},
    {"name": "customers", "type": "number"},
)

_MONTHS: Final = (82, 80, 90, 96, 104, 110, 108, 70, 112, 106, 116, 130)
_WEEKDAYS: Final = (0, 90, 88, 95, 115, 140, 125)
"""Closed on Mondays."""
_HOURS: Final = {
    8: 60,
    9: 90,
    10: 120,
    11: 140,
    12: 150,
    13: 130,
    14: 100,
    15: 110,
    16: 120,
    17: 80,
}
_YEARS: Final[dict[int, int]] = dict(zip(YEARS, (100, 112), strict=True))
"""In per cent of the average, as the others are."""
_CUSTOMERS: Final = 14


@dataclass(frozen=True)
class HourOfSales:
    """One hour in which the shop was open. `sales` are whole euros."""

    sold_at: datetime
    sales: int
    customers: int


@dataclass(frozen=True)
class YearOfSales:
    """What a year comes to."""

    sales: int
    customers: int
    hours: int


def hours_of_sales() -> Iterator[HourOfSales]:
    """Yields every hour of both years, in order; the same ones whenever it is called."""
    day = datetime(YEARS[0], 1, 1, tzinfo=UTC)
    while day.year in YEARS:
        if _WEEKDAYS[day.weekday()]:
            yield from _hours_of(day)
        day += timedelta(days=1)


def sales_rows() -> list[list[JsonValue]]:
    """Returns the rows of `COLUMNS`, some thousands."""
    return [
        [f"{each.sold_at:%Y-%m-%dT%H:%MZ}", each.sales, each.customers] for each in hours_of_sales()
    ]


def sales_of(year: int) -> YearOfSales | None:
    """Returns what a year comes to; None for one that the shop has no sales of."""
    hours = [each for each in hours_of_sales() if each.sold_at.year == year]
    if not hours:
        return None
    return YearOfSales(
        sum(each.sales for each in hours), sum(each.customers for each in hours), len(hours)
    )


def _hours_of(day: datetime) -> Iterator[HourOfSales]:
    for hour, share in _HOURS.items():
        number = day.toordinal() * 24 + hour
        more_or_less = 80 + number * 7919 % 41
        shares = (_YEARS[day.year], _MONTHS[day.month - 1], _WEEKDAYS[day.weekday()], share)
        customers = _CUSTOMERS * more_or_less
        for each in shares:
            customers = customers * each // 100
        customers //= 100
        yield HourOfSales(day.replace(hour=hour), customers * (5 + number % 4), customers)

"""Draws every hour of two years of sales: rows that a tool looks up and the server keeps."""

import re
from typing import Final

from parleyd.contract.blocks.prompt import HEADING
from parleyd.contract.json import JsonObject, number_at, object_at, objects_at, string_at, whole_at
from parleyd.models.demo.document import Block, Document, suggestions
from parleyd.models.demo.errand import Errand
from parleyd.models.demo.words import counted
from parleyd.turns.model import ModelCall

RECOUNT: Final = "recountSales"
"""What its buttons call."""

_TABLE_ROWS: Final = 20
_DAYS_DRAWN: Final = 120


class SalesErrand(Errand):
    """Something that is worth doing where the result can be drawn, and counted anew by a button."""

    def fits(self, call: ModelCall) -> bool:
        """Tells whether replies are documents, their buttons may count, and there is the tool."""
        system = call.system or ""
        return HEADING in system and f"`{RECOUNT}`" in system and super().fits(call)


def _told(result: JsonObject) -> str:
    return f"I looked up your sales: {counted(whole_at(result, 'rowCount') or 0, 'row')}."


def _drawn(result: JsonObject) -> Document | None:
    """Returns the dataset that a result names as a document; None where there is none to draw."""
    id_, columns = string_at(result, "datasetId"), objects_at(result, "columns")
    day, number = _first(columns, "date"), _first(columns, "number")
    if id_ is None or day is None or number is None:
        return None
    most = number_at(object_at(object_at(result, "stats"), number), "max")
    return Document(
        blocks=(
            {"type": "heading", "text": "Your sales, hour by hour", "size": "lg"},
            {
                "type": "columns",
                "children": [
                    _metric("Hours", whole_at(result, "rowCount")),
                    _metric("Best hour", most),
                ],
            },
            {
                "type": "chart",
                "id": "sales_line",
                "kind": "line",
                "data": "months",
                "x": day,
                "y": number,
                "title": "Sales",
            },
            {
                "type": "actions",
                "id": "grains",
                "elements": [
                    {
                        "type": "segmented",
                        "id": "grain",
                        "target": "sales_line",
                        "options": [
                            {"label": "Months", "data": "months"},
                            {"label": "Weeks", "data": "weeks"},
                            {"label": "Days", "data": "days"},
                        ],
                    }
                ],
            },
            {"type": "table", "id": "hours_table", "data": "hours", "title": "Hour by hour"},
            *_recounting(result, columns, day),
            {"type": "context", "text": "The server keeps the rows. All of them are made up."},
            suggestions("Show my sales", "Show my sales by product"),
        ),
        datasets={
            "months": {"source": "ref", "id": id_, "grain": "month"},
            "weeks": {"source": "ref", "id": id_, "grain": "week"},
            "days": {"source": "ref", "id": id_, "grain": "day", "limit": _DAYS_DRAWN},
            "hours": {"source": "ref", "id": id_, "limit": _TABLE_ROWS},
        },
    )


def _recounting(result: JsonObject, columns: tuple[JsonObject, ...], day: str) -> list[Block]:
    """Returns buttons that count the year of the first row, the one after and the one before."""
    place = [string_at(column, "name") for column in columns].index(day)
    match result.get("preview"):
        case [list(row), *_] if place < len(row) and isinstance(row[place], str):
            first = re.match("[0-9]{4}", str(row[place]))
        case _:
            first = None
    if first is None:
        return []
    year = int(first[0])
    buttons = [recount_button(each) for each in (year, year + 1, year - 1)]
    return [{"type": "actions", "id": "count", "elements": [*buttons]}]


def recount_button(year: int) -> Block:
    """Returns a button that counts a year."""
    return {
        "type": "button",
        "id": f"count_{year}",
        "text": f"Count {year}",
        "action": {"kind": "callback", "name": RECOUNT, "payload": {"year": year}},
    }


def _first(columns: tuple[JsonObject, ...], type_: str) -> str | None:
    """Returns the name of the first column of a type."""
    names = (string_at(each, "name") for each in columns if string_at(each, "type") == type_)
    return next(names, None)


def _metric(label: str, figure: float | None) -> Block:
    return {"type": "metric", "label": label, "value": "–" if figure is None else f"{figure:,}"}


SALES: Final = SalesErrand(
    tool="loadSales",
    asked_for=re.compile(
        r"\bsales\b.*\b(days?|daily|hours?|hourly|weeks?|weekly|whole|entire|years?|yearly)\b"
        r"|\b(whole|entire|daily|hourly|weekly|yearly)\b.*\bsales\b",
        re.IGNORECASE,
    ),
    in_words=(
        "I'd draw every hour of your sales, but here I can't: it takes replies with charts "
        "(PARLEY_BLOCKS=true) and a tool that looks the sales up."
    ),
    done=_told,
    shown=_drawn,
)

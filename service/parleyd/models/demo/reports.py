"""What the demo agent can show where its replies are documents: figures that it made up."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from parleyd.models.demo.document import Block, Document, dataset, suggestions

_LOOKED_AT: Final = 1000
"""As much of a prompt as is searched."""


@dataclass(frozen=True)
class Report:
    """A document that is shown when a prompt asks for it.

    `preview` is a block of HTML that comes last, where HTML is allowed.
    """

    asked_for: re.Pattern[str]
    document: Document
    preview: Block | None = None


def report_in(prompt: str, *, html: bool) -> Document | None:
    """Returns what the beginning of `prompt` asks to be shown, or None."""
    for report in REPORTS:
        if report.asked_for.search(prompt[:_LOOKED_AT]):
            shown = report.document
            if html and report.preview:
                return Document((*shown.blocks, report.preview), shown.datasets)
            return shown
    return None


_SALES: Final = "Show my sales"
_MONTHS: Final = "Show my sales by month"
_PRODUCTS: Final = "Show my sales by product"
_DAYS: Final = "Show my sales by day"
_FLYER: Final = "Show me the flyer"

_BY_MONTH: Final = Report(
    asked_for=re.compile(r"\bsales\b.*\b(months?|monthly|trend|over time)\b", re.IGNORECASE),
    document=Document(
        blocks=(
            {"type": "heading", "text": "Sales by month", "size": "lg"},
            {"type": "badge", "text": "Best year so far", "status": "success"},
            {
                "type": "chart",
                "id": "months_line",
                "kind": "line",
                "data": "months",
                "x": "month",
                "y": "sales",
                "title": "Sales in thousands",
            },
            {"type": "divider"},
            {
                "type": "chart",
                "id": "visitors_area",
                "kind": "area",
                "data": "months",
                "x": "month",
                "y": "visitors",
                "title": "Visitors",
                "height": "sm",
            },
            {
                "type": "callout",
                "status": "warning",
                "text": "August was weak: the shop was closed for a week.",
            },
            suggestions(_SALES, _PRODUCTS),
        ),
        datasets={
            "months": dataset(
                {"month": "date", "sales": "number", "visitors": "number"},
                [
                    ["2027-03-01", 18.2, 1210],
                    ["2027-04-01", 19.6, 1305],
                    ["2027-05-01", 22.4, 1480],
                    ["2027-06-01", 24.9, 1622],
                    ["2027-07-01", 23.1, 1544],
                    ["2027-08-01", 15.7, 1012],
                    ["2027-09-01", 26.3, 1718],
                ],
            )
        },
    ),
)

_BY_PRODUCT: Final = Report(
    asked_for=re.compile(r"\bsales\b.*\b(products?|shares?|categor(y|ies))\b", re.IGNORECASE),
    document=Document(
        blocks=(
            {"type": "heading", "text": "Sales by product", "size": "lg"},
            {
                "type": "card",
                "title": "This month",
                "children": [
                    {
                        "type": "chart",
                        "id": "products_donut",
                        "kind": "donut",
                        "title": "Shares",
                        "legend": True,
                        "points": [
                            {"label": "Bread", "value": 41},
                            {"label": "Cake", "value": 27},
                            {"label": "Coffee", "value": 22},
                            {"label": "Tea", "value": 10},
                        ],
                    },
                    {"type": "table", "data": "products", "title": "Products"},
                ],
            },
            {
                "type": "details",
                "title": "How the shares are counted",
                "text": "By what was paid, without taxes. What was returned does not count.",
            },
            suggestions(_SALES, _MONTHS),
        ),
        datasets={
            "products": dataset(
                {"product": "string", "sold": "number", "sales": "number"},
                [
                    ["Bread", 2140, 10.8],
                    ["Cake", 610, 7.1],
                    ["Coffee", 1930, 5.8],
                    ["Tea", 880, 2.6],
                ],
            )
        },
    ),
)

_OVERVIEW: Final = Report(
    asked_for=re.compile(r"\b(sales|revenue|turnover)\b", re.IGNORECASE),
    document=Document(
        blocks=(
            {"type": "heading", "text": "Your sales", "size": "xl"},
            {
                "type": "columns",
                "children": [
                    {
                        "type": "metric",
                        "label": "Sales",
                        "value": "26,300",
                        "delta": "+67 %",
                        "trend": "up",
                        "helper": "against last month",
                    },
                    {
                        "type": "metric",
                        "label": "Returned",
                        "value": "14",
                        "delta": "-3",
                        "trend": "down",
                    },
                    {"type": "metric", "label": "Shops", "value": "2", "trend": "flat"},
                ],
            },
            {
                "type": "chart",
                "id": "days_bar",
                "kind": "bar",
                "data": "this_week",
                "x": "day",
                "y": "sales",
                "title": "Sales by day",
            },
            {
                "type": "actions",
                "id": "weeks",
                "elements": [
                    {
                        "type": "segmented",
                        "id": "week",
                        "target": "days_bar",
                        "options": [
                            {"label": "This week", "data": "this_week"},
                            {"label": "Last week", "data": "last_week"},
                        ],
                    },
                    {
                        "type": "button",
                        "id": "last_week",
                        "text": "Compare with last week",
                        "variant": "ghost",
                        "action": {"kind": "select", "target": "days_bar", "data": "last_week"},
                    },
                    {
                        "type": "button",
                        "id": "open_shop",
                        "text": "Open the shop",
                        "variant": "outline",
                        "action": {"kind": "open", "url": "https://shop.example/sales"},
                    },
                ],
            },
            {"type": "context", "text": "I'm a demo agent: all of these figures are made up."},
            suggestions(_MONTHS, _PRODUCTS, _DAYS, _FLYER),
        ),
        datasets={
            "this_week": dataset(
                {"day": "string", "sales": "number"},
                [["Mon", 820], ["Tue", 910], ["Wed", 760], ["Thu", 1040], ["Fri", 1380]],
            ),
            "last_week": dataset(
                {"day": "string", "sales": "number"},
                [["Mon", 640], ["Tue", 700], ["Wed", 815], ["Thu", 790], ["Fri", 1105]],
            ),
        },
    ),
)

_DRAWING: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="120">'
    '<rect width="320" height="120" fill="#f4e3c1"/>'
    '<ellipse cx="160" cy="60" rx="110" ry="38" fill="#b5793b"/>'
    "</svg>"
)

_OF_THE_SHOP: Final = Report(
    asked_for=re.compile(r"\b(show|see|look at)\b.*\b(flyer|poster|leaflet)\b", re.IGNORECASE),
    document=Document(
        blocks=(
            {"type": "heading", "text": "The flyer", "size": "md"},
            {
                "type": "image",
                "alt": "A loaf of bread",
                "src": f"data:image/svg+xml,{quote(_DRAWING)}",
            },
            {"type": "text", "markdown": "**Fresh bread** from seven, *every day* but Monday."},
            {"type": "callout", "status": "info", "text": "It is a draft: nothing is printed yet."},
            suggestions(_SALES),
        )
    ),
    preview={
        "type": "html",
        "title": "The flyer as a page",
        "html": "<h2>Fresh bread</h2><p>From <strong>seven</strong>, every day but Monday.</p>",
        "height": "sm",
    },
)

REPORTS: Final[tuple[Report, ...]] = (_BY_MONTH, _BY_PRODUCT, _OVERVIEW, _OF_THE_SHOP)
"""All of them, the first that fits a prompt first."""

"""The closed catalog: every block, element, action and dataset by its fields (spec blocks 5, 6, 8).

The validator, the JSON Schema and the prompt's section are made from these tables, so that a field
and its limit are written down once.
"""

from typing import Final

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.cells import RowsForm
from parleyd.contract.blocks.forms import (
    CountForm,
    EnumForm,
    FlagForm,
    MappingForm,
    NumberForm,
    PatternForm,
    StringForm,
    TextForm,
)
from parleyd.contract.blocks.records import ChildrenForm, Field, ListForm, RecordForm, tagged

ID: Final = PatternForm(
    f"[a-z][a-z0-9_]{{0,{limits.ID - 1}}}",
    f"an id of at most {limits.ID} lower-case letters, digits and `_` that begins with a letter",
)
"""Of blocks, elements, datasets and columns (4.3)."""

CALLBACK: Final = PatternForm(
    f"[a-z][A-Za-z0-9_]{{0,{limits.ID - 1}}}",
    f"a name of at most {limits.ID} letters, digits and `_` that begins with a lower-case letter",
)
REF_ID: Final = PatternForm(
    f"[A-Za-z0-9_-]{{1,{limits.REF_ID}}}",
    f"an id of 1 to {limits.REF_ID} letters, digits, `_` and `-`",
)

LAYOUT_TYPES: Final = frozenset({"columns", "card"})
"""Blocks that hold blocks, and that no block may hold."""

BOUND_TYPES: Final = frozenset({"chart", "table"})
"""Blocks that show a dataset, which actions can switch."""

CHART_KINDS: Final = ("line", "bar", "area", "donut")
COLUMN_TYPES: Final = ("string", "number", "date")
GRAINS: Final = ("hour", "day", "week", "month")

_HEIGHT: Final = Field("height", EnumForm(("sm", "md", "lg")))
_NAME: Final = StringForm(limits.NAME)
_OPTIONAL_ID: Final = Field("id", ID)
_REQUIRED_ID: Final = Field("id", ID, required=True)

ACTION: Final = tagged(
    "kind",
    {
        "reply": (Field("text", TextForm(limits.PROSE), required=True),),
        "open": (
            Field("url", StringForm(limits.URL)),
            Field("route", StringForm(limits.ROUTE)),
        ),
        "select": (
            Field("target", _NAME, required=True),
            Field("data", _NAME, required=True),
        ),
        "callback": (
            Field("name", CALLBACK, required=True),
            Field("payload", MappingForm()),
        ),
    },
)
"""What a button does (8.2)."""

OPTION: Final = RecordForm(
    (
        Field("label", TextForm(limits.SEGMENTED_LABEL), required=True),
        Field("data", _NAME, required=True),
    )
)
"""An option of a segmented control."""

ELEMENT: Final = tagged(
    "type",
    {
        "button": (
            _REQUIRED_ID,
            Field("text", TextForm(limits.SHORT_TEXT), required=True),
            Field("action", ACTION, required=True),
            Field(
                "variant",
                EnumForm(("primary", "secondary", "outline", "ghost", "destructive")),
            ),
            Field("iconName", StringForm(limits.ICON)),
        ),
        "segmented": (
            _REQUIRED_ID,
            Field("target", _NAME, required=True),
            Field(
                "options",
                ListForm(OPTION, limits.SEGMENTED_OPTIONS_MIN, limits.SEGMENTED_OPTIONS_MAX),
                required=True,
            ),
        ),
    },
)
"""What an actions block holds (8.1)."""

POINT: Final = RecordForm(
    (
        Field("label", TextForm(limits.SHORT_TEXT), required=True),
        Field("value", NumberForm(), required=True),
    )
)
"""A point of a chart that holds its own data."""

BLOCK: Final = tagged(
    "type",
    {
        "heading": (
            _OPTIONAL_ID,
            Field("text", TextForm(limits.HEADING), required=True),
            Field("size", EnumForm(("sm", "md", "lg", "xl", "2xl"))),
        ),
        "text": (
            _OPTIONAL_ID,
            Field("markdown", TextForm(limits.PROSE), required=True),
        ),
        "metric": (
            _OPTIONAL_ID,
            Field("label", TextForm(limits.SHORT_TEXT), required=True),
            Field("value", TextForm(limits.SHORT_TEXT), required=True),
            Field("delta", TextForm(limits.METRIC_DELTA)),
            Field("helper", TextForm(limits.METRIC_HELPER)),
            Field("trend", EnumForm(("up", "down", "flat"))),
        ),
        "badge": (
            _OPTIONAL_ID,
            Field("text", TextForm(limits.SHORT_TEXT), required=True),
            Field(
                "status",
                EnumForm(("info", "error", "warning", "success", "neutral", "active")),
            ),
        ),
        "divider": (_OPTIONAL_ID,),
        "context": (
            _OPTIONAL_ID,
            Field("text", TextForm(limits.CONTEXT), required=True),
        ),
        "chart": (
            _OPTIONAL_ID,
            Field("kind", EnumForm(CHART_KINDS), required=True),
            Field("data", _NAME),
            Field("x", _NAME),
            Field("y", _NAME),
            Field("points", ListForm(POINT, most=limits.CHART_POINTS)),
            Field("title", TextForm(limits.TITLE)),
            Field("legend", FlagForm()),
            Field("emptyText", TextForm(limits.CONTEXT)),
            _HEIGHT,
        ),
        "table": (
            _OPTIONAL_ID,
            Field("data", _NAME, required=True),
            Field("columns", ListForm(_NAME, 1)),
            Field("title", TextForm(limits.TITLE)),
        ),
        "actions": (
            _REQUIRED_ID,
            Field("elements", ListForm(ELEMENT, 1, limits.ELEMENTS), required=True),
        ),
        "columns": (
            _OPTIONAL_ID,
            Field(
                "children",
                ChildrenForm(limits.COLUMNS_CHILDREN_MIN, limits.COLUMNS_CHILDREN_MAX),
                required=True,
            ),
        ),
        "card": (
            _OPTIONAL_ID,
            Field("children", ChildrenForm(1, limits.CARD_CHILDREN), required=True),
            Field("title", TextForm(limits.TITLE)),
        ),
        "html": (
            _OPTIONAL_ID,
            Field("html", StringForm(), required=True),
            Field("title", TextForm(limits.LONG_TITLE)),
            _HEIGHT,
        ),
        "callout": (
            _OPTIONAL_ID,
            Field("text", TextForm(limits.PROSE), required=True),
            Field("status", EnumForm(("info", "warning", "alert"))),
        ),
        "image": (
            _OPTIONAL_ID,
            Field("alt", TextForm(limits.LONG_TITLE), required=True),
            Field("src", StringForm(limits.IMAGE_SOURCE), required=True),
        ),
        "details": (
            _OPTIONAL_ID,
            Field("title", TextForm(limits.LONG_TITLE), required=True),
            Field("text", TextForm(limits.PROSE), required=True),
        ),
    },
)
"""The 15 blocks (5)."""

COLUMN: Final = RecordForm(
    (
        Field("name", ID, required=True),
        Field("type", EnumForm(COLUMN_TYPES), required=True),
    )
)
"""A column of an inline dataset."""

INLINE: Final = RecordForm(
    (
        Field("columns", ListForm(COLUMN, 1), required=True),
        Field("rows", RowsForm(), required=True),
        Field("source", EnumForm(("inline",))),
    )
)
"""A dataset that stands in the document with all its rows (6.1)."""

REF: Final = RecordForm(
    (
        Field("source", EnumForm(("ref",)), required=True),
        Field("id", REF_ID, required=True),
        Field("grain", EnumForm(GRAINS)),
        Field("limit", CountForm(limits.REF_LIMIT)),
    )
)
"""A dataset that the server keeps (6.2)."""

"""Every limit of block documents, in one place (spec blocks 12).

Validator, prompt, JSON Schema and docs read them from here. Lengths are in UTF-16 code units unless
the name says else.
"""

from typing import Final

BLOCKS: Final = 50
"""Of a document, nested ones included."""
DEPTH: Final = 2
COLUMNS_CHILDREN_MIN: Final = 2
COLUMNS_CHILDREN_MAX: Final = 4
CARD_CHILDREN: Final = 50
ELEMENTS: Final = 25
SEGMENTED_OPTIONS_MIN: Final = 2
SEGMENTED_OPTIONS_MAX: Final = 8
SEGMENTED_LABEL: Final = 40
DATASETS: Final = 8
DATASET_ROWS: Final = 500
DATASET_COLUMNS: Final = 12
TABLE_COLUMNS: Final = 12
CHART_POINTS: Final = 500
REF_LIMIT: Final = 1000
BAR_CATEGORIES: Final = 60
"""A bar chart with more draws a warning."""
DONUT_SLICES: Final = 8
"""A donut with more draws a warning."""

HEADING: Final = 200
PROSE: Final = 4000
"""Of a text block, of the text of a callout, of details and of a reply."""
SHORT_TEXT: Final = 80
"""Of a badge, a metric's label and value, a point's label and a button's text."""
METRIC_DELTA: Final = 40
METRIC_HELPER: Final = 120
CONTEXT: Final = 280
"""Of a context block and of the text of an empty chart."""
TITLE: Final = 120
"""Of a card, a chart and a table."""
LONG_TITLE: Final = 200
"""Of an html block, of details, and of the alternative text of an image."""
NAME: Final = 64
"""Of `data`, `x`, `y`, `target`, an option's `data` and a column's name in a table."""
ID: Final = 64
"""Of ids of blocks and elements, and of names of datasets, their columns and callbacks (4.3)."""
REF_ID: Final = 80
ROUTE: Final = 200
URL: Final = 2000
ICON: Final = 40
HTML_BYTES: Final = 100_000
IMAGE_SOURCE: Final = 100_000
PROSE_TOTAL: Final = 20_000

TEXT_BYTES: Final = 2 * 1024 * 1024
"""A longer text is no document (2.2); that cap is ours."""
LEVELS: Final = 200
"""How deep collections may be nested (2.2)."""
ISSUES_REPORTED: Final = 3000
"""A check stops after so many errors; that bound is ours, against hostile documents."""

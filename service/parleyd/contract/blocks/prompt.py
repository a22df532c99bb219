"""What the model is told about documents (spec blocks 16). Every number comes from `limits.py`."""

from collections.abc import Sequence
from typing import Final

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.catalog import (
    ACTION,
    BLOCK,
    COLUMN_TYPES,
    ELEMENT,
    GRAINS,
    OPTION,
    POINT,
)
from parleyd.contract.blocks.faults import either, ticked
from parleyd.contract.blocks.forms import (
    EnumForm,
    FlagForm,
    Form,
    MappingForm,
    NumberForm,
    PatternForm,
    StringForm,
    TextForm,
)
from parleyd.contract.blocks.images import usable_hosts
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.records import ChildrenForm, Field, ListForm, RecordForm

HEADING: Final = "## The form of your reply"
"""Begins what the model is told about documents: a system prompt without it wants none."""

NO_HTML: Final = "There are no `html` blocks here: do not emit any."
"""Stands there where no HTML is allowed."""

EXAMPLE_WITH_DATA: Final = """\
v: 1
datasets:
  loans:
    columns:
      - {name: branch, type: string}
      - {name: total, type: number}
    rows:
      - [Harbour, 41]
      - [Hillside, 17.5]
blocks:
  - type: heading
    text: Loans by branch
  - type: chart
    id: loans_chart
    kind: bar
    data: loans
    x: branch
    y: total
    title: "Loans this week, in thousands"
  - type: actions
    id: next
    elements:
      - type: button
        id: by_month
        text: Show months
        action: {kind: reply, text: Show me the loans by month}
"""

EXAMPLE_OF_PROSE: Final = """\
v: 1
blocks:
  - type: text
    markdown: |-
      The library **opens at 9** on weekdays.

      Note: on holidays it stays closed.
"""

_NOTES: Final = {
    "metric": 'one figure; `value` is a text, so put a number in quotes: `value: "318"`',
    "divider": "a line between blocks",
    "context": "a small remark",
    "chart": "see Data",
    "table": "see Data",
    "actions": "buttons and segmented controls, see Actions",
    "columns": "blocks side by side",
    "card": "blocks in a frame",
    "callout": "a remark in plain text that stands out",
    "image": "see Images",
    "details": "plain text that unfolds below its title",
    "html": "a preview for display alone: no scripts, no links, no network",
}
"""What is to be said of a block beside its fields."""


_ACTION_NOTES: Final = {
    "reply": "sends `text` as the person's next message",
    "open": "exactly one of the two; asks the app to open it",
    "select": "shows the dataset `data` in the chart or table `target`",
    "callback": "calls the app",
}
"""What an action does."""


def prompt_section(options: BlockOptions) -> str:
    """Returns the system prompt's part about documents, where a deployment has them on.

    The same options always give the same text.
    """
    return "\n\n".join(
        [
            _DOCUMENT,
            _blocks(html=options.html),
            _DATA,
            _actions(options.host_actions or ()),
            _images(usable_hosts(options.image_hosts)),
            _LIMITS,
            _EXAMPLES,
        ]
    )


def _blocks(*, html: bool) -> str:
    shown = [name for name in BLOCK.records if html or name != "html"]
    lines = "\n".join(_line(name, BLOCK.records[name], _NOTES.get(name)) for name in shown)
    off = "" if html else f"\n\n{NO_HTML}"
    return f"""\
### Blocks

The types are {ticked(shown)}. Every block has a `type`, and an `id` if it needs one: at most \
{limits.ID} lower-case letters, digits and `_`, beginning with a letter; no two blocks or elements \
have the same one. A number below is the most characters that a field may have.

{lines}

`columns` and `card` stand only at the top level; inside them stand any other blocks. `columns` \
has {limits.COLUMNS_CHILDREN_MIN} to {limits.COLUMNS_CHILDREN_MAX} `children`, `card` 1 to \
{limits.CARD_CHILDREN}.{off}"""


def _actions(callbacks: Sequence[str]) -> str:
    elements = "\n".join(_line(name, record, None) for name, record in ELEMENT.records.items())
    kinds = "\n".join(
        _line(kind, record, _ACTION_NOTES[kind])
        for kind, record in ACTION.records.items()
        if callbacks or kind != "callback"
    )
    names = (
        f"The names that a `callback` may have are exactly {ticked(callbacks)}."
        if callbacks
        else "Do not emit the action kind `callback`: no names are registered."
    )
    return f"""\
### Actions

An `actions` block needs an `id` and has 1 to {limits.ELEMENTS} `elements`, each with a `type` and \
an `id`:

{elements}

An option of `segmented` is a mapping of {_fields(OPTION)}; its `data` is the name of a dataset. A \
`target` is the id of a chart or table of this document. An `action` is a mapping with a `kind`:

{kinds}

{names}"""


def _images(hosts: Sequence[str]) -> str:
    allowed = (
        f"an `https://` URL whose host is exactly one of {ticked(hosts)}"
        if hosts
        else "an `https://` URL, but no host is allowed, so do not emit https images"
    )
    return f"""\
### Images

An `image` needs `alt` and `src`. `src` is one of: `file:` and the id of a file of this \
conversation; a `data:image/` URL; {allowed}."""


def _line(name: str, record: RecordForm, note: str | None) -> str:
    """Returns a line about a record of the catalog: its fields, but for its tag and its id."""
    its = [field for field in record.fields[1:] if field.name != "id"]
    required = ", ".join(_field(field) for field in its if field.required)
    optional = ", ".join(_field(field) for field in its if not field.required)
    parts = [required, f"optional {optional}" if optional else "", note or ""]
    says = "; ".join(filter(None, parts))
    return f"- `{name}`: {says}." if says else f"- `{name}`."


def _fields(record: RecordForm) -> str:
    return " and ".join(_field(field) for field in record.fields)


def _field(field: Field) -> str:
    says = _brief(field.form)
    return f"`{field.name}` ({says})" if says else f"`{field.name}`"


def _brief(form: Form) -> str:
    """Returns the shortest words that say what may stand in a field."""
    match form:
        case TextForm() | StringForm():
            return "" if form.most is None else str(form.most)
        case EnumForm():
            return either(form.values)
        case FlagForm():
            return "true or false"
        case NumberForm():
            return "a number"
        case ListForm() | ChildrenForm() if form.most is not None:
            return f"{form.least} to {form.most} items"
        case PatternForm():
            return form.noun
        case MappingForm():
            return "a mapping"
        case _:
            return ""


_DOCUMENT: Final = f"""\
{HEADING}

Your entire reply is one document, and nothing else: no text before or after it, and no text \
before a tool call. It is a mapping in YAML 1.2 or JSON with the keys `v`, `datasets` and \
`blocks`, in that order. `v` is the number 1. `datasets` is optional. `blocks` holds 1 to \
{limits.BLOCKS} blocks; what you want to say in prose goes into `text` blocks.

- Use no keys, types or values but those below, and leave out an optional field instead of setting \
it to null.
- In YAML indent each dash below `blocks:` by two spaces, write texts of several lines after `|-`, \
and put a text in quotes if it contains `: ` or ` #` or begins with a sign such as `*`, `&`, `!`, \
`@`, `-` or `[`. Anchors, aliases and tags are not allowed.
- Lengths are in characters, of which an emoji counts as two or more. No text may be blank."""


_DATA: Final = f"""\
### Data

- A dataset in the document has `columns`, each a mapping of `name` and `type` \
({either(COLUMN_TYPES)}), and `rows`, each with one cell for each column. Number columns take \
numbers, the others texts that are not blank; null is not allowed. At most {limits.DATASET_ROWS} \
rows and {limits.DATASET_COLUMNS} columns.
- A dataset that a tool returned has `source: ref` and as `id` the dataset id that the tool gave \
you; optional `grain` ({either(GRAINS)}) and `limit` (1 to {limits.REF_LIMIT}). Use it whenever a \
tool gave you such an id, and never paste more than {limits.DATASET_ROWS} rows.
- A dataset's key in `datasets` is its name; at most {limits.DATASETS} datasets. Names of datasets \
and columns have the form of an `id`.
- A `chart` has either `points`, each a mapping of {_fields(POINT)}, or all three of `data`, `x` \
and `y`, never both. `data` is the name of a dataset of this document, `x` a string or date \
column of it, `y` a number column. There is one series.
- Use `bar` for at most {limits.BAR_CATEGORIES} categories, `donut` for at most \
{limits.DONUT_SLICES} slices, `line` for at least 2 points.
- A `table` shows the dataset `data`, all its columns or those named in `columns`, at most \
{limits.TABLE_COLUMNS}."""

_LIMITS: Final = f"""\
### Limits

At most {limits.BLOCKS} blocks, nested ones included, nested to a depth of {limits.DEPTH}; \
{limits.ELEMENTS} elements in an actions block; {limits.DATASETS} datasets; {limits.PROSE} \
characters in a text block and {limits.PROSE_TOTAL} in the texts of the whole document; \
{limits.HTML_BYTES} bytes in an html block."""

_EXAMPLES: Final = f"""\
### Examples

<example>
{EXAMPLE_WITH_DATA}</example>

<example>
{EXAMPLE_OF_PROSE}</example>"""

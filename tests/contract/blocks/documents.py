"""Documents: by hand, valid by hypothesis, and mostly wrong somewhere."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.validation import validate

LENIENT: Final = BlockOptions(html=True, image_hosts=("img.books.example",))
"""What valid documents by hypothesis need."""


def document(*blocks: Any, **datasets: Any) -> dict[str, JsonValue]:
    """Returns a document of these blocks and datasets."""
    its: dict[str, JsonValue] = {"datasets": dict(datasets)} if datasets else {}
    return {"v": 1, **its, "blocks": list(blocks)}


def inline(*columns: str, rows: list[Any] | None = None) -> dict[str, JsonValue]:
    """Returns an inline dataset; a column is written `name:type`."""
    pairs = [column.split(":") for column in columns]
    return {
        "columns": [{"name": name, "type": its_type} for name, its_type in pairs],
        "rows": [] if rows is None else rows,
    }


def button(its_id: str, action: JsonValue) -> dict[str, JsonValue]:
    """Returns a button that does `action`."""
    return {"type": "button", "id": its_id, "text": "Go", "action": action}


def actions(its_id: str, *elements: JsonValue) -> dict[str, JsonValue]:
    """Returns an actions block."""
    return {"type": "actions", "id": its_id, "elements": list(elements)}


def errors(value: JsonValue, options: BlockOptions | None = None) -> list[tuple[str, str]]:
    """Returns path and code of every error of a document."""
    verdict = validate(value, options or BlockOptions())
    return [(error.path, str(error.code)) for error in verdict.errors]


def warnings(value: JsonValue) -> list[tuple[str, str]]:
    """Returns path and code of every warning about a document."""
    return [(issue.path, str(issue.code)) for issue in validate(value, BlockOptions()).warnings]


# ---------------------------------------------------------------- valid ones

_CELL_TEXTS = st.text("abcä🚢 ", min_size=1, max_size=6).map(lambda text: f"t{text}")
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map(lambda it: f"t{it}")
_NUMBERS = st.one_of(
    st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False)
)


def _with(required: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, JsonValue]]:
    return st.fixed_dictionaries(
        {key: _drawn(value) for key, value in required.items()},
        optional=optional,
    )


def _drawn(value: Any) -> st.SearchStrategy[Any]:
    return st.just(value) if isinstance(value, str) else value


_HEIGHTS = st.sampled_from(["sm", "md", "lg"])
_POINTS = st.lists(_with({"label": _TEXTS, "value": _NUMBERS}), max_size=4)

LEAVES: Final = st.one_of(
    _with({"type": "heading", "text": _TEXTS}, size=st.sampled_from(["sm", "xl", "2xl"])),
    _with({"type": "text", "markdown": _TEXTS}),
    _with(
        {"type": "metric", "label": _TEXTS, "value": _TEXTS},
        delta=_TEXTS,
        helper=_TEXTS,
        trend=st.sampled_from(["up", "down", "flat"]),
    ),
    _with({"type": "badge", "text": _TEXTS}, status=st.sampled_from(["info", "active"])),
    _with({"type": "divider"}),
    _with({"type": "context", "text": _TEXTS}),
    _with(
        {"type": "chart", "kind": st.sampled_from(["bar", "area", "donut"]), "points": _POINTS},
        title=_TEXTS,
        legend=st.booleans(),
        emptyText=_TEXTS,
        height=_HEIGHTS,
    ),
    _with({"type": "chart", "kind": "line", "data": "numbers", "x": "at", "y": "level"}),
    _with({"type": "table", "data": "far"}, columns=st.just(["any", "any"]), title=_TEXTS),
    _with({"type": "html", "html": _TEXTS}, title=_TEXTS, height=_HEIGHTS),
    _with({"type": "callout", "text": _TEXTS}, status=st.sampled_from(["info", "alert"])),
    _with(
        {
            "type": "image",
            "alt": _TEXTS,
            "src": st.sampled_from(["file:1", "data:image/png;x", "https://img.books.example/1"]),
        }
    ),
    _with({"type": "details", "title": _TEXTS, "text": _TEXTS}),
)
_ACTIONS = st.one_of(
    _with({"kind": "reply", "text": _TEXTS}),
    _with({"kind": "open", "url": _TEXTS}),
    _with({"kind": "open", "route": _TEXTS}),
    _with({"kind": "select", "target": "main", "data": "numbers"}),
    _with({"kind": "callback", "name": "goOn"}, payload=st.dictionaries(_TEXTS, st.none())),
)
_ELEMENTS = st.one_of(
    _with(
        {"type": "button", "text": _TEXTS, "action": _ACTIONS},
        variant=st.sampled_from(["primary", "ghost"]),
        iconName=_TEXTS,
    ),
    _with(
        {
            "type": "segmented",
            "target": "main",
            "options": st.lists(_with({"label": _TEXTS, "data": _TEXTS}), min_size=2, max_size=3),
        }
    ),
)
_BLOCKS = st.one_of(
    LEAVES,
    _with({"type": "card", "children": st.lists(LEAVES, min_size=1, max_size=3)}, title=_TEXTS),
    _with({"type": "columns", "children": st.lists(LEAVES, min_size=2, max_size=4)}),
    _with({"type": "actions", "elements": st.lists(_ELEMENTS, min_size=1, max_size=3)}),
)
_ROWS: st.SearchStrategy[list[Any]] = st.lists(
    st.tuples(_CELL_TEXTS, _NUMBERS).map(lambda cells: [*cells]), max_size=4
)


@st.composite
def valid_documents(draw: st.DrawFn) -> dict[str, JsonValue]:
    """Draws documents that are valid under the lenient options."""
    blocks: list[Any] = draw(st.lists(_BLOCKS, max_size=5))
    for index, block in enumerate(blocks):
        if block["type"] == "actions":
            block["id"] = f"actions_{index}"
            for place, element in enumerate(block["elements"]):
                element["id"] = f"element_{index}_{place}"
    rows: list[Any] = draw(_ROWS)
    return document(
        *blocks,
        {"type": "table", "id": "main", "data": "numbers"},
        numbers=inline("at:date", "level:number", rows=rows),
        far={"source": "ref", "id": "Far-1", "limit": draw(st.sampled_from([1, 5.0, 1000]))},
    )


# ---------------------------------------------------------------- wrong ones

_ODD_KEYS: Final = ["__proto__", "", "a.b", "[3]", "12", "ü", "\ud83d", "[" + "9" * 5000 + "]"]
_KEYS = st.sampled_from(
    [
        *("v", "datasets", "blocks", "type", "id", "kind", "text", "markdown", "children"),
        *("elements", "options", "action", "payload", "columns", "rows", "source", "limit"),
        *("points", "data", "x", "y", "target", "name", "label", "value", "html", "src", "alt"),
        *_ODD_KEYS,
    ]
)
_SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, 5.0, 1.5, -1, 1001, 10**308, 10**309, 10**4000]),
    st.floats(),
    st.sampled_from(["", " ", "\ufeff", "\n", "ref", "inline", "card", "columns", "chart", "open"]),
    st.sampled_from(["select", "callback", "constructor", "\udc00", "x" * 300, "🚢" * 60, "id\n"]),
)
ANYTHING: Final[st.SearchStrategy[Any]] = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=4)),
    max_leaves=15,
)
"""Any JSON value, rich in the words of documents."""


@st.composite
def spoilt_documents(draw: st.DrawFn) -> Any:
    """Draws valid documents in which one to three values are replaced, removed or added."""
    holder: list[Any] = [deepcopy(draw(valid_documents()))]
    for _ in range(draw(st.integers(1, 3))):
        places = [*_places(holder)]
        container, key = places[draw(st.integers(0, len(places) - 1))]
        match draw(st.sampled_from(["replace", "remove", "add"])):
            case "replace":
                container[key] = draw(ANYTHING)
            case "remove" if container is not holder:
                del container[key]
            case _ if isinstance(container[key], dict):
                container[key][draw(_KEYS)] = draw(ANYTHING)
            case _ if isinstance(container[key], list):
                container[key].append(draw(ANYTHING))
            case _:
                container[key] = draw(_SCALARS)
    return holder[0]


def _keys(container: Any) -> list[Any]:
    return [*container] if isinstance(container, dict) else [*range(len(container))]


def _places(container: Any) -> Iterator[tuple[Any, Any]]:
    for key in _keys(container):
        value: Any = container[key]
        yield container, key
        if isinstance(value, dict | list):
            yield from _places(value)

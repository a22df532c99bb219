"""Valid asks: a few by hand, and any number by hypothesis."""

from typing import Final

from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS, offered_kinds
from parleyd.contract.surfaces import Surface
from parleyd.contract.text import trim
from tests.contract.valid_drafts import drafts
from tests.contract.valid_files import file_asks
from tests.contract.valid_forms import forms
from tests.contract.valid_texts import IDS, AskInput, optional, visible

TRIP: Final[AskInput] = {
    "title": "Coast trip",
    "prompt": "How do you want to travel to the coast?",
    "select": "one",
    "options": [
        {"id": "train", "label": "Night train", "description": "Leaves at 22:10"},
        {"id": "ferry", "label": "Ferry"},
        {"id": "bus", "label": "Coach bus"},
    ],
}
SEEDS: Final[AskInput] = {
    "prompt": "Which seeds go in the order?",
    "select": "many",
    "options": [
        {"id": "basil", "label": "Basil"},
        {"id": "kale", "label": "Kale"},
        {"id": "leek", "label": "Leek"},
        {"id": "okra", "label": "Okra"},
    ],
}
POST: Final[AskInput] = {"prompt": "Post the rota?"}


def options(*ids: str) -> list[JsonValue]:
    """Returns options with these ids, each labelled by its position."""
    return [{"id": id_, "label": f"Option {index}"} for index, id_ in enumerate(ids)]


@st.composite
def _choices(draw: st.DrawFn, surface: Surface) -> AskInput:
    compact = surface == "compact"
    many = not compact and draw(st.booleans())
    most = limits.COMPACT_OPTIONS_MAX if compact else draw(st.sampled_from([3, 4, 8]))
    ids = draw(st.lists(IDS, min_size=2, max_size=most, unique=True))
    label = visible(limits.COMPACT_LABEL if compact else limits.OPTION_LABEL)
    labels = draw(
        st.lists(label, min_size=len(ids), max_size=len(ids), unique_by=trim if compact else None)
    )
    described: st.SearchStrategy[AskInput] = st.fixed_dictionaries(
        {}, optional={"description": visible(30)}
    )
    listed: list[JsonValue] = [
        {"id": id_, "label": text, **draw(described)} for id_, text in zip(ids, labels, strict=True)
    ]
    ask = draw(
        st.fixed_dictionaries(
            {"prompt": visible(200)},
            optional=optional(
                title=visible(limits.TITLE),
                submitLabel=visible(limits.SUBMIT_LABEL),
                allowDecline=st.booleans(),
            ),
        )
    )
    ask |= {"select": "many" if many else "one", "options": listed}
    ceiling = 1
    if many:
        other = draw(st.booleans())
        if other or draw(st.booleans()):
            ask["allowOther"] = other
        if other and draw(st.booleans()):
            ask["otherLabel"] = draw(visible(limits.OPTION_LABEL))
        ceiling = len(ids) + other
        if draw(st.booleans()):
            ceiling = draw(st.integers(1, ceiling))
            ask["maxSelected"] = draw(st.sampled_from([ceiling, float(ceiling)]))
        if draw(st.booleans()):
            ask["minSelected"] = draw(st.integers(0, ceiling))
    elif not compact and draw(st.booleans()):
        ask |= {"minSelected": 1, "maxSelected": 1.0}
    if draw(st.booleans()):
        ask["default"] = draw(
            st.lists(st.sampled_from(ids), max_size=min(ceiling, len(ids)), unique=True)
        )
    return ask


def _confirms() -> st.SearchStrategy[AskInput]:
    label = visible(limits.CONFIRM_LABEL)
    return st.fixed_dictionaries(
        {"prompt": visible(200)},
        optional=optional(
            title=visible(limits.TITLE),
            confirmLabel=label,
            denyLabel=label,
            destructive=st.booleans(),
            allowDecline=st.booleans(),
        ),
    ).filter(
        lambda ask: trim(ask.get("confirmLabel", "Confirm")) != trim(ask.get("denyLabel", "Cancel"))
    )


@st.composite
def asks(draw: st.DrawFn, surface: Surface) -> tuple[AskKind, AskInput]:
    """Draws valid asks of every kind the surface offers."""
    drawn: dict[AskKind, st.SearchStrategy[AskInput]] = {
        "choice": _choices(surface),
        "confirm": _confirms(),
        "markdown": drafts(),
        "form": forms(),
        "files": file_asks(),
    }
    kind = draw(st.sampled_from(offered_kinds(ASK_KINDS, surface)))
    return kind, draw(drawn[kind])

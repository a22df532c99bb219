"""`choice`: pick one option or several, if wanted with an answer of one's own (spec asks 5, 11)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from parleyd.contract import limits
from parleyd.contract.asks.choice_texts import (
    COMPACT_BLOCK,
    COMPACT_TOOL,
    FULL_BLOCK,
    FULL_TOOL,
)
from parleyd.contract.asks.kind import (
    ALLOW_DECLINE,
    PROMPT,
    SKIP,
    SUBMIT_LABEL,
    TITLE,
    AnswerButton,
    Face,
    Kind,
    Offer,
)
from parleyd.contract.asks.repeats import repeats
from parleyd.contract.field_errors import Code, Fault, listed, quoted
from parleyd.contract.json import JsonObject, flag_at, objects_at, string_at, strings_at, whole_at
from parleyd.contract.records import Key, RecordShape
from parleyd.contract.shapes import (
    BooleanShape,
    EnumShape,
    IdShape,
    ListShape,
    StringShape,
    TextShape,
    WholeShape,
)
from parleyd.contract.text import cut, trim


def _shape(
    select: Key, *, most: int, label: int, default: int, more: tuple[Key, ...]
) -> RecordShape:
    option = RecordShape(
        (
            Key("id", IdShape(), "Names the option in the answer; unique.", required=True),
            Key("label", TextShape(label), "What the person picks.", required=True),
            Key("description", TextShape(limits.OPTION_DESCRIPTION), "Explains the option."),
        )
    )
    return RecordShape(
        (
            TITLE,
            PROMPT,
            select,
            Key(
                "options",
                ListShape(option, most, limits.OPTIONS_MIN),
                "What the person picks from, in the order to show it.",
                required=True,
            ),
            Key("default", ListShape(StringShape(), default), "Ids of options picked beforehand."),
            *more,
            SUBMIT_LABEL,
            ALLOW_DECLINE,
        )
    )


_FULL_SHAPE = _shape(
    Key("select", EnumShape(("one", "many")), "Pick exactly one, or several.", required=True),
    most=limits.OPTIONS_MAX,
    label=limits.OPTION_LABEL,
    default=limits.OPTIONS_MAX,
    more=(
        Key("minSelected", WholeShape(0), "The fewest picks, with `many` only."),
        Key("maxSelected", WholeShape(1), "The most picks, with `many` only."),
        Key("allowOther", BooleanShape(), "Offers an answer of one's own, with `many` only."),
        Key("otherLabel", TextShape(limits.OPTION_LABEL), "Names the answer of one's own."),
    ),
)
_COMPACT_SHAPE = _shape(
    Key("select", EnumShape(("one",)), "Pick exactly one.", required=True),
    most=limits.COMPACT_OPTIONS_MAX,
    label=limits.COMPACT_LABEL,
    default=limits.COMPACT_DEFAULT_MAX,
    more=(),
)
_CONTENT = RecordShape(
    (
        Key(
            "selected",
            ListShape(StringShape(), limits.OPTIONS_MAX),
            "The ids of the picked options.",
            required=True,
        ),
        Key("other", TextShape(limits.OTHER), "The person's own answer."),
    )
)


@dataclass(frozen=True)
class _Choice:
    """A choice as its rules see it, values as sent."""

    many: bool
    ids: tuple[str, ...]
    labels: tuple[str, ...]
    default: tuple[str, ...]
    min_selected: int | None
    max_selected: int | None
    allow_other: bool
    names_other: bool

    @staticmethod
    def read(ask_input: JsonObject) -> "_Choice":
        options = objects_at(ask_input, "options")
        return _Choice(
            many=string_at(ask_input, "select") == "many",
            ids=tuple(string_at(option, "id") or "" for option in options),
            labels=tuple(string_at(option, "label") or "" for option in options),
            default=strings_at(ask_input, "default"),
            min_selected=whole_at(ask_input, "minSelected"),
            max_selected=whole_at(ask_input, "maxSelected"),
            allow_other=flag_at(ask_input, "allowOther") is True,
            names_other="otherLabel" in ask_input,
        )

    @property
    def offered(self) -> int:
        """How many things there are to pick (CH4)."""
        return len(self.ids) + self.allow_other

    @property
    def least(self) -> int:
        """How few picks an answer may have (CH4)."""
        return 1 if not self.many or self.min_selected is None else self.min_selected

    @property
    def most(self) -> int:
        """How many picks an answer may have (CH4)."""
        if not self.many:
            return 1
        return self.offered if self.max_selected is None else self.max_selected


def _rules(ask_input: JsonObject) -> Iterator[Fault]:
    """Yields what breaks CH3 to CH6."""
    choice = _Choice.read(ask_input)
    for index in repeats(choice.ids):
        yield Fault(
            ("options", index, "id"),
            Code.DUPLICATE_ID,
            f"`options[{index}].id` is {quoted(choice.ids[index])}, like an option before it.",
            f"Give `options[{index}]` an id of its own.",
        )
    yield from _bounds(choice) if choice.many else _bounds_of_one(choice)
    yield from _default(choice)
    yield from _other(choice)


def _compact_rules(ask_input: JsonObject) -> Iterator[Fault]:
    """Yields what breaks CH3, CH5 and CS2."""
    yield from _rules(ask_input)
    labels = [trim(label) for label in _Choice.read(ask_input).labels]
    for index in repeats(labels):
        yield Fault(
            ("options", index, "label"),
            Code.DUPLICATE_LABEL,
            f"`options[{index}].label` reads {quoted(labels[index])}, like an option before it.",
            f"Give `options[{index}]` a label of its own.",
        )


def _bounds_of_one(choice: _Choice) -> Iterator[Fault]:
    for key, bound in (("minSelected", choice.min_selected), ("maxSelected", choice.max_selected)):
        if bound is not None and bound != 1:
            yield Fault(
                (key,),
                Code.RANGE_INVALID,
                f'`{key}` is not 1, but with `select` "one" an answer has exactly one pick.',
                f'Leave out `{key}`, or set `select` to "many".',
            )


def _bounds(choice: _Choice) -> Iterator[Fault]:
    if choice.most > choice.offered:
        yield Fault(
            ("maxSelected",),
            Code.RANGE_INVALID,
            f"`maxSelected` is more than the {choice.offered} choices there are.",
            f"Set `maxSelected` to {choice.offered} or less, or leave it out.",
        )
    ceiling = min(choice.most, choice.offered)
    if choice.least > ceiling:
        absent = "" if choice.min_selected is not None else ", which is 1 when absent,"
        yield Fault(
            ("minSelected",),
            Code.RANGE_INVALID,
            f"`minSelected`{absent} is more than the most picks an answer can have.",
            f"Set `minSelected` to {max(ceiling, 0)} or less, or allow more picks.",
        )


def _default(choice: _Choice) -> Iterator[Fault]:
    if len(choice.default) > choice.most:
        yield Fault(
            ("default",),
            Code.SELECTION_COUNT,
            f"The picks in `default` are {len(choice.default)}, more than an answer may have.",
            f"Shorten `default` to at most {max(choice.most, 0)}.",
        )
    if choice.many:
        for index in repeats(choice.default):
            yield Fault(
                ("default", index),
                Code.DUPLICATE_ID,
                f"`default[{index}]` is {quoted(choice.default[index])} once more.",
                f"Remove `default[{index}]`.",
            )
    offered = frozenset(choice.ids)
    for index, picked in enumerate(choice.default):
        if picked not in offered:
            yield Fault(
                ("default", index),
                Code.DEFAULT_NOT_IN_OPTIONS,
                f"`default[{index}]` is {quoted(picked)}, which is the id of no option.",
                f"Set `default[{index}]` to one of {listed(choice.ids)}, or remove it.",
            )


def _other(choice: _Choice) -> Iterator[Fault]:
    if choice.allow_other and not choice.many:
        yield Fault(
            ("allowOther",),
            Code.OTHER_NOT_ALLOWED,
            '`allowOther` is true, but with `select` "one" there is no other answer.',
            'Set `select` to "many" and `maxSelected` to 1, or leave out `allowOther`.',
        )
    if choice.names_other and not choice.allow_other:
        yield Fault(
            ("otherLabel",),
            Code.OTHER_NOT_ALLOWED,
            "`otherLabel` names another answer, but `allowOther` is not true.",
            "Leave out `otherLabel`, or set `allowOther` to true.",
        )


def _content_rules(ask_input: JsonObject, content: JsonObject) -> Iterator[Fault]:
    """Yields what breaks CH7 and CH8."""
    return _misfits(_Choice.read(ask_input), content)


def _misfits(choice: _Choice, content: JsonObject) -> Iterator[Fault]:
    selected = strings_at(content, "selected")
    has_other = "other" in content
    count = len(selected) + (has_other and choice.allow_other)
    if not choice.least <= count <= choice.most:
        exact = choice.least == choice.most
        picks = f"exactly {choice.most}" if exact else f"{choice.least} to {choice.most}"
        own = ", counting `content.other` as one" if choice.allow_other else ""
        yield Fault(
            ("content", "selected"),
            Code.SELECTION_COUNT,
            f"The number of picks in `content.selected` is {count}, which does not fit.",
            f"Make the number of picks in `content.selected` {picks}{own}.",
        )
    repeated = frozenset(repeats(selected))
    offered = frozenset(choice.ids)
    for index, picked in enumerate(selected):
        here = ("content", "selected", index)
        if index in repeated:
            yield Fault(
                here,
                Code.DUPLICATE_ID,
                f"`content.selected[{index}]` is {quoted(picked)} once more.",
                f"Remove `content.selected[{index}]`.",
            )
        elif picked not in offered:
            yield Fault(
                here,
                Code.OPTION_NOT_OFFERED,
                f"`content.selected[{index}]` is {quoted(picked)}, which is the id of no option.",
                f"Set `content.selected[{index}]` to one of {listed(choice.ids)}.",
            )
    if has_other and not choice.allow_other:
        yield Fault(
            ("content", "other"),
            Code.OTHER_NOT_ALLOWED,
            "`content.other` is an answer that this question does not take.",
            "Leave out `content.other` and pick from the options.",
        )


def _face(ask_input: JsonObject) -> Face:
    """Returns the buttons of SC4 to SC7."""
    choice = _Choice.read(ask_input)
    if choice.many:
        return Face(tuple(_suggested(choice)), handoff=True)
    if len(choice.ids) > limits.CARD_BUTTONS:
        return Face(tuple(_shortcut(choice)), handoff=True)
    labels = [cut(trim(label), limits.CARD_LABEL) for label in choice.labels]
    if len({*labels}) < len(labels):
        return Face((), handoff=True)
    default = choice.default[0] if choice.default else None
    buttons = [
        AnswerButton(
            id=f"option:{option_id}",
            label=label,
            style="primary" if option_id == default else "default",
            content={"selected": [option_id]},
        )
        for option_id, label in zip(choice.ids, labels, strict=True)
    ]
    return Face(tuple(sorted(buttons, key=lambda b: b.style != "primary")), handoff=False)


def _suggested(choice: _Choice) -> Iterator[AnswerButton]:
    content: JsonObject = {"selected": [*choice.default]}
    if choice.default and not any(_misfits(choice, content)):
        yield AnswerButton("use-default", "Use suggested", "primary", content)


def _shortcut(choice: _Choice) -> Iterator[AnswerButton]:
    labels = [cut(trim(label), limits.CARD_USE_LABEL) for label in choice.labels]
    for picked in choice.default[:1]:
        label = labels[choice.ids.index(picked)]
        if labels.count(label) == 1:
            yield AnswerButton("use-default", f'Use "{label}"', "primary", {"selected": [picked]})


CHOICE: Final = Kind(
    name="choice",
    offers={
        "full": Offer(
            shape=_FULL_SHAPE,
            rules=_rules,
            tool=FULL_TOOL,
            block=FULL_BLOCK,
        ),
        "compact": Offer(
            shape=_COMPACT_SHAPE,
            rules=_compact_rules,
            tool=COMPACT_TOOL,
            block=COMPACT_BLOCK,
        ),
    },
    content=_CONTENT,
    content_rules=_content_rules,
    skippable=True,
    face=_face,
    standing=SKIP,
)

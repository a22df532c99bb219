"""What makes a kind of ask. Each kind is one value of `Kind` in a file of its own."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from parleyd.contract import limits
from parleyd.contract.field_errors import Fault
from parleyd.contract.json import JsonObject, flag_at
from parleyd.contract.records import Key, RecordShape
from parleyd.contract.shapes import BooleanShape, TextShape
from parleyd.contract.surfaces import Surface

AskKind: TypeAlias = Literal["choice", "confirm", "markdown", "form", "files"]
ButtonStyle: TypeAlias = Literal["default", "primary", "destructive", "cancel"]

PROMPT: Final = Key(
    "prompt",
    TextShape(limits.PROMPT),
    "What you ask, in plain text without markdown and links.",
    required=True,
)
TITLE: Final = Key("title", TextShape(limits.TITLE), "A short heading above the prompt.")
SUBMIT_LABEL: Final = Key(
    "submitLabel", TextShape(limits.SUBMIT_LABEL), "What the button says that sends the answer."
)
ALLOW_DECLINE: Final = Key(
    "allowDecline", BooleanShape(), "Whether the person may skip the question; true when absent."
)
"""The keys every ask has (spec asks 4); `confirm` differs in the last two."""

ID_LINE: Final = f"""\
- An `id` is unique in its list and has at most {limits.ID} characters: lower-case letters, \
digits, `_` and `-`, beginning with a letter or digit."""
SUBMIT_LABEL_LINE: Final = f"""\
- `submitLabel`: what the button says that sends the answer, at most {limits.SUBMIT_LABEL} \
characters."""
ALLOW_DECLINE_LINE: Final = """\
- `allowDecline`: whether the person may skip; true when absent. Set it to false only if you can't \
go on without an answer."""
"""What the prompt says of them."""


@dataclass(frozen=True)
class Offer:
    """A kind as one surface offers it to the model.

    `rules` is the semantic phase (V6): it gets what the shape's keys hold, free of blocking faults.
    `tool` describes the tool, `block` the kind in the prompt (spec asks 12).
    """

    shape: RecordShape
    rules: Callable[[JsonObject], Iterable[Fault]]
    tool: str
    block: str


@dataclass(frozen=True)
class AnswerButton:
    """A button of a card that accepts with `content`."""

    id: str
    label: str
    style: ButtonStyle
    content: JsonObject


@dataclass(frozen=True)
class StandingButton:
    """A button that declines (SC3)."""

    id: str
    label: str


SKIP: Final = StandingButton("skip", "Skip")
CANCEL: Final = StandingButton("cancel", "Cancel")


@dataclass(frozen=True)
class Face:
    """What a card shows of an ask, but for the standing button.

    `handoff` says that some of the possible answers are out of the buttons' reach (SC1).
    """

    buttons: tuple[AnswerButton, ...]
    handoff: bool


@dataclass(frozen=True)
class Kind:
    """All there is to a kind of ask.

    `content` and `content_rules` are the second and third stage of checking an answer (V10); the
    rules get the stored input and a content of the right shape. `skippable` is what an absent
    `allowDecline` means (S4). `standing` stands last on a card that has room for it, if the ask may
    be skipped (SC3).

    A kind may have more: `worded` is `content` in the words of one ask, the same faults told with
    its own limits; `size_rules` belong to the third stage too and get the content and the most
    bytes a file may have.
    """

    name: AskKind
    offers: Mapping[Surface, Offer]
    content: RecordShape
    content_rules: Callable[[JsonObject, JsonObject], Iterable[Fault]]
    skippable: bool
    face: Callable[[JsonObject], Face]
    standing: StandingButton | None
    worded: Callable[[JsonObject], RecordShape] | None = None
    size_rules: Callable[[JsonObject, int], Iterable[Fault]] | None = None

    def may_decline(self, ask_input: JsonObject) -> bool:
        """Tells whether the person may skip this ask (S4)."""
        allowed = flag_at(ask_input, "allowDecline")
        return self.skippable if allowed is None else allowed

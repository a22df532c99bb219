"""Turns at every place where their process may end, and what is to come of each elsewhere."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from parleyd.contract.answers import accepted
from parleyd.contract.json import compact
from parleyd.models.script import Fail, Hold, ScriptedStep
from parleyd.models.scripted import TITLE, by_progress, by_prompt
from tests.failpoints import Failpoint, Place, block
from tests.scripts import COUNTED, HELLO, SET_UP, Script
from tests.standard_asks import ask_plan
from tests.standard_tools import look_up, upsert

Steps: TypeAlias = tuple[ScriptedStep, ...]
Input: TypeAlias = Literal["prompt", "answer", "retry"]

INSIDE: Final = "inside"
"""The hold in the bodies of tools."""
TITLING: Final = "titling"
MEANWHILE: Final = "And meanwhile?"

REPLY: Final[Steps] = ([HELLO],)
FAILURE: Final[Steps] = ([Fail("other")],)
TOOLS: Final[Steps] = ([look_up(), upsert()], [COUNTED])
TOOLS_INSIDE: Final[Steps] = ([look_up(hold=INSIDE), upsert(hold=INSIDE)], [COUNTED])
LOOKUP: Final[Steps] = ([look_up()], [COUNTED])
LOOKUP_AND_ASK: Final[Steps] = ([look_up(), ask_plan()], [SET_UP])
ASK: Final[Steps] = ([ask_plan()], [SET_UP])


@dataclass(frozen=True)
class Row:
    """A turn that waits at a place until its process ends, and what is to come of it.

    `name` is its prompt. `place` is a failpoint; without one the script waits at the hold. The
    process that ends plays `first` where the other one plays something else. `calls` are the model
    calls of the one and of the other, `runs` those of LOOKUP and of UPSERT in both, `titles` the
    title calls; `titled` says that one came to a title.
    """

    name: str
    place: Place | None
    steps: Steps
    events: str
    lines: str
    calls: tuple[int, int]
    runs: tuple[int, int] = (0, 0)
    titles: int = 0
    titled: bool = False
    first: Steps | None = None
    input: Input = "prompt"
    pick: str = ""
    hold: str = ""
    key: str = ""
    deleted: bool = False

    @property
    def waits_at(self) -> str:
        """Names the hold at which the turn waits."""
        return self.hold or self.name.replace(" ", "_")

    @property
    def failpoint(self) -> Failpoint | None:
        """Returns the failpoint where the turn waits, if it is one."""
        if self.place is None:
            return None
        said = {
            "prompt": self.name,
            "answer": compact(accepted({"selected": [self.pick]})),
            "retry": "",
        }[self.input]
        return block(self.place, self.waits_at, said=said, kind=self._kind)

    @property
    def _kind(self) -> Input | None:
        return None if self.place == "in_log" else self.input


_CALLED = "started tool_call tool_call"
_RETURNED = f"{_CALLED} tool_result tool_result"
_ANEW = "started resumed tool_call tool_call tool_result tool_result text done"
_ONCE_MORE = f"{_CALLED} resumed tool_result tool_result text done"
_TOOL_LINES = "user tool_call tool_call tool_result tool_result assistant"
_ASKED_LINES = "user tool_call tool_result tool_call"
_ANSWER_LINES = "user tool_call tool_result assistant"

TOOL_ROWS: Final = (
    Row("after_tx1", "after_tx1", TOOLS, _ANEW, _TOOL_LINES, (0, 2), (1, 1), 1, titled=True),
    Row("before_tool", "before_tool", TOOLS, _ANEW, _TOOL_LINES, (1, 2), (1, 1), 1, titled=True),
    Row("after_txj", "after_txj", TOOLS, _ONCE_MORE, _TOOL_LINES, (1, 1), (0, 1), 1, titled=True),
    Row(
        *("in_tool", None, TOOLS_INSIDE, _ONCE_MORE, _TOOL_LINES, (1, 1), (1, 2), 1),
        titled=True,
        hold=INSIDE,
    ),
    Row(
        *("after_tool_run", "after_tool_run", TOOLS, _ONCE_MORE, _TOOL_LINES, (1, 1), (1, 2), 1),
        titled=True,
    ),
    Row(
        *("after_txr", "after_txr", LOOKUP, "started tool_call tool_result resumed text done"),
        *("user tool_call tool_result assistant", (1, 1), (1, 0), 1),
        titled=True,
    ),
    Row(
        *("before_tx2", "before_tx2", TOOLS, f"{_RETURNED} resumed text done", _TOOL_LINES),
        *((2, 1), (1, 1), 1),
        titled=True,
    ),
    Row("after_tx2", "after_tx2", TOOLS, f"{_RETURNED} text done", _TOOL_LINES, (2, 0), (1, 1)),
    Row(
        *("before_close", "before_close", TOOLS, f"{_RETURNED} text done", _TOOL_LINES),
        *((2, 0), (1, 1), 1),
    ),
    Row(
        *("in_log of the title", "in_log", TOOLS, f"{_RETURNED} text done", _TOOL_LINES),
        *((2, 0), (1, 1), 1),
    ),
)
"""LOOKUP and UPSERT in one step, then a reply, then a title."""

OTHER_ROWS: Final = (
    Row(
        *("after_txj of an ask", "after_txj", LOOKUP_AND_ASK),
        *("started tool_call resumed tool_result ask done", _ASKED_LINES, (1, 0)),
    ),
    Row(
        *("after_txr of an ask", "after_txr", LOOKUP_AND_ASK),
        *("started tool_call tool_result resumed ask done", _ASKED_LINES, (1, 0), (1, 0)),
    ),
    Row(
        *("before_tx2 of an ask", "before_tx2", LOOKUP_AND_ASK),
        *("started tool_call tool_result resumed ask done", _ASKED_LINES, (1, 0), (1, 0)),
    ),
    Row(
        *("after_tx2 of an ask", "after_tx2", LOOKUP_AND_ASK),
        *("started tool_call tool_result ask done", _ASKED_LINES, (1, 0), (1, 0)),
    ),
    Row("in_log", "in_log", ASK, "started ask done", "user tool_call", (1, 0)),
    Row(
        *("after_tx1 of an answer", "after_tx1", ASK, "started ask_resolved resumed text done"),
        *(_ANSWER_LINES, (0, 1), (0, 0), 1),
        titled=True,
        input="answer",
        pick="team",
    ),
    Row(
        *("before_tx2 of an answer", "before_tx2", ASK, "started ask_resolved resumed text done"),
        *(_ANSWER_LINES, (1, 1), (0, 0), 1),
        titled=True,
        input="answer",
        pick="starter",
    ),
    Row(
        *("after_tx2 of an answer", "after_tx2", ASK, "started ask_resolved text done"),
        *(_ANSWER_LINES, (1, 0)),
        input="answer",
        pick="enterprise",
    ),
    Row(
        *("after_tx1 of a retry", "after_tx1", REPLY, "started resumed text done"),
        *("user assistant", (0, 1), (0, 0), 1),
        titled=True,
        first=FAILURE,
        input="retry",
    ),
    Row(
        *("before_tx2f", "before_tx2f", FAILURE, "started resumed error done", "user", (1, 1)),
    ),
    Row("after_tx2f", "after_tx2f", FAILURE, "started error done", "user", (1, 0)),
)
"""Pauses, answers, retries and failures."""

IN_MODEL: Final = Row(
    *("in the model", None, REPLY, "started resumed text done", "user assistant", (1, 1)),
    *((0, 0), 1),
    titled=True,
    first=([Hold("in_the_model"), HELLO],),
)
IN_SECOND_CALL: Final = Row(
    *("in the second call", None, LOOKUP, "started tool_call tool_result resumed text done"),
    *("user tool_call tool_result assistant", (2, 1), (1, 0), 1),
    titled=True,
    first=([look_up()], [Hold("in_the_second_call"), COUNTED]),
)
LATE_CALL: Final = Row(
    *("before a call", None, LOOKUP, "started resumed tool_call tool_result text done"),
    *("user tool_call tool_result assistant", (1, 2), (1, 0), 1),
    titled=True,
    first=([Hold("before_a_call"), look_up()], [COUNTED]),
)
IN_TITLE: Final = Row(
    *("in_title", None, REPLY, "started text done", "user assistant", (1, 0), (0, 0), 1),
    hold=TITLING,
)
GOES_ON: Final = Row(
    *("goes on after another", None, REPLY, "started resumed text done"),
    *("user assistant user assistant", (1, 1)),
    titled=True,
    first=([Hold("goes_on_after_another"), HELLO],),
)
FAILS_LATER: Final = Row(
    *("fails after another", None, FAILURE, "started resumed error done"),
    *("user user assistant", (1, 1)),
    titled=True,
    first=([Hold("fails_after_another"), HELLO],),
)
OWN_KEY: Final = Row(
    *("with a key", None, REPLY, "started error done", "user", (1, 0)),
    first=([Hold("with_a_key"), HELLO],),
    key="a key of noor's",
)
DELETED: Final = Row(
    *("deleted meanwhile", None, REPLY, "started error done", "", (1, 0)),
    first=([Hold("deleted_meanwhile"), HELLO],),
    deleted=True,
)
ROWS: Final = (*TOOL_ROWS, *OTHER_ROWS, IN_MODEL, IN_SECOND_CALL, LATE_CALL)

UNSTORED: Final = "before_tx1"
"""The prompt of a turn that waits before it is stored, and its place."""


def _script(*, first: bool) -> Script:
    every = (*ROWS, IN_TITLE, GOES_ON, FAILS_LATER, OWN_KEY, DELETED)
    plays = {row.name: (row.first if first else None) or row.steps for row in every}
    prompts = {name: by_progress(*steps) for name, steps in plays.items()}
    for other in (MEANWHILE, UNSTORED):
        prompts[other] = by_progress([HELLO])
    return Script(by_prompt(prompts))


ENDS: Final = _script(first=True)
ENDS_IN_TITLE: Final = Script(ENDS.pick, title=[Hold(TITLING), *TITLE])
GOES: Final = _script(first=False)

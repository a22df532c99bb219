"""Scripts that a server process can be told to play, by name.

They pick by progress, so that a second process goes on where a killed one stopped. Where one waits
at a hold, a test that doesn't want to wait releases the hold beforehand. A test file may have
scripts of its own: their name is then `module:NAME`, as `tests.end_to_end.test_crashes:SLOW`.
"""

from dataclasses import dataclass
from pkgutil import resolve_name

from parleyd.models.played import Pick
from parleyd.models.script import Hold, ScriptedStep, Text
from parleyd.models.scripted import TITLE, by_progress
from tests.standard_asks import ask_plan
from tests.standard_tools import delete, look_up, upsert

HELLO = Text("Hello.")
SET_UP = Text("Setting up the Team plan.")
COUNTED = Text("There are 3 plans.")
CLEANED_UP = Text("Cleaned up.")


@dataclass(frozen=True)
class Script:
    """What the model of a process says."""

    pick: Pick
    title: ScriptedStep = TITLE


REPLY = Script(by_progress([HELLO]))
HELD_REPLY = Script(by_progress([Hold("thinking"), HELLO]))
HALF_A_REPLY = Script(by_progress([Text("Hel"), Hold("thinking"), Text("lo.")]))
HELD_TITLE = Script(by_progress([HELLO]), title=[Hold("title"), *TITLE])
ASK = Script(by_progress([ask_plan()], [SET_UP]))
ASK_THEN_HELD_REPLY = Script(by_progress([ask_plan()], [Hold("thinking"), SET_UP]))
LOOKUP = Script(by_progress([look_up()], [COUNTED]))
LOOKUP_THEN_HELD_REPLY = Script(by_progress([look_up()], [Hold("thinking"), COUNTED]))
HELD_LOOKUP = Script(by_progress([look_up(hold="inside")], [COUNTED]))
UPSERT = Script(by_progress([upsert()], [COUNTED]))
HELD_UPSERT = Script(by_progress([upsert(hold="inside")], [COUNTED]))
DELETE = Script(by_progress([delete()], [CLEANED_UP]))
HELD_DELETE = Script(by_progress([delete(hold="inside")], [CLEANED_UP]))
LOOKUP_AND_ASK = Script(by_progress([look_up(), ask_plan()], [SET_UP]))


def script_named(name: str) -> Script:
    """Returns a script of this file, or of a module where the name says which."""
    script = resolve_name(name if ":" in name else f"{__name__}:{name}")
    assert isinstance(script, Script), f"{name} is no script"
    return script

"""What the model is told about asks (spec asks 12). Every number comes from `limits.py`."""

from collections.abc import Sequence
from typing import Final

from parleyd.contract import limits
from parleyd.contract.answers import ONE_ASK_AT_A_TIME, USER_SENT_MESSAGE
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import offer_of, offered_kinds, tool_name
from parleyd.contract.surfaces import Surface

COMPACT_LINE: Final = (
    "The person is on a small screen: reply in at most two short sentences, and ask only yes/no "
    f"questions or ones with up to {limits.COMPACT_OPTIONS_MAX} short options."
)
"""Ends the system prompt of every compact turn, also with asks off."""

_GENERAL: Final = f"""\
## Asking the person

You can ask the person a question by calling one of the ask tools. The chat shows a control for \
it, and the answer comes back as the result of your call.

- Whenever an ask tool fits, call it instead of asking in prose.
- Ask only if you can't go on well without the answer. Never ask for what another tool can find out.
- Call at most one ask tool in a step, and no other tool beside it.
- Never ask for credentials of any kind: no passwords, no keys, no payment cards.
- The result has an `action`. `accept`: the person answered, `content` holds the answer. \
`decline`: the person skipped; go on without the answer, or explain what you need it for. \
`cancel`: the question was dropped; with the `reason` `{USER_SENT_MESSAGE}` the person wrote a \
message instead, so react to that message; with `{ONE_ASK_AT_A_TIME}` you asked more than once.
- After a decline or a cancel don't repeat the question, unless the person wants you to."""

_SHARED: Final = f"""\
Every ask has these fields; what else a kind has, and whether the person can skip it, is below. \
Lengths are in characters, of which an emoji counts as two or more.

- `prompt` (required): what you ask, as plain text without markdown and without links; not empty, \
at most {limits.PROMPT} characters.
- `title`: a heading of at most {limits.TITLE} characters."""

_SHARED_COMPACT: Final = f"""
- The screen shows only the first {limits.CARD_TEXT} characters of `prompt` and the first \
{limits.CARD_TITLE} of `title`: stay within."""


def asks_section(kinds: Sequence[AskKind], surface: Surface) -> str:
    """Returns the system prompt's part about asks, or "" where the surface offers none of `kinds`.

    The kinds are told of in the order given, each once.

    Raises:
        ValueError: There is no such kind or surface.
    """
    offered = offered_kinds(kinds, surface)
    told: list[AskKind] = [kind for kind in dict.fromkeys(kinds) if kind in offered]
    if not told:
        return ""
    names = ", ".join(f"`{tool_name(kind)}`" for kind in told)
    shared = _SHARED + (_SHARED_COMPACT if surface == "compact" else "")
    blocks = [offer_of(kind, surface).block for kind in told]
    return "\n\n".join([_GENERAL, f"The ask tools you can call: {names}.", shared, *blocks])

"""What the model is told of `choice`, on either surface (spec asks 12)."""

from typing import Final

from parleyd.contract import limits
from parleyd.contract.asks.kind import ALLOW_DECLINE_LINE, ID_LINE, SUBMIT_LABEL_LINE

FULL_TOOL: Final = (
    "Asks the person to pick one or several options from a list, or to give an "
    "answer of their own where you allow it. The person sees your question with the "
    "options to tap; you get back the ids they picked and what they wrote. Use it "
    "instead of prose whenever the possible answers can be listed."
)
COMPACT_TOOL: Final = (
    f"Asks the person to tap one of {limits.OPTIONS_MIN} to "
    f"{limits.COMPACT_OPTIONS_MAX} short options. The person sees your question with "
    "a button for each option; you get back the id of the one they tapped. Use it "
    "instead of prose whenever the possible answers can be listed in a few words."
)

FULL_BLOCK: Final = f"""\
### ask_choice
The person picks one option, or several, from a list that you give.
- `select` (required): `one` for exactly one pick, `many` for several.
- `options` (required): {limits.OPTIONS_MIN} to {limits.OPTIONS_MAX} options, each with `id`, \
`label` and, optionally, `description`.
{ID_LINE}
- A `label` has at most {limits.OPTION_LABEL} characters, a `description` at most \
{limits.OPTION_DESCRIPTION}.
- `default`: ids of options picked beforehand, each once; with `one` at most one, with `many` at \
most `maxSelected`.
- `minSelected`, `maxSelected`: the fewest and the most picks, whole numbers, `many` \
only; one and every choice when absent. `minSelected` may be zero.
- `allowOther`: true lets the person write an answer of their own, with `many` only; it has \
at most {limits.OTHER} characters and counts as one choice. `otherLabel` names it in at most \
{limits.OPTION_LABEL} characters. For one of the options or an answer of their own use `many` with \
a `maxSelected` of one.
{SUBMIT_LABEL_LINE}
{ALLOW_DECLINE_LINE}
- Prefer `one` with at most {limits.CARD_BUTTONS} options and labels of at most \
{limits.CARD_LABEL} characters: small screens make buttons of them.
- An answer: {{"action": "accept", "content": {{"selected": ["ferry"]}}}}. With an answer of their \
own: {{"action": "accept", "content": {{"selected": ["ferry"], "other": "By bike"}}}}."""

COMPACT_BLOCK: Final = f"""\
### ask_choice
The person picks one option by tapping its button.
- `select` (required): always `one`.
- `options` (required): {limits.OPTIONS_MIN} to {limits.COMPACT_OPTIONS_MAX} options, each with \
`id`, `label` and, optionally, `description`.
{ID_LINE}
- A `label` has at most {limits.COMPACT_LABEL} characters, an emoji counting as two or more; no \
two labels may read alike.
- A `description` has at most {limits.OPTION_DESCRIPTION} characters, but the buttons show labels \
only: put what matters in `prompt` and the labels.
- `default`: the id of the option picked beforehand, at most one.
{SUBMIT_LABEL_LINE}
{ALLOW_DECLINE_LINE}
- An answer: {{"action": "accept", "content": {{"selected": ["ferry"]}}}}."""

"""Valid markdown asks, any number by hypothesis, and texts that answer them."""

from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.text import cut
from tests.contract.valid_texts import CHARACTERS, AskInput, optional, visible

_TEXTS = st.text(CHARACTERS, max_size=60)
_LONG_TEXTS = _TEXTS.map(lambda text: cut((text or "-") * limits.MARKDOWN, limits.MARKDOWN))


@st.composite
def drafts(draw: st.DrawFn) -> AskInput:
    """Draws markdown asks; the draft need not fit the bounds (MD3)."""
    ask = draw(
        st.fixed_dictionaries(
            {"prompt": visible(200)},
            optional=optional(
                title=visible(limits.TITLE),
                submitLabel=visible(limits.SUBMIT_LABEL),
                allowDecline=st.booleans(),
                placeholder=visible(limits.PLACEHOLDER),
                initial=st.one_of(_TEXTS, _TEXTS, _LONG_TEXTS),
            ),
        )
    )
    most = limits.MARKDOWN
    if draw(st.booleans()):
        most = draw(st.one_of(st.integers(1, 60), st.integers(1, limits.MARKDOWN)))
        ask["maxLength"] = draw(st.sampled_from([most, float(most)]))
    if draw(st.booleans()):
        ask["minLength"] = draw(st.one_of(st.integers(0, min(most, 60)), st.integers(0, most)))
    return ask


@st.composite
def edits(draw: st.DrawFn, ask: AskInput) -> dict[str, JsonValue]:
    """Draws contents of the right shape that claim the truth; they need not fit the bounds."""
    initial = ask.get("initial", "")
    text = draw(st.one_of(st.just(initial), _TEXTS, _LONG_TEXTS))
    return {"markdown": text, "changed": text != initial}

"""Valid files asks, and answers that fit them, any number by hypothesis."""

from typing import Any, Final, get_args

from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.data_urls import to_data_url
from parleyd.contract.file_types import TYPES_BY_ACCEPT, AcceptValue
from tests.contract.valid_texts import AskInput, optional, visible

_COUNTS: Final = st.integers(limits.FILES_MIN, limits.FILES_MAX)


@st.composite
def file_asks(draw: st.DrawFn) -> AskInput:
    """Draws files asks."""
    accepted = st.sampled_from(get_args(AcceptValue))
    ask = draw(
        st.fixed_dictionaries(
            {"prompt": visible(200), "accept": st.lists(accepted, min_size=1, unique=True)},
            optional=optional(
                title=visible(limits.TITLE),
                submitLabel=visible(limits.SUBMIT_LABEL),
                allowDecline=st.booleans(),
            ),
        )
    )
    least, most = sorted(draw(st.tuples(_COUNTS, _COUNTS)))
    if draw(st.booleans()):
        ask["minFiles"] = draw(st.sampled_from([least, float(least)]))
    if draw(st.booleans()):
        ask["maxFiles"] = draw(st.sampled_from([most, float(most)]))
    return ask


@st.composite
def answered_files(draw: st.DrawFn, ask: Any) -> dict[str, JsonValue]:
    """Draws contents that answer a files ask."""
    least, most = int(ask.get("minFiles", 1)), int(ask.get("maxFiles", limits.FILES_MAX))
    count = draw(st.integers(least, most))
    return {"files": [draw(_files(ask["accept"])) for _ in range(count)]}


@st.composite
def _files(draw: st.DrawFn, accept: list[AcceptValue]) -> dict[str, JsonValue]:
    mime_type = draw(st.sampled_from(TYPES_BY_ACCEPT[draw(st.sampled_from(accept))]))
    file: dict[str, JsonValue] = {
        "filename": draw(visible(limits.FILENAME)),
        "mimeType": mime_type,
        "size": draw(st.sampled_from([0, 1.0, 2048, limits.FILE_BYTES])),
    }
    if draw(st.booleans()):
        return {**file, "fileId": draw(visible(limits.FILE_ID))}
    return {**file, "url": to_data_url(mime_type, draw(st.binary(max_size=20)))}

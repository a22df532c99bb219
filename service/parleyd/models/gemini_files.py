"""What Gemini is shown of files (spec turns 5.5)."""

import re
from collections.abc import Sequence
from typing import Final

from google.genai import types as genai

from parleyd.turns.model import MediaShown, Shown, TextShown

MEDIA_TYPES: Final = frozenset(
    {
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/heic",
        "image/heif",
        "application/pdf",
    }
)
"""What Gemini looks at. Anything else, GIF too, makes it refuse the whole call."""

INLINE_BYTES: Final = 64 * 1024 * 1024
"""Of the files in one message. Gemini takes requests of at most 100 MB, with files in base64."""

_VERSION: Final = re.compile(r"(?:^|/)gemini-(\d+)")
_TAKES_FILES_IN_RESULTS: Final = 3


def takes_files_in_results(model_id: str) -> bool:
    """Tells whether the result of a call may hold files: Gemini 3 and later take them there.

    Models before refuse such a call. Of a name without a version nothing is known.
    """
    version = _VERSION.search(model_id)
    return version is not None and int(version[1]) >= _TAKES_FILES_IN_RESULTS


def file_parts(shown: Sequence[Shown]) -> list[genai.Part]:
    """Returns files as parts of what a person says.

    A part has no place for a file's name: `display_name` is for other APIs, and the line before the
    file tells it. Empty text says nothing, and is left out.
    """
    parts: list[genai.Part] = []
    for part in seen(shown):
        if isinstance(part, MediaShown):
            blob = genai.Blob(mime_type=part.mime_type, data=part.data)
            parts.append(genai.Part(inline_data=blob))
        elif part.text:
            parts.append(genai.Part(text=part.text))
    return parts


def seen(shown: Sequence[Shown], most_bytes: int = INLINE_BYTES) -> list[Shown]:
    """Returns parts as Gemini sees them: words in place of what it would refuse.

    Of files that are more than `most_bytes` together the later ones are told in words.
    """
    parts: list[Shown] = []
    left = most_bytes
    for part in shown:
        if isinstance(part, TextShown):
            parts.append(part)
        elif part.mime_type not in MEDIA_TYPES:
            parts.append(TextShown(f"The file can't be shown to you: you see no {part.mime_type}."))
        elif not part.data:
            parts.append(TextShown("The file is empty."))
        elif len(part.data) > left:
            parts.append(TextShown("The file can't be shown to you: it is too much at once."))
        else:
            left -= len(part.data)
            parts.append(part)
    return parts

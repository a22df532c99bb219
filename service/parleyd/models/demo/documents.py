"""Asks for files to look at."""

import re
from typing import Final

from parleyd.contract.json import JsonObject, objects_at, string_at, whole_at
from parleyd.models.demo.question import Question
from parleyd.models.demo.words import in_a_row

_NAMED: Final = 3


def _received(content: JsonObject) -> str:
    files = [
        f"“{string_at(file, 'filename')}” ({string_at(file, 'mimeType')}, "
        f"{whole_at(file, 'size')} bytes)"
        for file in objects_at(content, "files")
    ]
    shown = files[:_NAMED]
    if rest := len(files) - len(shown):
        shown.append(f"{rest} more")
    return f"I got {in_a_row(shown)}. Telling what they say takes more than a demo agent."


DOCUMENTS: Final = Question(
    kind="files",
    asked_for=re.compile(
        r"\b(summari[sz]e|read|look (at|over|through)|check|review|scan)\b.*"
        r"\b(documents?|files?|receipts?|invoices?|contracts?|reports?|photos?|pictures?|pdfs?)\b"
    ),
    input={
        "title": "Your documents",
        "prompt": "Which files shall I look at? Up to three images, PDFs or texts.",
        "accept": ["image", "pdf", "text", "csv", "json"],
        "maxFiles": 3,
        "submitLabel": "Send them",
    },
    in_words=(
        "I'd look at it, but here you can't give me a file. Ask me again on a device that can "
        "send one."
    ),
    accepted=_received,
    declined="No files, then. There is nothing for me to look at.",
    cancelled="I looked at nothing. Ask me again when you have the file at hand.",
)

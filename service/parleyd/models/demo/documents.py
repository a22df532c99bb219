"""Asks for files to look at, and says what is in them."""

import re
from collections.abc import Sequence
from typing import Final

from parleyd.contract.json import JsonObject, objects_at, string_at, whole_at
from parleyd.models.demo.contents import SeenFile, seen_files
from parleyd.models.demo.question import Question
from parleyd.models.demo.reply import Reply
from parleyd.models.demo.words import counted, first_of
from parleyd.turns.model import ToolOutcome

_NAMED: Final = 3


class FilesQuestion(Question):
    """A question for files. The reply is about the files themselves, as far as they are shown."""

    def reply_to(self, outcome: ToolOutcome) -> Reply:
        """Returns what the agent says to the files that came, or to an answer without any."""
        if files := seen_files(outcome.shown):
            return Reply(files_told(files))
        return super().reply_to(outcome)


def files_told(files: Sequence[SeenFile]) -> str:
    """Returns what is in the first of some files, and how many there are besides."""
    said = [file.told() for file in files[:_NAMED]]
    if rest := len(files) - len(said):
        said.append(f"I got {rest} more.")
    return " ".join(said)


def _received(content: JsonObject) -> str:
    files = [
        f"“{string_at(file, 'filename')}” ({string_at(file, 'mimeType')}, "
        f"{counted(whole_at(file, 'size') or 0, 'byte')})"
        for file in objects_at(content, "files")
    ]
    return f"I got {first_of(files, _NAMED)}. What they say was not shown to me."


DOCUMENTS: Final = FilesQuestion(
    kind="files",
    asked_for=re.compile(
        r"\b(summari[sz]e|read|look (at|over|through)|check|review|scan)\b.*"
        r"\b(documents?|files?|receipts?|invoices?|contracts?|reports?|photos?|pictures?|pdfs?)\b",
        re.IGNORECASE,
    ),
    input={
        "title": "Your documents",
        "prompt": "Which files shall I look at? Images, PDFs or texts, up to ten.",
        "accept": ["image", "pdf", "text", "csv", "json"],
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

"""What the command and the tool say of a document: a line for each problem (spec blocks 23.1)."""

import re
from dataclasses import dataclass
from typing import Final

from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.validation import check
from parleyd.contract.text import without_surrogates

_DEFAULTS: Final = BlockOptions()
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True)
class Report:
    """Whether a document is valid, and in `text` its errors, or else its warnings.

    A line is the path, two spaces, the code, two spaces, the message, a dash between spaces, the
    fix, and the end of the line. A document that nothing is to be said of has an empty text.
    """

    ok: bool
    text: str


def report(document: str) -> Report:
    """Returns what is to be said of a text that should be a document, under default options.

    Takes up to a second for the largest text.
    """
    verdict = check(document, _DEFAULTS)
    issues = verdict.warnings if verdict.ok else verdict.errors
    return Report(verdict.ok, "".join(map(_line, issues)))


def _line(issue: BlockIssue) -> str:
    """Returns an issue on one line: keys of the document stand in paths as they were written."""
    line = f"{issue.path}  {issue.code}  {issue.message} — {issue.fix}"
    return _CONTROL.sub(_escaped, without_surrogates(line)) + "\n"


def _escaped(control: re.Match[str]) -> str:
    return f"\\u{ord(control[0]):04x}"

"""How a text of YAML 1.2 is put to a reader of YAML 1.1 (spec blocks 2.2 to 2.4).

Nothing moves from one line to another, so that the place of a fault stays right.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from parleyd.contract.text import without_surrogates

_FOREIGN: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufffe\uffff]")
"""What YAML 1.1 takes for a line break or refuses, and what is a mere character today."""

_SPARE: Final = range(0x100000, 0x10FFFE)
"""Private characters, which stand in for the foreign ones."""

_DIRECTIVES: Final = re.compile(r"\A(?:[ \t\r]*(?:#[^\n]*)?\n|%[^\n]*\n)*+(?=---(?:[ \t\r\n]|\Z))")
_DIRECTIVE: Final = re.compile(r"^%", re.MULTILINE)

_TAB_PROBLEM: Final = "found a tab character that violates indentation"
_TABS: Final = re.compile(r"(?<=\n) *\t[ \t]*(?=\r?\n|[\]},])")
"""Before a bracket that closes, and alone on a line: what follows a number in pretty JSON."""

_BLOCK_TAB_PROBLEM: Final = "found a tab character where an indentation space is expected"
_BLOCK_TAB: Final = re.compile(r"([:?-] +[|>][-+]?[ \t]*(?:#[^\n]*)?\r?\n(?: *\r?\n)*+ +)\t")
"""After the indentation of the first line of a block scalar, where it is text."""

_COLON_PROBLEM: Final = "found unexpected ':'"
_COLON: Final = re.compile(r":(?=[,\[\]{}])")
"""Right before a bracket or comma; it ends a key there as if a space followed."""
_NO_KEY: Final = re.compile(r"[\"'#\n]")
"""Where a colon may be text."""

_KEY_PROBLEMS: Final = ("did not find expected key", "did not find expected node content")
_COLON_ALONE: Final = re.compile(r":(?=[\s,\]}])")
"""Where a key was to come: the value of an empty one."""

_ESCAPE_PROBLEM: Final = "found invalid Unicode character escape code"
_PAIR: Final = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)


@dataclass(frozen=True)
class YamlText:
    """A text in a form that libyaml reads as YAML 1.2 means it."""

    text: str
    originals: dict[int, str] = field(default_factory=dict[int, str])
    """The characters that others stand in for."""

    def restored(self, scalar: str) -> str:
        """Returns a scalar with the characters that it was written with."""
        return scalar.translate(self.originals) if self.originals else scalar

    def mended(self, problem: str, at: int) -> "YamlText | None":
        """Returns the text without what `problem` is about if that is none today, else None.

        Of colons, the one at `at` is mended, and those after it up to a quote; behind that, each
        is a problem of its own.
        """
        match problem:
            case _ if problem == _TAB_PROBLEM:
                text = _TABS.sub(lambda tabs: " " * len(tabs[0]), self.text)
            case _ if problem == _BLOCK_TAB_PROBLEM:
                return self._with_tabs_as_text()
            case _ if problem == _ESCAPE_PROBLEM:
                text = _PAIR.sub(_joined, self.text)
            case _ if problem == _COLON_PROBLEM:
                stop = _NO_KEY.search(self.text, at)
                end = len(self.text) if stop is None else stop.start()
                keys = _COLON.sub(": ", self.text[at:end])
                text = f"{self.text[:at]}{keys}{self.text[end:]}"
            case _ if problem in _KEY_PROBLEMS and _COLON_ALONE.match(self.text, at):
                text = f"{self.text[:at]}~{self.text[at:]}"
            case _:
                return None
        return None if text == self.text else YamlText(text, self.originals)

    def _with_tabs_as_text(self) -> "YamlText | None":
        used = set(self.text)
        spare = next((code for code in _SPARE if chr(code) not in used), None)
        if spare is None:
            return None
        text = _BLOCK_TAB.sub(lambda found: f"{found[1]}{chr(spare)}", self.text)
        return None if text == self.text else YamlText(text, {**self.originals, spare: "\t"})


def yaml_text(text: str) -> YamlText:
    """Returns a text as libyaml is to read it.

    Directives have no effect, so they become comments. U+2028, U+2029 and U+0085 break no line.
    """
    if (head := _DIRECTIVES.match(text)) and "%" in head[0]:
        text = _DIRECTIVE.sub("#", head[0]) + text[head.end() :]
    if text.isascii() and "\x7f" not in text:
        return YamlText(text)
    text = without_surrogates(text)
    foreign = sorted(set(_FOREIGN.findall(text)))
    if not foreign:
        return YamlText(text)
    used = set(text)
    spare = (code for code in _SPARE if chr(code) not in used)
    originals = dict(zip(spare, foreign, strict=False))
    stand_ins = {ord(original): code for code, original in originals.items()}
    return YamlText(text.translate(stand_ins), originals)


def _joined(pair: re.Match[str]) -> str:
    """Returns the one character that two escapes of UTF-16 are, after what stood before them."""
    coded = bytes.fromhex(pair[2] + pair[3])
    return pair[1] + coded.decode("utf-16-be")

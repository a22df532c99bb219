"""Signatures of a scripted vendor's calls, as Gemini 3 has them on its own (spec turns 5.5).

The first call of every step of the current turn must carry one, unchanged.
"""

import hashlib
from collections import defaultdict
from dataclasses import replace
from typing import Final

from parleyd.models import script
from parleyd.models.script import Call, ScriptedMessage, ScriptedStep

BYPASS: Final = b"skip_thought_signature_validator"
"""Stands on the first call of a step that was built anew, whose signature is gone."""

_SIGNED: Final = b"signature:"


def signed(call: Call) -> Call:
    """Returns a call as a strict model streams it at the head of a step's calls.

    Opaque bytes that it has stay. Any process can tell whether the signature fits the call.
    """
    return call if call.opaque is not None else replace(call, opaque=_signature_of(call))


def rebuilt(call: Call) -> Call:
    """Returns a call as it stands at the head of a step that was built anew."""
    return replace(call, opaque=BYPASS)


class Signatures:
    """Signs the steps of one model and knows afterwards whether they came back unchanged.

    Of bytes that a script gave it knows more: those that this model streamed itself.
    """

    def __init__(self) -> None:
        self._streamed: defaultdict[bytes, set[bytes | None]] = defaultdict(set)

    def sign(self, step: ScriptedStep) -> ScriptedStep:
        """Returns a step with its first call signed."""
        parts = list(step)
        for place, part in enumerate(parts):
            if isinstance(part, Call):
                parts[place] = signed(part)
                break
        for part in parts:
            if isinstance(part, Call):
                self._streamed[_signature_of(part)].add(part.opaque)
        return parts

    def fault_of(self, message: ScriptedMessage) -> str | None:
        """Returns what is wrong with the signatures of a model message of the current turn."""
        first, *others = [part for part in message.parts if isinstance(part, Call)]
        if first.opaque is None:
            return f"the first call of a step, {first.name}, has no signature"
        if any(call.opaque == BYPASS for call in others):
            return f"the bypass is for the first call of a step, {first.name}, alone"
        if first.opaque == BYPASS:
            whole = len(message.parts) == 1 + len(others)
            return None if whole else f"the bypass is on {first.name}, whose step is not rebuilt"
        for call in (first, *others):
            if not self._genuine(call):
                return f"the signature of {call.name} is not the one it came with"
        return None

    def _genuine(self, call: Call) -> bool:
        signature = _signature_of(call)
        if signature in self._streamed:
            return call.opaque in self._streamed[signature]
        return not (call.opaque or b"").startswith(_SIGNED) or call.opaque == signature


def _signature_of(call: Call) -> bytes:
    bare = script.encode((ScriptedMessage("model", (replace(call, opaque=None),)),))
    return _SIGNED + hashlib.sha256(bare).hexdigest().encode()

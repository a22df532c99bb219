"""Calls of tools that wait for their approval, as a person reads them."""

import json
from dataclasses import dataclass

from parleyd.app.chat.printable import visible


@dataclass(frozen=True)
class GuardedCall:
    """A call that runs once it is approved. `args_json` is what it runs with, as JSON text."""

    tool_name: str
    args_json: str

    @property
    def arguments(self) -> str:
        """Returns the arguments, whole: a line for each, with what can't be seen as escapes.

        Every line break is one of the layout: those in texts are escapes too.
        """
        try:
            laid_out = json.dumps(json.loads(self.args_json), ensure_ascii=False, indent=2)
        except (ValueError, RecursionError):
            # Longer numbers or more levels than are read here; what is sent is shown all the same.
            laid_out = self.args_json
        return visible(laid_out)

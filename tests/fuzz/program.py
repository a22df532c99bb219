"""Tries one target on very many inputs: `python -m tests.fuzz.program TARGET [libFuzzer's own]`.

It is a process of its own, as atheris ends it. Ends with 0 once the time is over, else after a
traceback; the input is then in a file that begins with `crash-`, or `timeout-`.
"""

import sys
from importlib import import_module
from typing import Any

# It has no types, and is not there for every platform.
atheris: Any = import_module("atheris")


def main() -> None:
    name, own = sys.argv[1], sys.argv[2:]
    with atheris.instrument_imports(include=["parleyd.contract"]):
        targets = import_module("tests.fuzz.targets")
    atheris.Setup([sys.argv[0], *own], targets.TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()

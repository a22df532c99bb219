"""Writes the contract's JSON Schemas into a folder."""

import json
from pathlib import Path

from parleyd.app.faults import CommandFailed
from parleyd.contract.json_schemas import json_schemas


def write_schemas(directory: Path) -> int:
    """Writes a file for each schema, makes the folder if need be, and returns how many there are.

    A repeat writes the same bytes. Other files of the folder stay as they are.

    Raises:
        CommandFailed: The folder can't be written to.
    """
    schemas = json_schemas()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, schema in schemas.items():
            text = json.dumps(schema, indent=2) + "\n"
            (directory / f"{name}.json").write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise CommandFailed(f"The schemas can't be written: {error}.") from error
    return len(schemas)

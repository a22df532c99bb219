"""The tools by which the model of an agent asks, as the service's own model has them."""

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

from parley.adapters.question_json import JsonObject

_FILES: Final = (
    "Asks the person to upload files: images, PDFs, or files of text, CSV or JSON. The person sees "
    "your question with a place to add files; you get back their names, types, sizes and ids. Use "
    "it instead of prose whenever you need a file."
)
"""Elsewhere the model sees the files themselves."""


@dataclass(frozen=True)
class AskTool:
    """A tool that asks one kind of question. `schema` is the JSON Schema of its arguments."""

    kind: str
    name: str
    description: str
    schema: JsonObject


@cache
def ask_tools() -> tuple[AskTool, ...]:
    """Returns the tools of all kinds, in the order of the reference."""
    text = files("parley.adapters").joinpath("ask_tools.json").read_text("utf-8")
    tools = [AskTool(**tool) for tool in json.loads(text)]
    return tuple(
        replace(tool, description=_FILES) if tool.kind == "files" else tool for tool in tools
    )

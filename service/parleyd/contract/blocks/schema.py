"""The structural rules of documents as JSON Schema, draft 7 (spec blocks 15).

It is made from the tables of `catalog.py`. It can't say: the order of keys, depth, the number of
blocks in all, that a text is blank, and whatever the semantic phase checks. It counts code points
where the validator counts UTF-16 units; the validator decides.
"""

from typing import Final

from pydantic import JsonValue

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.catalog import BLOCK, ID, INLINE, REF
from parleyd.contract.blocks.records import list_schema

DIALECT: Final = "http://json-schema.org/draft-07/schema#"


def json_schema() -> dict[str, JsonValue]:
    """Returns the schema of a document; always the same, and each time a new one."""
    names: JsonValue = {"pattern": f"^{ID.pattern}$"}
    datasets: JsonValue = {
        "type": "object",
        "propertyNames": names,
        "additionalProperties": {"anyOf": [REF.schema(), INLINE.schema()]},
    }
    blocks: JsonValue = list_schema({"$ref": "#/definitions/block"}, 1, limits.BLOCKS)
    return {
        "$schema": DIALECT,
        "title": "Block document",
        "type": "object",
        "properties": {"v": {"const": 1}, "datasets": datasets, "blocks": blocks},
        "required": ["blocks", "v"],
        "additionalProperties": False,
        "definitions": {"block": BLOCK.schema()},
    }

"""The blocks of any document, well formed or not."""

from collections.abc import Iterator

from pydantic import JsonValue

from parleyd.contract.blocks.catalog import LAYOUT_TYPES


def nested_blocks(document: dict[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    """Yields every block, each before its children, at whatever depth they are.

    What is no mapping is passed over. The blocks are the document's own, to be changed in place.
    """
    top = document.get("blocks")
    waiting = [iter(top)] if isinstance(top, list) else []
    while waiting:
        for item in waiting[-1]:
            if isinstance(item, dict):
                yield item
                children = item.get("children")
                if _is_layout(item) and isinstance(children, list):
                    waiting.append(iter(children))
                    break
        else:
            waiting.pop()


def _is_layout(block: dict[str, JsonValue]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind in LAYOUT_TYPES

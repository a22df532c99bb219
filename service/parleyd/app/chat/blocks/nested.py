"""Blocks inside of blocks."""

from collections.abc import Iterable, Iterator, MutableSequence

from parley.v1.blocks_pb2 import Block


def children_of(block: Block) -> MutableSequence[Block]:
    """Returns the blocks right inside of a block, as they stand in it."""
    return block.columns.children or block.card.children


def every_block(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yields blocks, each followed by those inside of it, as they are shown."""
    for block in blocks:
        yield block
        yield from every_block(children_of(block))

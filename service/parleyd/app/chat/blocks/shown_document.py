"""A document on the screen: what is fetched for it, and what the person has switched in it."""

from collections.abc import Sequence

from parley import Client
from parley.v1.blocks_pb2 import Block, BlockDocument
from parleyd.app.chat.blocks.fetching import fetched_rows, rows_wanted
from parleyd.app.chat.blocks.nested import children_of
from parleyd.app.chat.blocks.presses import Press, Redraw, presses_in
from parleyd.app.chat.blocks.rows import Datasets, NoRows, Rows, RowsWanted, named_in
from parleyd.app.chat.terminal import Terminal


class ShownDocument:
    """A document that a person looks at. What is switched in it changes nothing elsewhere."""

    def __init__(self, client: Client, document: BlockDocument) -> None:
        self._client = client
        own = BlockDocument()
        own.CopyFrom(document)
        self._blocks = [*own.blocks]
        self._named = named_in(document)
        self._fetched: dict[RowsWanted, Rows | NoRows] = {}
        self._pages: dict[str, int] = {}

    async def show(self, terminal: Terminal) -> None:
        """Shows the document, once its rows are here or known not to come."""
        await self._fetch(self._blocks, self._pages)
        terminal.show_blocks(self._blocks, self._datasets)

    def presses(self) -> list[Press]:
        """Returns what can be pressed in it as it stands."""
        return presses_in(self._blocks, self._datasets)

    async def redraw(self, terminal: Terminal, redraw: Redraw) -> None:
        """Shows one of its charts or tables with another dataset, or at another page.

        Where the rows can't be fetched it is left as it was. A dataset that the document has not
        changes nothing.
        """
        if redraw.data not in self._named:
            terminal.say("This reply has no such data, so nothing changes.")
            return
        block = _showing(redraw.block, redraw.data)
        pages = self._pages | ({redraw.data: redraw.page} if redraw.page else {})
        fetched = await self._fetch([block], pages)
        terminal.show_blocks([block], Datasets(self._named, self._fetched, pages))
        if fetched:
            redraw.block.CopyFrom(block)
            self._pages = pages

    def take_out(self, block_id: str) -> None:
        """Takes a block out, wherever it stands: something else is shown in its place."""
        self._blocks = _without(self._blocks, block_id)

    @property
    def _datasets(self) -> Datasets:
        return Datasets(self._named, self._fetched, self._pages)

    async def _fetch(self, blocks: Sequence[Block], pages: dict[str, int]) -> bool:
        """Fetches what blocks show and is not here yet; tells whether all of it is here now."""
        wanted = rows_wanted(blocks, self._named, pages)
        missing = [each for each in wanted if not isinstance(self._fetched.get(each), Rows)]
        self._fetched |= await fetched_rows(self._client, missing)
        return all(isinstance(self._fetched[each], Rows) for each in wanted)


def _showing(block: Block, data: str) -> Block:
    """Returns a chart or a table with another dataset."""
    changed = Block()
    changed.CopyFrom(block)
    if changed.HasField("chart"):
        changed.chart.binding.data = data
    else:
        changed.table.data = data
    return changed


def _without(blocks: Sequence[Block], block_id: str) -> list[Block]:
    left = [block for block in blocks if block.id != block_id]
    for block in left:
        children = children_of(block)
        for place in reversed(range(len(children))):
            if children[place].id == block_id:
                del children[place]
    return left

"""What a person can press in a document, as a list: what it reads, and what it does."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from parley.v1.blocks_pb2 import Block, BlockAction, BlockElement, ButtonElement
from parleyd.app.chat.blocks.nested import every_block
from parleyd.app.chat.blocks.rows import Datasets, NoRows, Rows
from parleyd.app.chat.printable import in_a_line


@dataclass(frozen=True)
class Say:
    """Sends a message for the person."""

    text: str


@dataclass(frozen=True)
class Open:
    """Tells where something is. A terminal opens nothing by itself."""

    place: str


@dataclass(frozen=True)
class Redraw:
    """Draws a chart or a table with a dataset; a table at one of its pages, 0 for where it was."""

    block: Block
    data: str
    page: int = 0


@dataclass(frozen=True)
class CallApp:
    """Calls code of the deployment."""

    block_id: str
    element_id: str
    name: str
    payload_json: str


Deed: TypeAlias = Say | Open | Redraw | CallApp


@dataclass(frozen=True)
class Press:
    """Something to press. Both texts are fit for a line of a menu."""

    label: str
    told: str
    does: Deed


def presses_in(blocks: Iterable[Block], datasets: Datasets) -> list[Press]:
    """Returns what can be pressed in a document, in the order in which it is shown.

    Beside the document's own elements these are the other pages of its tables, and rows that could
    not be fetched. Elements that are newer than this terminal are left out, as is the option of a
    segmented control that is shown already.
    """
    every = [*every_block(blocks)]
    targets = {block.id: block for block in every if block.id and data_of(block)}
    return [press for block in every for press in _presses(block, targets, datasets)]


def data_of(block: Block) -> str:
    """Returns the name of the dataset that a block shows, empty where it shows none."""
    return block.chart.binding.data or block.table.data


def _presses(block: Block, targets: dict[str, Block], datasets: Datasets) -> Iterator[Press]:
    kind = block.WhichOneof("block")
    if kind == "chart" and block.chart.HasField("binding"):
        if isinstance(datasets.whole(data_of(block)), NoRows):
            yield from _again(block, datasets)
    elif kind == "table":
        page = datasets.page(block.table.data)
        if isinstance(page, NoRows):
            yield from _again(block, datasets)
        else:
            yield from _pages(block, page, datasets.pages.get(block.table.data, 1))
    for element in block.actions.elements:
        yield from _of_element(element, block.id, targets)


def _again(block: Block, datasets: Datasets) -> Iterator[Press]:
    """Yields how rows are fetched that are on the server and not here."""
    data = data_of(block)
    if data in datasets.named and datasets.named[data].HasField("ref"):
        yield Press(f"Fetch {_titled(block)} again", "", Redraw(block, data))


def _pages(block: Block, page: Rows, number: int) -> Iterator[Press]:
    data = block.table.data
    if page.more:
        told = f"From row {page.before + len(page.rows) + 1} of {page.count}"
        yield Press(f"More rows of {_titled(block)}", told, Redraw(block, data, number + 1))
    if page.before:
        told = f"Up to row {page.before} of {page.count}"
        yield Press(f"Earlier rows of {_titled(block)}", told, Redraw(block, data, number - 1))


def _titled(block: Block) -> str:
    return f"“{in_a_line(block.chart.title or block.table.title or data_of(block))}”"


def _of_element(element: BlockElement, block_id: str, targets: dict[str, Block]) -> Iterator[Press]:
    kind = element.WhichOneof("element")
    match kind:
        case "button":
            yield from _of_button(element.button, block_id, element.id, targets)
        case "segmented":
            target = targets.get(element.segmented.target)
            for option in element.segmented.options if target else ():
                if target and option.data != data_of(target):
                    told = _switching(option.data, target)
                    yield Press(in_a_line(option.label), told, Redraw(target, option.data))
        case None:
            pass
        case _:
            assert_never(kind)


def _of_button(
    button: ButtonElement, block_id: str, element_id: str, targets: dict[str, Block]
) -> Iterator[Press]:
    label, action = in_a_line(button.text), button.action
    match _deed(action, block_id, element_id, targets):
        case Say(text=text) as say:
            yield Press(label, f"Says: {in_a_line(text)}", say)
        case Open(place=place) as opening:
            yield Press(label, f"Tells where to go: {in_a_line(place)}", opening)
        case Redraw(block=block, data=data) as redraw:
            yield Press(label, _switching(data, block), redraw)
        case CallApp(name=name) as call:
            yield Press(label, f"Calls the app: {in_a_line(name)}", call)
        case None:
            pass


def _deed(
    action: BlockAction, block_id: str, element_id: str, targets: dict[str, Block]
) -> Deed | None:
    kind = action.WhichOneof("action")
    match kind:
        case "reply":
            return Say(action.reply.text)
        case "open":
            place = action.open.url or action.open.route
            return Open(place) if place else None
        case "select":
            target = targets.get(action.select.target)
            return Redraw(target, action.select.data) if target else None
        case "callback":
            return CallApp(block_id, element_id, action.callback.name, action.callback.payload_json)
        case None:
            return None
        case _:
            assert_never(kind)


def _switching(data: str, target: Block) -> str:
    return f"Shows {in_a_line(data)} in {_titled(target)}"

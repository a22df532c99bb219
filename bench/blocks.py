"""What blocks cost: reading and validating a document, whole and while it is coming in.

The document has 50 blocks, 8 datasets and about 20,000 characters, as JSON and as YAML. The floor
of reading, measured in the same run, is what `json.loads` takes for it, or libyaml's bare events;
that of a stream is one reading and validation of the whole document.

    python -m bench.blocks [--times N]
"""

import argparse
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue
from rich.console import Console
from rich.table import Table
from yaml.cyaml import CBaseLoader

from bench.measure import Measured
from parleyd.contract.blocks import limits
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.partial import PartialDocument, PartialParser, parse_partial
from parleyd.contract.blocks.validation import Verdict, check, validate

BOTH_MS, VALIDATE_MS = 5.0, 2.0
PIECES: Final = 200
STREAM_TIMES: Final = 10
"""A stream should cost no more than so many readings of the whole document."""
ROWS: Final = 20
OPTIONS: Final = BlockOptions()
PROSE: Final = "The harbour branch lends the most on weekdays, and *fewer* on holidays. "

Document = dict[str, JsonValue]


@dataclass(frozen=True)
class Task:
    """A call, the call that is its floor, and what its median should stay within.

    `aim` is in milliseconds, or, for a stream, in times of its floor.
    """

    name: str
    run: Callable[[], object]
    aim: float | None
    floor: Callable[[], object] | None
    stream: bool = False


def document() -> Document:
    """Returns a valid document of common blocks, as many as there may be."""
    badge: Document = {"type": "badge", "text": "Late"}
    remark: Document = {"type": "context", "text": PROSE}
    pair: JsonValue = [badge, remark]
    buttons: list[JsonValue] = [
        {
            "type": "button",
            "id": f"button_{index}",
            "text": "Show months",
            "action": {"kind": "reply", "text": "Show me the loans by month"},
        }
        for index in range(4)
    ]
    heading: Document = {"type": "heading", "text": "Loans by branch", "size": "lg"}
    columns: Document = {"type": "columns", "children": pair}
    card: Document = {"type": "card", "title": "Today", "children": pair}
    actions: Document = {"type": "actions", "id": "next", "elements": buttons}
    blocks: list[JsonValue] = [heading, columns, card, actions]
    for name in datasets():
        shown: list[JsonValue] = [
            {"type": "text", "markdown": PROSE * 14},
            {"type": "chart", "kind": "line", "data": name, "x": "at", "y": "level"},
            {"type": "table", "id": f"table_{name}", "data": name, "title": "All of them"},
            {"type": "metric", "label": "Loans", "value": "318", "delta": "+4", "trend": "up"},
        ]
        blocks += shown
    spare = limits.BLOCKS - len(blocks) - 4
    callout: Document = {"type": "callout", "text": PROSE, "status": "info"}
    blocks += [callout] * spare
    return {"v": 1, "datasets": datasets(), "blocks": blocks}


def datasets() -> Document:
    """Returns as many small datasets as there may be."""
    columns: list[JsonValue] = [
        {"name": "at", "type": "date"},
        {"name": "branch", "type": "string"},
        {"name": "level", "type": "number"},
    ]
    rows: list[JsonValue] = [[f"2027-06-{row + 1:02}", "Harbour", row * 1.5] for row in range(ROWS)]
    return {
        f"loans_{index}": {"columns": columns, "rows": rows} for index in range(limits.DATASETS)
    }


def as_yaml(value: Mapping[str, JsonValue]) -> str:
    """Returns a document as models write it: items two spaces deep, rows and actions on a line."""
    datasets, blocks = value["datasets"], value["blocks"]
    assert isinstance(datasets, dict)
    assert isinstance(blocks, list)
    lines = ["v: 1", "datasets:"]
    for name, dataset in datasets.items():
        assert isinstance(dataset, dict)
        lines.append(f"  {name}:")
        for key, items in dataset.items():
            assert isinstance(items, list)
            lines += [f"    {key}:", *[f"      - {json.dumps(item)}" for item in items]]
    lines.append("blocks:")
    for block in blocks:
        assert isinstance(block, dict)
        first, *others = [f"{key}: {json.dumps(item)}" for key, item in block.items()]
        lines += [f"  - {first}", *[f"    {other}" for other in others]]
    return "\n".join(lines) + "\n"


def events(text: str) -> None:
    """Reads the events of a YAML text and makes nothing of them."""
    loader = CBaseLoader(text)
    while loader.get_event() is not None:
        pass


def stream(text: str) -> PartialDocument:
    """Reads a document that comes in in pieces, after each of them."""
    parser = PartialParser(OPTIONS)
    so_far = PartialDocument()
    for piece in range(1, PIECES + 1):
        so_far = parser.read(text[: len(text) * piece // PIECES])
    return so_far


def tasks(name: str, text: str, floor: Callable[[], object]) -> list[Task]:
    """Returns what is measured of a document as one of the two ways to write it."""
    value = parse(text)
    assert not isinstance(value, BlockIssue)
    assert validate(value, OPTIONS) == Verdict()
    whole = parse_partial(text, OPTIONS)
    assert stream(text) == whole
    assert len(whole.blocks) > 0
    assert not whole.pending
    return [
        Task(f"{name}, read", lambda: parse(text), None, floor),
        Task(f"{name}, validated", lambda: validate(value, OPTIONS), VALIDATE_MS, None),
        Task(f"{name}, read and validated", lambda: check(text, OPTIONS), BOTH_MS, floor),
        Task(
            name=f"{name}, in {PIECES} pieces",
            run=lambda: stream(text),
            aim=STREAM_TIMES,
            floor=lambda: check(text, OPTIONS),
            stream=True,
        ),
    ]


def measured(run: Callable[[], object], times: int) -> Measured:
    """Returns the latencies of a call; the first are for warming up."""
    latencies: list[float] = []
    for _ in range(times + times // 10):
        start = time.perf_counter()
        run()
        latencies.append(time.perf_counter() - start)
    kept = tuple(latencies[-times:])
    return Measured(sum(kept), kept)


def row(task: Task, taken: Measured, floor_times: int) -> list[str]:
    """Returns what the table says of a task, whose floor is measured right away."""
    p50 = taken.percentile(50)
    floor = None if task.floor is None else measured(task.floor, floor_times).percentile(50)
    aim = task.aim * floor if task.stream and task.aim and floor else task.aim
    return [
        task.name,
        *[f"{taken.percentile(percent):.2f}" for percent in (50, 95, 99)],
        "" if aim is None else f"{aim:.3g}",
        "" if aim is None else "held" if p50 <= aim else "MISSED",
        "" if floor is None else f"{floor:.2f}",
        "" if floor is None else f"{p50 / floor:.1f}",
    ]


def main(times: int) -> None:
    """Measures every task and prints one table."""
    table = Table("what", "p50 ms", "p95 ms", "p99 ms", "aim ms", "", "floor p50 ms", "of it")
    compact = json.dumps(document(), ensure_ascii=False)
    block_style = as_yaml(document())
    floors: list[tuple[str, str, Callable[[], object]]] = [
        ("JSON", compact, lambda: json.loads(compact)),
        ("YAML", block_style, lambda: events(block_style)),
    ]
    for name, text, floor in floors:
        for task in tasks(name, text, floor):
            repeats = max(times // 20, 10) if task.stream else times
            table.add_row(*row(task, measured(task.run, repeats), max(times // 5, 10)))
        table.add_section()
    console = Console(width=120)
    console.print(table)
    console.print(
        f"{limits.BLOCKS} blocks, {limits.DATASETS} datasets of {ROWS} rows: "
        f"{len(compact)} characters of JSON, {len(block_style)} of YAML"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What blocks cost, beside bare readers.")
    parser.add_argument("--times", type=int, default=500, help="repetitions of each call")
    main(parser.parse_args().times)

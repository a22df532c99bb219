"""What the contract costs: checking asks and answers, deriving cards, refusing hostile input.

Everything is as large as it may be, and in the characters that take longest to measure. The floor
of each row, measured in the same run, is what `json.loads` takes for the same value.

    python -m bench.contract [--times N]
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue
from rich.console import Console
from rich.table import Table

from bench.measure import Measured
from parleyd.contract import limits
from parleyd.contract.answers import accepted, check_answer
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.cards import to_simple_card
from parleyd.contract.field_errors import FieldError

CHECK_MS, CARD_MS, HOSTILE_MS = 0.3, 0.1, 100.0
HOSTILE_BYTES = 4 * 1024 * 1024
UNKNOWN_KEYS = 600_000
WIDE = "漢"
"""A character of one unit and three bytes."""

Ask = dict[str, JsonValue]


@dataclass(frozen=True)
class Task:
    """A call, the value that it is about, and what its median should stay within."""

    name: str
    value: JsonValue
    run: Callable[[], object]
    aim_ms: float | None


def wide(most: int) -> str:
    """Returns a text as long as it may be."""
    return WIDE * most


def options(*, described: bool) -> list[JsonValue]:
    """Returns as many options as there may be, with ids that differ at their ends."""
    description: Ask = {"description": wide(limits.OPTION_DESCRIPTION)} if described else {}
    return [
        {"id": option_id, "label": wide(limits.OPTION_LABEL), **description}
        for option_id in option_ids()
    ]


def option_ids() -> list[JsonValue]:
    """Returns the ids of the options."""
    return [f"{index:02}".rjust(limits.ID, "x") for index in range(limits.OPTIONS_MAX)]


COMMON: Ask = {
    "title": wide(limits.TITLE),
    "prompt": wide(limits.PROMPT),
    "submitLabel": wide(limits.SUBMIT_LABEL),
    "allowDecline": True,
}
CHOICE: Ask = {
    **COMMON,
    "select": "many",
    "options": options(described=True),
    "default": option_ids(),
    "minSelected": limits.OPTIONS_MAX,
    "maxSelected": limits.OPTIONS_MAX + 1,
    "allowOther": True,
    "otherLabel": wide(limits.OPTION_LABEL),
}
PICKS: Ask = {"selected": option_ids(), "other": wide(limits.OTHER)}
DRAFT: Ask = {
    **COMMON,
    "initial": wide(limits.MARKDOWN),
    "placeholder": wide(limits.PLACEHOLDER),
    "minLength": limits.MARKDOWN,
}
SCANS: Ask = {**COMMON, "accept": ["image"]}


def form(default: JsonValue, **keys: JsonValue) -> Ask:
    """Returns a form with as many fields as there may be, all of one type."""
    fields: list[JsonValue] = [
        {
            "id": f"{index}".rjust(limits.ID, "x"),
            "label": wide(limits.FIELD_LABEL),
            "helperText": wide(limits.HELPER_TEXT),
            "required": True,
            "default": default,
            **keys,
        }
        for index in range(limits.FIELDS_MAX)
    ]
    return {**COMMON, "fields": fields}


def values(value: JsonValue) -> Ask:
    """Returns the content that has one value for every field of a form."""
    return {
        "values": {f"{index}".rjust(limits.ID, "x"): value for index in range(limits.FIELDS_MAX)}
    }


TEXT = wide(limits.TEXTAREA_VALUE)
TEXTS = form(TEXT, type="textarea", minLength=limits.TEXTAREA_VALUE)
LISTS = form(option_ids(), type="multiselect", options=options(described=False))


def asked(name: str, kind: AskKind, ask: Ask, aim_ms: float | None) -> Task:
    """Returns the check of a valid ask."""
    assert check_ask(kind, ask) == ()
    return Task(f"{name}, checked", ask, lambda: check_ask(kind, ask), aim_ms)


def answered(name: str, kind: AskKind, ask: Ask, content: Ask) -> Task:
    """Returns the check of a valid answer."""
    response = accepted(content)
    assert check_answer(kind, ask, response) == ()
    return Task(
        f"answer to {name}, checked", response, lambda: check_answer(kind, ask, response), CHECK_MS
    )


def carded(name: str, kind: AskKind, ask: Ask) -> Task:
    """Returns the making of a card with a button that answers with the defaults."""
    assert to_simple_card(kind, ask, "call_1").buttons[0].style == "primary"
    return Task(f"card of {name}", ask, lambda: to_simple_card(kind, ask, "call_1"), CARD_MS)


def legal() -> list[Task]:
    """Returns what people and models may send."""
    return [
        answered("a form of 8 texts", "form", TEXTS, values(TEXT)),
        answered("a form of 8 lists of 50", "form", LISTS, values(option_ids())),
        asked("choice of 50", "choice", CHOICE, CHECK_MS),
        answered("a choice of 50", "choice", CHOICE, PICKS),
        carded("a form of 8 texts", "form", TEXTS),
        carded("a form of 8 lists of 50", "form", LISTS),
        carded("a choice of 50", "choice", CHOICE),
        carded("a draft", "markdown", DRAFT),
        asked("form of 8 texts", "form", TEXTS, None),
        asked("form of 8 lists of 50", "form", LISTS, None),
    ]


def hostile() -> list[Task]:
    """Returns what an enemy may send."""
    keys: Ask = {f"{index:x}": 0 for index in range(UNKNOWN_KEYS)}
    objects: list[JsonValue] = [{}] * (HOSTILE_BYTES // len("{}, "))
    scattered: list[JsonValue] = [
        {f"{index:x}": 0 for index in range(UNKNOWN_KEYS // limits.OPTIONS_MAX)}
    ] * limits.OPTIONS_MAX
    million = f"{len(objects) / 1e6:.1f} million"
    thousand = f"{UNKNOWN_KEYS // 1000},000"

    def ask(name: str, value: Ask) -> Task:
        return refused(name, value, lambda: check_ask("choice", value))

    def answer(name: str, kind: AskKind, question: Ask, content: Ask) -> Task:
        response = accepted(content)
        return refused(name, response, lambda: check_answer(kind, question, response))

    return [
        ask(f"ask with {million} options", {**CHOICE, "options": objects}),
        ask(f"ask with {thousand} unknown keys", {**CHOICE, **keys}),
        ask(f"ask with {thousand} unknown keys in its options", {**CHOICE, "options": scattered}),
        answer(f"answer with {million} picks", "choice", CHOICE, {"selected": objects}),
        answer(f"answer with {million} files", "files", SCANS, {"files": objects}),
        answer(f"answer with {thousand} unknown values", "form", TEXTS, {"values": keys}),
    ]


def refused(name: str, value: JsonValue, run: Callable[[], Sequence[FieldError]]) -> Task:
    """Returns the check of what is not valid, with a bounded number of errors."""
    assert 0 < len(run()) <= limits.FAULTS_REPORTED
    return Task(name, value, run, HOSTILE_MS)


def measured(run: Callable[[], object], times: int) -> Measured:
    """Returns the latencies of a call; the first are for warming up."""
    latencies: list[float] = []
    for _ in range(times + times // 10):
        start = time.perf_counter()
        run()
        latencies.append(time.perf_counter() - start)
    kept = tuple(latencies[-times:])
    return Measured(sum(kept), kept)


def main(times: int) -> None:
    """Measures every task and prints one table."""
    table = Table("what", "KiB", "p50 ms", "p99 ms", "aim ms", "", "json.loads p50 ms", "of it")
    for tasks, repeats in ((legal(), times), (hostile(), max(times // 50, 10))):
        for task in tasks:
            text = json.dumps(task.value, ensure_ascii=False).encode()
            taken = measured(task.run, repeats)
            floor = measured(lambda text=text: json.loads(text), max(repeats // 10, 5))
            p50, floor_p50 = taken.percentile(50), floor.percentile(50)
            held = "" if task.aim_ms is None else "held" if p50 <= task.aim_ms else "MISSED"
            table.add_row(
                task.name,
                f"{len(text) / 1024:.0f}",
                f"{p50:.3f}",
                f"{taken.percentile(99):.3f}",
                "" if task.aim_ms is None else f"{task.aim_ms:g}",
                held,
                f"{floor_p50:.3f}",
                f"{p50 / floor_p50:.2f}",
            )
        table.add_section()
    Console(width=120).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What the contract costs, beside json.loads.")
    parser.add_argument("--times", type=int, default=1000, help="repetitions of what is legal")
    main(parser.parse_args().times)

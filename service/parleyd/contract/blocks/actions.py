"""What buttons and segmented controls do: targets, addresses, callbacks (spec blocks 8)."""

from collections.abc import Iterator, Mapping, Sequence

from parleyd.contract.blocks.catalog import BOUND_TYPES
from parleyd.contract.blocks.faults import ticked
from parleyd.contract.blocks.issues import BlockCode, Issue
from parleyd.contract.blocks.placed import Placed, placed_elements
from parleyd.contract.field_errors import Path, listed, named, quoted
from parleyd.contract.json import JsonObject, object_at, string_at


def action_issues(
    blocks: Sequence[Placed], host_actions: tuple[str, ...] | None
) -> Iterator[Issue]:
    """Yields what is wrong with the elements of actions blocks.

    `host_actions` are the names that callbacks may have; None leaves them unchecked.
    """
    targets: dict[str, None] = {
        its_id: None
        for block in blocks
        if block.type in BOUND_TYPES and (its_id := string_at(block.it, "id")) is not None
    }
    for block in blocks:
        for element in placed_elements(block):
            if element.type == "segmented":
                yield from _target_issues(element.it, element.at, targets)
            else:
                action = object_at(element.it, "action")
                at = (*element.at, "action")
                match string_at(action, "kind"):
                    case "open":
                        yield from _open_issues(action, at)
                    case "select":
                        yield from _target_issues(action, at, targets)
                    case "callback" if host_actions is not None:
                        yield from _callback_issues(action, at, host_actions)
                    case _:
                        pass


def _open_issues(action: JsonObject, at: Path) -> Iterator[Issue]:
    has_url, has_route = "url" in action, "route" in action
    if has_url is has_route:
        yield Issue(
            at,
            BlockCode.MISSING_REQUIRED,
            f"{named(at)} has {'both' if has_url else 'neither'} of `url` and `route`.",
            "Set exactly one of `url` and `route`.",
        )


def _target_issues(holder: JsonObject, at: Path, targets: Mapping[str, None]) -> Iterator[Issue]:
    target = string_at(holder, "target") or ""
    if target not in targets:
        place = (*at, "target")
        yield Issue(
            place,
            BlockCode.SELECT_TARGET_INVALID,
            f"{named(place)} is {quoted(target)}, the id of no chart or table in this document.",
            f"Set {named(place)} to the id of a chart or table: {listed([*targets])}."
            if targets
            else f"Give the chart or table an `id` and set {named(place)} to it.",
        )


def _callback_issues(
    action: JsonObject, at: Path, host_actions: tuple[str, ...]
) -> Iterator[Issue]:
    name = string_at(action, "name") or ""
    if name not in host_actions:
        place = (*at, "name")
        yield Issue(
            place,
            BlockCode.UNKNOWN_HOST_ACTION,
            f"{named(place)} is {quoted(name)}, which is no registered callback.",
            f"Set {named(place)} to a registered callback: {ticked(host_actions)}."
            if host_actions
            else "Use another kind of action, as of callbacks there are none registered.",
        )

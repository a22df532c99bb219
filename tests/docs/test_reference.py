"""The reference pages say what the code does."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from grpc import StatusCode

from parleyd.app.settings import Settings
from parleyd.contract.reasons import TURN_REASONS, Reason
from parleyd.rpc.errors import CODES

REPOSITORY = Path(__file__).parents[2]
REFERENCE = REPOSITORY / "docs" / "reference"
LISTS = {"tools", "blocks_image_hosts", "host_actions", "gateway_cors_origins"}
PAGES = sorted([REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")])


def rows(page: str) -> Iterator[list[str]]:
    """Yields the cells of every row of the tables of a page, heads left out."""
    for line in (REFERENCE / page).read_text().splitlines():
        if line.startswith("| `"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_of_settings_lists_every_setting_with_its_default() -> None:
    listed = {name.strip("`"): default for name, default, _ in rows("settings.md")}
    assert set(listed) == {f"PARLEY_{name.upper()}" for name in Settings.model_fields}
    for name, field in Settings.model_fields.items():
        shown = listed[f"PARLEY_{name.upper()}"]
        match field.get_default():
            case None if field.default_factory is None:
                assert shown == "unset", name
            case bool() as value:
                assert shown == f"`{str(value).lower()}`", name
            case tuple() if name == "asks":
                assert shown == "every kind"
            case tuple() if name == "jwt_algorithms":
                assert shown == f"`{', '.join(Settings().jwt_algorithms)}`"
            case tuple() if name in LISTS:
                assert shown == "none"
            case dict() if name in {
                "approval_wordings",
                "ask_ttl_seconds",
                "approval_ttl_seconds",
                "mcp_servers",
            }:
                assert shown == "none"
            case str() | int() as value:
                assert shown == f"`{value}`", name
            case _:
                assert name == "data_dir"


def test_the_page_of_errors_lists_every_reason_with_its_status() -> None:
    listed = {reason.strip("`"): status for reason, status, _ in rows("errors.md")}
    assert set(listed) == {reason.value for reason in Reason}
    statuses: dict[str, set[StatusCode]] = {reason.value: set() for reason in Reason}
    for fault, status in CODES.items():
        statuses[fault.reason.value].add(status)
    statuses[Reason.INTERNAL.value].add(StatusCode.INTERNAL)
    for reason, expected in statuses.items():
        named = set(re.findall(r"\b[A-Z_]{5,}\b", listed[reason]))
        assert named == {status.name for status in expected}, reason
        assert ("of a turn" in listed[reason]) == (Reason(reason) in TURN_REASONS), reason


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page: Path) -> None:
    for target, place in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", page.read_text()):
        if "://" in target:
            continue
        to = page.parent / target if target else page
        assert to.exists(), f"{page.name}: {target}"
        assert not place or place in _places(to), f"{page.name}: {target}#{place}"


def _places(page: Path) -> set[str]:
    """Returns what a link to a heading of the page is spelled as."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 _-]", "", each.lower()).replace(" ", "-") for each in headings}

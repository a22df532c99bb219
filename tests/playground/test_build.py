"""The page is what its sources build, wherever they are, and comes with the package."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

import pytest

from parleyd.rpc.web.playground import ASSETS

REPOSITORY: Final = Path(__file__).parents[2]
PLAYGROUND: Final = REPOSITORY / "playground"
SOURCES: Final = ("index.html", "package.json", "tsconfig.json", "vite.config.ts", "src")

INTO_THE_PAGE: Final = re.compile(
    "innerHTML|outerHTML|insertAdjacentHTML|setHTML|createContextualFragment|DOMParser"
    r"|document\.write|\beval\(|new Function"
)
"""What makes nodes or code of a text, which an agent may have written."""


def run(*command: str | Path, folder: Path) -> str:
    """Runs a command and returns what it printed.

    Raises:
        AssertionError: It fails; says what it said.
    """
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def built(folder: Path) -> dict[str, bytes]:
    """Returns the files in a folder by their paths."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_no_source_makes_nodes_or_code_of_a_text() -> None:
    folders = [PLAYGROUND / "src", PLAYGROUND / "renderer" / "src"]
    sources = [path for folder in folders for path in folder.rglob("*.ts*")]
    assert len(sources) > 100
    for path in sources:
        found = INTO_THE_PAGE.search(path.read_text(encoding="utf-8"))
        assert not found, f"{path.name}: {found}"


@pytest.fixture(scope="module")
def installed() -> Path:
    """Installs what the playground is built with. Returns its folder."""
    told = run("make", "--silent", "playground", folder=REPOSITORY)
    if "Node 20.19 or newer is not here" in told:
        pytest.skip(told.strip())
    return PLAYGROUND


def test_its_own_tests_pass(installed: Path) -> None:
    run("npm", "run", "--silent", "test", folder=installed)


def test_the_page_is_what_its_sources_build(installed: Path, tmp_path: Path) -> None:
    run("npx", "vite", "build", "--logLevel", "warn", "--outDir", tmp_path, folder=installed)
    assert built(tmp_path) == built(ASSETS), "run 'make gen' and commit what changed"


def test_the_page_is_the_same_wherever_it_is_built(installed: Path, tmp_path: Path) -> None:
    there = tmp_path / "somewhere" / "else" / "playground"
    there.mkdir(parents=True)
    for name in SOURCES:
        copy = shutil.copytree if (installed / name).is_dir() else shutil.copy2
        copy(installed / name, there / name)
    aside = shutil.ignore_patterns("node_modules", "tests")
    shutil.copytree(installed / "renderer", there / "renderer", ignore=aside)
    client = Path("clients", "typescript")
    shutil.copytree(REPOSITORY / client / "src", there.parent / client / "src")
    (there / "node_modules").mkdir()
    for name in (installed / "node_modules").iterdir():
        if name.name != "@parley":
            (there / "node_modules" / name.name).symlink_to(name)
    (there / "node_modules" / "@parley").mkdir()
    (there / "node_modules" / "@parley" / "renderer").symlink_to(there / "renderer")
    out = tmp_path / "out"
    run("npx", "vite", "build", "--logLevel", "warn", "--outDir", out, folder=there)
    pages = built(out)
    assert pages == built(ASSETS)
    assert not any(str(REPOSITORY).encode() in page for page in pages.values())


def test_the_package_holds_the_page(tmp_path: Path) -> None:
    run(
        sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, folder=REPOSITORY
    )
    (wheel,) = tmp_path.glob("*.whl")
    inside = zipfile.ZipFile(wheel).namelist()
    for path in built(ASSETS):
        assert f"parleyd/rpc/web/assets/{path}" in inside

"""Inputs that nobody thought of: a fuzzer finds its way into what reads the texts of models.

Every target runs for some seconds, from the conformance cases on. To look for longer:

    python -m tests.fuzz.program markdown -max_total_time=600 -max_len=1024 CORPUS
"""

import asyncio
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

from tests.contract.blocks.cases import CASES
from tests.contract.blocks.documents import document
from tests.contract.blocks.texts import TOP
from tests.contract.test_markdown_images import html, images, readers_differ
from tests.fuzz.targets import LARGEST, TARGETS

REPOSITORY: Final = Path(__file__).parents[2]
SECONDS: Final = 8
"""Of one target, once it has started."""
SLOWEST: Final = 10
"""Seconds that one input may take."""
DEADLINE: Final = 60

needs_fuzzer = pytest.mark.skipif(
    find_spec("atheris") is None, reason="atheris is there for Linux on x86-64 alone"
)


def seeds(name: str) -> list[str]:
    """Returns the texts that a fuzzer begins with."""
    marked = [text for _, text, _ in (*images(), *readers_differ(), *html())]
    match name:
        case "markdown":
            return marked
        case "html":
            return [case["html"] for case in CASES if "html" in case] + marked
        case _:
            shown = [json.dumps(document({"type": "text", "markdown": text})) for text in marked]
            written = [case["document"] for case in CASES if "document" in case]
            return [*shown, *written, f"{TOP}  - type: divider\n  - type: text\n    markdown: a\n"]


@needs_fuzzer
@pytest.mark.parametrize("name", TARGETS)
async def test_no_input_breaks_what_must_hold(name: str, tmp_path: Path) -> None:
    corpus, found = tmp_path / "corpus", tmp_path / "found"
    corpus.mkdir()
    found.mkdir()
    for number, seed in enumerate(seeds(name)):
        (corpus / str(number)).write_bytes(seed.encode("utf-8", "surrogatepass")[:LARGEST])

    running = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.fuzz.program", name),
        *(f"-max_total_time={SECONDS}", f"-max_len={LARGEST}", f"-timeout={SLOWEST}"),
        *("-seed=1", f"-artifact_prefix={found}/", str(corpus)),
        cwd=REPOSITORY,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await asyncio.wait_for(running.communicate(), DEADLINE)
    finally:
        if running.returncode is None:
            running.kill()
            await running.wait()

    told = said.decode("utf-8", "replace")
    inputs = [path.read_bytes() for path in found.iterdir()]
    assert (running.returncode, inputs) == (0, []), f"{inputs}\n{told[-4000:]}"
    assert "DONE" in told, told[-4000:]

"""Whether a document keeps the rules: the one validator (spec blocks 3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from pydantic import JsonValue

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.actions import action_issues
from parleyd.contract.blocks.bindings import binding_issues, binding_warnings
from parleyd.contract.blocks.datasets import dataset_issues, sources
from parleyd.contract.blocks.ids import id_issues
from parleyd.contract.blocks.images import image_issues
from parleyd.contract.blocks.issues import BlockIssue, Issue, in_order
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.placed import placed_blocks
from parleyd.contract.blocks.prose import html_issues, prose_issues
from parleyd.contract.blocks.structure import structural_issues
from parleyd.contract.json import object_at


@dataclass(frozen=True)
class Verdict:
    """What the validator says of a document: errors and warnings, each in order."""

    errors: tuple[BlockIssue, ...] = ()
    warnings: tuple[BlockIssue, ...] = ()

    @property
    def ok(self) -> bool:
        """Tells whether the document is valid; warnings don't matter."""
        return not self.errors


def check(text: str, options: BlockOptions) -> Verdict:
    """Returns what is wrong with a text that should be a document; it is read, then validated."""
    parsed = parse(text)
    if isinstance(parsed, BlockIssue):
        return Verdict(errors=(parsed,))
    return validate(parsed, options)


def validate(value: JsonValue, options: BlockOptions) -> Verdict:
    """Returns what is wrong with any value that should be a document.

    Every fault of form is told at once; only a document without any is looked at for its meaning,
    and only then there are warnings. Of very many errors the first alone are told.
    """
    malformed = in_order(_first(structural_issues(value)))
    if malformed or not isinstance(value, dict):
        return Verdict(errors=malformed)
    blocks = placed_blocks(value)
    datasets = object_at(value, "datasets")
    known = sources(datasets, options.datasets)
    return Verdict(
        errors=in_order(
            _first(
                chain(
                    dataset_issues(datasets, ("datasets",)),
                    binding_issues(blocks, known),
                    id_issues(blocks),
                    action_issues(blocks, options.host_actions),
                    html_issues(blocks, allowed=options.html),
                    image_issues(blocks, options.image_hosts),
                    prose_issues(blocks),
                )
            )
        ),
        warnings=in_order(binding_warnings(blocks, known)),
    )


def _first(issues: Iterator[Issue]) -> Iterator[Issue]:
    return islice(issues, limits.ISSUES_REPORTED)

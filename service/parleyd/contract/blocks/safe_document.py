"""Documents as clients may show them: valid, their HTML clean, no image from just anywhere."""

from dataclasses import dataclass

from pydantic import JsonValue

from parleyd.contract.blocks.html import clean_html
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.shown_texts import document_without_remote_images
from parleyd.contract.blocks.validation import Verdict, validate
from parleyd.contract.blocks.written import as_json_line


@dataclass(frozen=True)
class SafeDocument:
    """A text that should be a document, and what it is.

    `text` is another than was given where something had to be cleaned: one line of JSON, then.
    `document` is what it holds, None where `verdict` has errors; it is to be shown as a text then.
    """

    text: str
    verdict: Verdict
    document: dict[str, JsonValue] | None


def safe_document(text: str, options: BlockOptions) -> SafeDocument:
    """Returns a text as a document that is safe to show, if it is a valid one.

    Every document that a client gets comes from here, whoever wrote it. HTML is cleaned where it is
    allowed (spec blocks 17); images in texts, which no validation looks at, stay only where they
    come from a file, from data or from an allowed host. What was cleaned is validated again, for a
    block may have been left with nothing. Making it safe again changes nothing. Never raises.
    """
    safe = _validated(text, options)
    if safe.document is None:
        return safe
    clean = document_without_remote_images(safe.document, options.image_hosts)
    changed = clean is not safe.document
    if options.html and clean_html(clean):
        changed = True
    return _validated(as_json_line(clean), options) if changed else safe


def _validated(text: str, options: BlockOptions) -> SafeDocument:
    document = parse(text)
    if isinstance(document, BlockIssue):
        return SafeDocument(text, Verdict(errors=(document,)), None)
    verdict = validate(document, options)
    return SafeDocument(text, verdict, document if verdict.ok else None)

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
class JudgedText:
    """A text that should be a document, and whether it is one: nothing for a client yet.

    `document` is what it holds, valid or not; None where it can't be read as one.
    """

    text: str
    verdict: Verdict
    document: dict[str, JsonValue] | None


@dataclass(frozen=True)
class SafeDocument:
    """A text that should be a document, and what it is.

    `text` is another than was given where something had to be cleaned: one line of JSON, then.
    `document` is what it holds, None where `verdict` has errors; it is to be shown as a text then.
    """

    text: str
    verdict: Verdict
    document: dict[str, JsonValue] | None


def judged_text(text: str, options: BlockOptions) -> JudgedText:
    """Returns a text with what the validator says of it. Never raises."""
    document = parse(text)
    if isinstance(document, BlockIssue):
        return JudgedText(text, Verdict(errors=(document,)), None)
    return JudgedText(text, validate(document, options), document)


def made_safe(judged: JudgedText, options: BlockOptions) -> SafeDocument:
    """Returns a judged text as a document that is safe to show, if it is a valid one.

    Every document that a client gets comes from here, whoever wrote it. HTML is cleaned where it is
    allowed (spec blocks 17); images in texts, which no validation looks at, stay only where they
    come from a file, from data or from an allowed host. What was cleaned is judged again, for a
    block may have been left with nothing. Making it safe again changes nothing. Never raises.

    Takes over what `judged` holds: HTML is cleaned in place.
    """
    document = judged.document
    if document is None or not judged.verdict.ok:
        return SafeDocument(judged.text, judged.verdict, None)
    clean = document_without_remote_images(document, options.image_hosts)
    changed = clean is not document
    if options.html and clean_html(clean):
        changed = True
    if not changed:
        return SafeDocument(judged.text, judged.verdict, document)
    again = judged_text(as_json_line(clean), options)
    return SafeDocument(again.text, again.verdict, again.document if again.verdict.ok else None)


def safe_document(text: str, options: BlockOptions) -> SafeDocument:
    """Returns a text, once it is judged, `made_safe`. Never raises."""
    return made_safe(judged_text(text, options), options)

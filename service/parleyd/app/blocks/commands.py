"""The commands of `parleyd blocks`. They import what they run on when they run."""

# ruff: noqa: PLC0415 - see above

from typing import Annotated, Final

import typer

from parleyd.app.faults import CommandFailed

commands = typer.Typer(
    name="blocks",
    help="Checks block documents without a service.",
    no_args_is_help=True,
)

# Wrong usage is for the command to tell: typer's own way ends with 2, and here 2 says nothing.
_EVERY_ARGUMENT: Final = {"ignore_unknown_options": True}


@commands.command(context_settings=_EVERY_ARGUMENT)
def validate(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="A document in YAML or JSON; - is standard input."),
    ] = None,
) -> None:
    """Says what is wrong with a document, a line for each problem: path, code, message – fix.

    Prints errors and exits 1, or, if there are none, warnings and exits 0. Exits 1, with a sentence
    on standard error, if the file can't be read. Options are the defaults: no html, no image hosts,
    callbacks of any name.
    """
    if files is None or len(files) != 1:
        raise CommandFailed("One file is needed: parleyd blocks validate FILE, or - to read input.")
    from parleyd.app.blocks.report import report
    from parleyd.app.sources import read_text

    told = report(read_text(files[0]))
    typer.echo(told.text.encode(), nl=False)
    raise typer.Exit(0 if told.ok else 1)


@commands.command()
def check(
    cases: Annotated[
        list[str],
        typer.Argument(
            metavar="CASE...", help="A case as JSON, or a case on each line; - is standard input."
        ),
    ],
) -> None:
    """Says of each case how its document is read, validated, shown so far, or its HTML cleaned.

    A case is an object with name, op (parse, validate, partial or sanitize), document, for sanitize
    html in its place, and perhaps options; other keys don't count. Prints a line of JSON for each.
    Exits 2 if one could not be read, once it has printed the others.
    """
    from parleyd.app.blocks.check import outcome_of
    from parleyd.app.case_files import print_outcomes

    raise typer.Exit(print_outcomes(cases, outcome_of))


@commands.command()
def schema() -> None:
    """Prints the structure of documents as JSON Schema (draft 7)."""
    import json

    from parleyd.contract.blocks.schema import json_schema

    typer.echo(json.dumps(json_schema(), indent=2))

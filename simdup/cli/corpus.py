"""`simdup corpus`: documents that are rows of JSON Lines, CSV, TSV or Parquet files."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from simdup.cli import options
from simdup.cli.command import Group
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.page import page_options, page_target
from simdup.cli.terminal import progress, tell
from simdup.report.page import LARGEST_PAGE
from simdup.report.wording import count
from simdup.settings import KEEPS, ROW_FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simdup.corpus.records import Balance, CorpusResult
    from simdup.corpus.stay import Dropped
    from simdup.progress import Progress
    from simdup.settings import Settings

FORMATS = ("jsonl", "csv", "text")

#: The most characters of texts that are read for a page. More would not fit, even compressed well.
MOST_CHARACTERS = 4 * LARGEST_PAGE

# The options that only one engine has.
_OPTIONS_OF = {"local": ("jobs", "parts", "dropped"), "spark": ("master", "conf")}


def _setting(text: str) -> tuple[str, str]:
    """Return the name and the value of NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is no NAME=VALUE")
    return name, value


@click.group("corpus", cls=Group)
def corpus_command() -> None:
    """Compare documents that are rows of JSON Lines, CSV, TSV or Parquet files.

    \b
    Examples:
      simdup corpus scan corpus.jsonl.zst
      simdup corpus scan corpus.parquet --keep first --output clean.parquet
    """


@corpus_command.command("scan", work="simdup.corpus.scan")
@click.argument("files", nargs=-1, required=True, type=options.PATH, metavar="FILE...")
@options.option(
    "--text-field",
    "The field or column that contains the texts. Several, with commas between them, are compared"
    " field by field; title^3 counts three times. a.b is the field b of the object a.",
    default="text",
    metavar="NAME",
)
@options.option(
    "--id-field",
    "The field or column by which reports name rows.  [default: file and row number]",
    metavar="NAME",
)
@options.row_matching
@options.linkage
@options.parts
@options.option(
    "--keep",
    "Instead of a report, write a corpus without near-duplicates to --output: rows without a"
    " group, one row of each group (the first, the longest or the representative), and every other"
    " row of a group that is not similar enough to a row that stays.",
    type=click.Choice(KEEPS),
)
@options.report_format(FORMATS, "jsonl")
@options.file(
    "-o",
    "--output",
    "target",
    "Write the report to this file; with --keep, the rows, compressed if its name ends in .gz"
    " or .zst.",
)
@page_options("groups")
@options.file(
    "--dropped",
    "With --keep, also write the rows that go to this file, as JSON Lines, each with the row that"
    " stays for it and how similar they are.",
)
@options.choice(
    "--engine",
    _OPTIONS_OF,
    "Whether this machine or Spark does the work. For Spark, FILE... are any paths, folders and"
    " patterns that Spark reads, and --output is a folder.",
)
@options.option(
    "--master", "Address of Spark.  [default: spark-submit's, else local[*]]", metavar="URL"
)
@options.option(
    "--conf",
    "A setting of Spark; may be given several times.",
    type=options.ParsedValue("name=value", _setting),
    multiple=True,
)
@options.option(
    "--input-format",
    "The format of the files, for Spark, or of the rows on standard input.  [default: by their"
    " names; JSON Lines on standard input]",
    type=click.Choice(ROW_FORMATS),
)
@options.jobs
@options.fail_on_found
@options.quiet
def scan_command(files: tuple[str, ...], **given: Any) -> int:
    """Group the rows of FILE... that hold the same text, or write those that stay.

    All files are one corpus. Their names end in .jsonl, .csv or .tsv (.gz or .zst may
    follow) or .parquet; - is standard input. Exits with 0 when done, 1 with --fail-on-found
    if there is a group, 2 if it cannot run, 3 if some rows could not be read.

    \b
    Examples:
      simdup corpus scan pages.jsonl.gz --text-field body --id-field url
      simdup corpus scan records.tsv --text-field title^3,body
      simdup corpus scan shard-*.parquet --keep longest --output clean.parquet
      simdup corpus scan s3a://crawl/pages/ --input-format parquet --engine spark --output out/
    """
    from simdup.report import rows

    is_local = given["engine"] == "local"
    if is_local:  # on Spark --output is a new folder
        named = [("FILE", path) for path in files if path != "-"]
        outputs = [(f"--{name}", given[name]) for name in ("html", "dropped")]
        outputs.append(("--output", given["target"]))
        refuse_same_files(outputs, [*named, *options.dictionary_files(given)])
    settings = options.settings_from(given)
    _check(files, given)
    balance = (_on_this_machine if is_local else _on_spark)(files, settings, given)
    if not given["quiet"]:
        warnings = [f"simdup: {each}" for each in rows.warnings(balance)]
        for line in [*warnings, *rows.summary(balance)]:
            tell(line)
    return options.exit_code(balance, given)


def _check(files: tuple[str, ...], given: dict[str, Any]) -> None:
    """Raise UsageError for options that do not go together."""
    _check_input_format(files, given)
    if given["keep"] is not None:
        _check_keep(given)
    elif given["dropped"] is not None:
        raise click.UsageError("--dropped goes with --keep, which drops rows")
    if given["html"] is not None or given["opens"]:
        _check_page(given)
    for engine, names in _OPTIONS_OF.items():
        wrong = next((name for name in names if given[name]), None)
        if wrong and engine != given["engine"]:
            raise click.UsageError(f"{options.spelled(wrong)} goes with --engine {engine}")


def _check_input_format(files: tuple[str, ...], given: dict[str, Any]) -> None:
    """Raise UsageError for an input format that the engine does not take."""
    is_local, form = given["engine"] == "local", given["input_format"]
    if is_local and form is not None and "-" not in files:
        raise click.UsageError("--input-format goes with --engine spark, or with - for FILE")
    if not is_local and form == "tsv":
        raise click.UsageError("--input-format tsv goes with --engine local")


def _check_keep(given: dict[str, Any]) -> None:
    """Raise UsageError for options that do not go with --keep."""
    if given["target"] is None:
        raise click.UsageError("--keep goes with --output FILE, where the rows are written")
    if given["form"] is not None:
        raise click.UsageError("--format is for reports; --keep writes rows as they were")
    if given["parts"] is not None:
        raise click.UsageError("--parts is for reports; leave out --keep")


def _check_page(given: dict[str, Any]) -> None:
    """Raise UsageError for options that do not go with a page."""
    if given["keep"] is not None:
        raise click.UsageError("--html and --open are for reports; leave out --keep")
    if given["engine"] != "local":
        raise click.UsageError("--html and --open go with --engine local")


def _on_this_machine(files: tuple[str, ...], settings: Settings, given: dict[str, Any]) -> Balance:
    """Scan, write the report or the rows that stay, and return what became of the rows."""
    from simdup.corpus.formats.streams import copy_of

    if "-" not in files:
        return _scanned(files, settings, given, None)
    with copy_of(options.stdin_for("-")) as place:
        return _scanned(files, settings, given, (place, given["input_format"] or ROW_FORMATS[0]))


def _scanned(
    files: tuple[str, ...],
    settings: Settings,
    given: dict[str, Any],
    stdin: tuple[str, str] | None,
) -> Balance:
    from simdup.corpus.formats.open import tables
    from simdup.corpus.rewrite import check_target, without
    from simdup.corpus.scan import scan_tables, with_fields
    from simdup.corpus.stay import dropped_for
    from simdup.report import rows

    keep, target = given["keep"], given["target"]
    names, settings = with_fields(settings, given["text_field"])
    opened = tables(files, names, given["id_field"], stdin)
    if keep is not None:
        check_target(opened, target)
    form = given["form"] or "jsonl"
    write, write_page = writer(target, as_utf8=form == "jsonl"), page_target(given)
    lists = given["dropped"] is not None
    write_dropped = writer(given["dropped"], as_utf8=True) if lists else None
    bar = progress(quiet=given["quiet"])
    result = scan_tables(opened, settings, given["jobs"], bar)
    if keep is None:
        renders = {"jsonl": rows.render_jsonl, "csv": rows.render_csv, "text": rows.render}
        ids = _ids(result, given["id_field"], quiet=given["quiet"])
        try:
            write(renders[form](result, ids))
        finally:  # whoever reads the output may have enough of it
            if write_page is not None:
                write_page(_page(result, ids, given, bar))
        return result.balance
    gone = dropped_for(result, keep, bar, is_measured=lists and settings.verified)
    if write_dropped is not None:
        write_dropped(rows.render_dropped(result, gone, _ids_of(result, gone, given["id_field"])))
    write(without(result, gone.rows, target))
    return replace(result.balance, dropped=len(gone.rows))


def _page(
    result: CorpusResult, ids: Sequence[Any] | None, given: dict[str, Any], bar: Progress
) -> Iterator[str]:
    """Yield the lines of the page, and read texts for it."""
    from simdup.corpus.scan import member_texts
    from simdup.report.page.rows import render_rows

    about = {"language": given["lang"], "day": time.time()}
    if given["html_texts"] == "none":
        yield from render_rows(result, ids, bar, **about)
        return
    with member_texts(result, MOST_CHARACTERS) as read:
        yield from render_rows(result, ids, bar, read=read, **about)


def _ids_of(result: CorpusResult, gone: Dropped, field: str | None) -> list[Any] | None:
    """Return the names of the rows that go, then the names of the rows that stay for them."""
    from numpy import concatenate

    from simdup.corpus.scan import identities_of

    rows = concatenate((gone.rows, gone.like))
    return None if field is None else identities_of(result, field, rows)


def _on_spark(files: tuple[str, ...], settings: Settings, given: dict[str, Any]) -> Balance:
    """Let Spark scan and write, and return what became of the rows."""
    from simdup.text.fields import named_fields

    if len(fields := named_fields(given["text_field"])) > 1:
        raise click.UsageError("--text-field takes one field with --engine spark")
    from simdup.spark.command import run  # an extra

    given["text_field"] = fields[0][0]
    names = ("text_field", "id_field", "input_format", "master", "keep", "target")
    form = given["form"] or "jsonl"
    return run(
        files,
        settings,
        **{name: given[name] for name in names},
        conf=dict(given["conf"]),
        form=form,
        write=writer(None, as_utf8=form == "jsonl"),
    )


def _ids(result: CorpusResult, field: str | None, *, quiet: bool) -> list[Any] | None:
    """Return the names of the members of groups; warn about members without the field."""
    if field is None:
        return None
    from simdup.corpus.records import RowPlace
    from simdup.corpus.scan import identities

    ids = identities(result, field)
    lacking = sum(isinstance(each, RowPlace) for each in ids)
    if lacking and not quiet:
        what = f"{count(lacking, 'row')} of groups without a field {field!r}"
        tell(f"simdup: {what}; reports name such a row by its file and number")
    return ids

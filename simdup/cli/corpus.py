"""`simdup corpus`: documents that are rows of JSON Lines, CSV, TSV or Parquet files."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simdup.cli import options
from simdup.cli.command import Group
from simdup.cli.output import Write, progress, tell, writer
from simdup.cli.shown import PAGE, Page, texts_option
from simdup.progress import Progress
from simdup.report.page import LARGEST_PAGE
from simdup.report.wording import count
from simdup.settings import KEEPS, ROW_FORMATS, Settings

if TYPE_CHECKING:  # these load numpy
    from simdup.corpus.records import Balance, CorpusResult

#: The most characters of texts that are read for a page. More would not fit, even compressed well.
MOST_CHARACTERS = 4 * LARGEST_PAGE

#: The similarity from which rows are dropped, unless the user says another one.
KEPT_FROM = 0.8

# What an option needs that only Spark has.
_SPARK = ("--engine spark",)

# Values of options that only the local engine has.
_NOT_ON_SPARK = ("--input-format csv", "--input-format tsv", "--format text")


def _setting(text: str) -> tuple[str, str]:
    """Return the name and the value of NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is not NAME=VALUE")
    return name, value


@click.group("corpus", cls=Group)
def corpus_command() -> None:
    """Compare documents that are rows of JSON Lines, CSV, TSV or Parquet files.

    \b
    Examples:
      simdup corpus scan corpus.jsonl.zst
      simdup corpus scan corpus.parquet --keep first --output clean.parquet
    """


class CorpusScan(NamedTuple):
    """The options of `simdup corpus scan`.

    text_field: The field or column that contains the texts. Several, with commas between them, are
        compared field by field; title^3 counts three times. a.b is the field b of the object a.
    id_field: The field or column by which reports name rows. [default: file and row number]
    keep: Instead of a report, write a corpus without near-duplicates to --output: rows without a
        group, one row of each group (the first, the longest or the representative), and every other
        row of a group that is not similar enough to a row that stays. Then --similarity is
        {KEPT_FROM} unless you say another one.
    target: Write the report to this file; with --keep, the rows, compressed if its name ends in .gz
        or .zst.
    dropped: Also write the rows that go to this file, as JSON Lines, each with the row that stays
        for it and how similar they are.
    engine: Whether this machine or Spark does the work. For Spark, FILE... are any paths, folders
        and patterns that Spark reads, and --output is a folder.
    master: Address of Spark. [default: spark-submit's, else local[*]]
    conf: A setting of Spark; may be given several times.
    input_format: The format of the files, for Spark, or of the rows on standard input. [default: by
        their names; JSON Lines on standard input]
    """

    files: tuple[str, ...] = options.argument(
        "FILE...", options.PATH, nargs=-1, required=True, is_tree=True
    )
    text_field: str = options.option(default="text", metavar="NAME")
    id_field: str | None = options.option(metavar="NAME")
    matching: options.Matching = options.part(options.Matching)
    linkage: str = options.linkage
    parts: float | None = options.parts
    keep: str | None = options.option(
        type=click.Choice(KEEPS),
        once=True,
        needs=("--output",),
        excludes=("--format", "--parts", *PAGE),
    )
    form: str = options.report_format(("jsonl", "csv", "text"))
    target: str | None = options.file("-o", "--output", once=True, writes=True)
    page: Page = options.part(Page)
    html_texts: str | None = texts_option("groups")
    dropped: str | None = options.file(needs=("--keep",), writes=True)
    engine: str = options.choice(
        ("local", "spark"),
        excludes={"spark": ("--jobs", "--parts", "--dropped", *PAGE, *_NOT_ON_SPARK)},
    )
    master: str | None = options.option(metavar="URL", needs=_SPARK)
    conf: tuple[tuple[str, str], ...] = options.option(
        type=options.ParsedValue("name=value", _setting), multiple=True, once=True, needs=_SPARK
    )
    input_format: str | None = options.option(
        type=click.Choice(ROW_FORMATS), needs=(*_SPARK, "FILE... -")
    )
    jobs: int | None = options.jobs
    fail_on_found: bool = options.fail_on_found
    quiet: bool = options.quiet


@corpus_command.command("scan", record=CorpusScan, work="simdup.corpus.scan")
def scan_command(asked: CorpusScan) -> int:
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

    options.refuse_overwriting()
    matching = asked.matching
    if asked.keep is not None and not options.is_set("similarity"):
        thresholds = matching.thresholds._replace(similarity=KEPT_FROM)
        matching = matching._replace(thresholds=thresholds)
    settings = matching.settings(linkage=asked.linkage, parts=asked.parts)
    balance = (_scanned if asked.engine == "local" else _on_spark)(asked, settings)
    if not asked.quiet:
        tell(
            *(f"simdup: {warning}" for warning in rows.warnings(balance)),
            *rows.summary(balance, is_kept=asked.keep is not None),
        )
    return options.exit_code(balance, fail_on_found=asked.fail_on_found)


def _scanned(asked: CorpusScan, settings: Settings) -> Balance:
    """Scan, write the report or the rows that stay, and return what became of the rows."""
    from simdup.corpus.formats.open import tables
    from simdup.corpus.rewrite import check_target, droppable
    from simdup.corpus.scan import scan_tables, with_fields
    from simdup.report import rows

    names, settings = with_fields(settings, asked.text_field)
    with options.stdin_copied(asked.files) as copy:
        stdin = copy and (copy, asked.input_format or ROW_FORMATS[0])
        opened = tables(asked.files, names, asked.id_field, stdin or None)
        if asked.keep and asked.target:
            check_target(opened, asked.target)
        is_json = asked.form == "jsonl"
        write = asked.page.writer(asked.target, as_utf8=is_json, quiet=asked.quiet)
        write_dropped = writer(asked.dropped, as_utf8=True) if asked.dropped is not None else None
        bar = progress(quiet=asked.quiet)
        result = scan_tables(opened, settings, asked.jobs, bar)
        if asked.keep is not None:
            return _kept(result, asked, write, write_dropped)
        renders = {"jsonl": rows.render_jsonl, "csv": rows.render_csv, "text": rows.render}
        ids = _ids(result, asked.id_field, quiet=asked.quiet)
        write(renders[asked.form](result, ids), _page(result, ids, asked, bar))
        similarity = settings.similarity if options.is_set("similarity") else KEPT_FROM
        return replace(result.balance, droppable=(droppable(result, similarity), similarity))


def _kept(
    result: CorpusResult, asked: CorpusScan, write: Write, write_dropped: Write | None
) -> Balance:
    """Write the rows that stay, and the rows that go if there is a file for them."""
    from simdup.corpus.rewrite import dropped_for, without
    from simdup.report import rows

    keep, target = asked.keep or "", asked.target or ""  # one needs the other
    is_measured = result.settings.verified and not (write_dropped is None and asked.quiet)
    bar = progress(quiet=asked.quiet)
    gone = dropped_for(result, keep, bar, is_measured=is_measured)
    if write_dropped is not None:
        write_dropped(rows.render_dropped(result, gone, asked.id_field))
    write(without(result, gone.rows, target))
    if not asked.quiet and len(gone.rows):
        tell(*rows.losses(result, gone))
    return replace(result.balance, dropped=len(gone.rows))


def _page(
    result: CorpusResult, ids: Sequence[Any] | None, asked: CorpusScan, bar: Progress
) -> Iterator[str]:
    """Yield the lines of the page, and read texts for it."""
    from simdup.corpus.scan import member_texts
    from simdup.report.page.rows import render_rows

    has_texts, language = asked.html_texts != "none", asked.page.lang
    with member_texts(result, MOST_CHARACTERS) if has_texts else nullcontext() as read:
        yield from render_rows(result, ids, bar, language=language, read=read, day=time.time())


def _on_spark(asked: CorpusScan, settings: Settings) -> Balance:
    """Let Spark scan and write, and return what became of the rows."""
    from simdup.text.fields import named_fields

    if len(fields := named_fields(asked.text_field)) > 1:
        raise click.UsageError("--text-field takes one field with --engine spark")
    from simdup.spark.corpus import run  # an extra

    return run(
        asked.files,
        settings,
        text_field=fields[0][0],
        id_field=asked.id_field,
        input_format=asked.input_format,
        master=asked.master,
        conf=dict(asked.conf),
        form=asked.form,
        keep=asked.keep,
        target=asked.target,
        write=writer(None, as_utf8=asked.form == "jsonl"),
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

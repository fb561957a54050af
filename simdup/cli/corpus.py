"""`simdup corpus`: documents that are rows of files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from simdup.cli.options import dictionaries_of, linkage_option, row_options, settings_from
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.terminal import progress, tell
from simdup.corpus.formats.open import FORMS, tables
from simdup.corpus.records import KEEPS, RowPlace
from simdup.corpus.rewrite import check_target, without
from simdup.corpus.scan import identities, scan_tables
from simdup.corpus.stay import dropped
from simdup.report import rows
from simdup.report.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simdup.corpus.records import Balance, CorpusResult
    from simdup.settings import Settings

FOUND, TROUBLE_WITH_INPUT = 1, 3

FORMATS: dict[str, Callable[..., Iterable[str]]] = {
    "jsonl": rows.render_jsonl,
    "csv": rows.render_csv,
    "text": rows.render,
}


@click.group("corpus")
def corpus_command() -> None:
    """Compare documents that are rows of JSON Lines, CSV or Parquet files.

    \b
    Examples:
      simdup corpus scan corpus.jsonl.zst
      simdup corpus scan corpus.parquet --keep first --output clean.parquet
    """


@corpus_command.command("scan")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(readable=False), metavar="FILE..."
)
@click.option(
    "--text-field",
    default="text",
    show_default=True,
    metavar="NAME",
    help="The field or column that has the texts.",
)
@click.option(
    "--id-field",
    metavar="NAME",
    help="The field or column by which reports name rows.  [default: file and row]",
)
@row_options
@linkage_option
@click.option(
    "--keep",
    type=click.Choice(KEEPS),
    help="Write the rows that stay to --output, in the format of the input: all rows without a"
    " group, of each group the first row, the longest text or the representative, and every other"
    " row that is not similar enough to one that stays.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="How to report groups.  [default: jsonl]",
)
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Report there; with --keep, write the rows there, packed as its name says.",
)
@click.option(
    "--engine",
    type=click.Choice(("local", "spark")),
    default="local",
    show_default=True,
    help="What does the work. With spark, FILE... are any paths, folders and patterns that Spark"
    " reads, and --output is a folder.",
)
@click.option(
    "--master", metavar="URL", help="Where Spark is.  [default: spark-submit's, else local[*]]"
)
@click.option(
    "--conf", multiple=True, metavar="NAME=VALUE", help="A setting of Spark's; repeat for more."
)
@click.option(
    "--input-format",
    type=click.Choice(tuple(dict.fromkeys(FORMS.values()))),
    help="What the files are, for Spark.  [default: as their names end]",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes.  [default: cores, if worth it]",
)
@click.option("--fail-on-found", is_flag=True, help="Exit with 1 when there is a group.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, warnings and summary.")
def scan_command(files: tuple[str, ...], **options: Any) -> int:  # noqa: ANN401
    """Group the rows of FILE... that hold the same text, or write those that stay.

    All files are one corpus. Their names end in .jsonl or .csv (.gz or .zst may follow) or
    .parquet. Exits with 0 when done, 1 with --fail-on-found when there is a group, 2 when
    it cannot run, 3 when some rows could not be read.

    \b
    Examples:
      simdup corpus scan pages.jsonl.gz --text-field body --id-field url
      simdup corpus scan shard-*.parquet --keep longest --output clean.parquet
      simdup corpus scan s3a://crawl/pages/ --input-format parquet --engine spark --output out/
    """
    if options["engine"] == "local":  # on Spark --output is a new folder
        inputs = [*(("FILE", path) for path in files), *dictionaries_of(options)]
        refuse_same_files([("--output", options["target"])], inputs)
    settings = settings_from(options, options.pop("linkage"))
    _check(options)
    if options["engine"] == "local":
        balance = _on_this_machine(files, settings, options)
    else:
        balance = _on_spark(files, settings, options)
    if not options["quiet"]:
        for line in rows.warnings(balance):
            tell(f"simdup: {line}")
        for line in rows.summary(balance):
            tell(line)
    if balance.has_trouble:
        return TROUBLE_WITH_INPUT
    return FOUND if options["fail_on_found"] and balance.groups else 0


def _check(options: dict[str, Any]) -> None:
    """Raise UsageError for options that do not go together."""
    if options["keep"] is not None and options["target"] is None:
        raise click.UsageError("--keep goes with --output FILE, where the rows are written")
    if options["keep"] is not None and options["form"] is not None:
        raise click.UsageError("--format is for reports; --keep writes rows as they were")
    engine = options["engine"]
    idle = ("master", "conf", "input_format") if engine == "local" else ("jobs",)
    for name in idle:
        if options[name]:
            other = "spark" if engine == "local" else "local"
            raise click.UsageError(f"--{name.replace('_', '-')} goes with --engine {other}")
    if any("=" not in each for each in options["conf"]):
        raise click.UsageError("--conf takes NAME=VALUE")


def _on_this_machine(
    files: tuple[str, ...], settings: Settings, options: dict[str, Any]
) -> Balance:
    """Scan and write; what became of the rows."""
    keep, target = options["keep"], options["target"]
    opened = tables(files, options["text_field"], options["id_field"])
    if keep is not None:
        check_target(opened, target)
    form = options["form"] or "jsonl"
    write = writer(target, as_utf8=form == "jsonl")
    bar = progress(quiet=options["quiet"])
    result = scan_tables(opened, settings, options["jobs"], bar)
    if keep is None:
        write(FORMATS[form](result, _ids(result, options["id_field"], quiet=options["quiet"])))
        return result.balance
    goes = dropped(result, keep, bar)
    write(without(result, goes, target))
    return replace(result.balance, dropped=len(goes))


def _on_spark(files: tuple[str, ...], settings: Settings, options: dict[str, Any]) -> Balance:
    """Scan and write by Spark; return what became of the rows."""
    from simdup.spark.command import run  # noqa: PLC0415  (an extra)

    form = options["form"] or "jsonl"
    return run(
        files,
        settings,
        text_field=options["text_field"],
        id_field=options["id_field"],
        input_format=options["input_format"],
        master=options["master"],
        conf=dict(each.split("=", 1) for each in options["conf"]),
        form=form,
        keep=options["keep"],
        target=options["target"],
        write=writer(None, as_utf8=form == "jsonl"),
    )


def _ids(result: CorpusResult, field: str | None, *, quiet: bool) -> list[Any] | None:
    """What the members of groups are called; told is how many have no such field."""
    if field is None:
        return None
    ids = identities(result, field)
    lacking = sum(isinstance(each, RowPlace) for each in ids)
    if lacking and not quiet:
        rows_ = count(lacking, "row")
        tell(f"simdup: {rows_} of groups without a field {field!r}; named by file and row")
    return ids

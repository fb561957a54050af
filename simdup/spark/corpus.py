"""`simdup corpus scan` on Spark: rows of files in, a report or the rows that stay out.

Each line of the report is the one that the local engine would print.
"""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from simdup.corpus.flaws import Fault, Faulty, Flaw
from simdup.corpus.formats.csv import CommaSeparated
from simdup.corpus.records import Balance, RowGroup
from simdup.corpus.rewrite import check_target
from simdup.errors import InputError
from simdup.records import Kind
from simdup.report.json_csv import as_jsonl, csv_line
from simdup.report.rows import COLUMNS, NamedGroup, beginning, group_lines
from simdup.report.rows import report as corpus_report
from simdup.settings import Settings
from simdup.spark.arrow import Batches, decoded, runs, strings
from simdup.spark.files import Files, codec, read
from simdup.spark.parts import GroupedRows, grouped
from simdup.spark.session import is_submitted, reason, start
from simdup.spark.texts import checkpointed, numbered

# The beginning of an address. One letter and a colon may also be a folder's name.
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")

# Characters that make Spark take a name for a pattern.
PATTERN = set("*?[]{}\\")

# Lines of the report in a batch.
LINES = 1 << 14

# The most members of a group in JSON Lines: Spark's lines have at most 2 GB, and a member takes
# some 200 bytes of JSON.
MOST_MEMBERS = 5_000_000


class Scanned(NamedTuple):
    """The result of scanning files: their rows, whose groups are checkpointed, and the balance."""

    files: Files
    grouped: GroupedRows
    balance: Balance


def run(  # noqa: PLR0913  (one argument an option)
    files: Sequence[str],
    settings: Settings,
    *,
    text_field: str,
    id_field: str | None,
    input_format: str | None,
    master: str | None,
    conf: Mapping[str, str],
    form: str,
    keep: str | None,
    target: str | None,
    write: Callable[[Iterable[str]], None],
) -> Balance:
    """Write the report or, with `keep`, the rows that stay; return the balance of the rows.

    `target` is the folder to write to; None hands the lines of the report to `write`. Raises
    InputError for whatever Spark cannot do.
    """
    session = start(master or (None if is_submitted() else "local[*]"), conf)
    try:
        with nullcontext() if target is None else _new_folder(session, target) as folder:
            located = {_located(session, path): path for path in files}
            if len(located) < len(files):
                raise InputError("a file is named twice")
            opened = read(session, located, input_format, text_field, id_field)
            if keep is not None:
                check_target(opened.tables, "")
            scanned = scan(opened, settings, keep)
            if folder is None:
                write(line["value"] for line in report(scanned, form).toLocalIterator())
            elif keep is None:
                _write_lines(report(scanned, form), folder, form)
            else:
                return write_kept(scanned, folder)
    except (PySparkException, Py4JError) as error:
        raise InputError(reason(error)) from None
    return scanned.balance


def scan(files: Files, settings: Settings, keep: str | None = None) -> Scanned:
    """The groups of the rows of some files, and the balance of the rows.

    `keep` says which rows of a group are preferred, as in `deduplicate`, if rows have to go.
    """
    began = perf_counter()
    found = grouped(files.source, settings, keep)
    reasons = found.rows.groupBy("reason")
    counts = reasons.agg(F.count("*").alias("rows"), F.min("id").alias("first")).collect()
    faults = [each for each in counts if each["reason"] is not None]
    faults.sort(key=lambda each: (-each["rows"], each["first"]))
    balance = Balance(
        settings,
        files.paths,
        sum(each["rows"] for each in counts if each["reason"] is None),
        found.total,
        found.members,
        found.members - found.total,
        {Fault(each["reason"]): each["rows"] for each in faults},
        _faulty(found.rows, files.names, settings.limits.faulty_rows) if faults else (),
        found.candidates,
        found.siblings,
        perf_counter() - began,
    )
    return Scanned(files, found, balance)


def _faulty(rows: DataFrame, names: tuple[str, ...], most: int) -> tuple[Faulty, ...]:
    """The first `most` rows with each fault, in the order of rows."""
    empty = F.when(F.col("reason") == Fault.EMPTY.value, "no letter or digit").otherwise("")
    place = F.row_number().over(Window.partitionBy("reason").orderBy("id")).alias("place")
    wrong = rows.where("reason is not null").withColumn("detail", F.coalesce("detail", empty))
    first = wrong.select("id", "file", "position", "reason", "detail", place)
    return tuple(
        Faulty(names[row["file"]], Flaw(row["position"], 1, Fault(row["reason"]), row["detail"]))
        for row in first.where(F.col("place") <= most).orderBy("id").collect()
    )


def report(scanned: Scanned, form: str) -> DataFrame:
    """The lines of a report, `value`, in order: "jsonl", "csv" or "text"."""
    session, balance = scanned.grouped.groups.sparkSession, scanned.balance
    others = {
        "jsonl": as_jsonl(corpus_report(balance, (), balance.faulty)),
        "csv": [csv_line(COLUMNS)],
        "text": [],
    }
    lines = [(line,) for line in others[form]]
    bits = balance.settings.recipe.bits
    rendering = partial(_rendering, scanned.files.names, form, bits, MOST_MEMBERS)
    groups = _ordered(scanned.grouped.groups).mapInArrow(rendering, "value string")
    before, after = (
        session.createDataFrame(some, "value string").coalesce(1) for some in (lines[:1], lines[1:])
    )
    return before.unionAll(groups).unionAll(after)


def _ordered(members: DataFrame) -> DataFrame:
    """The members of groups, with the number of their group, in the order of reports."""
    alike = F.coalesce("similarity", F.lit(0.0))
    is_near = F.col("kind") == Kind.NEAR.value
    sums = members.groupBy("representative").agg(
        F.max(is_near).alias("is_near"),
        (-F.min(alike)).alias("least"),
        F.max("distance").alias("farthest"),
        (-F.count("*")).alias("size"),
    )
    key = F.struct("is_near", "least", "farthest", "size", "representative").alias("key")
    by_place, _ = numbered(sums.select("representative", key), "key")
    places = by_place.select("representative", (F.col("number") + 1).alias("group"))
    placed = checkpointed(members.join(places, "representative"), "report")
    return placed.repartitionByRange("group").sortWithinPartitions("group", "place")


def _rendering(
    names: tuple[str, ...], form: str, bits: int, most: int, batches: Batches
) -> Batches:
    """Render the members of each group as lines."""
    for group, table in runs(batches, "group"):
        if form == "jsonl" and len(table) > most:
            many = f"group {group} has {len(table):,} rows"
            raise InputError(f"{many}, too many for a line of JSON; take --format csv")
        named = _named(group, table, names)
        lines = group_lines(named, form, bits)
        while part := list(islice(lines, LINES)):
            yield pa.RecordBatch.from_pydict({"value": strings(part)})


def _named(group: int, table: pa.Table, names: tuple[str, ...]) -> NamedGroup:
    """A group for reports, made from the table of its members and the names of the files."""
    columns = table.to_pydict()
    kinds = [Kind(kind) for kind in columns["kind"]]
    weakest = Kind.NEAR if Kind.NEAR in kinds else Kind.IDENTICAL_TEXT
    paths = [names[file] for file in columns["file"]]
    places = list(zip(paths, columns["position"], strict=True))
    ids = [
        f"{path}:{number}" if name is None else json.loads(name)
        for (path, number), name in zip(places, columns["name"], strict=True)
    ]
    figures = columns["similarity"], columns["distance"], columns["own_share"]
    about = RowGroup(group, weakest, columns["id"], kinds, *figures)
    return NamedGroup(about, places, ids, [*map(beginning, decoded(table["beginning"]))])


def write_kept(scanned: Scanned, target: str) -> Balance:
    """Write the rows that stay to a folder, in the input's form; return the balance of all rows.

    Raises InputError if the number of rows written is not the number that should stay.
    """
    files, rows = scanned.files, scanned.grouped.rows
    refused = [fault.value for fault in Fault if fault.is_refused]
    goes = scanned.grouped.groups.where("goes").select("id")
    balance = replace(scanned.balance, dropped=goes.count())
    left_out = goes.unionAll(rows.where(rows["reason"].isin(refused)).select("id"))
    stays = files.rows.join(left_out, "id", "left_anti")
    seen = Observation("kept")
    records = stays.observe(seen, F.count("*").alias("rows")).select("record.*")
    table = files.tables[0]
    if isinstance(table, CommaSeparated):
        records = records.mapInArrow(partial(_with_header, table.header), "value string")
    if table.form == "parquet":
        records.write.parquet(target, "append", compression=codec(files.rows))
    else:
        _write_lines(records, target, table.form)
    if seen.get["rows"] != balance.kept:
        raise InputError("files changed while they were read")
    return balance


def _write_lines(lines: DataFrame, folder: str, form: str) -> None:
    """Write lines to a folder, in files that end as their format does: Spark ends them all in .txt.

    Raises InputError where one cannot be renamed.
    """
    lines.write.mode("append").text(folder)
    path, system = _opened(lines.sparkSession, folder)
    for status in system.listStatus(path) if form != "text" else ():
        name = status.getPath().getName()
        if name.startswith("part-"):
            renamed = name.replace(".txt", f".{form}", 1)
            there, _ = _opened(lines.sparkSession, f"{folder}/{renamed}")
            if not system.rename(status.getPath(), there):
                raise InputError(f"{folder!r}: {name} cannot be renamed there")


def _with_header(header: bytes, batches: Batches) -> Batches:
    """Put a header before the lines of each partition that has any."""
    line = header.decode().removesuffix("\n")
    filled = filter(len, batches)
    for first in filled:
        yield pa.RecordBatch.from_pydict({"value": [line]})
        yield first
        yield from filled


def _located(session: SparkSession, path: str) -> str:
    """The path as Spark finds it: on one machine, a relative path starts at the current folder.

    Raises InputError for a name that Spark would not take literally.
    """
    if any("\ud800" <= character <= "\udfff" for character in path):
        raise InputError(f"{path!r}: Spark takes only names in UTF-8")
    if not session.sparkContext.master.startswith("local"):
        return path
    exists = os.path.exists(path)
    if ADDRESS.match(path) and not exists:
        return path
    if ":" in os.path.basename(path):
        raise InputError(f"{path!r}: Spark takes no names with a colon; rename the file")
    if exists and set(path) & PATTERN:
        raise InputError(f"{path!r}: Spark takes this name for a pattern; rename the file")
    return os.path.abspath(path)


@contextmanager
def _new_folder(session: SparkSession, target: str) -> Iterator[str]:
    """Make a folder, and remove it if writing to it fails.

    Raises InputError if it exists, which Spark would say only after the work is done.
    """
    folder = _located(session, target)
    path, system = _opened(session, folder)
    if system.exists(path):
        raise InputError(f"{target!r} is there already; name a new folder")
    if not system.mkdirs(path):
        raise InputError(f"{target!r}: nothing can be written there")
    try:
        yield folder
    except BaseException as error:
        with suppress(Py4JError):
            if isinstance(error, KeyboardInterrupt):
                _stop(session)
            _remove(path, system)
        raise


def _stop(session: SparkSession) -> None:
    """Stop all tasks, which would go on writing."""
    with warnings.catch_warnings():
        # PySpark warns if Java was busy with another call and did not stop cleanly.
        warnings.simplefilter("ignore")
        session.stop()


def _remove(path: Any, system: Any) -> None:  # noqa: ANN401  (Java's)
    """Remove a folder, again and again while a stopping task still writes to it."""
    times_gone = 0
    for _ in range(50):
        times_gone = 0 if system.delete(path, True) else times_gone + 1  # noqa: FBT003  (Java's)
        if times_gone == 5:
            return
        time.sleep(0.1)


def _opened(session: SparkSession, place: str) -> tuple[Any, Any]:
    """Hadoop's path and file system for a path."""
    path = session._jvm.org.apache.hadoop.fs.Path(place)  # noqa: SLF001  (there is no other way)
    return path, path.getFileSystem(session._jsc.hadoopConfiguration())  # noqa: SLF001

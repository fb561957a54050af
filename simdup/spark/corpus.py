"""`simdup corpus scan` on Spark: rows of files in, a report or the rows that stay out.

Each line of the report is the one that the local engine would print.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import islice
from time import perf_counter

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from simdup.corpus.fingerprint import MOST_FAULTY
from simdup.corpus.flaws import Fault, Faulty, Flaw
from simdup.corpus.records import Balance, RowGroup
from simdup.errors import InputError
from simdup.records import Kind
from simdup.report.json_csv import as_jsonl, csv_line, json_line
from simdup.report.rows import COLUMNS, NamedGroup, group_fields, member_cells, text_lines
from simdup.report.rows import report as corpus_report
from simdup.settings import Settings
from simdup.spark.arrow import Batches, Task, runs, strings
from simdup.spark.dataframes import GroupedRows, grouped
from simdup.spark.distinct_texts import checkpointed, numbered
from simdup.spark.files import Files, codec

# Lines of the report in a batch.
LINES = 1 << 14

# The most members of a group in JSON Lines: Spark's lines have at most 2 GB, and a member takes
# some 200 bytes of JSON.
MOST_MEMBERS = 5_000_000


@dataclass(frozen=True, slots=True)
class Scanned:
    """The result of scanning files."""

    files: Files
    grouped: GroupedRows
    """The rows; their groups are checkpointed."""
    balance: Balance


def scan(files: Files, settings: Settings, keep: str | None = None) -> Scanned:
    """The groups of the rows of some files, and the balance of the rows.

    `keep` says which rows of a group are preferred, as in `deduplicate`, if rows have to go.
    """
    began = perf_counter()
    found = grouped(files.source, settings, keep)
    found = replace(found, groups=checkpointed(found.groups, "groups of rows"))
    verdicts = found.rows.groupBy(_verdict())
    counts = verdicts.agg(F.count("*").alias("rows"), F.min("id").alias("first")).collect()
    faults = [each for each in counts if each["verdict"] is not None]
    faults.sort(key=lambda each: (-each["rows"], each["first"]))
    sums = found.groups.agg(F.countDistinct("representative"), F.count("*"))
    groups, members = sums.collect()[0]
    balance = Balance(
        settings,
        files.paths,
        sum(each["rows"] for each in counts if each["verdict"] is None),
        groups,
        members,
        members - groups,
        {Fault(each["verdict"]): each["rows"] for each in faults},
        _faulty(found.rows, files.names) if faults else (),
        found.candidates,
        found.siblings,
        perf_counter() - began,
    )
    return Scanned(files, found, balance)


def _verdict() -> Column:
    """Why a row is not compared, because of its file or its text; null if it is compared."""
    return F.coalesce("fault", "reason").alias("verdict")


def _faulty(rows: DataFrame, names: tuple[str, ...]) -> tuple[Faulty, ...]:
    """The first rows with each fault, in the order of rows."""
    empty = F.when(F.col("reason") == Fault.EMPTY.value, "no letter or digit").otherwise("")
    detail = F.when(F.col("fault").isNull(), empty).otherwise(F.col("detail"))
    place = F.row_number().over(Window.partitionBy("verdict").orderBy("id")).alias("place")
    wrong = rows.select("id", "file", "position", detail.alias("detail"), _verdict())
    first = wrong.where("verdict is not null").select("*", place)
    return tuple(
        Faulty(names[row["file"]], Flaw(row["position"], 1, Fault(row["verdict"]), row["detail"]))
        for row in first.where(F.col("place") <= MOST_FAULTY).orderBy("id").collect()
    )


def report(scanned: Scanned, form: str) -> DataFrame:
    """The lines of a report, `value`, in order: "jsonl", "csv" or "text"."""
    session, balance = scanned.grouped.groups.sparkSession, scanned.balance
    head, tail = [csv_line(COLUMNS)] if form == "csv" else [], list[str]()
    if form == "jsonl":
        first, *tail = as_jsonl(corpus_report(balance, (), balance.faulty))
        head = [first]
    groups = _ordered(scanned).mapInArrow(_rendering(scanned, form), "value string")
    before, after = (
        session.createDataFrame([(line,) for line in lines], "value string").coalesce(1)
        for lines in (head, tail)
    )
    return before.unionAll(groups).unionAll(after)


def _ordered(scanned: Scanned) -> DataFrame:
    """The members of groups, with the number of their group, in the order of reports."""
    groups, rows = scanned.grouped.groups, scanned.grouped.rows
    alike = F.coalesce("similarity", F.lit(0.0))
    is_near = F.col("kind") == Kind.NEAR.value
    sums = groups.groupBy("representative").agg(
        F.max(is_near).alias("is_near"),
        (-F.min(alike)).alias("least"),
        F.max("distance").alias("farthest"),
        (-F.count("*")).alias("size"),
    )
    key = F.struct("is_near", "least", "farthest", "size", "representative").alias("key")
    by_place, _ = numbered(sums.select("representative", key), "key")
    places = by_place.select("representative", (F.col("number") + 1).alias("group"))
    members = groups.join(places, "representative").join(
        rows.select("id", "file", "position", "name", "beginning"), "id"
    )
    own = checkpointed(members, "report")
    order = (F.col("id") != F.col("representative"), is_near, -alike, "distance", "id")
    return own.repartitionByRange("group").sortWithinPartitions("group", *order)


def _rendering(scanned: Scanned, form: str) -> Task:
    """Render the members of each group as lines."""
    names, bits = scanned.files.names, scanned.balance.settings.recipe.bits

    def rendering(batches: Batches) -> Batches:
        for group, table in runs(batches, "group"):
            if form == "jsonl" and len(table) > MOST_MEMBERS:
                many = f"group {group} has {len(table):,} rows"
                raise InputError(f"{many}, too many for a line of JSON; take --format csv")
            named = _named(group, table, names)
            if form == "text":
                lines = text_lines(named, bits)
            elif form == "csv":
                lines = (csv_line(map(each.get, COLUMNS)) for each in member_cells(named))
            else:
                lines = iter([json_line("group", group_fields(named))])
            while part := list(islice(lines, LINES)):
                yield pa.RecordBatch.from_pydict({"value": strings(part)})

    return rendering


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
    return NamedGroup(about, places, ids, columns["beginning"])


def write_kept(scanned: Scanned, target: str) -> Balance:
    """Write the rows that stay to a folder, in the input's form; return the balance of all rows.

    Raises InputError if the number of rows written is not the number that should stay.
    """
    files, rows = scanned.files, scanned.grouped.rows
    refused = [fault.value for fault in Fault if fault.is_refused]
    goes = scanned.grouped.dropped
    balance = replace(scanned.balance, dropped=goes.count())
    left_out = goes.unionAll(rows.where(_verdict().isin(refused)).select("id"))
    stays = files.rows.join(left_out, "id", "left_anti")
    seen = Observation("kept")
    records = stays.observe(seen, F.count("*").alias("rows")).select("record.*")
    if files.form == "parquet":
        records.write.parquet(target, compression=codec(files.rows))
    else:
        if files.form == "csv":
            records = records.mapInArrow(_with_header(files.header), "value string")
        records.write.text(target)
    if seen.get["rows"] != balance.kept:
        raise InputError("files changed while they were read")
    return balance


def _with_header(header: str) -> Task:
    """Put a header before the lines of each partition that has any."""

    def heading(batches: Batches) -> Batches:
        filled = filter(len, batches)
        for first in filled:
            yield pa.RecordBatch.from_pydict({"value": [header]})
            yield first
            yield from filled

    return heading

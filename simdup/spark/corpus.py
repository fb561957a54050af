"""Files in, a report or the rows that stay out: `simdup corpus scan` on Spark.

The report is what the local engine would print, line by line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import Observation
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from simdup.corpus.fingerprint import MOST_FAULTY
from simdup.corpus.flaws import Fault, Faulty, Flaw
from simdup.corpus.records import Balance, RowGroup
from simdup.errors import InputError
from simdup.records import Kind
from simdup.report.json_csv import as_jsonl, csv_line, json_line
from simdup.report.rows import (
    COLUMNS,
    NamedGroup,
    csv_rows,
    group_fields,
    text_lines,
)
from simdup.report.rows import report as corpus_report
from simdup.spark.arrow import runs
from simdup.spark.dataframes import Found, dropped, found
from simdup.spark.distinct_texts import checkpointed, numbered
from simdup.spark.files import packing
from simdup.spark.readers import strings
from simdup.spark.stay import STAYING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from simdup.settings import Settings
    from simdup.spark.arrow import Batches, Task
    from simdup.spark.files import Files

# Lines that are handed on together.
LINES = 1 << 14

# A line of Spark's has 2 GB at most, and a row of a group takes some 200 bytes of JSON.
MOST_MEMBERS = 5_000_000


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan of files found out."""

    files: Files
    found: Found
    """Its groups are checkpointed."""
    balance: Balance


def scan(files: Files, settings: Settings) -> Scanned:
    """The groups of the rows of some files, and what became of the rows."""
    began = perf_counter()
    made = found(files.source, settings)
    made = replace(made, groups=checkpointed(made.groups, "groups of rows"))
    verdicts = made.rows.groupBy(_verdict())
    counts = verdicts.agg(F.count("*").alias("rows"), F.min("id").alias("first")).collect()
    compared = sum(each["rows"] for each in counts if each["verdict"] is None)
    faults = [each for each in counts if each["verdict"] is not None]
    faults.sort(key=lambda each: (-each["rows"], each["first"]))
    sums = made.groups.agg(F.countDistinct("representative"), F.count("*"))
    groups, members = sums.collect()[0]
    balance = Balance(
        settings,
        files.paths,
        compared,
        groups,
        members,
        members - groups,
        {Fault(each["verdict"]): each["rows"] for each in faults},
        _faulty(made.rows, files.names) if faults else (),
        made.candidates,
        perf_counter() - began,
    )
    return Scanned(files, made, balance)


def _verdict() -> Column:
    """Why a row is not compared: what its file has wrong, or what its text lacks."""
    return F.coalesce("fault", "reason").alias("verdict")


def _faulty(rows: DataFrame, names: tuple[str, ...]) -> tuple[Faulty, ...]:
    """The first rows of each fault, in order."""
    empty = F.when(F.col("reason") == Fault.EMPTY.value, "no letter or digit").otherwise("")
    detail = F.when(F.col("fault").isNull(), empty).otherwise(F.col("detail"))
    wrong = rows.select("id", "file", "position", detail.alias("detail"), _verdict())
    place = F.row_number().over(Window.partitionBy("verdict").orderBy("id"))
    first = wrong.where("verdict is not null").withColumn("place", place)
    every = first.where(F.col("place") <= MOST_FAULTY).orderBy("id").collect()
    return tuple(
        Faulty(
            names[each["file"]],
            Flaw(each["position"], 1, Fault(each["verdict"]), each["detail"]),
        )
        for each in every
    )


def report(scanned: Scanned, form: str) -> DataFrame:
    """The report as lines, `value`, partition after partition: "jsonl", "csv" or "text"."""
    session = scanned.found.groups.sparkSession
    head, tail = _around(scanned.balance, form)
    groups = _ordered(scanned).mapInArrow(_rendering(scanned, form), "value string")
    before, after = (
        session.createDataFrame([(line,) for line in lines], "value string").coalesce(1)
        for lines in (head, tail)
    )
    return before.unionAll(groups).unionAll(after)


def _around(balance: Balance, form: str) -> tuple[list[str], list[str]]:
    """The lines before and after the groups."""
    if form == "jsonl":
        head, *tail = as_jsonl(corpus_report(balance, (), balance.faulty))
        return [head], tail
    return [csv_line(COLUMNS)] if form == "csv" else [], []


def _ordered(scanned: Scanned) -> DataFrame:
    """The rows of groups with the number of their group, in the order of reports."""
    groups, rows = scanned.found.groups, scanned.found.rows
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
        rows.select("id", "file", "position", "name"), "id"
    )
    own = checkpointed(members, "report")
    order = (F.col("id") != F.col("representative"), is_near, -alike, "distance", "id")
    return own.repartitionByRange("group").sortWithinPartitions("group", *order)


def _rendering(scanned: Scanned, form: str) -> Task:
    """The lines of each group."""
    names, bits = scanned.files.names, scanned.balance.settings.recipe.bits

    def rendering(batches: Batches) -> Batches:
        for group, table in runs(batches, "group"):
            if form == "jsonl" and len(table) > MOST_MEMBERS:
                many = f"group {group} has {len(table):,} rows"
                raise InputError(f"{many}, too many for a line of JSON; take --format csv")
            named = _named(group, table, names)
            if form == "jsonl":
                lines = iter([json_line("group", group_fields(named))])
            else:
                is_csv = form == "csv"
                lines = map(csv_line, csv_rows(named)) if is_csv else text_lines(named, bits)
            while part := list(islice(lines, LINES)):
                yield pa.RecordBatch.from_pydict({"value": strings(part)})

    return rendering


def _named(group: int, table: pa.Table, names: tuple[str, ...]) -> NamedGroup:
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    kinds = [Kind(kind) for kind in columns["kind"]]
    weakest = Kind.NEAR if Kind.NEAR in kinds else Kind.IDENTICAL_TEXT
    paths = [names[file] for file in columns["file"]]
    places = list(zip(paths, columns["position"], strict=True))
    called = [
        f"{path}:{number}" if name is None else json.loads(name)
        for (path, number), name in zip(places, columns["name"], strict=True)
    ]
    alike, distances = columns["similarity"], columns["distance"]
    made = RowGroup(group, weakest, columns["id"], kinds, alike, distances)
    return NamedGroup(made, places, called)


def write_kept(scanned: Scanned, keep: str, target: str) -> Balance:
    """Write the rows that stay to a folder, in the form of the input; what became of all.

    `keep` says which rows of a group are preferred, as in `frames.deduplicate`. Raises
    InputError if other rows are written than were to stay.
    """
    refused = [fault.value for fault in Fault if fault.is_refused]
    broken = scanned.found.rows.where(_verdict().isin(refused)).select("id")
    goes = checkpointed(dropped(scanned.found, keep), STAYING)
    balance = replace(scanned.balance, dropped=goes.count())
    left_out = goes.unionAll(broken)
    stays = scanned.files.whole().join(left_out, "id", "left_anti")
    seen = Observation("kept")
    records = stays.observe(seen, F.count("*").alias("rows")).select("record.*")
    if scanned.files.form == "parquet":
        records.write.parquet(target, compression=packing(scanned.files.frame))
    elif scanned.files.form == "csv":
        headed = records.mapInArrow(_with_header(scanned.files.header), "value string")
        headed.write.text(target)
    else:
        records.write.text(target)
    if seen.get["rows"] != balance.kept:
        raise InputError("files changed while they were read")
    return balance


def _with_header(header: str) -> Task:
    """Lines with a header before those of each partition."""

    def heading(batches: Batches) -> Batches:
        for place, each in enumerate(batch for batch in batches if len(batch)):
            if not place:
                yield pa.RecordBatch.from_pydict({"value": [header]})
            yield each

    return heading

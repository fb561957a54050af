"""`simdup corpus scan` on Spark: rows of files in, a report or the rows that stay out.

Each line of the report is the one that the local engine would print.
"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from tempfile import TemporaryFile
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import java_gateway
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from simdup.corpus.flaws import Fault, Faulty, Flaw
from simdup.corpus.formats.open import PARQUET
from simdup.corpus.formats.streams import BLOCK
from simdup.corpus.records import Balance, RowGroup
from simdup.errors import InputError
from simdup.records import Kind
from simdup.report.json_csv import as_jsonl, csv_line
from simdup.report.rows import COLUMNS, NamedGroup, group_lines
from simdup.report.rows import report as corpus_report
from simdup.settings import Settings
from simdup.spark.files import Files, read
from simdup.spark.parts import GroupedRows, grouped
from simdup.spark.texts import Batches, checkpointed, numbered, runs, strings
from simdup.text.chunking import batched

# The beginning of an address. One letter and a colon may also be a folder's name.
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")

# Characters that make Spark take a name for a pattern.
PATTERN = "*?[]{}\\"

# Where Java says why it does not start, unless an old Java cannot read the code.
PROBLEM = r"(?im)^(?!.*(?:LinkageError|class file)).*(?:error|exception|invalid).*(?:\n\w.*)?$"

# What is wrong if no such line is there.
NO_JAVA = "no Java 17 or newer runs (apt-get install openjdk-17-jre-headless, or set JAVA_HOME)"

# Settings that hold unless the user has set them, so that rows are written as they were: times
# are not written as 96 bits without a zone, values in names of folders stay strings (01 is not 1),
# and `text` and `Text` are two columns.
DEFAULTS = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}


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
    try:
        session = start(master, conf)
        with nullcontext() if target is None else _new_folder(session, target) as folder:
            located = {_located(session, path): path for path in files}
            if len(located) < len(files):
                raise InputError("a file is named twice")
            opened = read(session, located, input_format, text_field, id_field)
            found, balance = scan(opened, settings, keep)
            if keep is not None and folder is not None:
                return write_kept(opened, found, balance, folder)
            lines = report(opened, found.groups, balance, form)
            if folder is None:
                write(line["value"] for line in lines.toLocalIterator())
            else:
                _write_lines(lines, folder, form)
    except (PySparkException, Py4JError) as error:
        raise InputError(reason(error)) from None
    return balance


def scan(files: Files, settings: Settings, keep: str | None = None) -> tuple[GroupedRows, Balance]:
    """The rows of some files and their groups, and the balance of the rows.

    `keep` says which rows of a group are preferred, as in `deduplicate`, if rows have to go.
    """
    began = time.perf_counter()
    found = grouped(files.source, settings, keep)
    sums = F.count("*").alias("rows"), F.min("id").alias("first")
    counts = found.rows.groupBy("reason").agg(*sums).orderBy(F.desc("rows"), "first").collect()
    faults = [each for each in counts if each["reason"] is not None]
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
        time.perf_counter() - began,
    )
    return found, balance


def _faulty(rows: DataFrame, names: tuple[str, ...], most: int) -> tuple[Faulty, ...]:
    """The first `most` rows with each fault, in the order of rows."""
    place = F.row_number().over(Window.partitionBy("reason").orderBy("id"))
    first = rows.where("reason is not null").withColumn("place", place)
    said = {Fault.EMPTY.value: "no letter or digit"}
    return tuple(
        Faulty(names[row["file"]], Flaw(row["position"], 1, Fault(row["reason"]), detail))
        for row in first.where(F.col("place") <= most).orderBy("id").toLocalIterator()
        for detail in (row["detail"] or said.get(row["reason"], ""),)
    )


def report(files: Files, groups: DataFrame, balance: Balance, form: str) -> DataFrame:
    """The lines of a report, `value`, in order: "jsonl" or "csv"."""
    as_json = as_jsonl(corpus_report(balance, (), balance.faulty))
    lines = [(line,) for line in (as_json if form == "jsonl" else [csv_line(COLUMNS)])]
    rendering = partial(_rendering, files.names, form)
    made = groups.sparkSession.createDataFrame
    before, after = (made(some, "value string").coalesce(1) for some in (lines[:1], lines[1:]))
    rendered = _ordered(groups).mapInArrow(rendering, "value string")
    return before.unionAll(rendered).unionAll(after)


def _ordered(members: DataFrame) -> DataFrame:
    """The members of groups, with the number of their group, in the order of reports."""
    key = F.struct(
        F.max(F.col("kind") == Kind.NEAR.value),
        -F.min(F.coalesce("similarity", F.lit(0.0))),
        F.max("distance"),
        -F.count("*"),
        F.min("representative"),
    )
    by_key, _ = numbered(members.groupBy("representative").agg(key.alias("key")), "key")
    places = by_key.select("representative", (F.col("number") + 1).alias("group"))
    placed = checkpointed(members.join(places, "representative"), "report")
    return placed.repartitionByRange("group").sortWithinPartitions("group", "place")


def _rendering(names: tuple[str, ...], form: str, batches: Batches) -> Batches:
    """Render the members of each group as lines."""
    for group, table in runs(batches, "group"):
        lines = group_lines(_named(group, table, names), form)
        for some in batched(lines, len, BLOCK, BLOCK):
            yield pa.RecordBatch.from_pydict({"value": strings(some)})


def _named(group: int, table: pa.Table, names: tuple[str, ...]) -> NamedGroup:
    """A group for reports, made from the table of its members and the names of the files."""
    columns = table.to_pydict()
    kinds = [Kind(kind) for kind in columns["kind"]]
    weakest = Kind.NEAR if Kind.NEAR in kinds else Kind.IDENTICAL_TEXT
    places = list(zip(map(names.__getitem__, columns["file"]), columns["position"], strict=True))
    ids = [
        f"{path}:{number}" if name is None else json.loads(name)
        for (path, number), name in zip(places, columns["name"], strict=True)
    ]
    figures = columns["similarity"], columns["distance"], columns["own_share"]
    about = RowGroup(group, weakest, columns["id"], kinds, *figures)
    return NamedGroup(about, places, ids)


def write_kept(files: Files, found: GroupedRows, balance: Balance, target: str) -> Balance:
    """Write the rows that stay to a folder, in the input's form; return the balance of all rows.

    Raises InputError if the number of rows written is not the number that should stay.
    """
    refused = [fault.value for fault in Fault if fault.is_refused]
    goes = found.groups.where("goes").select("id")
    balance = replace(balance, dropped=goes.count())
    left_out = goes.unionAll(found.rows.where(F.col("reason").isin(refused)).select("id"))
    stays = files.rows.join(left_out, "id", "left_anti")
    seen = Observation("kept")
    records = stays.observe(seen, F.count("*").alias("rows")).select("record.*")
    if files.form == PARQUET:
        records.write.parquet(target, "append")
    else:
        _write_lines(records, target, files.form)
    if seen.get["rows"] != balance.kept:
        raise InputError("files changed while they were read")
    return balance


def _write_lines(lines: DataFrame, folder: str, form: str) -> None:
    """Write lines to a folder, in files that end as their format does: Spark ends them all in .txt.

    Raises InputError where one cannot be renamed.
    """
    lines.write.mode("append").text(folder)
    path, system = _on_hadoop(lines.sparkSession, folder)
    paths = [each.getPath() for each in system.listStatus(path)]
    for written in (each for each in paths if each.getName().startswith("part-")):
        renamed = written.getName().replace(".txt", f".{form}", 1)
        if not system.rename(written, _on_hadoop(lines.sparkSession, f"{folder}/{renamed}")[0]):
            raise InputError(f"{folder!r}: {written.getName()} cannot be renamed there")


def _located(session: SparkSession, path: str, *, is_read: bool = True) -> str:
    """The path as Spark finds it: on one machine, a relative path starts at the current folder.

    Raises InputError for a name that Spark would not take literally; it writes to any name.
    """
    if any("\ud800" <= character <= "\udfff" for character in path):
        raise InputError(f"{path!r}: Spark takes only names in UTF-8")
    if not session.sparkContext.master.startswith("local"):
        return path
    exists = os.path.exists(path)
    if ADDRESS.match(path) and not exists:
        return path
    if ":" in os.path.basename(path) or (is_read and exists and set(path) & set(PATTERN)):
        raise InputError(f"{path!r}: Spark takes no names with a colon or {PATTERN}; rename it")
    return os.path.abspath(path)


@contextmanager
def _new_folder(session: SparkSession, target: str) -> Iterator[str]:
    """Make a folder, and remove it if writing to it fails.

    Raises InputError if it exists, which Spark would say only after the work is done.
    """
    folder = _located(session, target, is_read=False)
    path, system = _on_hadoop(session, folder)
    if system.exists(path):
        raise InputError(f"{target!r} is there already; name a new folder")
    if not system.mkdirs(path):
        raise InputError(f"{target!r}: nothing can be written there")
    try:
        yield folder
    except BaseException:
        with suppress(Py4JError):
            session.sparkContext.cancelAllJobs()
        with suppress(Py4JError):
            while system.delete(path, True):  # noqa: FBT003  (Java's)
                time.sleep(1)  # tasks may still write there
        raise


def _on_hadoop(session: SparkSession, place: str) -> tuple[Any, Any]:
    """Hadoop's path and file system for a path."""
    path = session._jvm.org.apache.hadoop.fs.Path(place)  # noqa: SLF001  (there is no other way)
    return path, path.getFileSystem(session._jsc.hadoopConfiguration())  # noqa: SLF001


def start(master: str | None, conf: Mapping[str, str]) -> SparkSession:
    """A session on `master`, with Spark's settings `conf`; or the session that there is already.

    None takes the master that spark-submit gave, else this machine. Messages of Java on stderr are
    not shown. Raises InputError if Spark does not start, as without Java.
    """
    # py4j logs every call that fails, with a traceback.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    # PySpark's handler of Ctrl-C calls Java in the middle of another call. That fails, and py4j
    # reports the failure to the root logger, which prints it if it has no handler.
    logging.getLogger().addHandler(logging.NullHandler())
    options = {"spark.ui.showConsoleProgress": "false"}
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # which spark-submit sets
        master = master or "local[*]"
    if master is not None:
        options["spark.master"] = master
        if master.startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            # There Java mostly moves rows, and to compile its code more than once takes more
            # processor time than it saves.
            options["spark.driver.extraJavaOptions"] = "-XX:TieredStopAtLevel=1"
    builder = SparkSession.builder.appName("simdup").config(map=options | dict(conf))
    session = _started(builder, master)
    # Spark cuts files into as many parts as there are cores, which come and go with executors.
    parts = {"spark.sql.files.minPartitionNum": str(session.sparkContext.defaultParallelism)}
    for name, value in (DEFAULTS | parts).items():
        if session.conf.get(name, None) is None:
            session.conf.set(name, value)
    # From here on Ctrl-C raises KeyboardInterrupt and does nothing else.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return session


def _started(builder: SparkSession.Builder, master: str | None) -> SparkSession:
    """The session that `builder` describes. Raises InputError if Spark does not start.

    On an interrupt, Java is killed. It would go on running: it looks for its parent in a folder
    that PySpark has removed by then.
    """
    begun: list[subprocess.Popen[bytes]] = []
    with TemporaryFile() as said:

        def noted(*command: Any, **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401
            options |= {"stdout": said, "stderr": said}
            begun.append(subprocess.Popen(*command, **options))  # noqa: S603
            return begun[-1]

        before, java_gateway.Popen = java_gateway.Popen, noted
        try:
            return builder.getOrCreate()
        except KeyboardInterrupt:
            for each in begun:
                each.kill()
            raise
        except (PySparkException, Py4JError) as error:
            why = reason(error)
            if "JAVA_GATEWAY_EXITED" in why:  # else Java runs, and says it itself
                said.seek(0)
                found = re.search(PROBLEM, said.read().decode("utf-8", "replace"))
                why = " ".join(found[0].split()) if found else NO_JAVA
            raise InputError(f"Spark does not start on {master!r}: {why}") from None
        finally:
            java_gateway.Popen = before


def reason(error: Exception) -> str:
    """The message of an error of Spark in one line; for simdup's error in a worker, its message."""
    text = str(error)
    if own := re.findall(r"^simdup\.errors\.\w+: (.*)$", text, re.MULTILINE):
        return str(own[-1])
    lines = (line.removeprefix(": ").strip() for line in text.splitlines())
    # The first line of a py4j error only says which call failed.
    said = (line for line in lines if line and not line.startswith("An error occurred while"))
    first = next(said, type(error).__name__)
    # A message with a condition ends with its SQLSTATE; names of columns may make it several lines.
    if message := re.search(r"\[[A-Z0-9_.]+\](?:(?!\n\tat ).)*? SQLSTATE: \w{5}", text, re.DOTALL):
        first = " ".join(message[0].split())
    causes = re.findall(r"^(?:Caused by: )?([\w.$]+(?:Error|Exception): .+)$", text, re.MULTILINE)
    if causes and (first.endswith(":") or "NO_HINT" in first):
        return f"{first} {causes[-1]}"
    return first

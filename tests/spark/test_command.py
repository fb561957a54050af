"""`simdup corpus scan --engine spark`: the output of the local engine, byte for byte."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import LONG

from simdup import InputError, Recipe, Settings
from simdup.cli import submit
from simdup.settings import KEEPS

pyspark = pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pa = pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
parquet = pytest.importorskip("pyarrow.parquet")

from pyspark.errors import PySparkException

from simdup.spark import corpus, files, parts
from simdup.spark.texts import numbered_texts

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of pyspark, pandas and py4j
    pytest.mark.usefixtures("on_spark"),
]

SPARK = ("--engine", "spark", "--master", "local[2]")


def notices(count=60, seed=4):
    """Rows of JSON Lines: copies, edited copies, rows of one form, rows with something wrong."""
    random_, words = random.Random(seed), [f"w{i}" for i in range(400)]
    originals = [random_.choices(words, k=40) for _ in range(count // 3)]
    rows = []
    for number in range(count):
        text = [*random_.choice(originals)]
        for _ in range(random_.randrange(4)):
            text[random_.randrange(40)] = random_.choice(words)
        rows.append(json.dumps({"key": f"n{number}", "text": " ".join(text), "more": [number]}))
    form = random_.choices(words, k=30)
    for number in range(count // 5):
        text = [*form[:15], *random_.choices(words, k=15), *form[15:]]
        rows.append(json.dumps({"key": f"f{number}", "text": " ".join(text), "more": []}))
    rows[7:7] = ['{"key": 7, "text": nothing}', "", '{"key": [8], "text": null}', '{"key": 9}']
    rows[20:20] = ['{"key": 20, "text": "\\ud800 is half of a character, alone"}', "[1]", " "]
    rows[22:22] = ['{"key": 21, "text": "is half of a character, alone"}']
    rows[30:30] = ['{"key": ["\\ud800"], "text": "of which there are two"}'] * 2
    return [row.encode() for row in rows]


@pytest.fixture
def two_files(write):
    """The names of two files of rows; the first file begins with a byte-order mark."""
    rows = notices()
    write("b.jsonl", b"\xef\xbb\xbf" + b"\n".join(rows[:40]) + b"\n\xff{}")
    write("a b.jsonl", b"\r\n".join(rows[40:]))
    return ("b.jsonl", "a b.jsonl")


@pytest.fixture
def in_parts(on_spark):
    """Make Spark read files in parts of some kilobytes."""
    names = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
    for name, value in zip(names, ("4000", "0"), strict=True):
        on_spark.conf.set(name, value)
    yield
    for name in names:
        on_spark.conf.unset(name)


def without_seconds(out):
    return re.sub(rb'("seconds": |in )[\d.]+', b"", out)


def without_losses(err):
    """A summary without the dropped rows, which Spark does not show."""
    return re.sub(rb"^rows at least .*\n(?:  .*\n)*", b"", err)


def parts_of(folder, suffix):
    """The parts that Spark has written to a folder."""
    return [path.read_bytes() for path in sorted(folder.glob(f"part-*{suffix}"))]


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_report_equals_that_of_the_local_engine(run, two_files, folder, form):
    options = ("corpus", "scan", *two_files, "--format", form, "--bits", "128")
    options += ("--id-field", "key") if form != "csv" else ()

    local = run(*options)
    there = run(*options, *SPARK)
    assert local.code == there.code == 3
    assert without_seconds(there.out) == without_seconds(local.out)
    assert without_seconds(there.err) == without_seconds(local.err)
    assert b"set aside 66 pairs of one pattern" in local.err + local.out
    written = run(*options, *SPARK, "--output", "out", "--quiet")
    assert (written.code, written.out, written.err) == (3, b"", b"")
    parts = parts_of(folder / "out", f".{form}")
    assert without_seconds(b"".join(parts)) == without_seconds(local.out)
    assert len(parts) == len(parts_of(folder / "out", ""))


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("keep", KEEPS)
def test_keep_writes_the_rows_that_the_local_engine_writes(run, two_files, folder, keep):
    options = ("corpus", "scan", *two_files, "--keep", keep)

    local = run(*options, "--output", "local.jsonl")
    there = run(*options, *SPARK, "--output", "out")
    assert without_seconds(there.err) == without_losses(without_seconds(local.err))
    kept = [line for part in parts_of(folder / "out", ".jsonl") for line in part.splitlines()]
    expected = (folder / "local.jsonl").read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    assert sorted(line.removeprefix(b"\xef\xbb\xbf") for line in kept) == sorted(expected)


def test_a_folder_with_the_name_of_a_pattern_leaves_others_alone(run, write, folder):
    write("rows.jsonl", '{"text": "one two three"}\n')
    write("out1/part-of-another.txt", "precious")

    for code in (0, 2):
        ended = run("corpus", "scan", "rows.jsonl", *SPARK, "--output", "out[1]")
        assert ended.code == code
    assert b"'out[1]' is there already" in ended.err
    assert parts_of(folder / "out1", ".txt") == [b"precious"]
    assert parts_of(folder / "out[1]", ".jsonl")
    assert parts_of(folder / "out[1]", ".txt") == []


def test_a_setting_that_spark_refuses_is_one_line(run, write):
    write("rows.jsonl", '{"text": "one two three"}\n')

    ended = run(
        "corpus", "scan", "rows.jsonl", *SPARK, "--conf", "spark.sql.shuffle.partitions=abc"
    )
    assert (ended.code, ended.out, ended.err.count(b"\n")) == (2, b"", 1)
    assert b"SQLSTATE" in ended.err
    assert b"stacktrace" not in ended.err


def test_a_report_of_no_rows_equals_that_of_the_local_engine(run, write):
    write("rows.jsonl", '{"words": "one two three"}\n')

    here, there = (run("corpus", "scan", "rows.jsonl", *engine).out for engine in ((), SPARK))
    assert without_seconds(there) == without_seconds(here)


@pytest.fixture
def gzipped(on_spark):
    """Make Hadoop compress what is written as lines."""
    output = "mapreduce.output.fileoutputformat.compress"
    conf = {output: "true", f"{output}.codec": "org.apache.hadoop.io.compress.GzipCodec"}
    for name, value in conf.items():
        on_spark.conf.set(name, value)
    yield
    for name in conf:
        on_spark.conf.unset(name)


def test_nested_fields_and_both_scripts_give_the_groups_of_the_local_engine(run, write):
    texts = (
        "发展公司后面的面馆里，头发干了的师傅说：复习历史，才知道台风的征兆。",
        "發展公司後面的麵館裡，頭髮乾了的師傅說：複習歷史，才知道颱風的徵兆。",
        "a text of its own that nobody else has",
    )
    rows = [{"of": {"key": n, "text": text}} for n, text in enumerate(texts)]
    write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    options = ("rows.jsonl", "--text-field", "of.text", "--id-field", "of.key")

    for more in ((), ("--no-fold-variants",)):
        here, there = (
            run("corpus", "scan", *options, *more, *engine).out for engine in ((), SPARK)
        )
        assert without_seconds(there) == without_seconds(here)
        assert (b'"type": "group"' in here) == (not more)


@pytest.mark.usefixtures("gzipped")
def test_compressed_parts_end_in_jsonl_gz(run, write, folder):
    write("rows.jsonl", '{"text": "one two three"}\n{"text": "one two three"}\n')

    assert (
        run("corpus", "scan", "rows.jsonl", "--keep", "first", *SPARK, "--output", "out").code == 0
    )
    written = [gzip.decompress(part) for part in parts_of(folder / "out", ".jsonl.gz")]
    assert b"".join(written) == b'{"text": "one two three"}\n'
    assert len(written) == len(parts_of(folder / "out", ""))


TABLE = [
    ("a", "the first text, with a comma and\na second line, is long enough to be compared", "1"),
    ("b", 'another text says "nothing" of what the first one said, and it has no copy', "2"),
    ("c", "The first text with a comma and a second line is long enough to be compared!", "3"),
    ("d", None, "4"),
]


def test_parquet_columns_are_written_unchanged(run, folder, on_spark):
    frame = on_spark.createDataFrame(TABLE, "`the id` string, body string, n string")
    frame.coalesce(1).write.parquet(str(folder / "in"))

    ended = run(
        *("corpus", "scan", "in", "--input-format", "parquet", "--text-field", "body"),
        *("--keep", "longest", *SPARK, "--output", "out"),
    )
    assert ended.code == 0
    kept = on_spark.read.parquet(str(folder / "out"))
    assert kept.schema == frame.schema
    assert sorted(map(tuple, kept.collect())) == [row for row in TABLE if row[0] != "c"]


def test_parquet_keeps_its_times_and_partition_folders(run, folder):
    texts = ["one two three four five six"] * 2 + ["of another row"]
    at = pa.array([1_700_000_000_000_001] * 3, pa.timestamp("us", tz="UTC"))
    (folder / "a b" / "lang=01").mkdir(parents=True)
    table = pa.table({"text": texts, "at": at})
    parquet.write_table(table, folder / "a b" / "lang=01" / "a.parquet")

    options = ("corpus", "scan", "a b", "--input-format", "parquet", "--keep", "first")
    assert run(*options, *SPARK, "--output", "out").code == 0
    parts = [parquet.ParquetFile(part) for part in (folder / "out").glob("part-*.parquet")]
    kept = pa.concat_tables(part.read() for part in parts)
    assert kept.schema.field("at").type == at.type
    assert kept.column("at")[0] == at[0]
    assert kept.column("lang").to_pylist() == ["01", "01"]


def test_folders_may_be_named_name_equals_value(run, write):
    for place in ("in/lang=01/a.jsonl", "in/lang=02/more/b.jsonl", "in/_below/c.jsonl"):
        write(place, '{"text": "one two"}\n')

    ended = run("corpus", "scan", "in", "--input-format", "jsonl", *SPARK)
    assert ended.code == 0
    assert ended.err.endswith(
        b"\n2 rows in = 2 read + 0 refused\nno row was dropped: that needs --keep\n"
    )


@pytest.mark.parametrize(
    ("taken", "lost"), [("in/a.jsonl", "in/more/b.jsonl"), ("in/lang=1/a.jsonl", "in/b.jsonl")]
)
def test_a_file_that_spark_would_pass_over_is_named_in_the_error(run, write, taken, lost):
    for place in (taken, lost):
        write(place, '{"text": "one two"}\n')

    ended = run("corpus", "scan", "in", "--input-format", "jsonl", *SPARK)
    assert (ended.code, ended.out, ended.err.count(b"\n")) == (2, b"", 1)
    assert f"{lost}': Spark passes over it".encode() in ended.err


def test_parquet_files_may_have_different_columns_and_rows_without_an_id(run, folder, on_spark):
    text = "the same text in both of the files"
    for name, kind in (("a", "text string, id string"), ("b", "text string, url string")):
        frame = on_spark.createDataFrame([(text, None)], kind)
        frame.coalesce(1).write.parquet(str(folder / name))

    options = ("corpus", "scan", "a", "b", "--input-format", "parquet", "--id-field", "id")
    group = json.loads(run(*options, *SPARK).out.splitlines()[1])
    assert [member["id"] for member in group["members"]] == [None, None]
    assert run(*options, "--keep", "first", *SPARK, "--output", "out").code == 0
    assert {*on_spark.read.parquet(str(folder / "out")).columns} == {"text", "id", "url"}


def test_an_invalid_master_is_one_line_of_error(simdup, write):
    """Spark is started anew, in another process, since a running session ignores the master."""
    write("rows.jsonl", '{"text": "one two"}\n')

    ended = simdup("corpus", "scan", "rows.jsonl", "--engine", "spark", "--master", "local[x]")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.startswith(b"simdup: Spark does not start on 'local[x]': ")
    assert ended.stderr.count(b"\n") == 1


def test_an_interrupt_prints_one_line_and_leaves_no_folder(write, folder):
    """Spark is started in another process, and Ctrl-C stops it while it writes."""
    rows = (json.dumps({"text": f"{place} {place * place} of so many"}) for place in range(150_000))
    write("rows.jsonl", "\n".join(rows))
    options = ("--bits", "64", "-k", "0", "--no-verify", "--keep", "first", "--output", "out")
    program = (sys.executable, "-m", "simdup", "corpus", "scan", "rows.jsonl", *SPARK, *options)

    process = subprocess.Popen(program, cwd=folder, stderr=subprocess.PIPE, start_new_session=True)
    patience = time.monotonic() + LONG
    while not (folder / "out" / "_temporary").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < patience
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=LONG)
    assert (process.returncode, err) == (130, b"simdup: interrupted\n")
    assert not (folder / "out").exists()


@pytest.mark.parametrize("seconds", [0.3, 2.5])
def test_an_interrupt_while_java_starts_is_one_line_and_leaves_no_java(write, folder, seconds):
    write("rows.jsonl", '{"text": "one two"}\n')
    program = (sys.executable, "-m", "simdup", "corpus", "scan", "rows.jsonl", *SPARK)

    process = subprocess.Popen(program, cwd=folder, stderr=subprocess.PIPE, start_new_session=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        process.kill()
        pytest.skip("this system does not say who is whose child")
    while not children.read_text():
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)

    # Whoever is left holds the pipe.
    _, err = process.communicate(timeout=LONG)
    assert (process.returncode, err) == (130, b"simdup: interrupted\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("_rows.jsonl",), b"'_rows.jsonl': Spark passes over names that begin with _ or ."),
        (("two.jsonl", "./two.jsonl"), b"a file is named twice"),
        (("two.jsonl", "t*.jsonl"), b"two.jsonl': named twice"),
        (
            ("r[1].jsonl",),
            b"'r[1].jsonl': Spark takes no names with a colon or *?",
        ),
        (
            ("x/ab:c.jsonl",),
            b"'x/ab:c.jsonl': Spark takes no names with a colon or ",
        ),
        (("d:ef/gone.jsonl",), b"/d:ef/gone.jsonl"),
        ((b"\xff.jsonl",), b"Spark takes only names in UTF-8"),
        (("gone.jsonl",), b"gone.jsonl"),
        (("two.jsonl", "a.parquet"), b"'two.jsonl' is jsonl and 'a.parquet' parquet: not one cor"),
        (("folder",), b"'folder': its name shows no JSON Lines and no Parquet; leave out"),
        (("two.jsonl", "rows.csv"), b"'rows.csv': its name shows no JSON Lines and no Parquet; "),
        (("a.parquet",), b"a.parquet': no column 'text'; there are: body; --text-field names ano"),
        (("two.jsonl", "--output", "folder"), b"'folder' is there already; name a new folder"),
        (("two.jsonl", "--output", "xy:/z"), b"No FileSystem for scheme"),
    ],
)
def test_errors_are_one_line(run, write, folder, arguments, said):
    write("two.jsonl", '{"text": "one two"}\n{"text": "one two"}\n')
    write("rows.csv", "id,body\n1,one two\n")
    parquet.write_table(pa.table({"body": ["one two"]}), folder / "a.parquet")
    passed_over = ("folder/rows.jsonl", "_rows.jsonl", "r[1].jsonl")
    for name in (*passed_over, "r1.jsonl", "x/ab:c.jsonl", b"\xff.jsonl"):
        write(name, "{}")

    ended = run("corpus", "scan", *arguments, *SPARK)
    assert (ended.code, ended.out) == (2, b"")
    assert said in ended.err
    assert ended.err.count(b"\n") == 1


@pytest.fixture
def groups_of_changed_rows(on_spark, folder, write, monkeypatch):
    """`groups_of_changed_rows(settings)`: of two rows, one changes after it was fingerprinted."""
    texts = [f"{' '.join(map(str, range(40)))} {last}" for last in ("six", "seven")]
    write("rows.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))

    def changing(*asked):
        made = numbered_texts(*asked)
        write("rows.jsonl", (folder / "rows.jsonl").read_text("utf-8").replace("six", "ten"))
        return made

    monkeypatch.setattr(parts, "numbered_texts", changing)
    opened = files.read(on_spark, {str(folder / "rows.jsonl"): "rows.jsonl"}, None, "text", None)
    return lambda settings: parts.grouped(opened.source, settings).groups


def test_rows_that_change_during_a_run_raise_an_error(groups_of_changed_rows):
    with pytest.raises(PySparkException) as raised:
        groups_of_changed_rows(Settings(Recipe(features="words")))
    assert corpus.reason(raised.value) == "rows changed while they were compared"


def test_rows_are_not_read_again_where_their_sketches_have_all_features(groups_of_changed_rows):
    found = groups_of_changed_rows(Settings()).collect()

    assert 0.9 < min(row["similarity"] for row in found) < 1


def test_spark_submit_takes_the_arguments_of_the_command(run, two_files, folder, spark_conf):
    """Spark is started in another process, as a user would start it; it plans as it always does."""
    expected = run("corpus", "scan", *two_files).out
    conf = [
        f"--conf={name}={value}"
        for name, value in spark_conf.items()
        if "driver.memory" not in name
    ]
    program = Path(pyspark.__file__).parent / "bin" / "spark-submit"

    ended = subprocess.run(
        [program, "--master", "local[2]", *conf, submit.__file__, *two_files, "--quiet"],
        cwd=folder,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 3
    assert without_seconds(ended.stdout) == without_seconds(expected)


def test_column_names_of_parquet_may_differ_only_in_case(run, folder):
    same = ["one two three four"] * 2
    parquet.write_table(pa.table({"text": same, "Text": ["a", "b"]}), folder / "a.parquet")

    assert run("corpus", "scan", "a.parquet", "--text-field", "Text", *SPARK).out.count(b"\n") == 1
    options = ("--keep", "first", "--output", "out")
    assert run("corpus", "scan", "a.parquet", *options, *SPARK).code == 0
    kept = parquet.read_table(folder / "out")
    assert kept.to_pylist() == [{"text": same[0], "Text": "a"}]


def test_an_error_of_spark_is_one_line_even_if_a_column_name_has_two(on_spark):
    with pytest.raises(PySparkException) as raised:
        on_spark.range(1).select("`of two\nlines`")
    said = corpus.reason(raised.value)
    assert "`of two lines`" in said
    assert re.search(r" SQLSTATE: \w{5}$", said)


@pytest.mark.parametrize(
    ("conf", "expected"),
    [({}, "-XX:TieredStopAtLevel=1"), ({"spark.driver.extraJavaOptions": "-Xss2m"}, "-Xss2m")],
)
def test_java_compiles_once_on_one_machine_unless_told_otherwise(monkeypatch, conf, expected):
    asked = []

    def noted(builder, _):
        asked.append(vars(builder)["_options"])
        raise InputError("enough")

    monkeypatch.setattr(corpus, "_started", noted)

    with pytest.raises(InputError, match="enough"):
        corpus.start("local[2]", conf)

    assert asked[0]["spark.driver.extraJavaOptions"] == expected

"""simdup.spark: what the local engine finds, however the rows are partitioned."""

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

import numpy as np
import pytest
from patience import LONG

import simdup.match.match
from simdup import InputError, Recipe, Settings, fingerprint_texts, pairs_within, scan_rows
from simdup.cli import submit
from simdup.corpus.records import KEEPS
from simdup.corpus.scan import group_texts
from simdup.corpus.stay import dropped
from simdup.evaluation.labels import labelled_pairs, own_table
from simdup.fingerprint import simhash
from simdup.fingerprint.simhash import are_degenerate
from simdup.match import groups
from simdup.match.candidates import wanted
from simdup.match.groups import components, leaders
from simdup.match.verify import exact_similarities
from simdup.records import SHORT
from simdup.search.hamming import paired_distances
from simdup.search.pairs import Reach
from simdup.theory import similarity_at

pyspark = pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pa = pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
parquet = pytest.importorskip("pyarrow.parquet")

from pyspark.errors import PySparkException

from simdup import spark
from simdup.spark import (
    corpus,
    files,
    match,
    readers,
    search,
    session,
    stars,
    stay,
)
from simdup.spark import (
    dataframes as frames,
)
from simdup.spark.components import rooted

PROBLEM = session.java_problem()
pytestmark = [
    pytest.mark.skipif(PROBLEM is not None, reason=str(PROBLEM)),
    pytest.mark.filterwarnings("ignore"),  # of pyspark, pandas and py4j
]

# Little is to be done by many small jobs, so that compiling them well does not pay.
CONF = {
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
}
PARTITIONINGS = (2, 5)


@pytest.fixture(scope="module")
def on_spark():
    """A session on two cores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYSPARK_PYTHON", raising=False)
        made = session.start("local[2]", CONF)
        yield made
        made.stop()


@pytest.fixture(scope="module")
def frame_of(on_spark):
    """`frame_of(texts, partitions)`: rows with the index of each text as id, shuffled."""

    def framing(texts, partitions=2):
        rows = list(enumerate(texts))
        random.Random(partitions).shuffle(rows)
        frame = on_spark.createDataFrame(rows, "id long, text string")
        return frame.repartition(partitions)

    return framing


@pytest.fixture(scope="module")
def fixture_texts():
    """The texts of fixtures/pairs."""
    return list(labelled_pairs(own_table()).texts)


def skewed_texts(n=20_000, seed=1):
    """Rows of a crawl: many are equal, many nearly so, some form chains, most are alone."""
    random_, words = random.Random(seed), [f"w{i}" for i in range(3000)]
    equal = [random_.choices(words, k=50) for _ in range(3)]
    rows = [equal[0]] * (n // 12) + [equal[1]] * (n // 25) + [equal[2]] * 3
    versions = random_.choices(words, k=120)
    for _ in range(n // 20):
        rows.append([*versions])
        rows[-1][random_.randrange(120)] = random_.choice(words)
    for _ in range(n // 400):
        link = random_.choices(words, k=60)
        for _ in range(12):
            link = [*link]
            for place in random_.sample(range(60), 6):
                link[place] = random_.choice(words)
            rows.append(link)
    rows += [random_.choices(words, k=7) for _ in range(n // 40)]
    while len(rows) < n:
        rows.append(random_.choices(words, k=random_.randrange(30, 70)))
    random_.shuffle(rows)
    return [" ".join(row) for row in rows]


@pytest.fixture(scope="module")
def skewed():
    return skewed_texts()


def local_groups(texts, settings):
    """For each text of a group its representative, kind, similarity and distance."""
    return {
        row: (group.rows[0], kind.value, similarity, distance)
        for group in group_texts(texts, settings)
        for row, kind, similarity, distance in zip(
            group.rows, group.kinds, group.similarities, group.distances, strict=True
        )
    }


def spark_groups(frame, settings):
    rows = spark.groups(frame, settings=settings).collect()
    found = {
        row["id"]: (row["representative"], row["kind"], row["similarity"], row["distance"])
        for row in rows
    }
    assert len(found) == len(rows)
    return found


def table_of(frame, *columns):
    """The columns of a frame as one array, a row each, sorted."""
    found = frame.select(*columns).toArrow()
    values = np.column_stack([found[name].to_numpy() for name in columns])
    return values[np.lexsort(values.T[::-1])]


def local_pairs(texts, settings):
    """Every pair of texts: i, j, distance, and similarity where that decides."""
    recipe, k = settings.recipe, settings.distance
    made = simhash.fingerprint_texts(texts, recipe)
    there = np.flatnonzero(made.counts)
    if settings.verified:
        k = wanted(settings.similarity, recipe.bits)
    pairs = pairs_within(made.rows[there], k)
    pairs[:, :2] = there[pairs[:, :2]]
    if settings.verified:
        similarity = exact_similarities(texts, pairs[:, 0], pairs[:, 1], recipe)
        return np.column_stack((pairs, similarity))[similarity >= settings.similarity]
    short = np.flatnonzero((made.counts[pairs[:, :2]] < SHORT).any(axis=1))
    i, j = pairs[short, :2].T
    similarity = exact_similarities(texts, i, j, recipe)
    return np.delete(pairs, short[similarity < similarity_at(k, recipe.bits)], axis=0)


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(bits=128),
        Recipe(bits=64, ngram=(1, 3)),
        Recipe(features="words", bits=64),
        Recipe(features="keywords", top=10, hash="string", weights="float", bits=128),
    ],
    ids=lambda recipe: f"{recipe.features.value}-{recipe.bits}",
)
def test_fingerprints_are_the_local_ones(frame_of, fixture_texts, recipe):
    expected = simhash.fingerprint_texts(fixture_texts, recipe)

    for partitions in PARTITIONINGS:
        frame = frame_of(fixture_texts, partitions)
        found = sorted(spark.fingerprints(frame, settings=Settings(recipe)).collect())
        has_none = are_degenerate(expected.rows, recipe.bits) | (expected.counts == 0)
        assert [row["id"] for row in found] == list(range(len(fixture_texts)))
        assert [row["fingerprint"] for row in found] == [
            None if none else row.tobytes()
            for row, none in zip(expected.rows, has_none, strict=True)
        ]
        assert [row["features"] for row in found] == expected.counts.tolist()
        assert [row["reason"] is None for row in found] == (~has_none).tolist()


@pytest.mark.parametrize("partitions", PARTITIONINGS)
@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(Recipe(bits=64), k=3),
        Settings(Recipe(bits=128), similarity=0.6, linkage="components"),
        Settings(Recipe(bits=64), verified=False, linkage="components"),
    ],
    ids=["verified", "k=3", "components", "bare"],
)
def test_groups_of_the_fixtures_are_the_local_ones(frame_of, fixture_texts, settings, partitions):
    texts = [*fixture_texts, *fixture_texts[:40], "", "two words"]

    found = spark_groups(frame_of(texts, partitions), settings)
    assert len(found) > 80
    assert found == local_groups(texts, settings)


@pytest.mark.parametrize(
    "settings", [Settings(Recipe(bits=128), similarity=0.5), Settings(Recipe(bits=64), k=9)],
    ids=["verified", "bare"],
)  # fmt: skip
def test_pairs_of_the_fixtures_are_the_local_ones(frame_of, fixture_texts, settings):
    texts = [*fixture_texts, *fixture_texts[:40], "", "two words"]
    columns = ("id_a", "id_b", "distance", "similarity")[: 3 + settings.verified]

    expected = local_pairs(texts, settings)
    assert len(expected) > 100
    for partitions in PARTITIONINGS:
        found = table_of(spark.pairs(frame_of(texts, partitions), settings=settings), *columns)
        assert found.tolist() == expected.tolist()


def test_fingerprints_and_pairs_of_skewed_rows_are_the_local_ones(frame_of, skewed):
    settings = Settings(Recipe(bits=64), k=3)

    expected = local_pairs(skewed, settings)
    assert len(expected) > 1_000_000
    for partitions in PARTITIONINGS:
        frame = frame_of(skewed, partitions)
        prints = spark.fingerprints(frame, settings=settings).orderBy("id").toArrow()
        rows = b"".join(prints["fingerprint"].to_pylist())
        assert rows == fingerprint_texts(skewed, 64).tobytes()
        found = table_of(spark.pairs(frame, settings=settings), "id_a", "id_b", "distance")
        assert (found == expected).all()


def test_groups_of_skewed_rows_are_the_local_ones(frame_of, skewed):
    settings = Settings(Recipe(bits=128))

    # So many versions of one text are searched for in rounds.
    expected = local_groups(skewed, settings)
    assert len(expected) > 4000
    for partitions in PARTITIONINGS:
        assert spark_groups(frame_of(skewed, partitions), settings) == expected


@pytest.mark.parametrize("linkage", ["star", "components"])
def test_groups_that_are_found_in_rounds_are_the_local_ones(frame_of, monkeypatch, linkage):
    def affordable(distances, weight, _, k):
        within = np.cumsum(np.bincount(distances, minlength=k + 1)[: k + 1]) * weight
        narrow.append(max(0, int(np.searchsorted(within, 1000, side="right")) - 1))
        return narrow[-1]

    narrow = []
    for engine in (simdup.match.match, match):
        monkeypatch.setattr(engine, "affordable", affordable)
    random_, words = random.Random(3), [f"w{i}" for i in range(300)]
    texts = []
    for _ in range(75):
        link = random_.choices(words, k=14)
        for _ in range(20):
            link = [*link]
            link[random_.randrange(14)] = random_.choice(words)
            texts.append(" ".join(link))
    settings = Settings(Recipe(bits=64), similarity=0.6, linkage=linkage)

    expected = local_groups(texts, settings)
    assert spark_groups(frame_of(texts, 3), settings) == expected
    assert len(expected) > 300
    # Both engines had to look less far at first.
    assert sum(k < wanted(0.6, 64) for k in narrow) > 1


def random_rows(n=3000, width=8, seed=0):
    """Fingerprints of which a third share a block, many are a few bits from another one, and
    some are equal."""
    made = np.random.default_rng(seed)
    rows = made.integers(0, 256, (n, width), np.uint8)
    rows[: n // 3, :2] = 7
    for place in range(n // 2, n):
        rows[place] = rows[made.integers(0, n // 2)]
        for bit in made.integers(0, 8 * width, made.integers(0, 5)):
            rows[place, bit // 8] ^= 1 << bit % 8
    return rows


@pytest.fixture
def frame_of_rows(on_spark):
    """`frame_of_rows(rows, partitions)`: texts by number with their fingerprints."""

    def framing(rows, partitions):
        every = [(number, bytearray(row)) for number, row in enumerate(rows.tolist())]
        frame = on_spark.createDataFrame(every, "number long, fingerprint binary")
        return frame.repartition(partitions)

    return framing


def both_near(rows, reach):
    pairs = pairs_within(reach.compared(rows), reach.k)
    if reach.sieve is not None:
        pairs = pairs[paired_distances(rows, pairs[:, 0], pairs[:, 1]) <= reach.sieve]
    return pairs.tolist()


@pytest.mark.parametrize("reach", [Reach(64, 3, None), Reach(32, 4, 6)], ids=["k=3", "sieved"])
def test_tiles_have_every_pair_once(frame_of_rows, monkeypatch, reach):
    monkeypatch.setattr(search, "COMPARISONS_WORTH", 1)
    rows = random_rows()

    for partitions in PARTITIONINGS:
        found = search.near_pairs(frame_of_rows(rows, partitions), reach)
        assert table_of(found, "a", "b", "distance").tolist() == both_near(rows, reach)


@pytest.mark.parametrize("hot", [50, 100_000], ids=["split", "whole"])
@pytest.mark.parametrize("reach", [Reach(64, 3, None), Reach(56, 2, 3)], ids=["k=3", "sieved"])
def test_a_join_on_blocks_has_every_pair_once(frame_of_rows, monkeypatch, reach, hot):
    monkeypatch.setattr(search, "ROWS_WORTH_JOIN", 0)
    monkeypatch.setattr(search, "MOST_CANDIDATES", 10_000)
    monkeypatch.setattr(search, "tiled_pairs", None)
    monkeypatch.setattr(search, "HOT", hot)
    rows = random_rows()

    for partitions in PARTITIONINGS:
        found = search.near_pairs(frame_of_rows(rows, partitions), reach)
        assert table_of(found, "a", "b", "distance").tolist() == both_near(rows, reach)


def test_rows_that_would_meet_too_many_others_are_not_joined(frame_of_rows, monkeypatch):
    monkeypatch.setattr(search, "ROWS_WORTH_JOIN", 0)
    monkeypatch.setattr(search, "joined_pairs", None)
    rows = random_rows()

    found = search.near_pairs(frame_of_rows(rows, 2), Reach(64, 3, None))
    assert table_of(found, "a", "b", "distance").tolist() == both_near(rows, Reach(64, 3, None))


def graph(seed=0):
    """A long chain, a star, and random pairs, under shuffled numbers."""
    made = np.random.default_rng(seed)
    chain = np.column_stack((np.arange(300), np.arange(1, 301)))
    star = np.column_stack((np.full(60, 400), np.arange(401, 461)))
    pairs = made.permutation(1000)[
        np.concatenate((chain, star, made.integers(500, 1000, (300, 2))))
    ]
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return pairs, np.arange(1000)


def test_components_are_those_of_the_local_engine(on_spark):
    pairs, every = graph()
    frame = on_spark.createDataFrame(pairs.tolist(), "a long, b long")

    found = dict(table_of(rooted(frame), "number", "root").tolist())
    expected = components(pairs, len(every))
    assert found == {number: expected[number] for number in np.unique(pairs).tolist()}


@pytest.mark.parametrize("linkage", ["star", "components"])
def test_leaders_are_the_same_by_component_and_all_at_once(on_spark, monkeypatch, linkage):
    pairs, every = graph()
    alike = np.linspace(0.5, 1, len(pairs))
    rows = [(*pair, value) for pair, value in zip(pairs.tolist(), alike.tolist(), strict=True)]
    frame = on_spark.createDataFrame(rows, "a long, b long, similarity double")
    copies = 1 + every % 3
    sizes = on_spark.createDataFrame(
        np.column_stack((every, copies)).tolist(), "number long, copies long"
    )

    leader = leaders(pairs, len(every), linkage, every, copies)
    others = np.flatnonzero(leader != every)
    known = {tuple(pair): value for *pair, value in rows}
    expected = [
        (a, b, known.get((min(a, b), max(a, b))))
        for a, b in zip(others.tolist(), leader[others].tolist(), strict=True)
    ]
    for most in (stars.PAIRS_AT_ONCE, 0):
        monkeypatch.setattr(stars, "PAIRS_AT_ONCE", most)
        assert sorted(map(tuple, stars.led(frame, sizes, linkage).collect())) == expected


ROWS = [
    ("b", "the cat sat on the mat and looked at the moon above the mill"),
    ("a", "The cat sat on the mat, and looked at the moon above the mill!"),
    ("c", None),
    ("d", " ... "),
    (None, "nobody knows whose row this is, and it stays"),
    ("e", "something else altogether, of which there is one row only"),
]


@pytest.fixture
def odd_rows(on_spark):
    return on_spark.createDataFrame(ROWS, "id string, text string")


def test_rows_without_a_fingerprint_say_why(odd_rows):
    found = spark.fingerprints(odd_rows).collect()

    assert {(row["id"], row["reason"]) for row in found if row["fingerprint"] is None} == {
        ("c", "nothing to compare"),
        ("d", "nothing to compare"),
        (None, "no id"),
    }
    assert len(found) == len(ROWS)


def test_deduplicating_keeps_one_of_each_group_and_all_rows_that_are_not_compared(odd_rows):
    first = spark.deduplicate(odd_rows)
    longest = spark.deduplicate(odd_rows, keep="longest")

    assert first.columns == odd_rows.columns
    assert {tuple(row) for row in first.collect()} == {*ROWS} - {ROWS[0]}
    assert {tuple(row) for row in longest.collect()} == {*ROWS} - {ROWS[0]}
    with pytest.raises(
        ValueError, match="keep must be one of first, longest, representative, not 'last'"
    ):
        spark.deduplicate(odd_rows, keep="last")


def test_the_longest_of_a_group_is_kept(on_spark):
    rows = [(1, "one two three four five"), (2, "one, two, three, four, five")]
    frame = on_spark.createDataFrame(rows, "id int, text string")

    assert [row["id"] for row in spark.deduplicate(frame).collect()] == [1]
    assert [row["id"] for row in spark.deduplicate(frame, keep="longest").collect()] == [2]


def test_the_representative_of_a_group_may_be_neither_the_first_nor_the_longest(on_spark):
    words = [f"w{place}" for place in range(40)]
    texts = [[*words[:24], *"abcdefghijkl"], words, [*words[16:], *["of another text"] * 12]]
    rows = [(place, " ".join(text)) for place, text in enumerate(texts)]
    frame = on_spark.createDataFrame(rows, "id int, text string")

    # The first and the longest are not like each other.
    for keep, stays in (("first", [0, 2]), ("representative", [1]), ("longest", [0, 2])):
        left = spark.deduplicate(frame, keep=keep).collect()
        assert sorted(row["id"] for row in left) == stays


def wide_texts():
    """Chains, texts with a common half that are otherwise unlike, copies and short ones."""
    random_, words = random.Random(5), [f"w{i}" for i in range(3000)]
    rows = []
    for _ in range(4):
        link = random_.choices(words, k=60)
        for _ in range(10):
            rows.append(link[: random_.randrange(55, 61)])
            link = [*link]
            for place in random_.sample(range(60), 6):
                link[place] = random_.choice(words)
    common = random_.choices(words, k=60)
    rows += [common, *(common + random_.choices(words, k=100) for _ in range(12))]
    rows += [rows[3], rows[-1], rows[-2][::-1], *(random_.choices("abcd", k=6) for _ in range(8))]
    random_.shuffle(rows)
    return [" ".join(row) for row in rows]


STARS, CHAINS = Settings(similarity=0.5), Settings(similarity=0.5, linkage="components")
BY_DISTANCE = Settings(Recipe(bits=64), k=16, linkage="components")


@pytest.mark.parametrize(
    ("choice", "keep"),
    [
        (STARS, "first"),
        (STARS, "longest"),
        (STARS, "representative"),
        (CHAINS, "representative"),
        (BY_DISTANCE, "longest"),
    ],
    ids=["stars-first", "stars-longest", "stars-representative", "chains", "distance"],
)
def test_rows_go_that_the_local_engine_drops(frame_of, write, monkeypatch, choice, keep):
    monkeypatch.setattr(groups, "MOST_STAYING", 6)
    monkeypatch.setattr(stay, "MOST_STAYING", 6)
    texts = wide_texts()
    write("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    result = scan_rows(["a.jsonl"], choice)

    left = spark.deduplicate(frame_of(texts), settings=choice, keep=keep).select("id").collect()
    gone = dropped(result, keep)
    assert sorted(set(range(len(texts))) - {row["id"] for row in left}) == gone.tolist()
    one_of_each = len(result.groups.members) - len(result.groups)
    assert (len(gone) < one_of_each) == ((choice.linkage, keep) != ("star", "representative"))


def test_ids_that_stand_twice_are_named(on_spark):
    rows = [(1, "a b c"), (1, "d e f"), (2, "g h i"), (None, "x"), (None, "y")]
    frame = on_spark.createDataFrame(rows, "key long, words string")

    with pytest.raises(InputError, match=r"1 ids stand in several rows: 1 \(2 times\)"):
        spark.groups(frame, "words", "key")


def test_ids_without_an_order_are_refused(on_spark):
    frame = on_spark.createDataFrame(
        [([{"a": 1}], "a b c")], "id array<map<string,int>>, text string"
    )

    with pytest.raises(
        ValueError, match="ids are array<map<string,int>>, of which none is the low"
    ):
        spark.groups(frame)


def test_what_spark_says_is_one_line_however_columns_are_called(on_spark):
    with pytest.raises(PySparkException) as raised:
        on_spark.range(1).select("`of two\nlines`")
    said = session.reason(raised.value)
    assert "`of two lines`" in said
    assert re.search(r" SQLSTATE: \w{5}$", said)


def test_columns_may_have_any_name(on_spark):
    rows = [("a.b", "one two three"), ("c", "one two three")]
    frame = on_spark.createDataFrame(rows, "`the id.` string, `a``text` string")

    found = spark.groups(frame, "a`text", "the id.").collect()
    assert [row["representative"] for row in found] == ["a.b", "a.b"]


@pytest.mark.parametrize("is_sensitive", ["false", "true"])
def test_names_of_columns_may_differ_in_case_alone(on_spark, is_sensitive):
    before = on_spark.conf.get("spark.sql.caseSensitive")
    rows = [(1, 7, "a b c", "x"), (2, 7, "a b c", "y")]
    frame = on_spark.createDataFrame(rows, "id int, ID int, Text string, text string")
    on_spark.conf.set("spark.sql.caseSensitive", is_sensitive)

    try:
        kept = spark.deduplicate(frame, "Text")
        assert kept.schema == frame.schema
        assert kept.collect() == [rows[0]]
        assert spark.groups(frame, "text").collect() == []
    finally:
        on_spark.conf.set("spark.sql.caseSensitive", before)
    with pytest.raises(ValueError, match="there is more than one column 'id' among id, id, text"):
        spark.fingerprints(frame.select("id", "id", "text"))


def test_columns_of_parquet_may_differ_in_case_alone(run, folder):
    same = ["one two three four"] * 2
    parquet.write_table(pa.table({"text": same, "Text": ["a", "b"]}), folder / "a.parquet")

    assert run("corpus", "scan", "a.parquet", "--text-field", "Text", *SPARK).out.count(b"\n") == 1
    options = ("--keep", "first", "--output", "out")
    assert run("corpus", "scan", "a.parquet", *options, *SPARK).code == 0
    kept = parquet.read_table(folder / "out")
    assert kept.to_pylist() == [{"text": same[0], "Text": "a"}]


def test_wrong_columns_are_named(frame_of):
    frame = frame_of(["a"])

    with pytest.raises(ValueError, match="there is no column 'body' among id, text"):
        spark.fingerprints(frame, "body")
    with pytest.raises(ValueError, match="column 'id' must hold strings, not bigint"):
        spark.fingerprints(frame, "id")


def test_no_rows_are_no_groups(frame_of):
    assert spark.groups(frame_of([])).collect() == []
    assert spark.pairs(frame_of([])).collect() == []


def test_making_fingerprints_runs_nothing(on_spark, frame_of):
    context = on_spark.sparkContext
    context.setJobGroup("lazy", "nothing is to run")

    spark.fingerprints(frame_of(["a", "b"])).select("features").where("features > 1")
    assert context.statusTracker().getJobIdsForGroup("lazy") == []
    context.setJobGroup("", "")


def test_a_worker_that_would_make_other_fingerprints_is_refused(frame_of, monkeypatch):
    monkeypatch.setattr(Recipe, "key", lambda _: "of another version of Unicode")

    with pytest.raises(Exception, match="a worker makes other fingerprints") as raised:
        spark.fingerprints(frame_of(["a"])).collect()
    assert session.reason(raised.value).startswith("a worker makes other fingerprints: {")


def notices(count=60, seed=4):
    """Rows of JSON Lines: copies, edited copies, and rows with something wrong."""
    random_, words = random.Random(seed), [f"w{i}" for i in range(400)]
    originals = [random_.choices(words, k=40) for _ in range(count // 3)]
    rows = []
    for number in range(count):
        text = [*random_.choice(originals)]
        for _ in range(random_.randrange(4)):
            text[random_.randrange(40)] = random_.choice(words)
        rows.append(json.dumps({"key": f"n{number}", "text": " ".join(text), "more": [number]}))
    rows[7:7] = ['{"key": 7, "text": nothing}', "", '{"key": [8], "text": null}', '{"key": 9}']
    rows[20:20] = ['{"key": 20, "text": "\\ud800 is half of a character, alone"}', "[1]", " "]
    rows[30:30] = ['{"key": ["\\ud800"], "text": "of which there are two"}'] * 2
    return [row.encode() for row in rows]


@pytest.fixture
def two_files(write):
    """Two files of rows, of which the first begins with a byte-order mark; in that order."""
    rows = notices()
    write("b.jsonl", b"\xef\xbb\xbf" + b"\n".join(rows[:40]) + b"\n\xff{}")
    write("a b.jsonl", b"\r\n".join(rows[40:]))
    return ("b.jsonl", "a b.jsonl")


@pytest.fixture
def in_parts(on_spark):
    """Spark reads files in parts of a kilobyte."""
    names = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
    for name, value in zip(names, ("1000", "0"), strict=True):
        on_spark.conf.set(name, value)
    yield
    for name in names:
        on_spark.conf.unset(name)


def without_seconds(out):
    return re.sub(rb'("seconds": |in )[\d.]+', b"", out)


def parts_of(folder, suffix):
    """What Spark has written there."""
    return [path.read_bytes() for path in sorted(folder.glob(f"part-*{suffix}"))]


SPARK = ("--engine", "spark", "--master", "local[2]")


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("form", ["jsonl", "csv", "text"])
def test_the_command_reports_what_the_local_engine_reports(run, two_files, folder, form):
    options = ("corpus", "scan", *two_files, "--format", form, "--bits", "128")
    options += ("--id-field", "key") if form != "csv" else ()

    local = run(*options)
    there = run(*options, *SPARK)
    assert local.code == there.code == 3
    assert without_seconds(there.out) == without_seconds(local.out)
    assert without_seconds(there.err) == without_seconds(local.err)
    written = run(*options, *SPARK, "--output", "out", "--quiet")
    assert (written.code, written.out, written.err) == (3, b"", b"")
    parts = parts_of(folder / "out", ".txt" if form == "text" else f".{form}")
    assert without_seconds(b"".join(parts)) == without_seconds(local.out)
    assert len(parts) == len(parts_of(folder / "out", ""))


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("keep", KEEPS)
def test_the_rows_that_stay_are_those_that_the_local_engine_keeps(run, two_files, folder, keep):
    options = ("corpus", "scan", *two_files, "--keep", keep)

    local = run(*options, "--output", "local.jsonl")
    there = run(*options, *SPARK, "--output", "out")
    assert without_seconds(there.err) == without_seconds(local.err)
    kept = [line for part in parts_of(folder / "out", ".jsonl") for line in part.splitlines()]
    expected = (folder / "local.jsonl").read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    assert sorted(line.removeprefix(b"\xef\xbb\xbf") for line in kept) == sorted(expected)


@pytest.fixture
def gzipped(on_spark):
    """Hadoop is told to pack what is written as lines."""
    output = "mapreduce.output.fileoutputformat.compress"
    conf = {output: "true", f"{output}.codec": "org.apache.hadoop.io.compress.GzipCodec"}
    for name, value in conf.items():
        on_spark.conf.set(name, value)
    yield
    for name in conf:
        on_spark.conf.unset(name)


@pytest.mark.usefixtures("gzipped")
def test_parts_that_are_packed_are_named_for_both(run, write, folder):
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


CSV = (
    b"\xef\xbb\xbfid,text,id.`2\r\n"
    b'a,"the first text, with a comma and\r\na second line, is long enough to be compared", 1 \r\n'
    b'b,"another text says ""nothing"" of what the first one said, and it has no copy",2\r\n'
    b"\r\n"
    b',"  The first text with a comma and a second line is long enough to be compared!  ",3\r\n'
    b'd,"",4\r\n'
    b"e,too few\r\n"
    b'f,"a quotation mark "inside" a field",6\r\n'
    b"g,not UTF-8 \xe9,7\r\n"
    b'h,"...",8\r\n'
    b'i,"this one never ends,9\r\n'
)


@pytest.fixture(params=["rows.csv", "rows.csv.gz"])
def csv_files(request, write):
    """Two files of CSV, perhaps packed."""
    packed = gzip.compress if request.param.endswith(".gz") else bytes
    write(request.param, packed(CSV))
    write("more.csv", b"id,text,id.`2\nj,of all rows the last one,10")
    return (request.param, "more.csv")


@pytest.mark.parametrize("form", ["jsonl", "text"])
def test_csv_is_reported_as_by_the_local_engine(run, csv_files, form):
    options = ("corpus", "scan", *csv_files, "--format", form, "--id-field", "id")

    local, there = run(*options), run(*options, *SPARK)
    assert local.code == there.code == 3
    assert without_seconds(there.out) == without_seconds(local.out) != b""
    assert without_seconds(there.err) == without_seconds(local.err)


def test_records_of_csv_stay_as_they_are(run, csv_files, folder):
    options = ("corpus", "scan", *csv_files, "--keep", "longest")

    local = run(*options, "--output", "local.csv")
    there = run(*options, *SPARK, "--output", "out")
    assert without_seconds(there.err) == without_seconds(local.err)
    header = b"id,text,id.`2"
    written = parts_of(folder / "out", ".csv")
    assert all(not part or part.startswith(header + b"\r\n") for part in written)
    kept = sorted(line for part in written for line in part.splitlines() if line != header)
    expected = (folder / "local.csv").read_bytes().splitlines()
    assert kept == sorted(line for line in expected if line != header)


def test_files_of_csv_with_other_columns_are_not_one_file(run, write):
    write("a.csv", "id,text\n1,one two three\n")
    write("b.csv", "text,id\none two three,2\n")

    assert run("corpus", "scan", "a.csv", "b.csv", *SPARK).out.count(b'"member') == 1
    ended = run("corpus", "scan", "a.csv", "b.csv", "--keep", "first", *SPARK, "--output", "out")
    assert ended.code == 2
    assert b"has another columns than" in ended.err


def test_columns_of_parquet_stay_as_they_are(run, folder, on_spark):
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


def test_rows_of_parquet_keep_their_times_folders_and_packing(run, folder):
    texts = ["one two three four five six"] * 2 + ["of another row"]
    at = pa.array([1_700_000_000_000_001] * 3, pa.timestamp("us", tz="UTC"))
    (folder / "a b" / "lang=01").mkdir(parents=True)
    table = pa.table({"text": texts, "at": at})
    parquet.write_table(table, folder / "a b" / "lang=01" / "a.parquet", compression="zstd")

    options = ("corpus", "scan", "a b", "--input-format", "parquet", "--keep", "first")
    assert run(*options, *SPARK, "--output", "out").code == 0
    (written,) = (folder / "out").glob("part-*.parquet")
    kept = parquet.ParquetFile(written)
    assert kept.schema_arrow.field("at").type == at.type
    assert kept.metadata.row_group(0).column(0).compression == "ZSTD"
    assert kept.read().column("at")[0] == at[0]
    assert kept.read().column("lang").to_pylist() == ["01", "01"]


def test_folders_may_be_named_for_what_their_rows_have(run, write):
    for place in ("in/lang=01/a.jsonl", "in/lang=02/more/b.jsonl", "in/_below/c.jsonl"):
        write(place, '{"text": "one two"}\n')

    ended = run("corpus", "scan", "in", "--input-format", "jsonl", *SPARK)
    assert ended.code == 0
    assert ended.err.endswith(b"\n2 rows in = 1 kept + 1 dropped + 0 refused\n")


@pytest.mark.parametrize(
    ("taken", "lost"),
    [("in/a.jsonl", "in/more/b.jsonl"), ("in/lang=1/a.jsonl", "in/b.jsonl")],
)
def test_a_file_that_spark_passes_over_in_a_folder_is_named(run, write, taken, lost):
    for place in (taken, lost):
        write(place, '{"text": "one two"}\n')

    ended = run("corpus", "scan", "in", "--input-format", "jsonl", *SPARK)
    assert (ended.code, ended.out, ended.err.count(b"\n")) == (2, b"", 1)
    assert f"{lost}': Spark passes over it".encode() in ended.err


def test_files_of_parquet_may_have_other_columns_and_rows_no_id(run, folder, on_spark):
    text = "the same text in both of the files"
    for name, kind in (("a", "text string, id string"), ("b", "text string, url string")):
        frame = on_spark.createDataFrame([(text, None)], kind)
        frame.coalesce(1).write.parquet(str(folder / name))

    options = ("corpus", "scan", "a", "b", "--input-format", "parquet", "--id-field", "id")
    group = json.loads(run(*options, *SPARK).out.splitlines()[1])
    assert [member["id"] for member in group["members"]] == [None, None]
    assert run(*options, "--keep", "first", *SPARK, "--output", "out").code == 0
    assert {*on_spark.read.parquet(str(folder / "out")).columns} == {"text", "id", "url"}


def test_a_column_may_be_called_as_ours_are(on_spark):
    frame = on_spark.createDataFrame([("a b c", 1), ("a b c", 2)], "text string, dropped int")

    assert spark.deduplicate(frame, id="dropped").collect() == [("a b c", 1)]


def test_rows_that_are_too_long_are_refused_as_by_the_local_engine(monkeypatch):
    monkeypatch.setattr(readers, "LONGEST_ROW", 30)

    found = readers.json_text(b'{"text": "' + b"a" * 30, 7, field="text", name=None)
    assert (found.text, found.fault) == (None, "too long")


def test_a_group_too_large_for_a_line_of_json_is_told(run, write, monkeypatch):
    write("rows.jsonl", '{"text": "one two"}\n' * 3)
    monkeypatch.setattr(corpus, "MOST_MEMBERS", 2)

    ended = run("corpus", "scan", "rows.jsonl", *SPARK)
    assert ended.code == 2
    assert b"group 1 has 3 rows, too many for a line of JSON; take --format csv" in ended.err
    assert run("corpus", "scan", "rows.jsonl", "--format", "csv", *SPARK).out.count(b"\n") == 4


def test_a_master_that_is_none_is_one_line(simdup, write):
    """A Spark of its own: the first one that starts tells."""
    write("rows.jsonl", '{"text": "one two"}\n')

    ended = simdup("corpus", "scan", "rows.jsonl", "--engine", "spark", "--master", "local[x]")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.startswith(b"simdup: Spark does not start on 'local[x]': ")
    assert ended.stderr.count(b"\n") == 1


def test_an_interrupt_is_one_line_and_leaves_no_folder(write, folder):
    """A Spark of its own, which Ctrl-C stops while it writes."""
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


def test_an_interrupt_while_java_starts_leaves_no_java(write, folder):
    write("rows.jsonl", '{"text": "one two"}\n')
    program = (sys.executable, "-m", "simdup", "corpus", "scan", "rows.jsonl", *SPARK)

    process = subprocess.Popen(program, cwd=folder, stderr=subprocess.PIPE, start_new_session=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        process.kill()
        pytest.skip("this system does not say who is whose child")
    while not children.read_text():
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)

    # Whoever is left holds the pipe.
    _, err = process.communicate(timeout=LONG)
    assert (process.returncode, err) == (130, b"simdup: interrupted\n")


@pytest.mark.usefixtures("on_spark")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("_rows.jsonl",), b"'_rows.jsonl': Spark passes over names that begin with _ or ."),
        (("two.jsonl", "./two.jsonl"), b"a file is named twice"),
        (("two.jsonl", "t*.jsonl"), b"two.jsonl': named twice"),
        (("r[1].jsonl",), b"'r[1].jsonl': Spark takes this name for a pattern; rename the file"),
        (("x/ab:c.jsonl",), b"'x/ab:c.jsonl': Spark takes no names with a colon; rename the file"),
        (("d:ef/gone.jsonl",), b"/d:ef/gone.jsonl"),
        ((b"\xff.jsonl",), b"Spark takes only names in UTF-8"),
        (("cut.csv.gz",), b"'cut.csv.gz': cut short"),
        (("gone.jsonl",), b"gone.jsonl"),
        (("two.jsonl", "rows.csv"), b"'two.jsonl' is jsonl and 'rows.csv' csv: not one corpus"),
        (("folder",), b"'folder': its name does not say what it is; give --input-format"),
        (("empty.csv", "rows.csv", "--text-field", "body"), b"simdup: 'empty.csv': no header of"),
        (("rows.csv",), b"'rows.csv': no column 'text'; there are: body, id"),
        (("two.jsonl", "--output", "folder"), b"'folder' is there already; name a new folder"),
        (("two.jsonl", "--output", "xy:/z"), b"No FileSystem for scheme"),
    ],
)
def test_what_cannot_be_done_is_one_line(run, write, arguments, said):
    write("two.jsonl", '{"text": "one two"}\n{"text": "one two"}\n')
    write("rows.csv", "id,body\n1,one two\n")
    write("empty.csv", "")
    write("cut.csv.gz", gzip.compress(b"id,text\n" + b"1,one two\n" * 9)[:-4])
    passed_over = ("folder/rows.jsonl", "_rows.jsonl", "r[1].jsonl")
    for name in (*passed_over, "r1.jsonl", "x/ab:c.jsonl", b"\xff.jsonl"):
        write(name, "{}")

    ended = run("corpus", "scan", *arguments, *SPARK)
    assert (ended.code, ended.out) == (2, b"")
    assert said in ended.err
    assert ended.err.count(b"\n") == 1


def test_rows_that_change_meanwhile_are_told(on_spark, folder, write):
    texts = ["one two three four five six", "one two three four five seven"]
    write("rows.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    opened = files.read(on_spark, {str(folder / "rows.jsonl"): "rows.jsonl"}, None, "text", None)
    _, matching = frames.prepared(opened.source, Settings())
    write("rows.jsonl", (folder / "rows.jsonl").read_text("utf-8").replace("six", "ten"))

    with pytest.raises(PySparkException) as raised:
        matching.pairs().collect()
    assert session.reason(raised.value) == "rows changed while they were compared"


def test_spark_submit_takes_the_arguments_of_the_command(run, two_files, folder):
    """A Spark of its own: as somebody would call it."""
    expected = run("corpus", "scan", *two_files).out
    conf = [f"--conf={name}={value}" for name, value in CONF.items() if "driver.memory" not in name]
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

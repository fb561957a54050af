"""simdup.spark finds what the local engine finds, however the rows are partitioned."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from conftest import of_each

from simdup import InputError, Recipe, Settings, fingerprint_texts, pairs_within, scan_rows
from simdup.corpus.rewrite import dropped_for
from simdup.corpus.scan import group_texts
from simdup.evaluation.labels import labelled_pairs, own_table
from simdup.fingerprint import simhash, sketch
from simdup.fingerprint.simhash import are_degenerate
from simdup.match import division, postings
from simdup.match.groups import components
from simdup.match.own_share import (
    COUNTERS,
    MOST_COUNTED,
    Frequencies,
)
from simdup.search.distinct import pair_keys
from simdup.settings import Limits

pyspark = pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pa = pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
parquet = pytest.importorskip("pyarrow.parquet")


from simdup import spark
from simdup.spark import search
from simdup.spark.corpus import reason
from simdup.spark.dataframes import _source
from simdup.spark.parts import Job, _blocks, _sum, grouped, parts_of, rooted
from simdup.spark.search import texts_together
from simdup.spark.texts import NumberedTexts, opened, parcels

pytestmark = pytest.mark.filterwarnings("ignore")  # of pyspark, pandas and py4j

PARTITIONINGS = (2, 5)


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
    with own_table() as table:
        return list(labelled_pairs(table).texts)


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
    """The representative, kind, similarity, distance and own share of each text in a group."""
    return {
        row: (group.rows[0], kind.value, *figures)
        for group in group_texts(texts, settings)
        for row, kind, *figures in zip(
            group.rows,
            group.kinds,
            group.similarities,
            group.distances,
            group.own_shares,
            strict=True,
        )
    }


def spark_groups(frame, settings):
    columns = "id", "representative", "kind", "similarity", "distance", "own_share"
    rows = spark.groups(frame, settings=settings).select(*columns).collect()
    found = {row: tuple(about) for row, *about in rows}
    assert len(found) == len(rows)
    return found


def of_one_form(seed, members=10):
    """Texts made from one form, each with a version in which every fifth word is another one.

    Also a copy of the first text, and one in which a single word is another.
    """
    random_ = random.Random(seed)
    words = [f"w{i}" for i in range(5000)]
    form, texts = random_.choices(words, k=60), []
    for _ in range(members):
        text = [*form[:30], *random_.choices(words, k=40), *form[30:]]
        version = [*text]
        for place in random_.sample(range(100), 20):
            version[place] = random_.choice(words)
        texts += [text, version]
    texts += [texts[0], [*texts[0][:99], "another"]]
    return [" ".join(text) for text in texts]


@pytest.fixture(scope="module")
def form_texts():
    """Texts of three forms and of their own, and some of them again in other words."""
    texts = [text for seed in range(3) for text in of_one_form(seed)]
    texts += [of_one_form(seed, 1)[0] for seed in range(10, 40)]
    random.Random(1).shuffle(texts)
    return texts


def table_of(frame, *columns):
    """The columns of a frame as an array with its rows sorted."""
    found = frame.select(*columns).toArrow()
    values = np.column_stack([found[name].to_numpy() for name in columns])
    return values[np.lexsort(values.T[::-1])]


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
def test_fingerprints_equal_those_of_the_local_engine(frame_of, fixture_texts, recipe):
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


@pytest.mark.parametrize(
    ("settings", "partitions"),
    [
        (Settings(), 2),
        (Settings(Recipe(bits=64), k=3), 5),
        (Settings(Recipe(bits=128), similarity=0.6, linkage="components"), 5),
        (Settings(Recipe(bits=64), verified=False, linkage="components"), 2),
    ],
    ids=["verified", "k=3", "components", "bare"],
)
def test_groups_of_the_fixtures_equal_those_of_the_local_engine(
    frame_of, fixture_texts, settings, partitions
):
    texts = [*fixture_texts, *fixture_texts[:40], "", "two words"]

    found = spark_groups(frame_of(texts, partitions), settings)
    assert len(found) > 80
    assert found == local_groups(texts, settings)


@pytest.mark.parametrize("linkage", ["star", "components"])
def test_versions_are_grouped_and_siblings_are_not_as_by_the_local_engine(
    frame_of, form_texts, linkage
):
    settings = Settings(linkage=linkage)

    expected = local_groups(form_texts, settings)
    assert len({first for first, *_ in expected.values()}) == 30  # a group for each text
    assert {row for row in expected if not 0.57 <= expected[row][-1] <= 1} == set()
    partitions = PARTITIONINGS[linkage == "star"]
    assert spark_groups(frame_of(form_texts, partitions), settings) == expected
    # Without own shares texts of a form are together: all in a chain, in stars some of them.
    every = Settings(linkage=linkage, own_share=0)
    found = spark_groups(frame_of(form_texts), every)
    groups = len({first for first, *_ in found.values()})
    assert groups == 3 if linkage == "components" else groups < 30
    assert found == local_groups(form_texts, every)


def filled(members, seed, length=60):
    """Texts in which six words of one text are filled in, and three versions of the first."""
    random_ = random.Random(seed)
    form, texts = random_.choices([f"w{i}" for i in range(5000)], k=length), []
    for member in range(members):
        text = [*form]
        for place in range(5, length, 10):
            text[place] = f"own{seed}x{member}y{place}"
        texts.append(text)
    version = [*texts[0]]
    for edit in (2, 22, 42):
        version = [*version[:edit], f"edit{seed}", *version[edit + 1 :]]
        texts.append(version)
    return [" ".join(text) for text in texts]


def test_forms_are_no_groups_and_their_versions_are_as_by_the_local_engine(frame_of):
    # The form of 1,010 texts is a part of more than 1,000 rows. The last one has no versions.
    texts = [*filled(12, 0), *filled(1010, 1), *filled(3, 2)[:3]]
    random.Random(1).shuffle(texts)

    expected = local_groups(texts, Settings())
    assert len({first for first, *_ in expected.values()}) == 2
    assert len(expected) == 8
    assert spark_groups(frame_of(texts, 3), Settings()) == expected


def test_a_thousand_rows_are_grouped_as_by_the_local_engine(frame_of):
    # From 1,000 rows on the local engine measures how many near-duplicates are candidates.
    texts = [*(f"{number} {number} of {number + 1} rows" for number in range(990)), *filled(7, 3)]
    assert len(texts) == 1000

    expected = local_groups(texts, Settings())
    assert len(expected) >= 4
    assert spark_groups(frame_of(texts, 3), Settings()) == expected


def test_fingerprints_of_skewed_rows_equal_those_of_the_local_engine(frame_of, skewed):
    prints = spark.fingerprints(frame_of(skewed, 5), settings=Settings(Recipe(bits=64)))

    rows = b"".join(prints.orderBy("id").toArrow()["fingerprint"].to_pylist())
    assert rows == fingerprint_texts(skewed, 64).tobytes()


@pytest.mark.parametrize("settings", [Settings(), Settings(Recipe(bits=64), k=3)])
def test_groups_of_skewed_rows_equal_those_of_the_local_engine(frame_of, skewed, settings):
    # So many versions of one text are searched for in rounds.
    expected = local_groups(skewed, settings)
    assert len(expected) > 3000
    assert spark_groups(frame_of(skewed), settings) == expected


def random_sketches(seed, n=700):
    """Sketches of rare and common values: versions of others, crowds, short texts and long ones."""
    draw, made = np.random.default_rng(seed), []
    crowds = [draw.integers(0, 1 << 32, 70) for _ in range(2)]
    for number in range(n):
        # Squared, so that low values are common.
        values = (10_000 * draw.random(draw.integers(1, 90)) ** 2).astype(np.int64) * 400_000
        if number % 4 == 3:
            values = np.concatenate((values[:5], draw.choice(made[-1], len(made[-1]) // 2)))
        elif number % 10 == 1:
            values = np.concatenate((values, draw.permutation(crowds[number // 10 % 2])[:60]))
        elif number % 10 == 5:
            values = draw.integers(0, 1 << 28, 200)
        made.append(np.unique(values).astype(np.uint32))
    counts = np.array([len(each) if max(each) >= 1 << 28 else 3000 for each in made])
    return of_each(made), counts


@pytest.mark.parametrize("seed", [0, 1])
def test_texts_of_short_and_long_lists_are_paired_as_by_the_local_engine(on_spark, seed):
    sketches, counts = random_sketches(seed)
    order, none = np.arange(len(counts)), np.zeros(len(counts), bool)
    expected = postings.texts_together(sketches, counts, order, none)
    pairs = np.sort(expected.pairs, axis=1)
    assert len(pairs) > 200
    assert 20 < len(expected.crowded) < 300

    rows = zip(counts.tolist(), map(bytearray, sketches.each()), strict=True)
    rows = [(number, number, *row) for number, row in enumerate(rows)]
    schema = "id long, number long, features long, sketch binary"
    frame = on_spark.createDataFrame(rows, schema).repartition(PARTITIONINGS[seed])
    numbered = frame.selectExpr("*", "true as is_first")
    found = texts_together(NumberedTexts(frame, numbered, numbered, len(rows), None, Settings()))
    found = found.persist()
    in_order = pairs[np.lexsort(pairs.T[::-1])].tolist()
    assert table_of(found, "a", "b").tolist() == in_order
    stars = table_of(found.where("is_star"), "a", "b")
    assert np.unique(stars).tolist() == expected.crowded.tolist()
    found.unpersist()


# Candidates come from lists, as beyond 1,000 texts.
BY_LISTS = Limits(by_distance=50)


def test_pairs_of_long_texts_that_the_usual_sketches_let_pass_are_ruled_out_by_finer_ones():
    draw = np.random.default_rng(5)
    shared = np.append(np.full(30, 1080), 3600)  # of 4000 features; the last pair is alike
    several = [np.unique(draw.integers(0, 1 << 32, 8200, np.uint32)) for _ in shared]
    pairs = [
        [np.sort(values[mixed[begin : begin + 4000]]) for begin in (0, 4000 - size)]
        for values, size in zip(several, shared.tolist(), strict=True)
        for mixed in [draw.permutation(8000)]
    ]
    columns = {"a": np.arange(31), "b": np.arange(31, 62)}
    for side, own in zip("ab", zip(*pairs, strict=True), strict=True):
        columns[f"{side}_features"] = np.full(31, 4000)
        columns[f"{side}_sketch"] = [values.tobytes() for values in own]

    (found,) = spark.parts._sieving(0.35, iter([pa.RecordBatch.from_pydict(columns)]))  # noqa: SLF001

    assert found["a"].to_pylist()[-1] == 30
    assert found["b"].to_pylist()[-1] == 61
    assert len(found) < 5


@pytest.mark.parametrize("at_once", [1 << 22, 10])
def test_a_list_that_is_read_piece_by_piece_has_the_pairs_of_one_read_at_once(monkeypatch, at_once):
    monkeypatch.setattr(search, "ENTRIES_AT_ONCE", at_once)
    entries = np.arange(0, 4 * 400, 4)
    values = np.where(entries % 8, 7, np.random.default_rng(1).integers(10, 24, 400))
    batches = [
        parcels(search.LISTED, np.zeros(len(part), int), values[part], entries[part])
        for part in np.split(np.arange(400), 20)
    ]

    found = defaultdict(list)
    for each in search._splitting(search.DOUBLE, iter(batches)):  # noqa: SLF001
        for kind, left, right in zip(each["kind"], each["left"], each["right"], strict=True):
            both = (opened(pa.array([column])).tolist() for column in (left, right))
            found[kind.as_py()] += zip(*both, strict=True)
    long = {value for value, count in Counter(values.tolist()).items() if count > 16}
    assert 1 < len(long) < len(set(values.tolist()))
    every = list(zip(values.tolist(), entries.tolist(), strict=True))
    first = {value: min(entry for own, entry in every if own == value) for value in long}
    stars = [(first[value], entry) for value, entry in every if value in long]
    pairs = [(i, j) for (v, i), (w, j) in combinations(every, 2) if v == w and v not in long]
    assert sorted(found[search.LISTED]) == sorted(each for each in every if each[0] in long)
    assert sorted(found[search.STAR]) == sorted(pair for pair in stars if pair[0] != pair[1])
    assert sorted(found[search.DOUBLE]) == sorted(pairs)


def test_counters_of_several_tasks_add_up_to_those_of_the_local_engine():
    texts = [f"common words {i} {i + 1}" for i in range(300)]
    made = simhash.fingerprint_texts(texts, Settings().recipe, levels=sketch.LEVELS)
    table = pa.table({"features": made.counts, "sketch": list(made.sketches.each())})
    job = Job(iter, Settings(), (), None, least=1 << 20)

    parts = (iter(table.slice(begin, 100).to_batches()) for begin in range(0, 300, 100))
    blocks = [block for part in parts for block in job.counting_alone(part)]
    expected = Frequencies(made.sketches, np.arange(300)).counters
    assert expected.max() >= 299
    assert (_sum(blocks) == expected).all()
    many = np.full(COUNTERS, MOST_COUNTED // 2 + 1, np.uint16)
    assert (_sum([_blocks(many)] * 2) == MOST_COUNTED).all()


@pytest.mark.parametrize(
    ("settings", "partitions"),
    [
        (Settings(limits=BY_LISTS), 5),
        (Settings(similarity=0.95, limits=BY_LISTS), 2),
        (Settings(similarity=0.6, linkage="components", limits=BY_LISTS), 3),
    ],
    ids=["default", "copies", "components"],
)
def test_groups_found_by_lists_equal_those_of_the_local_engine(
    frame_of, fixture_texts, form_texts, settings, partitions
):
    crowd = fixture_texts[0].split()
    crowd = [" ".join([*crowd[:place], f"w{place}", *crowd[place + 1 :]]) for place in range(120)]
    texts = [*fixture_texts, *fixture_texts[:40], *form_texts, *crowd, "", "two words"]

    expected = local_groups(texts, settings)
    assert len(expected) > 80
    assert spark_groups(frame_of(texts, partitions), settings) == expected


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ((33_000, 32_000), Settings()),
        ((17, 14), Settings(Recipe(features="words", bits=64), k=20)),
    ],
    ids=["by sketches", "by distance"],
)
def test_a_text_that_is_read_again_is_compared_with_one_that_need_not_be(frame_of, words, settings):
    texts = [" ".join(f"w{place}" for place in range(count)) for count in words]

    expected = local_groups(texts, settings)
    assert len(expected) == 2
    assert spark_groups(frame_of(texts), settings) == expected


def test_groups_found_by_whole_hashes_equal_those_of_the_local_engine(
    frame_of, monkeypatch, fixture_texts, form_texts
):
    monkeypatch.setattr(search, "_by_sketches", None)
    monkeypatch.setattr(spark.texts, "MOST_COPIED", 0)  # as where texts are so many
    settings = Settings(limits=Limits(by_distance=50, whole_hashes_from=50))
    texts = [*fixture_texts[:200], *form_texts]

    expected = local_groups(texts, settings)
    assert len(expected) > 80
    assert spark_groups(frame_of(texts, 3), settings) == expected


@pytest.mark.slow
def test_rounds_by_lists_look_at_the_candidates_of_the_local_engine(frame_of, write, form_texts):
    # Many versions of one text, of which rounds compare only some.
    words = [f"w{place}" for place in range(130)]
    crowd = (" ".join([*words[:place], "x", *words[place + 1 :]]) for place in range(130))
    texts = [*form_texts, *crowd]
    write("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))

    settings = Settings(limits=BY_LISTS)
    found = grouped(_source(frame_of(texts, 3), "text", "id"), settings).candidates
    expected = scan_rows(["a.jsonl"], settings).candidates
    assert found == expected
    assert expected.pairs < 130 * 129 / 4


def random_rows(n=3000, width=8, seed=0):
    """Fingerprints: a third share a block, many are a few bits from another, some are equal."""
    made = np.random.default_rng(seed)
    rows = made.integers(0, 256, (n, width), np.uint8)
    rows[: n // 3, :2] = 7
    for place in range(n // 2, n):
        rows[place] = rows[made.integers(0, n // 2)]
        for bit in made.integers(0, 8 * width, made.integers(0, 5)):
            rows[place, bit // 8] ^= 1 << bit % 8
    return rows


@pytest.mark.parametrize(("chunk", "bits"), [(1 << 27, 64), (64_000, 64), (40_000, 56)])
def test_near_pairs_are_found_once(on_spark, monkeypatch, chunk, bits):
    monkeypatch.setattr(search, "CHUNK_BITS", chunk)
    rows = random_rows()
    every = list(enumerate(map(bytearray, rows)))
    frame = on_spark.createDataFrame(every, "number long, fingerprint binary").repartition(5)

    found = table_of(search.near_pairs(frame, bits, 3), "a", "b", "distance")
    assert found.tolist() == pairs_within(rows[:, : bits // 8], 3).tolist()


def test_near_pairs_of_equal_fingerprints_are_found_once(on_spark, monkeypatch):
    """They are all in one chunk, so that the other chunks are empty."""
    monkeypatch.setattr(search, "CHUNK_BITS", 128)
    frame = on_spark.createDataFrame(
        [(n, bytearray(8)) for n in range(9)], "number long, fingerprint binary"
    )

    found = table_of(search.near_pairs(frame, 64, 3), "a", "b", "distance")
    assert found[:, :2].tolist() == [list(pair) for pair in combinations(range(9), 2)]


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


@pytest.mark.parametrize("most", [1 << 21, 0], ids=["in one task", "in rounds"])
def test_components_are_those_of_the_local_engine(on_spark, monkeypatch, most):
    monkeypatch.setattr(spark.parts, "PAIRS_AT_ONCE", most)
    pairs, every = graph()
    frame = on_spark.createDataFrame(pairs.tolist(), "a long, b long")

    found = dict(table_of(rooted(frame), "number", "root").tolist())
    expected = components(pairs, len(every))
    assert found == {number: expected[number] for number in np.unique(pairs).tolist()}


def test_parts_that_are_too_large_are_cut_as_locally(on_spark, monkeypatch):
    for module in (division, spark.parts):
        monkeypatch.setattr(module, "MOST_TEXTS", 50)
    pairs, every = graph()
    alike = np.random.default_rng(1).permutation(np.linspace(0.5, 0.9, len(pairs)))
    whole = components(pairs, len(every))
    alike[whole[pairs[:, 0]] == np.bincount(whole).argmax()] = 1  # the chain
    digests = np.random.default_rng(2).integers(0, 1 << 64, (len(every), 2), np.uint64)
    rows = [(*pair, value) for pair, value in zip(pairs.tolist(), alike.tolist(), strict=True)]
    frame = on_spark.createDataFrame(rows, "a long, b long, closeness double")
    sortable = np.ascontiguousarray(digests[:, ::-1], ">u8")
    about = list(zip(every.tolist(), map(bytearray, map(bytes, sortable)), strict=True))
    texts = on_spark.createDataFrame(about, "number long, digest binary")

    known = dict(zip(pair_keys(pairs, 1000).tolist(), alike.tolist(), strict=True))
    expected = division.parts_of(
        pairs, digests, lambda asked: np.array([known[key] for key in pair_keys(asked, 1000)])
    )
    found = dict(table_of(parts_of(frame, texts), "number", "root").tolist())
    assert len(set(expected.tolist())) > len(set(whole.tolist())) + 7
    assert [found.get(number, number) for number in every] == expected.tolist()


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


def test_rows_without_a_fingerprint_have_a_reason(odd_rows):
    found = spark.fingerprints(odd_rows).collect()

    assert {(row["id"], row["reason"]) for row in found if row["fingerprint"] is None} == {
        ("c", "nothing to compare"),
        ("d", "nothing to compare"),
        (None, "no id"),
    }
    assert len(found) == len(ROWS)


def test_deduplicate_keeps_one_row_of_a_group_and_all_rows_without_a_fingerprint(odd_rows):
    found = spark.deduplicate(odd_rows)

    assert found.columns == odd_rows.columns
    assert {tuple(row) for row in found.collect()} == {*ROWS} - {ROWS[0]}
    with pytest.raises(
        ValueError, match="keep must be one of first, longest, representative, not 'last'"
    ):
        spark.deduplicate(odd_rows, keep="last")


def wide_texts():
    """Chains, texts that share one half only, copies, and short texts."""
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
def test_deduplicate_drops_the_rows_that_the_local_engine_drops(frame_of, write, choice, keep):
    texts = wide_texts()
    write("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    result = scan_rows(["a.jsonl"], choice)

    left = spark.deduplicate(frame_of(texts), settings=choice, keep=keep).select("id").collect()
    gone = dropped_for(result, keep).rows
    assert sorted(set(range(len(texts))) - {row["id"] for row in left}) == gone.tolist()
    one_of_each = len(result.groups.members) - len(result.groups)
    assert (len(gone) < one_of_each) == ((choice.linkage, keep) != ("star", "representative"))


@pytest.mark.parametrize("linkage", ["star", "components"])
def test_siblings_stay_even_if_a_third_text_joins_them_to_one_group(frame_of, linkage):
    random_, words = random.Random(2), [f"w{i}" for i in range(5000)]
    form, own = random_.choices(words, k=60), [random_.choices(words, k=60) for _ in range(10)]
    texts = [[*form[:30], *each, *form[30:]] for each in own] + [[*own[0], *own[1][:-3]]]
    texts = [" ".join(text) for text in texts]

    left = spark.deduplicate(
        frame_of(texts), settings=Settings(linkage=linkage), keep="longest"
    ).collect()
    assert sorted(row["id"] for row in left) == list(range(10))


def test_ids_of_several_rows_are_named_in_the_error(on_spark):
    rows = [(1, "a b c"), (1, "d e f"), (2, "g h i"), (None, "x"), (None, "y")]
    frame = on_spark.createDataFrame(rows, "key long, words string")

    with pytest.raises(InputError, match=r"1 ids stand in several rows: 1 \(2 times\)"):
        spark.groups(frame, "words", "key")


def test_column_names_may_hold_dots_spaces_and_backticks(on_spark):
    rows = [("a.b", "one two three"), ("c", "one two three")]
    frame = on_spark.createDataFrame(rows, "`the id.` string, `a``text` string")

    found = spark.groups(frame, "a`text", "the id.").collect()
    assert [row["representative"] for row in found] == ["a.b", "a.b"]


@pytest.mark.parametrize("is_sensitive", ["false", "true"])
def test_column_names_may_differ_only_in_case(on_spark, is_sensitive):
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


def test_missing_columns_and_columns_without_strings_are_refused(frame_of):
    frame = frame_of(["a"])

    with pytest.raises(ValueError, match="there is no column 'body' among id, text"):
        spark.fingerprints(frame, "body")
    with pytest.raises(ValueError, match="column 'id' must hold strings, not bigint"):
        spark.fingerprints(frame, "id")


def test_an_empty_frame_has_no_groups(frame_of):
    assert spark.groups(frame_of([])).collect() == []


def test_fingerprints_is_lazy(on_spark, frame_of):
    context = on_spark.sparkContext
    context.setJobGroup("lazy", "nothing is to run")

    spark.fingerprints(frame_of(["a", "b"])).select("features").where("features > 1")
    assert context.statusTracker().getJobIdsForGroup("lazy") == []
    context.setJobGroup("", "")


def test_a_worker_with_another_recipe_key_is_refused(frame_of, monkeypatch):
    monkeypatch.setattr(Recipe, "key", lambda _: "of another version of Unicode")

    with pytest.raises(Exception, match="a worker makes other fingerprints") as raised:
        spark.fingerprints(frame_of(["a"])).collect()
    assert reason(raised.value).startswith("a worker makes other fingerprints: {")


def test_a_column_may_have_a_name_that_simdup_uses_itself(on_spark):
    frame = on_spark.createDataFrame([("a b c", 1), ("a b c", 2)], "text string, dropped int")

    assert spark.deduplicate(frame, id="dropped").collect() == [("a b c", 1)]

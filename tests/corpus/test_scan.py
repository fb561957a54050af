"""simdup.corpus: rows become the groups that files would, and none is lost on the way."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import tracemalloc
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import simdup
from simdup import Recipe, Settings, group_texts, identities, rewritten, scan_rows
from simdup.corpus import fingerprint as collect
from simdup.corpus import reread as again
from simdup.corpus import scan
from simdup.corpus.flaws import Fault
from simdup.corpus.formats import jsonl as json_lines
from simdup.corpus.formats import open as tables
from simdup.corpus.formats import streams
from simdup.corpus.formats.table import LACKING
from simdup.corpus.rewrite import check_target, dropped_for
from simdup.errors import ExtraMissingError, InputError, SimdupError
from simdup.fingerprint import sketch
from simdup.fingerprint.features import all_features
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.fingerprint.sketch import LEVELS, Collected
from simdup.match.groups import components
from simdup.match.own_share import FAMILY, OwnShares, least_similarity
from simdup.match.verify import decide, exact_similarities
from simdup.records import SHORT, Kind
from simdup.report import rows as rows_report
from simdup.report import text as text_report
from simdup.report.wording import percent
from simdup.search.hamming import hamming_distances
from simdup.settings import KEEPS, LINKAGES, USUAL, Limits
from simdup.theory import similarity_at

pytestmark = pytest.mark.slow

WORDS = [f"w{i}" for i in range(500)]

# What rows say of texts of which files say more.
_KIND_OF_ROWS = {Kind.IDENTICAL_BYTES: Kind.IDENTICAL_TEXT, Kind.SAME_WORDS: Kind.NEAR}


def words(seed, edits=0, length=120):
    """A text for each seed; `edits` of its words are replaced."""
    picked = random.Random(seed)
    text = picked.choices(WORDS, k=length)
    for place in picked.sample(range(length), edits):
        text[place] = f"edit{place}"
    return " ".join(text)


# Groups of several sizes, copies, a text in another layout, and texts on their own.
TEXTS = [
    *(words(1), words(1, 3), words(2), words(1).replace(" ", "\n"), words(3), words(3)),
    *(words(4), words(2, 20), words(1, 40), words(5), "short text", "short text", "Short text!"),
    *(words(6), words(6, 1), words(6, 2), words(6, 2), words(7) + "\r\nend", words(7) + "\nend"),
]


def as_json(texts, **more):
    rows = ({"id": f"r{i}", "text": text} | more for i, text in enumerate(texts))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def found(groups):
    """For each group its members: row, kind, similarity, distance, own share."""
    return [
        [
            (row, kind.value, similarity and round(similarity, 9), distance, own_share)
            for row, kind, similarity, distance, own_share in zip(*group[2:], strict=True)
        ]
        for group in groups
    ]


def by_leader(groups):
    """The sorted members of each group by its first one's number."""
    return {members[0][0]: sorted(members) for members in groups}


def numbers_of(members):
    return [number for number, *_ in members]


def members(groups):
    return [sorted(group.rows) for group in groups]


CHOICES = [
    Settings(),
    Settings(similarity=0.9),
    Settings(Recipe(bits=64), similarity=0.3, linkage="components"),
    Settings(Recipe(bits=128), k=30),
    Settings(Recipe(bits=64), verified=False),
    Settings(Recipe(features="words", bits=64)),
    Settings(Recipe(features="tokens", hash="string", bits=128), similarity=0.7),
]


def forms(n=12):
    """Texts of one pattern, which share 100 of their 160 words, and a version of the first two."""
    shared = words(99, length=100)
    made = [" ".join([shared, *(f"own{i}x{place}" for place in range(60))]) for i in range(n)]
    return [*made, made[0].replace("x30 ", "y30 "), made[1].replace("x20 ", "y20 ")]


# Several fields


def records(*rows):
    return "".join(json.dumps({"title": title, "body": body}) + "\n" for title, body in rows)


def test_a_feature_counts_in_its_field_and_as_often_as_the_weight_says(write):
    body, title, other = words(1, length=61), words(2, length=9), words(3, length=9)
    write("rows.jsonl", records((title, body), (other, body), (body, title)))
    choice = Settings(similarity=0.3, own_share=0)

    def similarities(text_field):
        result = scan_rows("rows.jsonl", choice, text_field=text_field)
        return [(each.rows, each.similarities) for each in result.groups]

    # 60 pairs of tokens in the body, 8 in the title.
    assert similarities("title,body") == [([0, 1], [1, pytest.approx(60 / 68)])]
    assert similarities("title^3,body") == [([0, 1], [1, pytest.approx(60 / 84)])]
    assert similarities("title^16,body^1") == []
    assert similarities("body^3") == [([0, 1], [1, 1])]


def test_the_recipe_names_the_fields_and_their_weights(write):
    write("rows.jsonl", records(("a b", "c d")))

    result = scan_rows("rows.jsonl", text_field="title^3,body")
    assert result.settings.recipe == Recipe(fields=(("title", 3), ("body", 1)))
    assert json.loads(result.settings.recipe.key())["fields"] == [["title", 3], ["body", 1]]
    assert scan_rows("rows.jsonl", text_field="body^3").settings == Settings()


@pytest.mark.parametrize("features", ["shingles", "words", "tokens"])
def test_equal_records_are_identical_and_fields_that_changed_places_are_not(write, features):
    one, other = words(1, length=60), words(2, length=60)
    write("rows.jsonl", records((one, other), (other, one), (one, other)))

    (group,) = scan_rows(
        "rows.jsonl", Settings(Recipe(features=features)), text_field="title,body"
    ).groups
    assert (group.rows, group.kind.value) == ([0, 2], "identical text")


def test_a_field_may_be_long(write):
    long = words(1, length=60_000)
    write("rows.jsonl", records(("a title here", long), ("a title here", long + " more")))

    (group,) = scan_rows("rows.jsonl", text_field="title^2,body").groups
    assert group.similarities[1] > 0.999


@pytest.mark.parametrize(
    ("text_field", "problem"),
    [
        ("title,", "'title,' is not a list of fields such as 'title^3,body'"),
        ("^3,body", "'^3,body' is not a list of fields such as 'title^3,body'"),
        ("a^0,b", "the weight of field 'a' must be a whole number from 1 to 16, not 0"),
        ("a^17,b", "the weight of field 'a' must be a whole number from 1 to 16, not 17"),
        ("a^17", "the weight of field 'a' must be a whole number from 1 to 16, not 17"),
        ("a^x,b", "the weight of field 'a' must be a whole number from 1 to 16, not 'x'"),
        ("a^", "the weight of field 'a' must be a whole number from 1 to 16, not ''"),
        ("a^1.5", "the weight of field 'a' must be a whole number from 1 to 16, not '1.5'"),
        ("a,b,a", "a field stands twice in a, b, a"),
    ],
)
def test_fields_that_cannot_be_are_refused_in_one_line(text_field, problem):
    with pytest.raises(ValueError, match=r".") as refused:
        scan_rows("rows.jsonl", text_field=text_field)

    assert str(refused.value) == problem


def test_several_fields_take_one_hash_only():
    with pytest.raises(ValueError, match="several fields take only hash 'mix64', not 'string'"):
        Recipe(features="tokens", hash="string", bits=64, fields=(("a", 1), ("b", 1)))


# The same groups


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_rows_are_grouped_as_files_of_the_same_texts_are(folder, write, choice):
    for index, text in enumerate(TEXTS):
        # Paths of one length in the order of the rows, so that ties are settled alike.
        write(f"in/{index:03}", text)
    write("rows.jsonl", as_json(TEXTS))

    files, rows = simdup.scan([folder / "in"], choice), scan_rows(["rows.jsonl"], choice)
    expected = [
        [
            (
                int(Path(member.document.path).name),
                _KIND_OF_ROWS.get(member.kind, member.kind).value,
                member.similarity and round(member.similarity, 9),
                member.distance,
            )
            for member in group.members
        ]
        for group in files.groups
    ]
    # Names and times tell which file leads a group, and rows have none.
    ours, theirs = (
        by_leader(expected),
        by_leader([each[:-1] for each in g] for g in found(rows.groups)),
    )
    both = ours.keys() & theirs.keys()
    assert sorted(map(numbers_of, ours.values())) == sorted(map(numbers_of, theirs.values()))
    assert [ours[leader] for leader in both] == [theirs[leader] for leader in both]
    assert rows.candidates == files.candidates
    assert both


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_texts_in_memory_are_grouped_as_rows_are(write, choice):
    texts = ["", *TEXTS[:9], "!?", *TEXTS[9:]]
    result = scan_rows([write("rows.jsonl", as_json(texts))], choice)

    groups = group_texts(texts, choice)
    rows = result.rows.numbers[result.groups.members] - 1
    assert rows.tolist() == groups.members.tolist()
    for name in ("offsets", "are_identical", "distances"):
        assert (getattr(groups, name) == getattr(result.groups, name)).all()
    for name in ("similarities", "own_shares"):
        assert np.array_equal(getattr(groups, name), getattr(result.groups, name), equal_nan=True)


@pytest.mark.parametrize("is_sieved", [False, True])
def test_texts_of_one_pattern_are_set_aside_in_rows_texts_and_files_alike(folder, write, is_sieved):
    texts = forms() + [words(seed) for seed in range(5)] + forms()[:1]
    for index, text in enumerate(texts):
        write(f"in/{index:03}", text)
    settings = Settings(limits=Limits(sieve_from=1 if is_sieved else 10**6))

    result = scan_rows([write("rows.jsonl", as_json(texts))], settings)
    files = simdup.scan([folder / "in"], settings)
    assert members(result.groups) == [[0, 12, 19], [1, 13]]
    assert found(group_texts(texts, settings)) == found(result.groups)
    assert [
        sorted(int(Path(member.document.path).name) for member in group.members)
        for group in files.groups
    ] == members(result.groups)
    # All pairs of the 14 texts but the two of versions.
    assert result.siblings == result.balance.siblings == 14 * 13 // 2 - 2

    for choice in (Settings(own_share=0), Settings(k=100)):
        result = scan_rows(["rows.jsonl"], choice)
        assert 14 in [len({*group} - {19}) for group in members(result.groups)]
        assert result.siblings == 0
        assert np.isnan(result.groups.own_shares).all()


@pytest.mark.parametrize("features", ["tokens", "words", "keywords"])
def test_texts_that_share_a_few_heavy_features_are_alike_with_and_without_own_share(features):
    shared = random.Random(1).choices(WORDS[:20], k=300)
    texts = [" ".join([*shared, *(f"{own}x{i}" for i in range(400))]) for own in "ab"]

    groups = group_texts(texts, Settings(Recipe(features=features)))
    assert members(groups) == [[0, 1]]
    assert groups.own_shares.tolist() == [1, pytest.approx(1)]
    assert members(group_texts(texts, Settings(Recipe(features=features), own_share=0))) == [[0, 1]]


def test_own_shares_of_rows_are_those_with_their_representative(write):
    texts = forms()
    groups = scan_rows([write("rows.jsonl", as_json(texts))]).groups

    made = fingerprint_texts(texts, Recipe(), levels=LEVELS)
    family = np.arange(14) - np.where(np.arange(14) > 11, 12, 0)
    own_shares = OwnShares(made.sketches, made.counts, family)
    first = np.repeat(groups.members[groups.offsets[:-1]], 2)
    assert groups.own_shares.tolist() == (
        own_shares.of(np.column_stack((first, groups.members))).tolist()
    )
    assert (groups.own_shares[1::2] < 1).all()


def test_sketches_of_many_rows_lie_in_a_file(write, monkeypatch):
    texts = forms()
    expected = found(group_texts(texts))
    made, real = [], tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: made.append(real()) or made[-1])
    monkeypatch.setattr(streams, "BLOCK", 1000)
    settings = Settings(limits=Limits(sketch_bytes=1000))

    result = scan_rows([write("rows.jsonl", as_json(texts))], settings)
    assert found(result.groups) == expected
    assert len(made) == 1
    assert made[0].closed
    # The file is still there for the rows that are compared when others are to be dropped.
    assert dropped_for(result, "first").rows.tolist() == [12, 13]
    monkeypatch.setattr("simdup.text.chunking.BATCH", 3)
    assert found(group_texts(texts, settings)) == expected
    assert len(made) == 2


def test_memory_for_sketches_is_bounded():
    many = np.arange(1 << 20, dtype=np.uint32)  # 4 MB, of which 64 are added
    one = sketch.Sketches(many, np.zeros(1, np.int64), np.array([len(many)]))
    tracemalloc.start()
    try:
        collected = Collected(np.empty(0), is_sketched=True)
        for _ in range(64):
            collected.add(one, np.zeros(1))
        collected.columns()
        joined = collected.sketches()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < USUAL.sketch_bytes * 4
    assert (joined.take(np.array([63])).joined() == many).all()


@pytest.mark.parametrize(("jobs", "takes_part"), [(1, False), (2, False), (2, True), (3, True)])
def test_the_number_of_processes_changes_nothing(write, monkeypatch, jobs, takes_part):
    monkeypatch.setattr(streams, "BLOCK", 1000)
    monkeypatch.setattr(collect, "jobs_worth", lambda _: 1 + takes_part)
    write("a.jsonl", as_json(TEXTS[:7]) + "{\n")
    write("b.jsonl", "[]\n" + as_json(TEXTS[7:]))

    result = scan_rows(["a.jsonl", "b.jsonl"], jobs=jobs)
    assert found(result.groups) == found(group_texts(TEXTS))
    assert [(each.path, each.flaw.row) for each in result.faulty] == [
        ("a.jsonl", 8),
        ("b.jsonl", 1),
    ]
    assert [each.tolist() for each in result.refused] == [[8], [1]]


def test_the_recall_of_candidates_is_measured_and_told(write, folder):
    settings = Settings(limits=Limits(measured_from=50, sampled_one_in=1))
    texts = [words(seed, edits) for seed in range(100) for edits in (0, 25)]
    for index, text in enumerate(texts):
        write(f"in/{index:03}", text)

    rows = scan_rows([write("rows.jsonl", as_json(texts))], settings)
    files = simdup.scan([folder / "in"], settings)

    stated = rows.candidates
    assert stated == files.candidates
    assert (stated.recall.value, stated.recall.high) == (1, 1)
    assert stated.sampled > 50
    assert 0.9 < stated.recall.low < 1
    line = (
        "finds 100 % of the near-duplicates (95 % interval:"
        f" {percent(stated.recall.low)} to 100 %), measured on {stated.sampled} texts"
    )
    assert line in rows_report.summary(rows.balance, is_kept=False)
    assert line in text_report.summary(files)
    header = json.loads(next(iter(rows_report.render_jsonl(rows, None))))
    assert header["candidates"]["recall"] == {"value": 1, "low": stated.recall.low, "high": 1}


def test_files_are_one_corpus_whatever_their_formats(write):
    pytest.importorskip("pyarrow", reason="needs the extra 'corpus'")
    from pyarrow import table  # noqa: PLC0415
    from pyarrow.parquet import write_table  # noqa: PLC0415

    write("a.jsonl", as_json(TEXTS[:5]))
    write("b.csv", "id,text\n" + "".join(f'r{i},"{t}"\n' for i, t in enumerate(TEXTS[5:9], 5)))
    write_table(
        table({"text": TEXTS[9:], "id": [f"r{i}" for i in range(9, len(TEXTS))]}), "c.parquet"
    )

    result = scan_rows(["a.jsonl", "b.csv", "c.parquet"], id_field="id")
    assert found(result.groups) == found(group_texts(TEXTS))
    assert identities(result, "id") == [f"r{row}" for row in result.groups.members]
    places = result.rows.tables_of(np.arange(len(TEXTS)))
    assert np.bincount(places).tolist() == [5, 4, len(TEXTS) - 9]


def test_no_rows_and_no_files_are_no_groups(write):
    for files in ([], [write("a.jsonl", "")], [write("b.jsonl", as_json([""]))]):
        result = scan_rows(files)
        assert (len(result.groups), len(result.rows), result.balance.dropped) == (0, 0, 0)
        assert list(result.groups) == []
        assert b"".join(rewritten(result, "first")) == (
            as_json([""]).encode() if result.balance.kept else b""
        )
    assert len(group_texts([])) == len(group_texts(["!"])) == 0


def test_the_same_text_is_known_whatever_its_line_ends(write):
    write("a.jsonl", as_json([words(1) + "\r\nend", "\ufeff" + words(1) + "\nend"]))

    ((group,),) = [scan_rows(["a.jsonl"]).groups]
    assert group.kind.value == "identical text"


def test_long_texts_are_compared_whole(write):
    long = " ".join(f"{word}{turn}" for turn in range(100) for word in WORDS)

    result = scan_rows([write("a.jsonl", as_json([long, long + " end", words(1)]))])
    assert members(result.groups) == [[0, 1]]


def given_texts(result, texts, most):
    """The texts of the members, as long as those of the different texts so far fit into `most`."""
    is_given, size, found = {}, 0, []
    for member in result.groups.members.tolist():
        text = texts[member].replace("\r\n", "\n")
        if text not in is_given:
            size += len(texts[member])
            is_given[text] = texts[member] if size <= most else None
        found.append(is_given[text])
    return found


@pytest.mark.parametrize("most", [0, 1, 400, 1500, 10**6])
def test_texts_of_members_are_given_up_to_a_number_of_characters(write, most):
    texts = [words(seed, edits) for edits in (0, 5, 0) for seed in (3, 1, 2)]
    texts += [texts[0].replace(" ", "\r\n", 1), texts[0].replace(" ", "\n", 1), words(9)]
    result = scan_rows([write("rows.jsonl", as_json(texts))])

    with scan.member_texts(result, most) as read:
        found = [read(member) for member in range(len(result.groups.members))]

    assert found == given_texts(result, texts, most)
    assert len(found) == len(texts) - 1


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz", "rows.csv.gz"])
def test_texts_are_copied_where_a_file_cannot_be_read_from_the_middle(write, monkeypatch, name):
    """Texts are copied to memory or a file, and each file is read at most once a round."""
    texts = TEXTS + [f"\ud800 {words(seed)}" for seed in (200, 200)] * ("csv" not in name)
    expected = found(group_texts(texts))
    passes, real = [], streams.Packed.blocks
    monkeypatch.setattr(
        streams.Packed, "blocks", lambda self: passes.append(self.path) or real(self)
    )
    monkeypatch.setattr(again, "IN_MEMORY", 100)
    monkeypatch.setattr("simdup.match.similarities.decide", partial(decide, at_once=50))
    if "csv" in name:
        rows = "".join('"' + text + '"\n' for text in texts)
        write(name, gzip.compress(("text\n" + rows).encode()))
    else:
        data = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
        write(name, gzip.compress(data) if name.endswith("gz") else data)

    assert found(scan_rows([name]).groups) == expected
    # Once more only to see how it begins.
    assert len(passes) <= (2 if name == "rows.jsonl" else 5)


@pytest.mark.parametrize("at_once", [1, 3, 512])
def test_a_packed_file_is_unpacked_once_for_texts_that_are_asked_for_again(
    write, monkeypatch, at_once
):
    rows = scan_rows([write("a.jsonl.gz", gzip.compress(as_json(TEXTS).encode()))]).rows
    texts, digests = np.arange(len(TEXTS)), collect.text_digests(TEXTS)
    monkeypatch.setattr(again, "TEXTS_AT_ONCE", at_once)
    passes, real = [], streams.Packed.blocks
    monkeypatch.setattr(
        streams.Packed, "blocks", lambda self: passes.append(self.path) or real(self)
    )

    with closing(again.RereadTexts(rows, texts, digests, Recipe())) as reread:
        for asked, needed in ((texts[5:], 1), (texts[7:9], 1), (texts[:0], 1), (texts, 2)):
            reread.expect(asked)
            assert len(passes) == needed
            expected = all_features([TEXTS[text] for text in asked], Recipe())
            assert reread.features(asked).ids.tolist() == expected.ids.tolist()
            assert reread.features(asked).offsets.tolist() == expected.offsets.tolist()


IDS = [7, "seven", None, 1.5, "\ud800", 10**400, "", True]


def test_ids_of_all_kinds_are_read_again_from_packed_and_plain_files(write):
    rows = [{"text": text, "id": IDS[row % len(IDS)]} for row, text in enumerate(TEXTS)]
    for row in rows[::7]:
        del row["id"]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    write("a.jsonl.gz", gzip.compress(b"broken\n\n" + data))
    write("b.jsonl", data)
    result = scan_rows(["a.jsonl.gz", "b.jsonl"], id_field="id")

    found = list(again.values(result.rows, np.arange(2 * len(rows)), "id"))

    assert found == [row.get("id", LACKING) for row in rows * 2]
    names = dict(zip(result.groups.members.tolist(), identities(result, "id"), strict=True))
    assert names[7] == "a.jsonl.gz:10"
    assert names[len(rows)] == "b.jsonl:1"


# No sketch compares their rows, so the texts are read again.
TOKENS = Settings(Recipe(features="tokens"))


@pytest.mark.parametrize("buffer", [0, 1 << 20])
def test_no_room_for_copied_texts_is_one_line(write, monkeypatch, buffer):
    write("rows.jsonl.gz", gzip.compress(as_json(TEXTS).encode()))
    monkeypatch.setattr(again, "SpooledTemporaryFile", lambda _: FullDisk(buffer))

    with pytest.raises(SimdupError) as caught:
        scan_rows(["rows.jsonl.gz"], TOKENS)
    assert str(caught.value) == (
        "texts cannot be put aside in the folder of temporary files (TMPDIR names another):"
        " No space left on device"
    )


class FullDisk:
    """A file on a full disk, which holds no more than its buffer."""

    def __init__(self, buffer):
        self.buffer, self.size = buffer, 0

    def seek(self, _):
        self.flush()

    def write(self, data):
        self.size += len(data)
        if self.size > self.buffer:
            self.flush()
        return len(data)

    def flush(self):
        if self.size:
            raise OSError(28, "No space left on device")

    def close(self):
        pass


# What is not compared


def test_rows_without_text_are_no_trouble(write):
    result = scan_rows([write("a.jsonl", as_json([words(1), "", "...", words(1)]))])

    assert not result.balance.has_trouble
    assert (result.balance.kept, result.balance.dropped, result.balance.refused_rows) == (3, 1, 0)


def test_a_fingerprint_of_equal_bits_is_not_compared_and_stays(write):
    # Weights of keywords that are cut to whole numbers leave nothing of a long text.
    recipe = Recipe(features="keywords", hash="string", weights="int", bits=64, top=10)
    texts = [f"{words(seed, length=400)} common ending" for seed in range(3)]

    result = scan_rows([write("a.jsonl", as_json(texts))], Settings(recipe))
    assert result.faults == {Fault.DEGENERATE: 3}
    assert (result.balance.kept, len(result.groups)) == (3, 0)


def test_all_flaws_are_counted_and_the_first_are_listed(write):
    write("a.jsonl", "{\n" * 50 + as_json([""] * 20))

    result = scan_rows(["a.jsonl"], Settings(limits=Limits(faulty_rows=3)))
    assert result.faults == {Fault.BROKEN: 50, Fault.EMPTY: 20}
    assert [each.flaw.row for each in result.faulty] == [1, 2, 3, 51, 52, 53]
    assert result.refused[0].tolist() == list(range(1, 51))


ROWS = st.sampled_from(
    [
        *(
            json.dumps({"text": text})
            for text in (words(1, length=20), words(2, length=20), "a", "")
        ),
        *('{"text": "', "{}", "5", '{"text": {}}', '{"text": null}', "", "   ", "\udcff"),
    ]
)


@given(st.lists(st.lists(ROWS, max_size=12), min_size=1, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_for_any_rows_counts_add_up_and_the_rows_that_stay_are_written(folder, files):
    lines = [[os.fsencode(line) for line in each] for each in files]
    for index, each in enumerate(lines):
        (folder / f"{index}.jsonl").write_bytes(b"\n".join(each))
    paths = [f"{index}.jsonl" for index in range(len(lines))]

    result = scan_rows(paths)
    every = [line for each in lines for line in each if line.strip()]
    assert result.balance.rows_in == len(every)
    assert (
        result.balance.rows_in
        == result.balance.kept + result.balance.dropped + result.balance.refused_rows
    )
    for keep in KEEPS:
        written = b"".join(rewritten(result, keep)).splitlines()
        assert len(written) == result.balance.kept
        # In their order, each one a line of the input.
        left = iter(every)
        assert all(line in left for line in written)
        assert len(scan_rows([write_again(folder, written)]).groups.members) == 0


def write_again(folder, lines):
    path = folder / "again.jsonl"
    path.write_bytes(b"\n".join(lines))
    return path


# What stays


def preferred(keep, texts, rows):
    """The rows of a reported group, the preferred rows first."""
    if keep == "representative":
        return rows
    return sorted(rows, key=lambda row: (-len(texts[row]) if keep == "longest" else 0, row))


def are_alike(texts, settings):
    """Whether two of these texts are near-duplicates by the settings."""
    recipe, k = settings.recipe, settings.distance
    n = len(texts)
    i, j = (each.ravel() for each in np.indices((n, n)))
    similarity = exact_similarities(texts, i, j, recipe).reshape(n, n)
    made = fingerprint_texts(texts, recipe, levels=LEVELS)
    if settings.verified:
        pairs = np.column_stack((i, j))
        least = least_similarity(settings.similarity, made.counts[pairs].min(axis=1))
        family = components(pairs[similarity.ravel() >= FAMILY], n)
        own_share = OwnShares(made.sketches, made.counts, family).of(pairs)
        holds = (own_share >= settings.own_share).reshape(n, n)
        return (similarity >= least.reshape(n, n)) & holds
    least = similarity_at(k, recipe.bits)
    is_short = made.counts < SHORT
    holds = ~(is_short[:, None] | is_short) | (similarity >= least)
    return (hamming_distances(made.rows, made.rows) <= k) & holds


def chained(seed, n=12, step=9):
    """Texts, each a little further from the first."""
    text, made, picked = words(seed).split(), [], random.Random(seed)
    for link in range(n):
        made.append(" ".join(text[: 120 - 3 * picked.randrange(4)]))
        for place in picked.sample(range(len(text)), step):
            text[place] = f"link{link}"
    return made


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize(
    "wanted",
    [{}, {"similarity": 0.8}, {"recipe": Recipe(bits=64), "k": 12}],
    ids=["default", "0.8", "64 bits, k = 12"],
)
@given(st.lists(st.sampled_from([*TEXTS, *chained(21), *chained(22), *forms()]), max_size=30))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10, deadline=None
)
def test_every_row_that_goes_is_similar_to_one_that_stays(folder, keep, linkage, wanted, texts):
    choice = Settings(**wanted, linkage=linkage)
    (folder / "a.jsonl").write_text(as_json(texts))

    result = scan_rows(["a.jsonl"], choice)
    goes = dropped_for(result, keep).rows.tolist()
    alike = are_alike(texts, choice)
    expected = set()
    for group in result.groups:
        stays = []
        for row in preferred(keep, texts, group.rows):
            if alike[row, stays].any():
                expected.add(row)
            else:
                stays.append(row)
    # Each is alike to an earlier one of its group that stays, and all such rows go.
    assert goes == sorted(expected)


def test_more_than_one_row_of_a_chain_stays(write):
    """Otherwise the test above would show nothing: all texts of a group would be similar."""
    texts = chained(21)
    result = scan_rows([write("a.jsonl", as_json(texts))], Settings(linkage="components"))

    assert (len(result.groups), len(result.groups.members)) == (1, len(texts))
    for keep in KEEPS:
        assert 1 < len(texts) - len(dropped_for(result, keep).rows) < len(texts) - 1


@pytest.mark.parametrize("keep", KEEPS)
def test_a_row_stays_if_what_it_shares_with_others_stands_in_rows_outside_the_group(write, keep):
    """The third text is a version of both others, which share only what all forms share."""
    first, second, *others = forms(14)[:14]
    own = second.split()[100:]
    texts = [first, second, *others, " ".join([first, *own])]
    result = scan_rows([write("a.jsonl", as_json(texts))], Settings(linkage="components"))

    assert members(result.groups) == [[0, 1, 14]]
    expected = {"first": [14], "longest": [0, 1], "representative": [0, 1]}
    assert dropped_for(result, keep).rows.tolist() == expected[keep]
    # Without own shares the first two are near-duplicates of each other.
    alike = scan_rows(["a.jsonl"], Settings(linkage="components", own_share=0))
    assert 1 in dropped_for(alike, "first").rows.tolist()


def test_of_equally_long_rows_the_first_stays(write):
    texts = [words(1), words(1)[:-1] + "x", words(1) + " more", words(1) + " last"]
    result = scan_rows([write("a.jsonl", as_json(texts))])

    assert dropped_for(result, "first").rows.tolist() == [1, 2, 3]
    assert dropped_for(result, "longest").rows.tolist() == [0, 1, 3]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_by_star_linkage_one_row_a_group_stays_if_that_is_the_representative(write, choice):
    result = scan_rows([write("a.jsonl", as_json(TEXTS))], replace(choice, linkage="star"))

    others = np.delete(result.groups.members, result.groups.offsets[:-1])
    assert dropped_for(result, "representative").rows.tolist() == sorted(others.tolist())
    assert len(others) == result.balance.dropped > 0


def test_rows_that_are_like_the_representative_alone_stay_with_the_first(write):
    both = words(1).split()
    texts = [" ".join(each) for each in (both[:-25], both, both[25:])]
    write("a.jsonl", as_json(texts))

    result = scan_rows(["a.jsonl"], Settings(similarity=0.85))
    assert [group.rows[0] for group in result.groups] == [1]
    for keep, stays in (("first", [0, 2]), ("longest", [1]), ("representative", [1])):
        written = b"".join(rewritten(result, keep)).splitlines()
        assert [json.loads(line)["text"] for line in written] == [texts[row] for row in stays]


def test_a_file_that_changes_before_rows_are_compared_again_ends_the_run(write):
    texts = chained(21)
    result = scan_rows([write("a.jsonl", as_json(texts))])
    write("a.jsonl", as_json([text.replace("link1", "another") for text in texts]))

    with pytest.raises(InputError, match=r"^'a.jsonl': changed while it was read; run again$"):
        dropped_for(result, "longest")


@pytest.mark.parametrize(("keep", "stays"), [("first", "short"), ("longest", "long")])
def test_kept_lines_are_the_very_bytes(write, keep, stays):
    lines = {
        "short": f'{{ "text" :"{words(1)}","x":1e2 ,"y":"\\u00e9"}}\r',
        "long": f'{{"x":[1, 2],  "text":"{words(1)} and more"}}',
        "other": f'\t{{"text":"{words(2)}"}}',
    }
    write("a.jsonl", "\n".join(lines.values()))

    written = b"".join(rewritten(scan_rows(["a.jsonl"]), keep)).decode()
    assert written == f"{lines[stays]}\n{lines['other']}\n"


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.jsonl.zst", "out", "-"])
def test_what_stays_is_packed_as_its_name_says(write, name):
    if name.endswith("zst"):
        pytest.importorskip("zstandard", reason="needs the extra 'corpus'")
    result = scan_rows([write("in.jsonl", as_json(TEXTS))])

    check_target(result.rows.tables, name)
    packed = b"".join(rewritten(result, "first", name))
    plain = b"".join(rewritten(result, "first"))
    if name.endswith(("gz", "zst")):
        write(name, packed)
        assert packed != plain
        assert b"".join(streams.packed(name, Path(name).suffix).blocks()) == plain
    else:
        assert packed == plain


def test_csv_has_one_header_and_the_same_records(write):
    header = 'id,"text"\r\n'
    write("a.csv", f'{header}1,"{words(1)}"\r\n2,{words(2)}\r\n')
    write("b.csv", f'\ufeff"id",text\r\n3,"{words(1)}"\r\n4,"{words(3)}"')

    result = scan_rows(["a.csv", "b.csv"])
    assert b"".join(rewritten(result, "first")).decode() == (
        f'{header}1,"{words(1)}"\r\n2,{words(2)}\r\n4,"{words(3)}"\r\n'
    )


def test_parquet_keeps_its_schema_and_packing(pa, folder):
    schema = pa.schema(
        [
            pa.field("n", pa.int16(), nullable=False),
            pa.field("text", pa.large_string(), metadata={"a": "b"}),
            ("tags", pa.list_(pa.string())),
            ("kind", pa.dictionary(pa.int8(), pa.string())),
        ],
        metadata={"made": "by hand"},
    )
    columns = [range(len(TEXTS)), TEXTS, [["x"], None] * 9 + [[]], ["k"] * len(TEXTS)]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    whole = pa.Table.from_arrays(arrays, schema=schema)
    for name, rows in (("a.parquet", whole.slice(0, 10)), ("b.parquet", whole.slice(10))):
        pa.parquet.write_table(rows, name, row_group_size=4, compression="zstd")

    result = scan_rows(["a.parquet", "b.parquet"])
    (folder / "out.parquet").write_bytes(b"".join(rewritten(result, "longest", "out.parquet")))
    written = pa.parquet.ParquetFile("out.parquet")
    before = pa.parquet.ParquetFile("a.parquet").schema_arrow
    assert written.schema_arrow.equals(before, check_metadata=True)
    assert before.metadata[b"made"] == b"by hand"
    assert written.metadata.row_group(0).column(1).compression == "ZSTD"
    gone = set(dropped_for(result, "longest").rows.tolist())
    stays = [index for index in range(len(TEXTS)) if index not in gone]
    assert written.read().to_pylist() == whole.take(stays).to_pylist()


def test_large_parquet_files_are_written_in_row_groups(pa, folder, monkeypatch):
    monkeypatch.setattr("simdup.corpus.formats.parquet.GROUP_ROWS", 100)
    texts = [words(seed, length=20) for seed in range(5000)]
    pa.parquet.write_table(pa.table({"text": texts}), "a.parquet")

    result = scan_rows(["a.parquet"])
    (folder / "out.parquet").write_bytes(b"".join(rewritten(result, "first")))
    written = pa.parquet.ParquetFile("out.parquet")
    assert written.metadata.num_rows == result.balance.kept
    assert written.metadata.num_row_groups >= 5


def test_rows_that_cannot_go_into_one_file_are_refused(write):
    write("a.jsonl", as_json(TEXTS))
    write("b.csv", "id,text\n1,a\n")
    write("c.csv", "text,id\na,1\n")

    for names, target, message in (
        (["a.jsonl", "b.csv"], "out", "'b.csv' has another format than 'a.jsonl': not one file"),
        (["b.csv", "c.csv"], "out", "'c.csv' has another columns than 'b.csv': not one file"),
        (["a.jsonl"], "out.csv", "'out.csv': the rows are jsonl, and are written as such"),
        (["b.csv"], "out.parquet", "'out.parquet': the rows are csv, and are written as such"),
        (
            ["a.jsonl"],
            "out.jsonl.XZ",
            "'out.jsonl.XZ': rows are packed as .gz or .zst, or not at all",
        ),
    ):
        with pytest.raises(InputError) as caught:
            check_target(tables.tables(names, "text"), target)
        assert str(caught.value) == message


def test_rows_of_parquet_are_written_as_parquet_and_never_packed_as_a_whole(pa, folder):  # noqa: ARG001
    pa.parquet.write_table(pa.table({"text": TEXTS}), "in.parquet")
    opened = tables.tables(["in.parquet"], "text")

    for target in ("out.parquet", "out"):
        check_target(opened, target)
    for target in ("out.parquet.gz", "out.gz", "out.jsonl"):
        with pytest.raises(InputError, match="the rows are parquet, and are written as such"):
            check_target(opened, target)


def test_rewriting_checks_keep_and_target_before_the_first_part(write):
    result = scan_rows([write("a.jsonl", as_json(TEXTS))])

    with pytest.raises(ValueError, match=r"^keep must be one of .*, not 'last'$"):
        rewritten(result, "last")
    with pytest.raises(InputError, match=r"^'out.csv': the rows are jsonl, and are written as"):
        rewritten(result, "first", "out.csv")
    with pytest.raises(TypeError, match=r"^target must be "):
        rewritten(result, "first", Path("out.jsonl"))


def test_identities_need_the_name_of_a_field(write):
    result = scan_rows([write("a.jsonl", as_json(TEXTS))])

    with pytest.raises(TypeError, match=r"^field "):
        identities(result, None)


def test_packing_what_stays_may_need_the_extra(write, monkeypatch):
    opened = tables.tables([write("a.jsonl", as_json(TEXTS))], "text")
    monkeypatch.setattr("simdup.corpus.formats.streams.find_spec", lambda _: None)

    with pytest.raises(ExtraMissingError, match=r"'out.jsonl.zst': .zst needs"):
        check_target(opened, "out.jsonl.zst")


# What goes wrong


def test_a_text_that_changed_before_it_is_read_again_is_an_error(write, monkeypatch):
    write("a.jsonl", as_json(TEXTS))
    real = json_lines.JsonLines.values

    def changed(*given):
        return (text.replace("w1", "w2") for text in real(*given))

    monkeypatch.setattr(json_lines.JsonLines, "values", changed)
    opened = tables.tables(["a.jsonl"], "text")

    with pytest.raises(InputError, match=r"^'a.jsonl': changed while it was read; run again$"):
        scan.scan_tables(opened, TOKENS)


def test_a_file_that_changes_before_what_stays_is_written_is_an_error(write):
    result = scan_rows([write("a.jsonl", as_json(TEXTS))])
    write("a.jsonl", as_json(TEXTS[1:]))

    with pytest.raises(InputError, match="changed while it was read"):
        b"".join(rewritten(result, "first"))
    with pytest.raises(InputError, match="changed while it was read"):
        identities(result, "id")


def test_rows_that_are_missing_when_what_stays_is_written_are_an_error(write, monkeypatch):
    result = scan_rows([write("a.jsonl", as_json(TEXTS))])
    monkeypatch.setattr(json_lines.JsonLines, "kept", lambda *_: iter([(b"{}\n", 1)]))

    with pytest.raises(InputError, match=r"^'a.jsonl': changed while it was read; run again$"):
        b"".join(rewritten(result, "first"))


def dies(*_):
    """Replaces `fingerprint_chunk`."""
    os._exit(1)


def test_a_worker_that_dies_ends_the_run_with_one_line(write, monkeypatch):
    monkeypatch.setattr(collect, "fingerprint_chunk", dies)

    with pytest.raises(SimdupError, match=r"^a process that read rows died, "):
        scan_rows([write("a.jsonl", as_json(TEXTS))], jobs=2)


def test_workers_are_for_large_files(write, monkeypatch):
    asked = []
    monkeypatch.setattr("simdup.compute.compiled.cores", lambda: 7)
    monkeypatch.setattr(
        collect, "results", lambda *arguments: asked.append(arguments[2]) or (x for x in ())
    )
    write("a.jsonl", as_json(TEXTS))

    scan_rows(["a.jsonl"], jobs=None)
    assert asked == []
    monkeypatch.setattr("simdup.compute.compiled.BYTES_WORTH_WORKERS", 10)
    scan_rows(["a.jsonl"], jobs=None)
    assert asked == [7]


def test_progress_counts_rows(write):
    counted = {}

    def progress(items, label, total, amount=None):  # noqa: ARG001
        for item in items:
            counted[label] = counted.get(label, 0) + (amount(item) if amount else 1)
            yield item

    write("a.jsonl", as_json(TEXTS) + "{\n\n")
    scan_rows(["a.jsonl"], progress=progress)
    assert counted["rows"] == len(TEXTS) + 1


# Memory

PEAK = """
import sys, simdup, simdup.compute.compiled, simdup.corpus.formats.parquet
simdup.compute.compiled.load_kernels()  # as a larger corpus does, and whatever the size
simdup.corpus.formats.parquet.GROUP_BYTES = 1 << 20  # of the Parquet file that is written
# Else there would be hundreds of candidates by chance, whose features take their memory.
result = simdup.scan_rows([sys.argv[1]], simdup.Settings(similarity=0.9))
assert len(result.groups) == 1, len(result.groups)
assert sum(map(len, simdup.rewritten(result, "first"))) > 1000
# Not getrusage, which counts what the parent had as well.
with open("/proc/self/status") as status:
    print(int(status.read().partition("VmHWM:")[2].split()[0]) * 1024)
"""


def peak(path):
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the most that was ever resident, from /proc")
@pytest.mark.parametrize("name", ["rows.jsonl.gz", "rows.csv", "rows.parquet"])
def test_memory_does_not_grow_with_the_texts(request, folder, name):
    peaks, vocabulary = [], np.array(WORDS, object)
    for length in (600, 4500):
        chosen = np.random.default_rng(length).integers(0, len(WORDS), (1500, length))
        rows = [" ".join(row) for row in vocabulary[chosen].tolist()]
        rows.append(rows[0])
        path, size = folder / name, sum(map(len, rows))
        if name.endswith("gz"):
            path.write_bytes(gzip.compress(as_json(rows).encode(), 1))
        elif name.endswith("csv"):
            path.write_text("text\n" + "\n".join(rows) + "\n", "utf-8")
        else:
            pa = request.getfixturevalue("pa")
            # A row group is read as a whole.
            options = {"row_group_size": 300_000 // length, "use_dictionary": False}
            pa.parquet.write_table(pa.table({"text": rows}), path, **options)
        peaks.append(peak(path))
    assert size > 30e6
    assert peaks[1] - peaks[0] < 0.4 * size


# Parts of larger rows


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_parts_of_larger_rows_are_found_with_their_places(run, ending):
    chapters = [" ".join(f"c{n}w{word}" for word in range(400)) for n in range(12)]
    texts = ["\n".join(chapters), words(1), chapters[7], chapters[7]]
    data = as_json(texts).encode()
    Path(f"rows.jsonl{ending}").write_bytes(gzip.compress(data) if ending else data)
    start = texts[0].index(chapters[7])
    name, figures = f"rows.jsonl{ending}", {"start": start, "end": start + len(chapters[7])}

    ended = run("corpus", "scan", name, "--parts", "--quiet")
    (part,) = [each for each in map(json.loads, ended.out.splitlines()) if each["type"] == "part"]
    of = {"path": name, "row": 1}
    assert part == {"type": "part", "path": name, "row": 3, "of": of, "share": 1.0, **figures}
    shown = run("corpus", "scan", name, "--parts", "--quiet", "--format", "text").out.decode()
    assert f"Parts of {name}:1:\n    100 % of {name}:3, characters " in shown
    *_, line = run("corpus", "scan", name, "--parts", "--quiet", "--format", "csv").out.splitlines()
    cells = f",part,,1.000000,,,,{name},3,{name},1,{start},{figures['end']}"
    assert line.decode() == cells
    assert b'"part"' not in run("corpus", "scan", name, "--quiet").out

"""The same text has the same fingerprint, whatever the bytes and the way to them."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import simdup
from simdup.settings import Limits
from simdup.text.jieba_words import idf

pytestmark = pytest.mark.slow

ENGLISH = ["harbour", "lantern", "gravel", "winter", "ledger", "orchard", "the", "a", "of", "and"]
ENGLISH += ["was", "in", "it", "that", "Tuesday", "beneath", "café", "naïve", "£40", "3.5 km"]


def writable(encoding):
    """Words of jieba's table that an encoding can write."""
    words = [word for word in idf()[0] if all("\u4e00" <= c <= "\u9fa5" for c in word)]
    return [word for word in words if word.encode(encoding, "ignore").decode(encoding) == word]


@pytest.fixture(scope="module")
def vocabulary():
    return {encoding: writable(encoding) for encoding in ("gb2312", "big5")}


def chinese(words, seed):
    """Sentences of random words, of 500 characters and more."""
    chooser = random.Random(seed)
    text = ""
    while len(text) < 500:
        text += "".join(chooser.choices(words, k=chooser.randint(2, 9))) + chooser.choice(
            "，。；\n"
        )
    return text


def english(seed):
    chooser = random.Random(seed)
    return " ".join(chooser.choices(ENGLISH, k=150))


def fingerprints(folder, texts):
    """One fingerprint for each (text, encoding), through files."""
    paths = []
    for number, (text, encoding) in enumerate(texts):
        paths.append(folder / f"{number}.txt")
        paths[-1].write_bytes(text.encode(encoding))
    return [row.tobytes() for row in simdup.fingerprint_files(paths)]


# The folder serves all examples: each overwrites the files of the last.
SHARED_FOLDER = settings(
    max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


UNICODE = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]


@pytest.mark.parametrize(
    ("words", "encodings"),
    [("gb2312", ["gbk", "gb18030", *UNICODE]), ("big5", ["big5", *UNICODE]),
     ("english", ["windows-1252", *UNICODE])],
)  # fmt: skip
@SHARED_FOLDER
@given(seed=st.integers(0, 2**32))
def test_a_text_is_the_same_in_every_encoding(tmp_path, vocabulary, words, encodings, seed):
    text = english(seed) if words == "english" else chinese(vocabulary[words], seed)

    found = fingerprints(tmp_path, [(text, encoding) for encoding in encodings])
    assert set(found) == {simdup.fingerprint_texts([text])[0].tobytes()}


def of_shared_clauses(seed, n=2000):
    """Different short texts made from shared clauses, two thirds of them versions of others."""
    chooser = random.Random(seed)
    words = [f"w{i}" for i in range(2000)]
    clauses = [" ".join(chooser.choices(words, k=8)) for _ in range((40, 80, 200)[seed % 3])]
    texts = [chooser.sample(clauses, 5) for _ in range(n // 3)]
    while len(texts) < n:
        texts.append(chooser.choice(texts).copy())
        texts[-1][chooser.randrange(5)] = " ".join(chooser.choices(words, k=8))
    return list(dict.fromkeys(map(". ".join, texts)))


# Few candidates are affordable, so later rounds search around the representatives.
NARROW = Limits(candidates=50_000, candidates_per_text=0)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_rows_changes_no_group(seed):
    narrow = NARROW if seed % 2 else replace(NARROW, by_distance=500)
    texts = of_shared_clauses(seed)

    def groups(rows):
        found = simdup.group_texts(rows, simdup.Settings(limits=narrow))
        members = [rows[row] for row in found.members.tolist()]
        return {frozenset(members[begin:end]) for begin, end in pairwise(found.offsets.tolist())}

    found = groups(texts)
    assert len(found) > 300
    assert groups(random.Random(seed).sample(texts, len(texts))) == found


def test_the_names_and_times_of_files_change_no_group_and_no_similarity(tmp_path):
    texts = of_shared_clauses(1)

    def groups(folder, seed):
        chooser = random.Random(seed)
        for name, text in zip(chooser.sample(range(9999), len(texts)), texts, strict=True):
            path = tmp_path / folder / str(name % 10) / f"{name}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            os.utime(path, (name, chooser.randrange(1 << 30)))
        found = [
            [(Path(m.document.path).read_text(), m.similarity) for m in group.members]
            for group in simdup.scan([tmp_path / folder], simdup.Settings(limits=NARROW)).groups
        ]
        alike = {
            frozenset((first, text)): similarity
            for (first, _), *others in found
            for text, similarity in others
        }
        return {frozenset(text for text, _ in group) for group in found}, alike

    (found, alike), (others, others_alike) = groups("one", 1), groups("other", 2)
    assert len(found) > 300
    assert others == found
    common = alike.keys() & others_alike.keys()
    assert len(common) > 300
    assert [alike[each] for each in common] == [others_alike[each] for each in common]

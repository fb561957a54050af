"""Our texts in every encoding and length, as tests/bench/detection.py measures them."""

from __future__ import annotations

import pytest
from benches import bench as benchmark

pytestmark = pytest.mark.slow

bench = benchmark("detection")

# Samples of 20 bytes that chardet 7.7 and simdup read wrong; of longer ones, there is none.
MOST_WRONG = {
    "GBK, traditional": 2,
    "GB18030, rare characters": 1,
    "UTF-16 LE, Chinese": 8,
    "UTF-16 BE, Chinese": 9,
    "windows-1252": 2,
}

by_kind = pytest.mark.parametrize("kind", bench.KINDS, ids=lambda kind: kind.name)


@by_kind
@pytest.mark.parametrize("size", bench.SIZES)
def test_texts_of_every_length_are_decoded_correctly(kind, size):
    taken = list(bench.samples(kind, size))

    wrong = [sample for sample in taken if not bench.by_simdup(sample).is_right]

    assert len(taken) >= 20
    assert len(wrong) <= (MOST_WRONG.get(kind.name, 0) if size == min(bench.SIZES) else 0), wrong


@by_kind
def test_there_are_twenty_texts_that_begin_differently(kind):
    texts = bench.texts(kind.folder).values()

    assert len({text[:8] for text in texts}) == len(texts) >= 20


def test_a_sample_ends_with_a_whole_character_and_another_inside_one():
    whole, cut = bench.of_size("accents", "é中b国c", "utf-8", 8)

    assert whole == bench.Sample("accents", "é中b".encode(), "é中b")
    assert cut == bench.Sample("accents, cut", "é中".encode()[:-1], "é")


@pytest.mark.parametrize("text", ["é", "é\ufffd"])
def test_a_cut_character_may_be_shown_or_left_out(text):
    sample = bench.Sample("accents, cut", "é中".encode()[:-1], "é")

    assert sample.has(text)
    assert not sample.has(text[1:])

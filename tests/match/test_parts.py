"""simdup.match.parts: which texts are parts of larger ones, and where they stand in them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from simdup import Recipe, Settings
from simdup.fingerprint.features import all_features
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.fingerprint.sketch import DENSE_LEVELS, thinned
from simdup.match import parts
from simdup.match.distinct_texts import Items, distinct_texts
from simdup.match.exclusions import Exclusions
from simdup.match.match import match
from simdup.match.parts import Place, find_parts, place_of, shares_of
from simdup.match.verify import cosines
from simdup.progress import silent
from simdup.text.chunking import chunks_of
from simdup.theory import contained

SETTINGS = Settings(parts=0.8)


class Source:
    """Texts that are held in memory, asked for as the protocol says and each place once."""

    def __init__(self, texts):
        self.texts, self.placed = texts, set()

    def expect(self, texts):
        assert (np.diff(texts) > 0).all()

    def features(self, texts):
        assert (np.diff(texts) > 0).all()
        return all_features([self.texts[text] for text in texts], Recipe())

    def chunks(self, text):
        assert text not in self.placed
        self.placed.add(text)
        return chunks_of(self.texts[text])


def found(texts, settings=SETTINGS, references=(), excluded=()):
    """The parts among some texts: of each pair share, start and end."""
    made = fingerprint_texts(texts, Recipe(), is_sketched=True, most_levels=DENSE_LEVELS)
    n, dense = len(texts), made.sketches
    is_reference = np.isin(np.arange(n), references)
    usual = thinned(dense, made.counts)
    items = Items(made.rows, made.counts, made.digests, np.arange(n), is_reference, usual)
    every = distinct_texts(items, settings.recipe.bits)
    source = Source([texts[index] for index in every.first])
    matched = match(every, settings, source, silent)
    pairs = np.array(excluded, np.int64).reshape(-1, 2)
    exclusions = Exclusions(pairs, np.arange(len(pairs)), n)
    dense = dense.take(every.first)
    made = find_parts(every, dense, matched, settings, source, silent, exclusions)
    figures = zip(made.shares.tolist(), made.places.tolist(), strict=True)
    pairs = every.first[made.pairs].tolist()
    return {
        tuple(pair): (share, *place) for pair, (share, place) in zip(pairs, figures, strict=True)
    }


def words(n, seed=0, kinds=100_000):
    """So many words, hardly any of which occurs twice."""
    return [f"w{word}" for word in np.random.default_rng(seed).integers(0, kinds, n)]


def text(*lists):
    return " ".join(word for words in lists for word in words)


def place(whole, part):
    """Where a run of words stands, in characters."""
    start = whole.index(text(part))
    return start, start + len(text(part))


# Which texts are parts


@pytest.mark.parametrize("length", [36, 120, 400, 3000])
def test_a_part_is_found_with_its_place(length):
    part, before, after = words(length, 1), words(9000, 2), words(16_000, 3)
    whole = text(before, part, after)

    assert found([whole, text(part), text(words(300, 4))]) == {(1, 0): (1.0, *place(whole, part))}


def test_the_share_is_the_one_of_distinct_shingles():
    part, other = words(100, 1), words(9, 5)
    whole = text(words(2000, 2), part, words(2000, 3))
    # Of 119 shingles 10 have a word that the larger text has not.
    mixed = text(part[:90], other, part[90:], part[:11])

    ((share, *_),) = found([whole, mixed]).values()
    assert share == pytest.approx(98 / 109)


def test_less_than_the_share_asked_for_is_no_part():
    part = words(100, 1)
    texts = [text(words(2000, 2), part[:80], words(2000, 3)), text(part)]

    assert list(found(texts, Settings(parts=0.75))) == [(1, 0)]
    assert found(texts, Settings(parts=0.85)) == {}


def test_a_group_has_no_parts_but_each_of_its_texts_may_be_one():
    part, rest = words(200, 1), words(4000, 2)
    whole, copy = text(part, rest), text(part, rest[:-40])
    texts = [whole, copy, text(part), text(part[:-8])]

    for settings in (SETTINGS, replace(SETTINGS, own_share=0)):
        assert set(found(texts, settings)) == {(2, 0), (2, 1), (3, 0), (3, 1)}


def test_drafts_that_near_copies_connect_are_no_parts_of_each_other():
    whole = words(5000, 1)
    drafts = [text(whole[: round(40 * 1.2**number)]) for number in range(27)]
    quoting = text(words(900, 2), whole[:40])

    assert {larger for _, larger in found([*drafts, quoting])} == {27}


def test_parts_of_which_nothing_may_be_missing_are_found():
    part, rest = words(100, 1), words(2000, 2)

    assert set(found([text(rest, part), text(part)], Settings(parts=1.0))) == {(1, 0)}
    assert found([text(rest, part[:-1]), text(part)], Settings(parts=1.0)) == {}


def test_a_text_of_which_one_value_is_sampled_is_found():
    short = [text(words(parts.LEAST_FEATURES + 2, seed)) for seed in range(1, 200)]
    sampled = fingerprint_texts(short, Recipe(), is_sketched=True, most_levels=DENSE_LEVELS)
    values = [sampled.sketches.take(np.array([n])).joined() for n in range(len(short))]
    kept = [(each < 1 << (32 - DENSE_LEVELS)).sum() for each in values]
    part = short[kept.index(1)]

    assert set(found([text(words(900, 1000), [part]), part])) == {(1, 0)}


def test_a_short_text_is_a_part_of_nothing():
    line = words(parts.LEAST_FEATURES, 1)

    assert found([text(words(3000, 2), line), text(line)]) == {}
    assert found([text(words(3000, 2), [*line, "more"]), text([*line, "more"])]) != {}


def test_what_many_texts_hold_is_no_part_unless_nothing_must_be_their_own():
    notice = words(80, 1)
    texts = [text(notice), *(text(words(900, seed), notice) for seed in range(2, 14))]

    assert found(texts) == {}
    anyway = found(texts, replace(SETTINGS, own_share=0))
    assert set(anyway) == {(0, number) for number in range(1, 13)}


def test_what_is_scattered_over_a_long_text_is_no_part_of_it():
    part, rest = words(60, 1), words(60_000, 2)
    for number, pair in enumerate(pairwise(part)):
        rest[500 * (number + 1) : 500 * (number + 1)] = pair

    assert found([text(rest), text(part)], replace(SETTINGS, own_share=0)) == {}


def test_only_pairs_of_a_reference_and_another_text_count():
    part = words(100, 1)
    texts = [text(words(2000, 2), part), text(words(2000, 3), part), text(part)]

    assert set(found(texts)) == {(2, 0), (2, 1)}
    assert set(found(texts, references=[1])) == {(2, 1)}
    assert set(found(texts, references=[2])) == {(2, 0), (2, 1)}
    assert found(texts, references=[0, 1, 2]) == {}


def test_an_excluded_pair_is_no_part():
    part = words(100, 1)
    texts = [text(words(2000, 2), part), text(words(2000, 3), part), text(part)]

    assert set(found(texts, excluded=[(0, 2)])) == {(2, 1)}


def test_no_more_pairs_than_can_be_read_come_of_what_very_many_hold(monkeypatch):
    monkeypatch.setattr(parts, "MOST_HOLDERS", 4)
    part = words(100, 1)
    texts = [text(part), *(text(words(900, seed), part) for seed in range(2, 7))]

    assert found(texts, replace(SETTINGS, own_share=0)) == {}
    assert len(found(texts[:4], replace(SETTINGS, own_share=0))) == 3


@pytest.mark.parametrize("seed", range(3))
def test_all_parts_are_found_that_pairwise_comparison_finds(monkeypatch, seed):
    monkeypatch.setattr(parts, "PAIRS_AT_ONCE", 64)
    draw = np.random.default_rng(seed)
    texts = [words(draw.integers(30, 60) * 40, 100 * seed + number, 2000) for number in range(25)]
    for _ in range(40):
        whole = texts[draw.integers(25)]
        begin, length = draw.integers(len(whole) // 2), draw.integers(40, 160)
        taken = whole[begin : begin + length]
        changed = draw.random(len(taken)) < draw.choice([0, 0.02, 0.05])
        taken = ["other" if each else word for word, each in zip(taken, changed, strict=True)]
        texts.append(taken)
    every = [text(each) for each in texts]
    features, n = all_features(every, Recipe()), len(every)
    i, j = (each.ravel() for each in np.indices((n, n)))
    counts, shares = features.counts, shares_of(features, i, j)
    is_part = (shares >= 0.8) & (counts[i] < counts[j]) & (cosines(features, i, j) < 0.3)
    expected = set(zip(i[is_part].tolist(), j[is_part].tolist(), strict=True))

    listed = set(found(every, replace(SETTINGS, own_share=0)))
    assert len(expected) > 20
    assert len(listed & expected) >= 0.97 * len(expected)
    assert all(shares[n * i + j] >= 0.8 for i, j in listed)


def test_nothing_is_found_among_no_texts():
    assert found([]) == {}
    assert found(["one text alone"]) == {}


# Places


def placed(part, whole):
    return place_of(all_features([part], Recipe()), [whole], Recipe())


def test_a_place_is_worked_by_hand():
    part = "the quick brown fox jumps over the lazy dog"

    assert placed(part, f"aaa bbb ccc. {part.upper()}! ddd eee") == Place(13, 56, 8)
    assert placed(part, "nothing of it") == Place(0, 0, 0)
    assert placed(part, f"aaa bbb {part}") == Place(8, 51, 8)


def test_a_place_goes_on_beyond_an_answer_between_two_paragraphs():
    first, second, answer = words(60, 1), words(40, 2), words(20, 3)
    whole = text(words(500, 4), first, answer, second, words(500, 5))

    assert placed(text(first, second), whole)[:2] == place(whole, [*first, *answer, *second])


def test_of_two_copies_one_is_the_place():
    part = words(80, 1)
    whole = text(words(400, 2), part, words(700, 3), part, words(300, 4))

    start, end, features = placed(text(part), whole)
    assert (whole[start:end], features) == (text(part), 79)


def test_everyday_shingles_around_a_part_do_not_make_its_place_longer():
    everyday = ["of", "the", "and", "in", "to", "a"]
    draw = np.random.default_rng(7)

    def prose(seed, n):
        rare, common = words(n, seed), draw.choice(everyday, 2 * n)
        return [
            each
            for word, pair in zip(rare, common.reshape(n, 2), strict=True)
            for each in (word, *pair)
        ]

    part = prose(1, 60)
    whole = text(prose(2, 900), part, prose(3, 900))
    start, end, _ = placed(text(part), whole)
    begin, stop = place(whole, part)

    assert abs(start - begin) <= 0.05 * (stop - begin)
    assert abs(end - stop) <= 0.05 * (stop - begin)


def test_places_count_characters_of_a_text_that_comes_in_chunks():
    part, whole = words(90, 1), words(80_000, 2)
    whole[70_000:70_000] = part
    joined = text(whole)
    features = all_features([text(part)], Recipe())

    start, end, _ = place_of(features, chunks_of(joined), Recipe())
    assert len(joined) > 2 * len(next(chunks_of(joined)))
    assert joined[start:end] == text(part)


def test_a_place_may_begin_in_one_chunk_and_end_in_the_next():
    part, rest = text(words(90, 1)), text(words(80_000, 2))
    end_of_chunk = len(next(chunks_of(rest)))
    at = rest.rindex(" ", 0, end_of_chunk - len(part) // 2)
    whole = f"{rest[:at]} {part}{rest[at:]}"
    assert at < len(next(chunks_of(whole))) < at + len(part)

    place = place_of(all_features([part], Recipe()), chunks_of(whole), Recipe())
    assert whole[place.start : place.end] == part
    assert place.features >= 88  # the two words at the border are no neighbours


def test_a_stray_pair_of_words_before_a_repeated_passage_is_cut_off():
    part, stray = words(200, 1), ["stray", "pair"]
    whole = [*words(500, 2), *stray, *part[100:130], *part]

    found = placed(text(part, stray), text(whole, words(500, 3)))
    assert found[:2] == place(text(whole), part)


def test_places_are_those_of_the_text_before_it_is_folded():
    part = "ＴＨＥ ｑｕｉｃｋ brown ﬁsh … jumped over the lazy 狗 and the ㈱ company"
    whole = f"№ ½ ﬃ {part} №"
    start, end, _ = placed(part, whole)

    assert whole[start:end] == part


def test_places_are_near_where_characters_compose():
    part = "cafe\u0301 re\u0301sume\u0301 nai\u0308ve fac\u0327ade a\u0300 la carte"
    lines = [f"{words(1, seed)[0]} line e\u0301" for seed in range(50)]
    whole = "\n".join([*lines[:25], part, *lines[25:]])
    start, end, _ = placed(part, whole)

    begin = whole.index(part)
    assert abs(start - begin) <= 2
    assert abs(end - begin - len(part)) <= 2


# Shares


def test_containment_follows_from_the_cosine():
    left, right = text(words(50, 1)), text(words(20, 2), words(50, 1), words(90, 3))
    features = all_features([left, right], Recipe())
    i = np.array([0, 1])
    (cosine, _), counts = cosines(features, i, i[::-1]), features.counts.tolist()

    shares = shares_of(features, i, i[::-1])
    assert contained(cosine, *counts) == pytest.approx(shares[0]) == 1
    assert contained(cosine, *counts[::-1]) == pytest.approx(shares[1])


def test_everyday_words_make_no_passage_a_notice():
    everyday = words(180, 1)
    others = [text(everyday, words(40 + 9 * n, 100 + n)) for n in range(40)]
    passage = everyday[:75] + words(35, 200)
    tale = text(words(400, 201), passage, words(400, 202))
    asked = text(passage, words(16, 203))

    assert (41, 40) in found([*others, tale, asked])


def test_what_more_than_a_few_smaller_texts_hold_is_no_part(monkeypatch):
    monkeypatch.setattr(parts, "PAIRS_AT_ONCE", 50)
    notice, settings = words(150), replace(SETTINGS, parts=0.7)
    mails = [text(words(20 + 2 * n, 10 + n), notice) for n in range(12)]
    digest = text(words(900, 50), notice, words(500, 51))

    # The last mail is the largest one: only the digest is larger.
    assert (11, 12) not in found([*mails, digest], settings)
    assert (2, 3) in found([*mails[9:], digest], settings)

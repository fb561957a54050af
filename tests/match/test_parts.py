"""simdup.match.parts: which texts are parts of larger ones, and where they stand in them."""

# ruff: noqa: SLF001  (small steps are worked by hand, or compared with plain counting)

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from conftest import of_each

from simdup import Recipe, Settings, group_texts
from simdup.fingerprint.features import Features, all_features
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.fingerprint.sketch import DENSE_LEVELS, LEAST, thinned
from simdup.match import own_share, parts
from simdup.match.distinct_texts import Items, Texts, distinct_texts
from simdup.match.engine import LocalEngine, TextGroups
from simdup.match.exclusions import Exclusions
from simdup.match.own_share import OwnShares
from simdup.match.parts import Place, find_parts, least_shared, shares_of, verified_parts
from simdup.match.siblings import Siblings
from simdup.match.verify import cosines
from simdup.progress import silent
from simdup.text.chunking import chunks_of
from simdup.theory import contained

SETTINGS = Settings(parts=0.8)


class Source:
    """Texts that are held in memory, asked for as the protocol says."""

    def __init__(self, texts):
        self.texts, self.expected = texts, np.empty(0, np.int64)

    def expect(self, texts):
        assert (np.diff(texts) > 0).all()
        self.expected = texts

    def features(self, texts):
        assert (np.diff(texts) > 0).all()
        assert np.isin(texts, self.expected).all()
        return all_features([self.texts[text] for text in texts], Recipe())

    def chunks(self, text):
        return chunks_of(self.texts[text])


def found(texts, settings=SETTINGS, references=(), excluded=()):
    """The parts among some texts: of each pair share, start and end."""
    made = fingerprint_texts(texts, Recipe(), levels=DENSE_LEVELS)
    n, dense = len(texts), made.sketches
    is_reference = np.isin(np.arange(n), references)
    usual = thinned(dense, made.counts)
    items = Items(made.rows, made.counts, made.digests, np.arange(n), is_reference, usual)
    every = distinct_texts(items, settings.recipe.bits)
    source = Source([texts[index] for index in every.first])
    matched = LocalEngine(every, settings, source, silent).groups()
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
    sampled = fingerprint_texts(short, Recipe(), levels=DENSE_LEVELS)
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


def place_of(part, whole, recipe):
    return parts._Hits(whole, part.ids, recipe).place_of(part.ids)


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


def test_places_are_those_of_the_shortest_shingles():
    recipe = Recipe(ngram=(2, 3))
    part = all_features(["the quick brown fox jumps"], recipe)

    assert len(part.ids) == 4 + 3
    assert place_of(part, ["aaa the quick brown fox jumps bbb"], recipe) == Place(4, 29, 4)


def test_a_place_is_found_of_which_most_shingles_are_elsewhere():
    stands, elsewhere = words(40, 1), words(120, 2)
    whole = text(words(300, 3), stands, words(300, 4))

    assert placed(text(stands, elsewhere), whole) == Place(*place(whole, stands), 39)


def test_only_shingles_that_are_asked_for_are_kept():
    wanted = all_features(["b c", "c d"], Recipe()).ids
    twice, once = (int(number) for number in wanted)
    for first in "efghijklmnopqrstuvwxyz":
        hits = parts._Hits([f"{first} b c d. b c, {first}"], wanted, Recipe())

        found = zip(hits.ids.tolist(), hits.tokens.tolist(), hits.starts, hits.ends, strict=True)
        expected = [(twice, 1, 2, 5), (twice, 4, 9, 12), (once, 2, 4, 7)]
        assert sorted(found) == sorted(expected)
        assert (hits.ids[1:] >= hits.ids[:-1]).all()


def test_a_shingle_that_occurs_twice_as_often_weighs_a_quarter():
    assert parts._weights(np.array([1, 1, 1, 2, 4])).tolist() == [1, 1, 1, 1 / 4, 1 / 16]
    assert parts._weights(np.array([2, 2, 2, 1, 6, 2])).tolist() == [1, 1, 1, 1, 1 / 9, 1]


def occurrences(seed, n=60, kinds=12, gap=30):
    """Where some shingles occur, in tokens, and which of them occurs there."""
    draw = np.random.default_rng(seed)
    tokens = np.cumsum(draw.integers(1, draw.integers(2, gap), n))
    return tokens, draw.integers(0, kinds, n)


@pytest.mark.parametrize("seed", range(20))
def test_the_heaviest_run_is_the_best_of_all_runs(seed):
    tokens, _ = occurrences(seed)
    weight = np.random.default_rng(100 + seed).random(len(tokens))

    def gain(run):
        first, last = run
        return weight[first : last + 1].sum() - 0.05 * (tokens[last] - tokens[first])

    every = [*combinations(range(len(tokens)), 2), *zip(*2 * [range(len(tokens))], strict=True)]
    first, last = max(every, key=gain)
    assert parts._heaviest_run(tokens, weight) == slice(first, last + 1)


def gained(tokens, shingle, run):
    """The shingles of a run, less what its tokens cost."""
    start, stop = run
    return len(set(shingle[start:stop])) - parts.PER_TOKEN * (tokens[stop - 1] - tokens[start])


def cut(tokens, shingle):
    """The run that is left if the end is cut where most is won, and then the beginning."""
    ends = [(0, stop) for stop in range(1, len(tokens) + 1)]
    _, stop = max(ends, key=lambda run: gained(tokens, shingle, run))
    begins = [(start, stop) for start in range(stop)]
    return max(begins, key=lambda run: gained(tokens, shingle, run))


def test_a_run_gains_its_shingles_less_what_its_tokens_cost():
    assert parts._gain(np.array([100, 110, 140]), np.array([3, 7, 3])) == 2 - 0.05 * 40


@pytest.mark.parametrize("seed", range(40))
def test_both_ends_of_a_run_are_cut_where_most_is_won(monkeypatch, seed):
    monkeypatch.setattr(parts, "PER_TOKEN", 1 / 16)  # so that sums are exact
    tokens, shingle = occurrences(seed)
    places, kinds = tokens.tolist(), shingle.tolist()
    end_first = cut(places, kinds)
    mirrored = cut([-token for token in places[::-1]], kinds[::-1])
    begin_first = tuple(len(places) - place for place in mirrored[::-1])
    best = max(end_first, begin_first, key=lambda run: gained(places, kinds, run))

    assert parts._cut(tokens, shingle) == slice(*end_first)
    assert parts._shortest_run(tokens, shingle) == slice(*best)


def test_which_end_is_cut_first_depends_on_what_is_left():
    tokens, shingle = np.array([0, 1, 2, 50, 51, 52, 53]), np.array([0, 1, 2, 0, 1, 2, 3])

    # Shingle 3 alone is worth no 50 tokens, but where it stands are all the others too.
    assert parts._cut(tokens, shingle) == slice(0, 3)
    assert parts._shortest_run(tokens, shingle) == slice(3, 7)
    assert parts._shortest_run(-tokens[::-1], shingle[::-1]) == slice(0, 4)


# What is verified


def verified(texts, pairs, share):
    counts = all_features(texts, Recipe()).counts
    return verified_parts(np.array(pairs), counts, share, Recipe(), Source(texts), silent)


def test_parts_come_by_whole_and_then_by_where_they_begin():
    long, other = words(120, 1), words(60, 2)
    first = text(words(900, 3), long, words(600, 4))
    second = text(words(300, 5), other, words(600, 6))
    # The part that begins later ends earlier, and has fewer shingles and a lower number.
    made = verified(
        [first, text(other), text(long[30:70]), text(long), second], [(3, 0), (1, 4), (2, 0)], 0.8
    )

    assert made.pairs.tolist() == [[3, 0], [2, 0], [1, 4]]
    expected = [place(first, long), place(first, long[30:70]), place(second, other)]
    assert made.places.tolist() == [list(each) for each in expected]
    assert made.shares.tolist() == [1, 1, 1]


@pytest.mark.parametrize(("together", "is_part"), [(20, True), (19, False)])
def test_half_of_the_share_asked_for_must_stand_in_one_place(together, is_part):
    part, rest = words(41, 1), words(20_000, 2)
    rest[:0] = part[: together + 1]
    for number, pair in enumerate(pairwise(part[together:])):
        rest[500 * (number + 1) : 500 * (number + 1)] = pair

    made = verified([text(part), text(rest)], [(0, 1)], 1.0)
    assert made.pairs.tolist() == ([[0, 1]] if is_part else [])


def test_nothing_is_verified_where_there_are_no_candidates():
    made = verified([], np.empty((0, 2), np.int64), 0.8)

    assert [len(each) for each in made] == [0, 0, 0]


# Candidates


HIGHEST = (1 << 32 - DENSE_LEVELS) - 1


def search_of(values, share, counts, *, family=None, references=()):
    """A search among texts with these sampled values and so many features."""
    n, dense = len(values), of_each([np.array(sorted(each), np.uint32) for each in values])
    index, none = np.arange(n), np.empty(0)
    rows, counts = np.zeros((n, 8), np.uint8), np.array(counts)
    digests, is_reference = np.zeros((n, 2), np.uint64), np.isin(index, references)
    texts = Texts(
        index,
        np.arange(n + 1),
        index,
        rows,
        rows,
        counts,
        digests,
        digests[:, 0],
        is_reference,
        dense,
    )
    shares = None if family is None else OwnShares(dense, counts, np.array(family))
    siblings = Siblings(np.empty((0, 2), np.int64), none, none)
    matched = TextGroups((), none, none, siblings, shares, None, 0)
    return parts._Search(texts, dense, matched, share)


def looked_up(search):
    """The values that each text is looked up by."""
    texts, values = search._looked_up()
    assert (np.diff(texts) >= 0).all()
    return [sorted(values[texts == text].tolist()) for text in range(len(search.texts))]


def plain_looked_up(values, share, counts, family):
    """What `looked_up` finds, and how many of these values each text may lack; value by value."""
    families = Counter(
        value
        for of in set(family)
        for value in set().union(
            *(each for each, own in zip(values, family, strict=True) if own == of)
        )
    )
    found, may_lack = [], []
    for each, count in zip(values, counts, strict=True):
        low = [value for value in each if value <= HIGHEST]
        half, enough = 0, 2 * parts.LOOKED_UP
        while len(low) >= enough << half:
            half += 1
        low = sorted(value for value in low if value <= HIGHEST >> half)
        alone = [value for value in low if families[value] == 1]
        error = 3 * math.sqrt(len(low) * share * (1 - share))
        lacking = math.floor((1 - share) * len(low) + error) - len(alone)
        others = sorted(set(low) - set(alone), key=lambda value: (families[value], value))
        is_asked = count >= parts.LEAST_FEATURES and lacking >= 0
        found.append(sorted(others[: lacking + parts.SPARE]) if is_asked else [])
        may_lack.append(lacking)
    return found, may_lack


def plain_candidates(values, share, counts, family, references):
    """What `_Search.candidates` finds; pair by pair."""
    found = set()
    asked, lacking = plain_looked_up(values, share, counts, family)
    holders = Counter(value for each in values for value in each)
    for left, own in enumerate(asked):
        rare = {value for value in own if holders[value] <= parts.MOST_HOLDERS}
        for right, others in enumerate(values):
            is_larger = (counts[right], right) > (counts[left], left)
            is_apart = family[left] != family[right]
            is_wanted = not references or (left in references) != (right in references)
            shared = len(rare & others)
            is_found = shared >= max(len(rare) - lacking[left], 1)
            if is_larger and is_apart and is_wanted and is_found:
                level = sum(counts[right] >= 2 * LEAST << each for each in range(DENSE_LEVELS))
                size = sum(value <= ((1 << 32) - 1) >> level for value in values[left])
                error = 3 * math.sqrt(share * (1 - share) * size) if level else 0
                if len(values[left] & others) >= share * size - error - 1e-9:
                    found.add((left, right))
    return found


def random_texts(seed, n=60):
    """Sampled values and features of texts, most of which have parts of each other."""
    draw = np.random.default_rng(seed)
    numbers = [
        *draw.integers(0, 1 << 32, 40),
        *draw.integers(0, HIGHEST, 80),
        *(HIGHEST >> each for each in range(4)),
        (1 << 32) - 1,
        0,
        1,
    ]
    # Some that have the same low bits.
    numbers = [*numbers, *((number + (1 << 28)) % (1 << 32) for number in numbers[:40])]
    pool = np.array(numbers, np.int64)
    values, counts = [], []
    for _ in range(n):
        size = int(draw.integers(0, 60))
        chosen = set(draw.choice(pool, size).tolist())
        if values and draw.random() < 0.8:
            of = sorted(values[draw.integers(len(values))])
            chosen = {value for value in of if draw.random() < 0.8}
            chosen |= set(draw.choice(pool, draw.integers(0, 30)).tolist())
        count = int(draw.choice([len(chosen), 19, 20, 100, 255, 256, 511, 512, 1023, 5000]))
        level = sum(count >= 2 * LEAST << each for each in range(DENSE_LEVELS))
        chosen = {value for value in chosen if value <= ((1 << 32) - 1) >> level}
        values.append(chosen)
        counts.append(max(count, len(chosen)))
    return values, counts


@pytest.mark.parametrize("seed", range(12))
def test_candidates_are_those_of_plain_counting(monkeypatch, seed):
    draw = np.random.default_rng(1000 + seed)
    ends = {"LOOKED_UP": 6, "SPARE": 4, "MOST_HOLDERS": 40, "PAIRS_AT_ONCE": 200}
    for name, end in ends.items():
        monkeypatch.setattr(parts, name, int(draw.integers(1, end)))
    monkeypatch.setattr(own_share, "VALUES_AT_ONCE", 50)
    values, counts = random_texts(seed)
    n, share = len(values), float(draw.choice([0.5, 0.7, 0.9, 1.0]))
    family = draw.integers(0, n, n).tolist()
    references = sorted({*draw.integers(0, n, n // 2).tolist()}) if seed % 3 == 0 else []
    search = search_of(values, share, counts, family=family, references=references)
    is_long = np.array(counts) >= parts.LEAST_FEATURES
    asked, lacking = plain_looked_up(values, share, counts, family)

    assert looked_up(search) == asked
    assert search.lacking[is_long].tolist() == np.array(lacking)[is_long].tolist()
    pairs = np.concatenate(list(search.candidates(silent)))
    listed = [tuple(pair) for pair in pairs.tolist()]
    expected = plain_candidates(values, share, counts, family, references)
    assert len(listed) == len(set(listed))
    assert set(listed) == expected
    assert expected


@pytest.mark.parametrize("seed", range(6))
def test_holding_families_are_those_of_plain_counting(monkeypatch, seed):
    monkeypatch.setattr(parts, "LOOKED_UP", 2 + seed)
    monkeypatch.setattr(parts, "PAIRS_AT_ONCE", 30)
    monkeypatch.setattr(parts, "TEXTS_AT_ONCE", 7)
    draw = np.random.default_rng(seed)
    values, counts = random_texts(seed)
    share, n = float(draw.choice([0.25, 0.5, 0.75])), len(values)
    family = draw.integers(0, n, n).tolist()
    texts = np.arange(seed % 2, n, 2)

    def holding(text):
        low = {value for value in sorted(values[text])[: 2 * parts.LOOKED_UP] if value <= HIGHEST}
        pairs = zip(values, family, strict=True)
        enough = {of for each, of in pairs if low & each and len(low & each) >= share * len(low)}
        return len(enough - {family[text]})

    search = search_of(values, share, counts, family=family)
    found = search._holding(texts, silent).tolist()
    assert found == [holding(text) for text in texts.tolist()]
    assert max(found) > 3


def test_the_highest_value_of_all_dense_sketches_must_be_held_too():
    search = search_of([{1, HIGHEST}, {1, 2}, {1, HIGHEST}, {1, HIGHEST + 1}], 1.0, [100] * 4)

    assert search._holding(np.array([0, 3]), silent).tolist() == [1, 3]


def test_a_value_that_very_many_hold_is_listed_for_some_of_them(monkeypatch):
    monkeypatch.setattr(parts, "MOST_HOLDERS", 3)
    monkeypatch.setattr(own_share, "VALUES_AT_ONCE", 1)  # each text is read by itself
    low = 5 | 1 << 24
    search = search_of([{5, 9}, {5, low}, {5, 9}, {5}, {5, 9}, {5}], 1.0, [100] * 6)

    holders, counts = search._holders(np.array([5, 9], np.uint32), silent)
    assert counts.tolist() == [4, 3]
    assert holders.tolist() == [0, 1, 2, 3, 0, 2, 4]
    holders, counts = search._holders(np.array([9, low], np.uint32), silent)
    assert (holders.tolist(), counts.tolist()) == ([0, 2, 4, 1], [3, 1])


def test_lookups_of_a_text_are_never_cut_apart(monkeypatch):
    monkeypatch.setattr(parts, "PAIRS_AT_ONCE", 10)
    texts, counts = np.array([0, 0, 0, 3, 3, 4, 7, 7, 9]), np.array([4, 4, 4, 1, 2, 5, 25, 1, 3])

    cuts = [part.tolist() for part in parts._chunks(texts, counts)]
    assert cuts == [[0, 1, 2], [3, 4, 5], [6, 7], [8]]


@pytest.mark.parametrize(
    ("features", "shared", "is_candidate"),
    [(255, 80, True), (255, 79, False), (256, 68, True), (256, 67, False), (9999, 67, False)],
)
def test_a_sample_may_lack_three_standard_errors_more_and_a_whole_text_nothing(
    features, shared, is_candidate
):
    part, larger = set(range(100)), set(range(100 - shared, 200 - shared))
    search = search_of([part, larger], 0.8, [100, features])

    assert search._may_be_parts(np.array([[0, 1]])).tolist() == [is_candidate]


class Fixed:
    """Own shares that are given."""

    def __init__(self, *shares):
        self.shares = np.array(shares)

    def of_parts(self, pairs):
        assert len(pairs) == len(self.shares)
        return self.shares


def test_what_is_as_rare_as_asked_for_or_stands_in_few_texts_is_a_texts_own(monkeypatch):
    monkeypatch.setattr(parts, "MOST_OTHERS", 2)
    notice, rare = {1, 2, 3, 4}, {11, 12, 13}
    values = [notice, rare, *(notice | rare | {20 + n} for n in range(3)), notice | {30}]
    search = search_of(values, 0.8, [100] * 6)

    # Besides the larger text, two others have what is rare, and three have the notice.
    for shares, own in (([0.3, 0.2], [True, True]), ([0.2, 0.3], [False, True])):
        search.shares = Fixed(*shares)
        assert search.are_own(np.array([[0, 2], [1, 2]]), 0.3, silent).tolist() == own


def test_nobody_counts_who_holds_what_is_rare_enough():
    search = search_of([{1, 2}, {1, 2, 3}], 0.8, [100, 200])
    search.shares = Fixed(1.0)

    def never(*_):
        raise AssertionError

    assert search.are_own(np.array([[0, 1]]), 0.3, never).tolist() == [True]


# Shares


def test_a_part_lacks_what_the_share_and_the_error_of_sampling_allow():
    assert least_shared(0.8, np.array([0, 100, 400])) == pytest.approx([0, 68, 296], abs=1e-6)
    assert least_shared(0.8, np.array([100]), 0) == pytest.approx([80], abs=1e-6)
    assert least_shared(0.8, np.array([100]), np.array([1])) == pytest.approx([76], abs=1e-6)
    # The error of adding up is no reason to leave a pair out.
    assert (least_shared(0.7, np.arange(0, 2000, 10), 0) <= np.arange(0, 1400, 7)).all()


def test_a_text_without_features_shares_nothing_and_one_with_one_may_share_all():
    features = Features(np.array([4, 4, 6, 9], np.uint64), None, np.array([0, 0, 1, 4]))
    i, j = np.array([0, 1, 2, 2, 0]), np.array([2, 2, 1, 2, 0])

    assert shares_of(features, i, j).tolist() == [0, 1, 1 / 3, 1, 0]


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


def test_of_two_texts_of_one_size_the_same_one_is_the_part_in_any_order():
    most, settings = words(850), Settings(parts=0.8, similarity=0.95)
    one, other = (text(most, words(150, seed)) for seed in (1, 2))

    (first,), (second,) = found([one, other], settings), found([other, one], settings)
    assert first == second[::-1]


# Texts of one group


def test_half_of_a_text_in_each_of_two_others_is_a_part_of_both_in_one_group():
    halves = words(120, 1), words(120, 2)
    texts = [text(*halves), *(text(half, words(80, 3 + i)) for i, half in enumerate(halves))]
    joined = group_texts(texts, Settings())
    assert [sorted(group.rows) for group in joined] == [[0, 1, 2]]

    assert set(found(texts, Settings(parts=0.4))) == {(1, 0), (2, 0)}


def test_a_chapter_is_a_part_of_the_book_it_is_grouped_with():
    chapters = [words(200, number) for number in range(3)]
    texts = [text(*chapters), *(text(chapter) for chapter in chapters)]
    assert [sorted(group.rows) for group in group_texts(texts, Settings())] == [[0, 1, 2, 3]]

    assert set(found(texts)) == {(1, 0), (2, 0), (3, 0)}


@pytest.mark.parametrize(("length", "is_part"), [(220, False), (280, False), (320, True)])
def test_of_near_texts_the_shorter_one_is_a_part_if_the_other_is_much_longer(length, is_part):
    whole = words(length, 1)

    assert set(found([text(whole), text(whole[:200])])) == ({(1, 0)} if is_part else set())


def test_forms_are_no_parts_of_each_other(monkeypatch):
    base = words(300, 1)
    texts = []
    for number in range(4):
        own = list(base)
        for place in range(25, 300, 50):
            own[place] = f"own{number}x{place}"
        texts.append(text(own, words(number, 5 + number)))

    settings = replace(SETTINGS, parts=0.5, own_share=0.01)
    assert found(texts, settings) == {}
    # Any other texts that share so much and are in no group are parts.
    monkeypatch.setattr(TextGroups, "allow", lambda _, pairs: np.ones(len(pairs), bool))
    assert len(found(texts, settings)) == 6

"""Groups of whole scans of random trees, against what all pairs of their texts say."""

from __future__ import annotations

import os
import random
from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest

from simdup import Settings, scan
from simdup.match.groups import NEAR_COPY
from simdup.match.own_share import least_similarity
from simdup.match.verify import exact_similarities

WORDS = [f"w{i}" for i in range(3000)]

SETTINGS = [Settings(own_share=0), Settings(), Settings(own_share=0, similarity=0.6)]


def random_texts(dice):
    """Texts, versions of them, hubs that have parts of several, and copies."""
    texts = [dice.choices(WORDS, k=dice.randrange(60, 160)) for _ in range(dice.randrange(1, 4))]
    for _ in range(dice.randrange(3, 9)):
        made = list(dice.choice(texts))
        if dice.random() < 0.3:
            made = made[: len(made) // 2] + dice.choice(texts)[: len(made) // 2]
        for place in dice.sample(range(len(made)), dice.choice([0, 1, 2, 4, 8, 16])):
            made[place] = dice.choice(WORDS)
        texts.append(made)
    return [" ".join(words) for words in texts]


def written(folder, texts, dice):
    """A folder with these texts under random names and of random ages."""
    marks = ["", " (1)", " copy", "副本", "-long-name", "_v2"]
    names = [
        f"{stem}{dice.choice(marks)}.txt" for stem in dice.sample("abcdefghijklmnop", len(texts))
    ]
    os.mkdir(folder)
    for name, text in dice.sample([*zip(names, texts, strict=True)], len(texts)):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.utime(path, (0, dice.choice([1_000_000, 2_000_000, 3_000_000])))
    return folder


def groups_of(folder, settings):
    """The members of each group: text, similarity and own share, the representative first."""
    found = []
    for group in scan([folder], settings).groups:
        members = []
        for member in group.members:
            with open(member.document.path, encoding="utf-8") as file:
                members.append((file.read(), member.similarity, member.own_share))
        found.append(members)
    return found


def said(groups):
    """The files of groups; names and times decide which of them leads."""
    return Counter(frozenset(Counter(text for text, *_ in members).items()) for members in groups)


def features_of(text):
    words = text.split()
    return len(set(pairwise(words)))


def is_like_all(text, texts, settings):
    """Whether a text is a near-duplicate of all texts of a group, as the centre of a star is."""
    every = [text, *texts]
    i, j = np.zeros(len(texts), np.int64), np.arange(1, len(every))
    counts = np.array([min(features_of(text), features_of(other)) for other in texts])
    alike = exact_similarities(every, i, j, settings.recipe)
    return (alike >= least_similarity(settings.similarity, counts)).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_groups_of_a_random_tree(tmp_path, seed):
    dice = random.Random(seed)
    texts, settings = random_texts(dice), SETTINGS[seed % len(SETTINGS)]

    found = groups_of(written(f"{tmp_path}/one", texts, dice), settings)
    files = [text for members in found for text, *_ in members]
    for text in {*files}:
        # Every file with a text of a group is in that group.
        assert files.count(text) == texts.count(text)
        assert sum(any(text == each for each, *_ in members) for members in found) == 1

    for members in found:
        (first, *_), *others = members
        both = [first, *(text for text, *_ in others)]
        i, j = np.zeros(len(others), np.int64), np.arange(1, len(both))
        alike = exact_similarities(both, i, j, settings.recipe)
        assert len(members) > 1
        assert alike.tolist() == [similarity for _, similarity, _ in others]
        assert any(is_like_all(text, both, settings) for text in both)

    if not settings.own_share:
        distinct = sorted(set(texts))
        i, j = np.array([*combinations(range(len(distinct)), 2)], np.int64).reshape(-1, 2).T
        alike = exact_similarities(distinct, i, j, settings.recipe)
        near = np.unique(np.concatenate((i, j))[np.tile(alike >= NEAR_COPY, 2)])
        assert {distinct[place] for place in near} <= {*files}

    again = groups_of(written(f"{tmp_path}/two", texts, dice), settings)
    assert said(again) == said(found)

"""Near or related: how two texts of a group are shown, by named evidence.

Two texts belong together if they are similar and have wording of their own (`own_share`). Many of
such pairs are versions or copies of one text, and others are only of one series: two recipes, two
licences with the same clauses. No rule tells them apart for certain, so the likely ones are *near*
and the others *related*. The first record of EVIDENCE that holds for a pair makes it near.

    score = containment x own share

The containment is how much of the shorter text stands in the longer one.

Names and folders of files decide a tier and which file is kept, never a group or a similarity.
`findings.near` decides the tiers of a result once, and stores them in its members.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from simdup.arrays import Floats, Indices, Mask, Shares, Similarities
from simdup.recipe import Recipe
from simdup.records import Member
from simdup.theory import contained

NEAR, RELATED = "near", "related"

#: The least score of near texts. Of 958 labelled pairs of 63 real collections, about 65 % are good
#: from here to .9, and 88 % above.
NEAR_SCORE = 0.8

#: The least score where few groups around are near. In collections of articles, man pages or
#: minutes, pairs are good only from here on; where many are near, nearly all are from .8 on.
FEW_NEAR_SCORE = 0.97

#: The share of near groups around a pair from which many are near. In real collections it is below
#: .23 or above .33.
MANY_NEAR = 0.3

#: The least score where scores leave a gap: hardly any group around is a bit less alike.
GAP_SCORE = 0.6

#: Texts with fewer features are short. They are soon alike, so they need a higher score.
SHORT, SHORT_SCORE = 60, 0.95

#: From this share on one text is contained in the other.
CONTAINED = 0.97

#: The least score of texts with the same rare name. Of 117 labelled pairs 115 are good.
NAME_SCORE = 0.6

#: The least score of a group of which the names tell a history.
HISTORY_SCORE = 0.4


class Pair(NamedTuple):
    """What is known of two texts that are alike.

    score: See `score`; None if nothing was verified.
    contained: The share of the shorter text that stands in the longer one; 0 if it is unknown.
    features: The number of features of the shorter text.
    is_same: Whether they have the same words.
    is_history: Whether they are in a chain of versions.
    is_named: Whether they have the same rare name.
    around: The share of near groups among the groups around them; None if that says nothing.
    has_gap: Whether the scores of the groups around leave a gap below this one.
    """

    score: float | None
    contained: float
    features: int
    is_same: bool = False
    is_history: bool = False
    is_named: bool = False
    around: float | None = None
    has_gap: bool = False

    @property
    def least_score(self) -> float:
        """The least score at which the texts are near whatever they are called."""
        are_few = self.around is not None and self.around < MANY_NEAR
        return self._at_least(FEW_NEAR_SCORE if are_few else NEAR_SCORE)

    @property
    def stands_out(self) -> bool:
        """Whether the score is high enough since those of groups around are lower."""
        return self.has_gap and (self.score or 0) >= self._at_least(GAP_SCORE)

    def _at_least(self, least: float) -> float:
        return max(least, SHORT_SCORE) if self.features < SHORT else least

    @property
    def is_among_near(self) -> bool:
        """Whether the score is high enough only because many groups around are near."""
        return self.around is not None and FEW_NEAR_SCORE > (self.score or 0) >= self.least_score


class Evidence(NamedTuple):
    """One reason for which two texts are near.

    name: What JSON calls it.
    words: What people read.
    """

    name: str
    words: str
    holds: Callable[[Pair], bool]


EVIDENCE = (
    Evidence("words", "the same words", lambda pair: pair.is_same),
    Evidence("distance", "nothing was verified", lambda pair: pair.score is None),
    Evidence("history", "the names tell versions", lambda pair: pair.is_history),
    Evidence("contained", "one stands in the other", lambda pair: pair.contained >= CONTAINED),
    Evidence(
        "name", "the same rare name", lambda pair: pair.is_named and (pair.score or 0) >= NAME_SCORE
    ),
    Evidence("around", "many groups around are near", lambda pair: pair.is_among_near),
    Evidence("score", "a high score", lambda pair: (pair.score or 0) >= pair.least_score),
    Evidence("gap", "no group around is nearly as alike", lambda pair: pair.stands_out),
)


def near_because(pair: Pair) -> str:
    """The name of the first evidence that holds for a pair; "" if it is only related."""
    return next((evidence.name for evidence in EVIDENCE if evidence.holds(pair)), "")


def in_words(name: str) -> str:
    """What people read of the evidence with this name; "" for an unknown one."""
    return next((evidence.words for evidence in EVIDENCE if evidence.name == name), "")


def score(
    similarity: float | None, own_share: float | None, counts: tuple[int, int]
) -> float | None:
    """How surely two texts are versions of one, from 0 to 1; None where nothing was verified.

    `counts` has the number of features of both; two zeros if features weigh differently, since
    then the containment is not known and the similarity, which is lower, takes its place. An
    unknown own share counts as 1.

    >>> score(0.8, 0.9, (400, 400)), score(0.5, 1.0, (400, 100))
    (0.7200000000000001, 1.0)
    """
    if similarity is None:
        return None
    shorter, longer = sorted(counts)
    containment = contained(similarity, shorter, longer) if shorter else similarity
    return containment if own_share is None else containment * own_share


def pair_scores(similarities: Similarities, own_shares: Shares, counts: Indices) -> Floats:
    """The score of each pair of texts with `counts` (m, 2) features; (m,).

    An own share is NaN where it is unknown.
    """
    shorter, longer = np.sort(counts, axis=1).T
    contained: Floats = np.minimum(1, similarities * np.sqrt(longer / shorter.clip(1)).clip(1))
    return contained * np.where(np.isnan(own_shares), 1, own_shares)


def scores(members: Sequence[Member], recipe: Recipe) -> list[float | None]:
    """The score of each member of a group with the first one."""
    counts = [each.document.features * recipe.has_equal_weights for each in members]
    return [
        score(each.similarity, each.own_share, (counts[0], count))
        for each, count in zip(members, counts, strict=True)
    ]


def best_score(members: Sequence[Member], recipe: Recipe) -> float | None:
    """The highest score that a member has with the first one; 1 if any two have the same words.

    One near member makes the whole group near, since the others are rather its further relatives
    than strangers.
    """
    if len({each.document.identity.words for each in members}) < len(members):
        return 1.0
    return max((each for each in scores(members, recipe)[1:] if each is not None), default=None)


def pair_of(member: Member, first: Member, recipe: Recipe) -> Pair:
    """What the texts of a member and of the first one of its group tell."""
    shorter, longer = sorted(each.document.features for each in (member, first))
    alike, counts = member.similarity, (shorter, longer) if recipe.has_equal_weights else (0, 0)
    is_known = alike is not None and recipe.has_equal_weights and shorter
    is_same = member.document.identity.words == first.document.identity.words
    return Pair(
        score(alike, member.own_share, counts),
        contained(alike or 0, shorter, longer) if is_known else 0,
        shorter,
        is_same,
    )


def are_near(scores: Floats, similarities: Similarities, counts: Indices) -> Mask:
    """Which pairs of rows or texts without names are near; (m,).

    `counts` (m, 2) has their features; zeros if features weigh differently.
    """
    shorter, longer = np.sort(counts, axis=1).T
    is_short = (shorter > 0) & (shorter < SHORT)
    inside = similarities * np.sqrt(longer / shorter.clip(1)) >= CONTAINED
    least = np.where(is_short, SHORT_SCORE, NEAR_SCORE)
    near: Mask = (scores >= least) | (inside & (shorter > 0))
    return near


def is_near(score: float | None) -> bool:
    """Whether this is the score of a near text; true if it is unknown."""
    return score is None or score >= NEAR_SCORE

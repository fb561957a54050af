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

    score: How surely they are versions of one, from 0 to 1; None if nothing was verified.
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

    def reaches(self, least: float) -> bool:
        """Whether the score is high enough, which is higher for short texts."""
        return (self.score or 0) >= (max(least, SHORT_SCORE) if self.features < SHORT else least)

    @property
    def is_high(self) -> bool:
        """Whether the score is high enough whatever is around."""
        return self.reaches(NEAR_SCORE if self.around is None else FEW_NEAR_SCORE)


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
    Evidence("score", "a high score", lambda pair: pair.is_high),
    Evidence(
        "around",
        "many groups around are near",
        lambda pair: (pair.around or 0) >= MANY_NEAR and pair.reaches(NEAR_SCORE),
    ),
    Evidence(
        "gap",
        "no group around is nearly as alike",
        lambda pair: pair.has_gap and pair.reaches(GAP_SCORE),
    ),
)


def near_because(pair: Pair) -> str:
    """The name of the first evidence that holds for a pair; "" if it is only related."""
    return next((evidence.name for evidence in EVIDENCE if evidence.holds(pair)), "")


def in_words(name: str) -> str:
    """What people read of the evidence with this name; "" for an unknown one."""
    return next((evidence.words for evidence in EVIDENCE if evidence.name == name), "")


def pair_scores(similarities: Similarities, own_shares: Shares, counts: Indices) -> Floats:
    """The score of each pair of texts with `counts` (m, 2) features; (m,).

    An own share is NaN where it is unknown.
    """
    shorter, longer = np.sort(counts, axis=1).T
    contained: Floats = np.minimum(1, similarities * np.sqrt(longer / shorter.clip(1)).clip(1))
    return contained * np.where(np.isnan(own_shares), 1, own_shares)


def scores(members: Sequence[Member], recipe: Recipe) -> list[float | None]:
    """The score of each member of a group with the first one."""
    return [pair_of(member, members[0], recipe).score for member in members]


def best_score(members: Sequence[Member], recipe: Recipe) -> float | None:
    """The highest score that a member has with the first one; 1 if any two have the same words.

    One near member makes the whole group near, since the others are rather its further relatives
    than strangers.
    """
    if len({member.document.identity.words for member in members}) < len(members):
        return 1.0
    return max((score for score in scores(members, recipe)[1:] if score is not None), default=None)


def pair_of(member: Member, first: Member, recipe: Recipe) -> Pair:
    """What the texts of a member and of the first one of its group tell.

    If features weigh differently, the containment is not known and the similarity, which is lower,
    takes its place in the score. An unknown own share counts as 1.
    """
    shorter, longer = sorted((member.document.features, first.document.features))
    alike, own, share = member.similarity, member.own_share, 0.0
    if alike is not None and recipe.has_equal_weights and shorter:
        share = contained(alike, shorter, longer)
    score = None if alike is None else (share or alike) * (1 if own is None else own)
    is_same = member.document.identity.words == first.document.identity.words
    return Pair(score, share, shorter, is_same)


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

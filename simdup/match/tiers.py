"""Near or related: how a group is shown, by one score for each of its texts.

Two texts belong together if they are similar and have wording of their own (`own_share`). Of such
pairs many are versions or copies of one text, and others are only of one series: two recipes, two
licences with the same clauses. No rule tells them apart for certain, so the likely ones are *near*
and the others *related*.

    score = containment x own share

The containment is how much of the shorter text stands in the longer one. From a similarity of
NEARLY_SAME on the own share does not count, unless it is 0, which means that both are of one form:
what differs is a few words, and many others may use the same clauses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simdup.arrays import Floats, Indices, Shares, Similarities
from simdup.match.own_share import NEARLY_SAME
from simdup.recipe import Recipe
from simdup.records import Group, Kind, Member
from simdup.theory import contained

NEAR, RELATED = "near", "related"

#: The least score of near texts. Of 60 groups of four real collections that people judged, 36 are
#: good; 23 of the 24 with this score are. With .75 it is 25 of 29, with .7 28 of 32. Of the others
#: two have names that tell a chain of versions, and both are good.
NEAR_SCORE = 0.8


def score(
    similarity: float | None, own_share: float | None, counts: tuple[int, int]
) -> float | None:
    """How surely two texts are versions of one, from 0 to 1; None where nothing was verified.

    `counts` has the number of features of both; two zeros if features weigh differently, since
    then the containment is not known and the similarity, which is lower, takes its place. An
    unknown own share counts as 1.

    >>> score(0.8, 0.9, (400, 400)), score(0.5, 1.0, (400, 100)), score(0.97, 0.1, (400, 400))
    (0.7200000000000001, 1.0, 0.97)
    """
    if similarity is None:
        return None
    shorter, longer = sorted(counts)
    containment = contained(similarity, shorter, longer) if shorter else similarity
    is_nearly_same = own_share != 0 and similarity >= NEARLY_SAME
    return containment if own_share is None or is_nearly_same else containment * own_share


def pair_scores(similarities: Similarities, own_shares: Shares, counts: Indices) -> Floats:
    """The score of each pair of texts with `counts` (m, 2) features; (m,).

    An own share is NaN where it is unknown.
    """
    shorter, longer = np.sort(counts, axis=1).T
    contained: Floats = np.minimum(1, similarities * np.sqrt(longer / shorter.clip(1)).clip(1))
    is_nearly_same = (similarities >= NEARLY_SAME) & (own_shares != 0)
    return contained * np.where(is_nearly_same | np.isnan(own_shares), 1, own_shares)


def scores(members: Sequence[Member], recipe: Recipe) -> list[float | None]:
    """The score of each member of a group with the first one."""
    counts = [each.document.features * recipe.has_equal_weights for each in members]
    return [
        score(each.similarity, each.own_share, (counts[0], count))
        for each, count in zip(members, counts, strict=True)
    ]


def are_related(group: Group, found: Sequence[float | None]) -> list[bool]:
    """Which members are only related to the first one, by their scores; of a family none is."""
    is_family = group.kind is Kind.SAME_PATTERN
    return [False, *(not (is_family or is_near(each)) for each in found[1:])]


def best_score(members: Sequence[Member], recipe: Recipe) -> float | None:
    """The highest score that a member has with the first one; 1 if any two have the same words.

    One near member makes the whole group near, since the others are rather its further relatives
    than strangers.
    """
    if len({each.document.identity.words for each in members}) < len(members):
        return 1.0
    return max((each for each in scores(members, recipe)[1:] if each is not None), default=None)


def tier(group: Group) -> str | None:
    """NEAR or RELATED, by the score of a group; None for a family of siblings.

    Names that tell a chain of versions make a group NEAR too. Where nothing was verified, all
    groups are NEAR.
    """
    if group.kind is Kind.SAME_PATTERN:
        return None
    return NEAR if group.versions or is_near(group.score) else RELATED


def member_tiers(group: Group, found: Sequence[float | None]) -> list[str | None]:
    """The tier of each member of a group, by their scores with the first one.

    In a near group a member may be only related to the first one, unless names tell that it is a
    version.
    """
    whole, aside = tier(group), are_related(group, found)
    is_mixed = whole == NEAR and not group.versions
    return [RELATED if is_mixed and each else whole for each in aside]


def is_near(found: float | None) -> bool:
    """Whether this is the score of a near text; true if it is unknown."""
    return found is None or found >= NEAR_SCORE

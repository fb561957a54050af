"""Groups in, the same groups out: which members are near the first one, and by which evidence.

`match.tiers` has the evidence. Scores come with the members. Names and folders are looked at here:

- A name is rare if 2 to 10 files have it. Two texts with the same rare name are versions from a
  lower score on.
- Where at least a quarter of the groups around a pair are near, a collection keeps versions, and
  the usual score is enough. Elsewhere nearly all of both texts must be the same.

Tiers are decided before a file is chosen to lead its group, so that it is one of a near pair, and
again for the groups that got another leader.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import NamedTuple

from simdup.findings.versions import names_of
from simdup.match.tiers import (
    HISTORY_SCORE,
    NAME_SCORE,
    NEAR,
    NEAR_SCORE,
    RELATED,
    near_because,
    pair_of,
)
from simdup.recipe import Recipe
from simdup.records import Document, Group, Kind

#: A name of more files says nothing, such as that of every README.
MOST_OF_A_NAME = 10

#: Groups around a pair are looked for in ever higher folders until there are as many.
ENOUGH_AROUND = 15

#: Fewer groups around a pair say nothing.
LEAST_AROUND = 5


class Tiers:
    """Decides the tiers of groups by what is known of all groups and files of a scan."""

    def __init__(
        self, groups: Iterable[Group], documents: Iterable[Document], recipe: Recipe
    ) -> None:
        """Count the names, and the groups that are near whatever is around them."""
        groups = list(groups)
        self._recipe, self._names = recipe, _Names(groups, documents)
        self._around = _Around(())
        self._around = _Around([self.decided(each) for each in groups if each.kind is Kind.NEAR])

    def decided(self, group: Group) -> Group:
        """The group with the tier of each member, and why it is near."""
        if group.kind is Kind.SAME_PATTERN:
            return group
        words = [each.document.identity.words for each in group.members]
        because, of_first = self._because(group, words), words[0]
        if because.keys() <= {of_first} and words.count(of_first) < 2:
            # If no text is near the central one, one of several copies shall lead the group.
            copies = {word for word, number in Counter(words).items() if number > 1}
            because = dict.fromkeys(copies, "words")
        tiers = [NEAR if word in because else RELATED for word in words]
        members = zip(group.members, tiers, words, strict=True)
        decided = [
            each._replace(tier=tier, near_because=because.get(word, ""))
            for each, tier, word in members
        ]
        decided[0] = decided[0]._replace(near_because="")
        return group._replace(members=tuple(decided))

    def _because(self, group: Group, words: Sequence[object]) -> dict[object, str]:
        """The evidence for the words of each member that is near the first one, and of that one."""
        first, found = group.members[0], {words[0]: "words"}
        is_history = bool(group.versions) and (group.score is None or group.score >= HISTORY_SCORE)
        both = list(zip(group.members, words, strict=True))
        names = [self._names.of(member.document.path) for member, its in both if its == words[0]]
        place = min(member.document.path for member, _ in both)
        for member, its_words in both[1:]:
            if its_words not in found:
                path = member.document.path
                evidence = near_because(
                    pair_of(member, first, self._recipe)._replace(
                        is_history=is_history,
                        named=self._names.of(path).least_score(names),
                        around=self._around.share(place, first.document.path, path),
                    )
                )
                found |= {its_words: evidence} if evidence else {}
        return found


class _Name(NamedTuple):
    """What of the name of a file is rare.

    rare: What precedes its first dot, and the stem with its dates and numbers; empty if frequent.
    stem: The name without marks of versions and copies, dates and numbers; "" if frequent.
    """

    rare: frozenset[object]
    stem: str

    def least_score(self, others: Iterable[_Name]) -> float:
        """The least score at which names make this file near one of the others; else infinite.

        Names that differ in dates and numbers may be of a series, so the usual score is needed.
        """
        others = list(others)
        if any(self.rare & other.rare for other in others):
            return NAME_SCORE
        return NEAR_SCORE if any(self.stem and self.stem == other.stem for other in others) else inf


class _Names:
    """The names of the files in groups of near texts, and how many files have them.

    Stems are counted among these files, and beginnings of names among all.
    """

    def __init__(self, groups: Iterable[Group], documents: Iterable[Document]) -> None:
        near = (group for group in groups if group.kind is Kind.NEAR)
        paths = list({each.document.path for group in near for each in group.members})
        self._names = dict(zip(paths, names_of(paths), strict=True))
        self._stems = Counter(name.stem for name in self._names.values())
        self._beginnings = Counter(_beginning(each.path) for each in documents if paths)

    def of(self, path: str) -> _Name:
        """What is rare of the name of a file."""
        begins, name = _beginning(path), self._names.get(path)
        rare = {begins} if self._beginnings[begins] <= MOST_OF_A_NAME else set[object]()
        if name is None or not name.stem or self._stems[name.stem] > MOST_OF_A_NAME:
            return _Name(frozenset(rare), "")
        return _Name(frozenset({*rare, (name.stem, name.mark.dates, name.mark.numbers)}), name.stem)


def _beginning(path: str) -> str:
    """What precedes the first dot of a name, apart from one at its start."""
    name = path[path.rfind(os.sep) + 1 :]
    return name[:1] + name[1:].partition(".")[0]


class _Around:
    """How many groups of near texts are in each folder, and how many of them are near.

    A group is in all folders above the first of its paths, in the order of names.
    """

    def __init__(self, groups: Iterable[Group]) -> None:
        self._groups, self._near = Counter[str](), Counter[str]()
        self._own = dict[str, int]()
        for group in groups:
            path, is_near = min(each.document.path for each in group.members), group.tier == NEAR
            self._own[path] = is_near
            for folder in _folders(path):
                self._groups[folder] += 1
                self._near[folder] += is_near

    def share(self, place: str, one: str, other: str) -> float | None:
        """The share of near ones among the groups around two files; None if there are too few.

        The group at `place` is theirs, and does not count.
        """
        above, own, is_near = {*_folders(other)}, {*_folders(place)}, self._own.get(place, 0)
        for folder in (each for each in _folders(one) if each in above):
            is_own = folder in own and place in self._own
            number = self._groups[folder] - is_own
            if number >= ENOUGH_AROUND or (not folder and number >= LEAST_AROUND):
                return (self._near[folder] - is_near * is_own) / number
        return None


def _folders(path: str) -> Iterator[str]:
    """Yield the folders above a path, the next one first, and "" last."""
    while path:
        path = path.rpartition(os.sep)[0]
        yield path

"""Groups in, the same groups out: which members are near the first one, and by which evidence.

`match.tiers` has the evidence. Scores come with the members. Names and folders are looked at here:

- A name is rare if 2 to 10 files have it. Two texts with the same rare name are versions from a
  lower score on.
- Where at least 30 % of the groups around a pair are near, a collection keeps versions, and
  the usual score is enough. Elsewhere nearly all of both texts must be the same, unless scores
  tell clearly: hardly any related group around has a score that is almost high enough.

Tiers are decided before a file is chosen to lead its group, so that it is one of a near pair, and
again for the groups that got another leader.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

from simdup.findings.versions import names_of, stems_of
from simdup.match.tiers import (
    FEW_NEAR_SCORE,
    HISTORY_SCORE,
    NAME_SCORE,
    NEAR,
    RELATED,
    Pair,
    is_near,
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

#: Related groups with this score are doubtful. Where a smaller share of the groups around a pair is
#: doubtful, near pairs stand out. In real collections with few near groups it is .07 or more.
DOUBTFUL_SCORE, LEAST_DOUBTFUL = 0.6, 0.05

# What a name is, and its parts.
_Name: TypeAlias = tuple[object, ...]


class Tiers:
    """Decides the tiers of groups by what is known of all groups and files of a scan."""

    def __init__(
        self, groups: Iterable[Group], documents: Iterable[Document], recipe: Recipe
    ) -> None:
        """Count the groups that are near whatever is around them."""
        self._groups, self._documents, self._recipe = list(groups), list(documents), recipe
        near = (group for group in self._groups if group.kind is Kind.NEAR)
        self._around = _Around(())
        self._around = _Around([self.decided(group) for group in near])

    def decided(self, group: Group) -> Group:
        """The group with the tier of each member, and why it is near."""
        if group.kind is Kind.SAME_PATTERN:
            return group
        words = [member.document.identity.words for member in group.members]
        because, of_first = self._because(group, words), words[0]
        if because.keys() <= {of_first} and words.count(of_first) < 2:
            # If no text is near the central one, one of several copies shall lead the group.
            copies = {word for word, number in Counter(words).items() if number > 1}
            because = dict.fromkeys(copies, "words")
        tiers = [NEAR if word in because else RELATED for word in words]
        members = zip(group.members, tiers, words, strict=True)
        decided = [
            member._replace(tier=tier, near_because=because.get(word, ""))
            for member, tier, word in members
        ]
        decided[0] = decided[0]._replace(near_because="")
        return group._replace(members=tuple(decided))

    def _because(self, group: Group, words: Sequence[object]) -> dict[object, str]:
        """The evidence for the words of each member that is near the first one, and of that one."""
        if group.versions and (group.score is None or group.score >= HISTORY_SCORE):
            return dict.fromkeys(words, "history")
        first, because = group.members[0], {words[0]: "words"}
        both = zip(group.members, words, strict=True)
        of_first = [member.document.path for member, its_words in both if its_words in because]
        for member, its_words in zip(group.members, words, strict=True):
            if its_words not in because:
                pair = pair_of(member, first, self._recipe)
                if NAME_SCORE <= (pair.score or 0) < FEW_NEAR_SCORE:
                    pair = self._placed(pair, group, of_first, member.document.path)
                if evidence := near_because(pair):
                    because[its_words] = evidence
        return because

    def _placed(self, pair: Pair, group: Group, of_first: Sequence[str], path: str) -> Pair:
        """A pair with what the names and folders of its files tell; `of_first` have one text."""
        rare = self._names.rare(path)
        is_named = any(rare & self._names.rare(other) for other in of_first)
        around = self._around.share(_place(group), of_first[0], path)
        return pair._replace(is_named=is_named, around=around)

    @cached_property
    def _names(self) -> _Names:
        """The rare names, which are only counted if they are needed."""
        return _Names(self._groups, self._documents)


class _Names:
    """The rare names of the files in groups of near texts.

    A file has three names: what precedes the first dot, the stem without marks of versions and
    copies, and the stem without dates and numbers too. The first two are counted in groups. The
    third is counted in the folders of the files that have it more than once, since many files with
    other dates or numbers are a series.
    """

    def __init__(self, groups: Iterable[Group], documents: Iterable[Document]) -> None:
        near = (group for group in groups if group.kind is Kind.NEAR)
        paths = list({member.document.path for group in near for member in group.members})
        self._names, number = dict[str, list[_Name]](), Counter[_Name]()
        for path, (stem, mark) in zip(paths, names_of(paths), strict=True):
            self._names[path] = [("beginning", _beginning(path))]
            if stem:
                self._names[path].append(("stem", stem, mark.dates, mark.numbers))
            number.update(self._names[path])
            if stem:
                self._names[path].append(("series", stem))
        series = Counter(names[-1] for names in self._names.values())
        split = os.path.split
        folders = {split(path)[0] for path, names in self._names.items() if series[names[-1]] > 1}
        beside = (split(document.path) for document in documents)
        stems = stems_of(name for folder, name in beside if folder in folders)
        number.update(("series", stem) for stem in stems)
        self._rare = {name for name, files in number.items() if files <= MOST_OF_A_NAME}

    def rare(self, path: str) -> set[_Name]:
        """The names of a file that only few files have."""
        return self._rare.intersection(self._names.get(path, ()))


def _beginning(path: str) -> str:
    """What precedes the first dot of a file's name, apart from one at its start."""
    name = path[path.rfind(os.sep) + 1 :]
    return name[:1] + name[1:].partition(".")[0]


class _Around:
    """How many groups of near texts are in each folder, and how many of them are near.

    A group is in all folders above the first of its paths, in the order of names.
    """

    def __init__(self, groups: Iterable[Group]) -> None:
        self._groups, self._near, self._doubtful = Counter[str](), Counter[str](), Counter[str]()
        self._own = dict[str, bool]()
        for group in groups:
            path = _place(group)
            # Short texts count as others here: they are as near as others of their folder.
            counts = self._own[path] = group.tier == NEAR or is_near(group.score)
            is_doubtful = not counts and (group.score or 0) >= DOUBTFUL_SCORE
            for folder in _folders(path):
                self._groups[folder] += 1
                self._near[folder] += counts
                self._doubtful[folder] += is_doubtful

    def share(self, place: str, one: str, other: str) -> float | None:
        """The share of near ones among the groups around two files.

        The group at `place` is theirs, and does not count. None if there are too few groups, or if
        few of them are only just related: then a near pair stands out.
        """
        above, own, counts = {*_folders(other)}, {*_folders(place)}, self._own.get(place, False)
        for folder in (folder for folder in _folders(one) if folder in above):
            is_own = folder in own and place in self._own
            number = self._groups[folder] - is_own
            if number >= ENOUGH_AROUND or (not folder and number >= LEAST_AROUND):
                few = self._doubtful[folder] < LEAST_DOUBTFUL * number
                return None if few else (self._near[folder] - counts * is_own) / number
        return None


def _place(group: Group) -> str:
    """The path by which a group is in folders."""
    return min(member.document.path for member in group.members)


def _folders(path: str) -> Iterator[str]:
    """Yield the folders above a path, the next one first, and "" last."""
    while path:
        path = path.rpartition(os.sep)[0]
        yield path

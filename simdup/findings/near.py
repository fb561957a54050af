"""Groups in, the same groups out: which members are near the first one, and by which evidence.

`match.tiers` has the evidence. Scores come with the members. Names and folders are looked at here:

- A name is rare if 2 to 10 files have it. Two texts with the same rare name are versions from a
  lower score on.
- Where at least 30 % of the groups around a pair are near, a collection keeps versions, and
  the usual score is enough. Elsewhere nearly all of both texts must be the same.
- Where scores leave a gap, a lower score is enough: hardly any group around is a bit less alike.

Tiers are decided before a file is chosen to lead its group, so that it is one of a near pair, and
again for the groups that got another leader.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, TypeAlias

from simdup.findings.versions import Names, folder_and_name, have_other_periods
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
from simdup.records import Group, Kind

#: A name of more files says nothing, such as that of every README.
MOST_OF_A_NAME = 10

#: Groups around a pair are looked for in ever higher folders until there are as many.
ENOUGH_AROUND = 15

#: Fewer groups around a pair say nothing.
LEAST_AROUND = 5

#: Scores leave a gap below a pair if a smaller share than MOST_IN_GAP of the groups around it,
#: which are ENOUGH_AROUND or more, has a score that is lower by GAP_BEGIN to GAP_END.
GAP_BEGIN, GAP_END, MOST_IN_GAP = 0.05, 0.2, 0.05

# What a name is, and its parts.
_Name: TypeAlias = tuple[object, ...]


class _OfTexts(NamedTuple):
    """What the texts of a group and their names tell.

    words: The words of each member.
    because: The evidence for the words of members that are near the first one, and of that one.
    doubts: Words, their pair with the first text and the paths of both, if folders decide.
    """

    group: Group
    words: list[object]
    because: dict[object, str]
    doubts: list[tuple[object, Pair, str, str]]


class Tiers:
    """Decides the tiers of groups by what is known of all groups and files of a scan."""

    def __init__(self, groups: Iterable[Group], names: Names, recipe: Recipe) -> None:
        """Find out what each group by itself tells."""
        self._names, self._recipe = names, recipe
        self._known = {
            group.id: self._of_texts(group) for group in groups if group.kind is Kind.NEAR
        }
        self._around = _Around(self._known.values())

    def decided(self, group: Group) -> Group:
        """The group with the tier of each member, and why it is near."""
        if group.kind is Kind.SAME_PATTERN:
            return group
        known = self._known.get(group.id)
        if known is None or known.group is not group:
            known = self._of_texts(group)
        words, because = known.words, known.because.copy()
        for its_words, pair, one, other in known.doubts:
            around, has_gap = self._around.pair(group, one, other, pair.score or 0)
            if evidence := near_because(pair._replace(around=around, has_gap=has_gap)):
                because[its_words] = evidence
        if because.keys() <= {words[0]} and words.count(words[0]) < 2:
            # If no text is near the central one, one of several copies shall lead the group.
            copies = {word for word, number in Counter(words).items() if number > 1}
            because = dict.fromkeys(copies, "words")
        members = [
            member._replace(
                tier=NEAR if word in because else RELATED, near_because=because.get(word, "")
            )
            for member, word in zip(group.members, words, strict=True)
        ]
        members[0] = members[0]._replace(near_because="")
        return group._replace(members=tuple(members))

    def _of_texts(self, group: Group) -> _OfTexts:
        words: list[object] = [member.document.identity.words for member in group.members]
        if group.versions and (group.score is None or group.score >= HISTORY_SCORE):
            return _OfTexts(group, words, dict.fromkeys(words, "history"), [])
        first, because = group.members[0], {words[0]: "words"}
        doubts = list[tuple[object, Pair, str, str]]()
        both = list(zip(group.members, words, strict=True))
        of_first = [member.document.path for member, its_words in both if its_words == words[0]]
        for member, its_words in both:
            if its_words not in because:
                pair, path = pair_of(member, first, self._recipe), member.document.path
                in_doubt = NAME_SCORE <= (pair.score or 0) < FEW_NEAR_SCORE
                if in_doubt:
                    pair = pair._replace(is_named=self._rare.has(path, of_first))
                evidence = near_because(pair)
                if in_doubt and evidence in {"", "score"}:
                    doubts.append((its_words, pair, of_first[0], path))
                elif evidence:
                    because[its_words] = evidence
        return _OfTexts(group, words, because, doubts)

    @cached_property
    def _rare(self) -> _RareNames:
        return _RareNames(self._names)


class _RareNames:
    """The rare names of the files in groups of near texts.

    A file has three names: what precedes the first dot, the stem without marks of versions and
    copies, and the stem without dates and numbers too. The first two are counted in groups. The
    third is counted in the folders of the files that have it more than once, since many files with
    other dates or numbers are a series.
    """

    def __init__(self, names: Names) -> None:
        self._names, number = dict[str, set[_Name]](), Counter[_Name]()
        series = Counter(stem for stem, _ in names.of_path.values())
        self._dated = {
            path for path, (_, mark) in names.of_path.items() if any(map(all, mark.dates))
        }
        folders = set[str]()
        for path, (stem, mark) in names.of_path.items():
            folder, name = folder_and_name(path)
            # Hidden files have a dot before their name.
            own = self._names[path] = {("beginning", name[:1] + name[1:].partition(".")[0])}
            if stem:
                own.add(("stem", stem, mark.dates, mark.numbers))
            number.update(own)
            if stem and series[stem] > 1:
                own.add(("series", stem))
                folders.add(folder)
        for folder in folders:
            number.update({("series", stem): n for stem, n in names.in_folder(folder).items()})
        self._rare = {name for name, files in number.items() if files <= MOST_OF_A_NAME}

    def has(self, path: str, others: Iterable[str]) -> bool:
        """Whether a file has a rare name of one of the other files.

        Names with other months or weeks are those of a series; full dates may be those of versions.
        """
        rare = self._rare & self._names.get(path, set())
        alike = (other for other in others if not rare.isdisjoint(self._names.get(other, ())))
        return any(
            {path, other} <= self._dated or not have_other_periods((path, other)) for other in alike
        )


class _Around:
    """The groups of near texts in each folder, and which of them are near.

    A group is in all folders above the first of its paths, in the order of names.
    """

    def __init__(self, known: Iterable[_OfTexts]) -> None:
        self._groups = dict[str, tuple[bool, float | None]]()
        for group, _, because, _ in known:
            # Short texts count as others here: they are as near as others of their folder.
            counts = len(because) > 1 or is_near(group.score)
            is_by_score = {*because.values()} <= {"words", "score"}
            self._groups[_place(group)] = counts, group.score if is_by_score else None
        self._places = sorted(self._groups)
        self._inside = dict[str, tuple[int, int, list[float]]]()

    def pair(self, group: Group, one: str, other: str, score: float) -> tuple[float | None, bool]:
        """The share of near groups around two files of a group, and whether scores leave a gap.

        Their own group does not count. The share is None if there are too few groups.
        """
        place = _place(group)
        above, own = {*_folders(other)}, {*_folders(place)} if place in self._groups else set()
        for folder in (folder for folder in _folders(one) if folder in above):
            number, near, scores = self._in_folder(folder)
            if folder in own:
                number, near = number - 1, near - self._groups[place][0]
            if number >= ENOUGH_AROUND or (not folder and number >= LEAST_AROUND):
                first, end = (bisect_left(scores, score - below) for below in (GAP_END, GAP_BEGIN))
                has_gap = number >= ENOUGH_AROUND and end - first < MOST_IN_GAP * number
                return near / number, has_gap
        return None, False

    def _in_folder(self, folder: str) -> tuple[int, int, list[float]]:
        """How many groups are in a folder, how many of them near, and scores in ascending order.

        Groups that are near for another reason than their score are left out of the scores.
        """
        if folder not in self._inside:
            first = bisect_left(self._places, folder and folder + os.sep)
            end = bisect_left(self._places, folder + chr(ord(os.sep) + 1)) if folder else None
            groups = [self._groups[place] for place in self._places[first:end]]
            scores = sorted(score for _, score in groups if score is not None)
            self._inside[folder] = len(groups), sum(near for near, _ in groups), scores
        return self._inside[folder]


def _place(group: Group) -> str:
    """The path by which a group is in folders."""
    return min(member.document.path for member in group.members)


def _folders(path: str) -> Iterator[str]:
    """Yield the folders above a path, the next one first, and "" last."""
    while path:
        path = path.rpartition(os.sep)[0]
        yield path

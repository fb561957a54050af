"""Which groups of a result a report shows, in which order, and how much space they could free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from simdup.findings.identical import identity_of
from simdup.match.tiers import NEAR, RELATED
from simdup.records import Document, Group, Identity, Kind, Member, ScanResult


class View(NamedTuple):
    """How much of a result a text report shows.

    sort: One of `report.SORTS`.
    limit: The most groups; None shows all of them.
    is_brief: Whether a group with many files shows only some of them, as on a terminal.
    is_folded: Whether to leave out the groups that pairs of folders represent.
    lines: The lines that the groups and the summary may fill together; None sets no limit.
    """

    sort: str = "similarity"
    limit: int | None = None
    is_brief: bool = False
    is_folded: bool = False
    lines: int | None = None


#: Every group, with every file.
WHOLE = View()


def ranked(groups: Iterable[Group], sort: str) -> list[Group]:
    """The groups, the most useful first.

    By `similarity` these are the most similar ones, in the order of the result; by `size` the
    ones in which the most bytes repeat; by `count` the ones with the most files. By `name` they
    follow the path of the first file.
    """
    found = list(groups)
    if sort == "size":
        found.sort(key=lambda group: -repeated([group]).total.bytes)
    elif sort == "count":
        found.sort(key=lambda group: -len(group.members))
    elif sort == "name":
        found.sort(key=lambda group: group.members[0].document.path)
    return found


def by_tier(result: ScanResult) -> tuple[ScanResult, tuple[Group, ...]]:
    """The result with what is near, and the groups of related texts.

    A group of which some members are only related to the first one is divided: each part has the
    first one and the number of the group.
    """
    near, related = list[Group](), list[Group]()
    for group in result.groups:
        first, *others = group.members
        aside = [each for each in others if each.tier == RELATED]
        if group.tier == RELATED:
            related.append(group)
        elif aside:
            kept = [first, *(each for each in others if each.tier == NEAR)]
            near.append(_part(group, kept)._replace(aside=len(aside)))
            related.append(_part(group, [first._replace(tier=RELATED), *aside]))
        else:
            near.append(group)
    return replace(result, groups=tuple(near)), tuple(related)


def _part(group: Group, members: Sequence[Member]) -> Group:
    """Some members of a group."""
    paths = {each.document.path for each in members}
    kind = max((each.kind for each in members), key=[*Kind].index)
    different = tuple(pair for pair in group.not_duplicates if paths.issuperset(pair))
    return group._replace(members=tuple(members), kind=kind, not_duplicates=different)


def selected(result: ScanResult, sort: str, limit: int | None) -> ScanResult:
    """The result with only its first `limit` groups and families, in the order of `ranked`."""
    lists = result.groups, result.patterns
    groups, patterns = (tuple(ranked(each, sort)[:limit]) for each in lists)
    return replace(result, groups=groups, patterns=patterns)


class Pile(NamedTuple):
    """Some files, and how many bytes they take."""

    files: int = 0
    bytes: int = 0


class Repeated(NamedTuple):
    """The files that repeat the content of another file in their group; each file counts once.

    identical: Files with the same bytes as a file that stays.
    text: Files with the same text, but other bytes.
    words: Files with the same words in another layout or format.
    near: Files with a similar text.
    """

    identical: Pile = Pile()
    text: Pile = Pile()
    words: Pile = Pile()
    near: Pile = Pile()

    @property
    def total(self) -> Pile:
        """All files that repeat something."""
        return Pile(*map(sum, zip(*self, strict=True)))


def repeated(groups: Iterable[Group]) -> Repeated:
    """The files that repeat in these groups, if one file of each and all references stay."""
    return _repeated(
        [(each.document, identity_of(each)) for each in group.members] for group in groups
    )


def repeated_before_matching(documents: Iterable[Document]) -> Repeated:
    """The files that repeat another one, as far as that is known without near-duplicates."""
    return _repeated([[(each, each.identity) for each in documents]])._replace(near=Pile())


def _repeated(groups: Iterable[Iterable[tuple[Document, Identity]]]) -> Repeated:
    sizes: dict[str, list[int]] = {name: [] for name in Repeated._fields}
    for name, size in chain.from_iterable(map(_repeating, groups)):
        sizes[name].append(size)
    return Repeated(**{name: Pile(len(each), sum(each)) for name, each in sizes.items()})


def _repeating(group: Iterable[tuple[Document, Identity]]) -> Iterator[tuple[str, int]]:
    """Yield the field of Repeated and the size of each file that repeats another one.

    The references of a group stay, or else its first member. Files that no command may touch count
    neither as files that stay nor as files that can go.
    """
    seen = {name: set[object]() for name in ("identical", "text", "words")}
    members = [each for each in group if each[0].untouchable is None]
    for document, (words, text, content) in sorted(
        members, key=lambda each: not each[0].source.is_reference
    ):
        known = {"identical": content, "text": text, "words": words}
        if seen["words"] and not document.source.is_reference:
            how = (name for name, each in known.items() if each in seen[name])
            yield next(how, "near"), document.source.size
        for name, each in known.items():
            seen[name].add(each)
